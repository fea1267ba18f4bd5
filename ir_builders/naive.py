"""The naive loop nest as LLVM IR, with what `omp simd` says of its innermost loop: LLVM's own vectorisers do the rest.

It has the ABI of every kernel. A task is one iteration of the outermost loops, as many of them as make TASKS; those
stand for `omp parallel for collapse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from math import prod

from llvmlite import ir

from ttc_llvm.dtypes import DType, Kind
from ttc_llvm.naive import Index, Naive
from ttc_llvm.target import Target

from .memory import intrinsic
from .module import ARGUMENTS, KERNEL_TYPE, new_module
from .seam import Vectorised
from .values import F32, F64, I1, I8, I64, PTR, Int, add, at, counted, i64, mul

TASKS = 1024
FUSES = ("contract",)  # as C compilers do unless told otherwise
_REALS = {32: F32, 64: F64}
_PLAIN = {1: I8, 2: ir.IntType(16), 4: ir.IntType(32), 8: I64}
Value = tuple[ir.Value, ...]  # the real, or real and imaginary part


def grid(nest: Naive) -> tuple[Index, ...]:
    """The outermost loops that threads share; the only one where there is one."""
    outer = nest.loops[:-1] or nest.loops
    fused = next((k for k in range(1, len(outer)) if prod(loop.extent for loop in outer[:k]) >= TASKS), len(outer))
    return outer[:fused]


def tasks(nest: Naive) -> int:
    """Size of the task grid."""
    return prod(loop.extent for loop in grid(nest))


def build(nest: Naive, target: Target, name: str = "kernel") -> ir.Module:
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
        self, module: ir.Module, b: ir.IRBuilder, nest: Naive, arguments: dict[str, ir.Argument]
    ) -> None:
        self.module, self.b, self.nest, self.arguments = module, b, nest, arguments
        self.simd = Vectorised(module)
        plain = nest.compute.kind is not Kind.OPAQUE or nest.a.itemsize in _PLAIN
        self.mark = self.simd.loop if plain else None  # LLVM warns where it can vectorise nothing
        self.alpha, self.beta = self._scalar(0, nest.scales), self._scalar(1, nest.reads_b)

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
                self._element(*offsets)

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

    # --- one element ---

    def _element(self, from_a: Int, to_b: Int) -> None:
        nest = self.nest
        if nest.compute.kind is Kind.OPAQUE:
            self._move(self._address("a", nest.a, from_a), self._address("b", nest.b, to_b))
            return
        value = self._widened(self._load("a", nest.a, from_a), nest.a)
        if nest.conjugate:
            value = (value[0], self.b.fneg(value[1]))
        if nest.scales:
            value = self._times(self.alpha, value)
        if nest.reads_b:
            old = self._times(self.beta, self._widened(self._load("b", nest.b, to_b), nest.b))
            value = tuple(self.b.fadd(x, y, flags=FUSES) for x, y in zip(value, old, strict=True))
        self._store(value, nest.b, to_b)

    def _address(self, side: str, t: DType, offset: Int) -> ir.Value:
        return at(self.b, self.arguments[side], mul(self.b, offset, t.itemsize))

    def _move(self, source: ir.Value, sink: ir.Value) -> None:
        size = self.nest.a.itemsize
        if size in _PLAIN:
            value = self.simd.access(self.b.load(source, typ=_PLAIN[size], align=size))
            self.simd.access(self.b.store(value, sink, align=size))
            return
        copy = intrinsic(self.module, "llvm.memcpy.p0.p0.i64", ir.VoidType(), [PTR, PTR, I64, I1])
        self.simd.access(self.b.call(copy, [sink, source, i64(size), ir.Constant(I1, 0)]))

    def _load(self, side: str, t: DType, offset: Int) -> Value:
        return tuple(
            self.simd.access(self.b.load(part, typ=_REALS[t.real_bits], align=t.real_bits // 8))
            for part in self._parts(side, t, offset)
        )

    def _store(self, value: Value, t: DType, offset: Int) -> None:
        kind = _REALS[t.real_bits]
        narrow = t.real_bits < self.nest.compute.real_bits
        for part, pointer in zip(value, self._parts("b", t, offset), strict=True):
            rounded = self.b.fptrunc(part, kind) if narrow else part
            self.simd.access(self.b.store(rounded, pointer, align=t.real_bits // 8))

    def _parts(self, side: str, t: DType, offset: Int) -> Value:
        first = self._address(side, t, offset)
        return (first, at(self.b, first, t.real_bits // 8)) if t.kind is Kind.COMPLEX else (first,)

    def _widened(self, value: Value, t: DType) -> Value:
        wide = self.nest.compute
        return tuple(self.b.fpext(x, _REALS[64]) for x in value) if t.real_bits < wide.real_bits else value

    def _times(self, scalar: Value, value: Value) -> Value:
        b = self.b
        if len(value) == 1:
            return (b.fmul(scalar[0], value[0], flags=FUSES),)
        (p, q), (x, y) = scalar, value
        products = [b.fmul(s, v, flags=FUSES) for s, v in ((p, x), (q, y), (p, y), (q, x))]
        return (
            b.fsub(products[0], products[1], flags=FUSES),
            b.fadd(products[2], products[3], flags=FUSES),
        )

    def _scalar(self, number: int, wanted: bool) -> Value:
        t = self.nest.compute
        if not wanted or t.kind is Kind.OPAQUE:
            return ()
        size, count = t.real_bits // 8, 2 if t.kind is Kind.COMPLEX else 1
        pointers = (at(self.b, self.arguments["scalars"], (number * count + part) * size) for part in range(count))
        return tuple(self.b.load(pointer, typ=_REALS[t.real_bits], align=size) for pointer in pointers)
