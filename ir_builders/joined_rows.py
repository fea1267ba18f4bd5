"""Rows of micro-tiles that are joined to whole lines (JOINED): one function serves all rows of a kind.

LLVM takes every call apart again, and machine code is as if there were none; what is built and printed is a row once.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, field

from .joined import Boundary, Destination, LineJoiner
from .llvmlite_extensions import reference, written
from .memory import Access
from .values import VOID, Int, at

Pointers = tuple[ir.Value, ir.Value]  # of a row in B, and of its slot
Kind = tuple[tuple[int, ...], bool]  # elements of each register, 0 = given, and whether runs may begin


@dataclass(slots=True)
class JoinedRows:
    """The functions of one kernel's rows, by kind."""

    module: ir.Module
    bodies: dict[Kind, ir.Function] = field(default_factory=dict)

    def call(
        self, b: ir.IRBuilder, access: Access, values: Sequence[ir.Value], counts: tuple[Int, ...], pointers: Pointers,
        begins: ir.Value | None,
    ) -> None:  # fmt: skip
        """Join a row's registers to the partial line in its slot, and keep the one behind them there. access: to such
        registers; counts: elements of each; begins: whether the row's run begins here, None where it cannot."""
        told = [count for count in counts if not isinstance(count, int)]
        given = [*pointers, *([] if begins is None else [begins]), *values, *told]
        kind = tuple(count if isinstance(count, int) else 0 for count in counts), begins is not None
        if kind not in self.bodies:
            body = self.bodies[kind] = self._function([value.type for value in given])
            row, slot, *rest = body.args
            start = rest.pop(0) if begins is not None else None
            known: list[Int] = [count or rest.pop(len(values)) for count in kind[0]]
            _fill(body, access, rest, known, (row, slot), start)
        passed = ", ".join([f"{value.type} {reference(value)}" for value in given])
        written(b, VOID, f"call void {reference(self.bodies[kind])}({passed})")

    def _function(self, given: Sequence[ir.Type]) -> ir.Function:
        name = self.module.get_unique_name(f"joined{len(self.bodies)}")
        body = ir.Function(self.module, ir.FunctionType(VOID, given), name)
        body.linkage = "internal"
        body.attributes.add("alwaysinline")
        body.attributes.add("nounwind")
        return body


def _fill(
    body: ir.Function, access: Access, values: Sequence[ir.Value], counts: Sequence[Int], pointers: Pointers,
    begins: ir.Value | None,
) -> None:  # fmt: skip
    b = ir.IRBuilder(body.append_basic_block("entry"))
    joiner, (row, slot) = LineJoiner.of(access), pointers
    boundary: Boundary | None = None
    partial = joiner.partial_line(b, slot)
    for number, (value, count) in enumerate(zip(values, counts, strict=True)):
        address = at(b, row, number * access.lanes * access.dtype.itemsize)
        if boundary is None or not joiner.whole:
            boundary = joiner.boundary(b, address, len(values))
        place = Destination(address, boundary, None if number else begins)
        partial = joiner.join(b, partial, value, place, count)
    joiner.keep(b, partial, slot)
    b.ret_void()
