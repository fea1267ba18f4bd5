"""Extensions of llvmlite.ir: instructions as text, shuffles with undefined lanes, freeze, scalable vectors, visibility,
and attributes of functions that it does not know. Metadata of loops: `simd_loop.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from llvmlite import ir
from llvmlite.ir import values as llvmlite_values


def _complete_escapes() -> None:
    """llvmlite fills its table of escaped characters at first use, where a second thread reads it half filled, and a
    Ctrl-C leaves it so for good. Here it is filled at once."""
    escape, table = llvmlite_values._escape_string, dict[int, str]()
    escape(b"", table)
    (shared,) = escape.__defaults__ or ()
    shared.update(table)


_complete_escapes()


def shuffle(
    b: ir.IRBuilder, left: ir.Value, right: ir.Value | None, mask: Sequence[int | None], name: str = ""
) -> ir.Value:
    """shufflevector; right None = unused; None in the mask = undefined lane."""
    kind = left.type
    second = "undef" if right is None else reference(right)
    text = f"shufflevector {kind} {reference(left)}, {kind} {second}, {_mask(tuple(mask))}"
    return written(b, vector_type(kind.element, len(mask)), text, name)


@lru_cache(maxsize=1024)
def _mask(lanes: tuple[int | None, ...]) -> str:
    text = ", ".join(["i32 poison" if lane is None else f"i32 {lane}" for lane in lanes])
    return f"<{len(lanes)} x i32> <{text}>"


@lru_cache(maxsize=256)
def vector_type(element: ir.Type, lanes: int) -> ir.VectorType:
    """A vector type; types are shared, for each keeps its text."""
    return ir.VectorType(element, lanes)


class _ScalableVector(ir.VectorType):
    """`<vscale x n x element>`: n elements in one unit of the machine's register length."""

    def _to_string(self) -> str:
        return f"<vscale x {self.count} x {self.element}>"

    def wrap_constant_value(self, values: object) -> object:
        """Constants of a length that is not known are not spelled lane by lane."""
        return values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ScalableVector) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@lru_cache(maxsize=64)
def scalable_type(element: ir.Type, count: int) -> ir.VectorType:
    """A vector that is a multiple of so many elements long."""
    return _ScalableVector(element, count)


def suffix(vector: ir.VectorType) -> str:
    """A vector type in an intrinsic's name."""
    lane = str(vector.element)
    scalable = "nx" if isinstance(vector, _ScalableVector) else ""
    return f"{scalable}v{vector.count}{_LANES.get(lane, lane)}"


_LANES = {"float": "f32", "double": "f64"}


def external(module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type] = ()) -> ir.Function:
    """The declaration of an intrinsic, or of a function of another object, made once per module."""
    known = module.globals.get(name)
    return known if isinstance(known, ir.Function) else ir.Function(module, ir.FunctionType(result, arguments), name)


def undefined(vector: ir.VectorType) -> ir.Constant:
    """Any value of a scalable type."""
    return ir.Constant(vector, ir.Undefined)


def attribute(function: ir.Function, text: str) -> None:
    """Give a function an attribute as LLVM's text form spells it; llvmlite refuses those that it does not know."""
    set.add(function.attributes, text)


def visible(function: ir.Function, how: str) -> None:
    """Give an external function a visibility: "protected", ELF's, exported, and no other takes its place inside a
    library; or "hidden", which is not exported.

    LLVM's text has the visibility behind the linkage, of which an external function has none.
    """
    assert not function.linkage
    function.linkage = how


def encoded(module: ir.Module, signature: ir.FunctionType, name: str, code: bytes) -> ir.Function:
    """An internal function of these machine instructions, the return included: LLVM has no instruction for them, and
    llvmlite an assembler for this machine only."""
    function = ir.Function(module, signature, name)
    function.linkage = "internal"
    for word in ("naked", "noinline", "nounwind", "optnone"):
        function.attributes.add(word)
    text = "".join(f"\\{byte:02x}" for byte in code)
    attribute(function, f'prologue [{len(code)} x i8] c"{text}"')  # sorts after all other words, as it has to
    ir.IRBuilder(function.append_basic_block("entry")).unreachable()
    return function


def written_body(function: ir.Function, text: str) -> None:
    """Give a function a body in LLVM's text form: all that follows the label of its first block."""
    block = function.append_basic_block("frame.0")
    block.instructions.append(text)  # type: ignore[arg-type]  # only printed


def spent(module: ir.Module) -> str:
    """The text of a module that nobody needs any more: a block's instructions become one text each. They and their
    blocks refer to each other, and the garbage collector would take as long to find them all as they take to print."""
    for block in (block for function in module.functions for block in function.blocks):
        block.instructions[:] = ["\n  ".join(map(str, block.instructions))]  # type: ignore[list-item]  # only printed
    return str(module)


class _PrefixedScope:
    """The names of a module as llvmlite keeps them; new ones get a prefix, but for LLVM's and those of metadata."""

    def __init__(self, known: Any, prefix: str) -> None:
        self._known, self._prefix = known, prefix

    def is_used(self, name: str) -> bool:
        """True where a value has that name after the prefix."""
        return bool(self._known.is_used(self._prefixed(name)))

    def register(self, name: str, deduplicate: bool = False) -> str:
        """The name under which a new value goes."""
        return str(self._known.register(self._prefixed(name), deduplicate))

    def deduplicate(self, name: str) -> str:
        """A name that is not taken, without its prefix."""
        found = str(self._known.deduplicate(self._prefixed(name)))
        return found.removeprefix(self._prefix)

    def _prefixed(self, name: str) -> str:
        return name if name.startswith("llvm.") or name.isdigit() else self._prefix + name


@contextmanager
def prefixed(module: ir.Module, prefix: str) -> Iterator[None]:
    """Names of everything that is added to the module meanwhile get this prefix."""
    scope = module.scope
    module.scope = _PrefixedScope(scope, prefix)
    try:
        yield
    finally:
        module.scope = scope


def freeze(b: ir.IRBuilder, value: ir.Value, name: str = "") -> ir.Value:
    """The same value, whose origin later passes do not look into."""
    return written(b, value.type, f"freeze {value.type} {reference(value)}", name)


def bitcast(b: ir.IRBuilder, value: ir.Value, kind: ir.Type) -> ir.Value:
    """The same bits as another type."""
    own = value.type
    return value if own is kind or own == kind else written(b, kind, f"bitcast {own} {reference(value)} to {kind}")


class _Written(ir.Instruction):
    """Text alone, operands and metadata in it. It takes a tenth of the time of llvmlite's own instructions, whose
    constructor is left out for that, as is the search for a name where none is given: the next number is free."""

    def __init__(self, parent: ir.Block, kind: ir.Type, text: str, name: str) -> None:
        self.parent, self.type = parent, kind
        if name:
            self._set_name(name)  # type: ignore[attr-defined]  # of every value that has a name
        else:
            numbers: dict[str, int] = parent.scope._basenamemap
            numbers[""] = number = numbers[""] + 1
            self._name = f".{number}"
        self._reference = f'%"{self._name}"'
        self._text = text if isinstance(kind, ir.VoidType) else f"{self._reference} = {text}"

    def __str__(self) -> str:
        return self._text

    def get_reference(self) -> str:
        """The name in text."""
        return self._reference

    def __repr__(self) -> str:
        return f"<written {self}>"


def written(b: ir.IRBuilder, kind: ir.Type, text: str, name: str = "") -> ir.Value:
    """An instruction in LLVM's text form; kind: the type of its result, as far as others look at it. What there are
    hundreds of in a kernel is written so."""
    builder: Any = b
    block = builder._block
    instruction = _Written(block, kind, text, name)
    block.instructions.insert(builder._anchor, instruction)  # as `_insert`, which looks for debug information besides
    builder._anchor += 1
    return instruction


def met(b: ir.IRBuilder, kind: ir.Type, incoming: Sequence[tuple[str, ir.Block]], name: str = "") -> ir.Value:
    """The value of the block that control comes from, a phi: by the names of values, which may be made later."""
    ways = ", ".join([f"[{value}, {reference(block)}]" for value, block in incoming])
    return written(b, kind, f"phi {kind} {ways}", name)


def reference(value: ir.Value) -> str:
    """The name of a value in text."""
    return str(value.get_reference())  # type: ignore[attr-defined]  # every value that has a name has it
