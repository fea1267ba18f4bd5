"""The body of a function of integers in LLVM's text form, written from its first line to the last one.

Values are texts, too: names, or constants. llvmlite's objects, one for each instruction, take several times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir

Held = Mapping[str, str]  # the values of locals, by their names


class Text:
    """A body that is written: block by block, each with its end.

    Locals lie in memory. What a block has read or written it does not read again, nor do blocks that only it leads to:
    `decide` returns what they may be begun with.
    """

    def __init__(self, module: ir.Module, names: Sequence[str]) -> None:
        self.module, self.block, self.is_ended = module, "entry.0", False
        self._frame, self._lines = list[str](), ["entry.0:"]
        self._held: dict[str, str] = {}
        self._count = 0
        for name in names:
            self._place(name, "i64")

    def _place(self, name: str, kind: str) -> str:
        self._frame.append(f"  %{name} = alloca {kind}")
        return name

    def new(self, name: str) -> str:
        """A name that nothing in the function has: identifiers of Python have no dots."""
        self._count += 1
        return f"{name}.{self._count}"

    # --- instructions -------------------------------------------------------------------------------------

    def value(self, text: str) -> str:
        """The result of an instruction."""
        self._count += 1  # as `new`, whose call would take as long as the rest
        name = f"%.{self._count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self._lines.append(f"  {text}")

    def local(self, kind: str) -> str:
        """The address of memory of the function's own, as an integer."""
        return self.value(f"ptrtoint ptr %{self._place(self.new('local'), kind)} to i64")

    def pointer(self, address: str) -> str:
        """The pointer of an address."""
        return self.value(f"inttoptr i64 {address} to ptr")

    # --- locals -------------------------------------------------------------------------------------------

    def counter(self) -> str:
        """One more local."""
        return self._place(self.new("counter"), "i64")

    def read(self, name: str) -> str:
        """The value of a local."""
        found = self._held.get(name)
        if found is None:
            found = self._held[name] = self.value(f"load i64, ptr %{name}, align 8")
        return found

    def write(self, name: str, value: str) -> None:
        """Set a local."""
        self._held[name] = value
        self._lines.append(f"  store i64 {value}, ptr %{name}, align 8")

    @property
    def held(self) -> Held:
        """The values of locals that the block knows."""
        return self._held

    # --- blocks -------------------------------------------------------------------------------------------

    def begin(self, block: str, held: Held | None = None) -> None:
        """The next block. held: what is known wherever control comes from."""
        self._lines.append(f"{block}:")
        self.block, self.is_ended = block, False
        self._held = {} if held is None else {**held}

    def branch(self, block: str) -> None:
        """The end of a block: this one follows."""
        self._end(f"br label %{block}")

    def decide(self, condition: str, chosen: str, other: str) -> Held:
        """The end of a block: one of these follows. What this one knows."""
        self._end(f"br i1 {condition}, label %{chosen}, label %{other}")
        return self._held

    def give(self, value: str) -> None:
        """The end of the function."""
        self._end(f"ret i64 {value}")

    def _end(self, text: str) -> None:
        self._lines.append(f"  {text}")
        self.is_ended = True

    def __str__(self) -> str:
        """All of it behind the label of its first block."""
        return "\n".join([*self._frame, "  br label %entry.0", *self._lines]).lstrip()
