"""The place of a node in the loop nest: what travels down the tree while it becomes IR."""

from __future__ import annotations

from dataclasses import dataclass, replace

from llvmlite import ir

from ttc_llvm.lowering.nodes import Loop, Micro
from ttc_llvm.lowering.operands import Space

from .ahead import Step
from .values import Int, add, i64


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a node: a pointer per space, the interval length per axis (and what it is in a whole tile,
    0 = known at run time only), the loops around it."""

    pointers: dict[Space, ir.Value]
    lengths: tuple[Int, ...]
    nominal: tuple[int, ...]
    trail: tuple[Step, ...] = ()

    def ends(self, node: Micro) -> tuple[ir.Value, ir.Value]:
        """The pointers at which a micro-tile reads and writes."""
        return self.pointers[node.source.space], self.pointers[node.target.space]

    def position(self, b: ir.IRBuilder, axis: int) -> Int:
        """The element at which the interval of an axis begins. A loop that makes a single step leaves no trail."""
        found: Int = 0
        for step in self.trail:
            if step.axis == axis:
                found = add(b, found, step.counter)
        return found

    def tiled(self, axis: int, step: int) -> Box:
        """The same box, whose axis now is at most one step long."""
        return replace(self, nominal=(*self.nominal[:axis], step, *self.nominal[axis + 1 :]))

    def deeper(self, outer: Box, node: Loop, counter: Int, early: Int = 0) -> Box:
        """This box inside one more loop, which walks its axis' interval of the outer one."""
        k = node.axis
        step = Step(k, i64(counter), outer.lengths[k], node.step, -(-outer.nominal[k] // node.step), early)
        return replace(self.tiled(k, node.step), trail=(*outer.trail, step))
