"""A cache line to be prefetched, and where it is counted from."""

from __future__ import annotations

from collections.abc import Iterable

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.layout import RegisterLayout
from ttc_llvm.lowering.operands import View

from ..llvmlite_extensions import freeze
from ..memory import prefetch
from ..micro_tile import MicroTile, Sizes
from ..peeled import Continuation, Continues
from ..values import I64, Int, beyond, mul
from ..vector_loads import load
from .odometer import Move


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a base, an offset in bytes (to be added to one that is read from a table), and the cache level to which
    the line is brought."""

    base: ir.Value
    offset: Int
    level: int
    entry: ir.Value | None = None

    def emit(self, module: ir.Module, b: ir.IRBuilder) -> None:
        """The prefetch itself; the table is read here, so that few addresses are live at a time."""
        base = self.base if self.entry is None else beyond(b, self.base, load(b, self.entry, I64, 8))
        prefetch(module, b, beyond(b, base, self.offset), self.level)


@dataclass(frozen=True, slots=True)
class Reader:
    """A tensor that a micro-tile reads: pointer, view and registers there; peeling: of a peeled micro-tile."""

    module: ir.Module
    b: ir.IRBuilder
    tile: MicroTile
    sizes: Sizes
    peeling: Continues | None
    pointer: ir.Value
    view: View
    layout: RegisterLayout

    @property
    def registers(self) -> Iterable[tuple[int, ...]]:
        """The first element of every register there."""
        return (register.start for register in self.layout.registers)

    def step(self, axis: int) -> Int:
        """Bytes from an element to the next along an axis."""
        return mul(self.b, self.sizes(self.view.strides[axis]), self.view.dtype.itemsize)

    def origin(self, offset: Int, moves: tuple[Move, ...], peeling: Continues | None) -> Origin:
        """The place of a later micro-tile, so many bytes and moves away."""
        base = freeze(self.b, beyond(self.b, self.pointer, offset))
        return Origin(base, None if peeling is None else peeling.continuation(self.b, base, moves))


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of a later micro-tile; continuation: of a peeled one, in the next row of B."""

    base: ir.Value
    continuation: Continuation | None

    def of(self, b: ir.IRBuilder, index: Int) -> ir.Value:
        """The base from which elements with this index along axis 0 are addressed."""
        return self.base if self.continuation is None else self.continuation.base(b, self.base, index)
