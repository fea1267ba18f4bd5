"""A line that memory is asked for in advance, and the side of a micro-tile that will read it."""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from ttc_llvm.lowering.layout import Register, Side
from ttc_llvm.lowering.operands import View

from .memory import prefetch
from .values import I64, Int, beyond


@dataclass(frozen=True, slots=True)
class Request:
    """One line: a base, a byte offset (to be added to one that is read from a table), and the cache level that the
    line should come to."""

    base: ir.Value
    offset: Int
    level: int
    entry: ir.Value | None = None

    def emit(self, module: ir.Module, b: ir.IRBuilder) -> None:
        """The prefetch itself; the table is read here, so that few addresses are live at a time."""
        base = self.base if self.entry is None else beyond(b, self.base, b.load(self.entry, typ=I64, align=8))
        prefetch(module, b, beyond(b, base, self.offset), self.level)


@dataclass(frozen=True, slots=True)
class Read:
    """One side of a micro-tile that is read: where it lies now, and its registers."""

    pointer: ir.Value
    view: View
    side: Side

    def rows(self, run: tuple[int, ...]) -> dict[tuple[int, ...], list[Register]]:
        """The registers by the row that they are part of, rows along these axes, as they come; rows are named by
        their first elements."""
        found: dict[tuple[int, ...], list[Register]] = {}
        for register in self.side.registers:
            found.setdefault(tuple(0 if k in run else i for k, i in enumerate(register.start)), []).append(register)
        return found
