"""The reference loops as LLVM IR, with the metadata of `omp simd` for the innermost loop and LLVM's own vectorisers.

It has the ABI of every kernel. A task is one iteration of the outermost loops, as many of them as make TASKS; those
stand for `omp parallel for collapse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from math import prod

from llvmlite import ir

from ttc_llvm.machine.target import Target
from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.reference_loops import Index, ReferenceLoops

from .attributes import new_module
from .module import ARGUMENTS
from .reference_element import PLAIN, REALS, Element, Value
from .simd_loop import SimdLoop
from .values import KERNEL_TYPE, Int, add, at, counted, i64, mul

TASKS = 1024


def grid(nest: ReferenceLoops) -> tuple[Index, ...]:
    """The outermost loops that threads share; the only one where there is one."""
    outer = nest.loops[:-1] or nest.loops
    fused = next((k for k in range(1, len(outer)) if prod(loop.extent for loop in outer[:k]) >= TASKS), len(outer))
    return outer[:fused]


def tasks(nest: ReferenceLoops) -> int:
    """Size of the task grid."""
    return prod(loop.extent for loop in grid(nest))


def build(nest: ReferenceLoops, target: Target, name: str = "kernel") -> ir.Module:
    """A module with the nest's kernel. Deterministic: equal input, equal text."""
    module = new_module(target)
    kernel = ir.Function(module, KERNEL_TYPE, name)
    kernel.attributes.add("nounwind")
    arguments = dict(zip(ARGUMENTS, kernel.args, strict=True))
    for label, argument in arguments.items():
        argument.name = label
    for label in ("a", "b"):
        arguments[label].add_attribute("noalias")
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    _Body(module, b, nest, arguments).write()
    b.ret_void()
    return module


class _Body:
    def __init__(
        self, module: ir.Module, b: ir.IRBuilder, nest: ReferenceLoops, arguments: dict[str, ir.Argument]
    ) -> None:
        self.b, self.nest, self.arguments = b, nest, arguments
        simd = SimdLoop(module)
        plain = nest.compute.kind is not Kind.OPAQUE or nest.a.itemsize in PLAIN
        self.mark = simd.loop if plain else None  # LLVM warns where it can vectorise nothing
        alpha, beta = self._scalar(0, nest.scales), self._scalar(1, nest.reads_b)
        self.element = Element(module, b, nest, arguments, alpha, beta, simd.access)

    def write(self) -> None:
        """The task loop, the loops inside a task, and one element. The last loop, which may be the task loop itself, is
        the one to be vectorised."""
        b, arguments = self.b, self.arguments
        shared, last = grid(self.nest), self.nest.loops[-1]
        mark = self.mark if last in shared else None
        with counted(b, arguments["end"], 1, "task", first=arguments["begin"], mark=mark) as task:
            offsets = self._split(shared, task)
            with ExitStack() as stack:
                for loop in self.nest.loops[len(shared) :]:
                    mark = self.mark if loop is last else None
                    index = stack.enter_context(counted(b, loop.extent, 1, f"i{loop.number}", mark=mark))
                    offsets = self._moved(offsets, loop, index)
                self.element.write(*offsets)

    def _split(self, shared: Sequence[Index], task: ir.Value) -> tuple[Int, Int]:
        """Offsets in A and B of a task: its number, digit by digit, the innermost shared loop first."""
        b, rest = self.b, task
        offsets: tuple[Int, Int] = (0, 0)
        for loop in reversed(shared):
            index = rest
            if loop is not shared[0]:
                rest = b.udiv(index, i64(loop.extent))
                index = b.sub(index, b.mul(rest, i64(loop.extent)))
            offsets = self._moved(offsets, loop, index)
        return offsets

    def _moved(self, offsets: tuple[Int, Int], loop: Index, index: ir.Value) -> tuple[Int, Int]:
        b = self.b
        steps = (loop.stride_a, loop.stride_b)
        a, into = (add(b, offset, mul(b, index, step)) for offset, step in zip(offsets, steps, strict=True))
        return a, into

    def _scalar(self, number: int, wanted: bool) -> Value:
        t = self.nest.compute
        if not wanted or t.kind is Kind.OPAQUE:
            return ()
        size, count = t.real_bits // 8, 2 if t.kind is Kind.COMPLEX else 1
        pointers = (at(self.b, self.arguments["scalars"], (number * count + part) * size) for part in range(count))
        return tuple(self.b.load(pointer, typ=REALS[t.real_bits], align=size) for pointer in pointers)
