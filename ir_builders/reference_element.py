"""One element of the reference loops: loaded, scaled, added and stored, on CPUs and GPUs alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llvmlite import ir

from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.reference_loops import ReferenceLoops

from .llvmlite_extensions import external
from .values import F32, F64, I1, I8, I64, Int, at, i64, mul

FUSES = ("contract",)  # as C compilers do unless told otherwise
REALS = {32: F32, 64: F64}
PLAIN = {1: I8, 2: ir.IntType(16), 4: ir.IntType(32), 8: I64}
Value = tuple[ir.Value, ...]  # the real, or real and imaginary part
Access = Callable[[ir.Instruction], ir.Instruction]


class Element:
    """The body of the innermost loop.

    pointers: to both tensors by their names, `a` and `b`; alpha, beta: () where the nest has none; access: is told of
    every load and store.
    """

    def __init__(
        self,
        module: ir.Module,
        b: ir.IRBuilder,
        nest: ReferenceLoops,
        pointers: Mapping[str, ir.Value],
        alpha: Value,
        beta: Value,
        access: Access = lambda instruction: instruction,
    ) -> None:
        self.module, self.b, self.nest, self.pointers = module, b, nest, pointers
        self.alpha, self.beta, self.access = alpha, beta, access

    def write(self, from_a: Int, to_b: Int) -> None:
        """The element at these offsets, in elements, of A and of B."""
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
        return at(self.b, self.pointers[side], mul(self.b, offset, t.itemsize))

    def _move(self, source: ir.Value, sink: ir.Value) -> None:
        size = self.nest.a.itemsize
        if size in PLAIN:
            value = self.access(self.b.load(source, typ=PLAIN[size], align=size))
            self.access(self.b.store(value, sink, align=size))
            return
        kind, space = sink.type, sink.type.addrspace
        copy = external(self.module, f"llvm.memcpy.p{space}.p{space}.i64", ir.VoidType(), [kind, kind, I64, I1])
        self.access(self.b.call(copy, [sink, source, i64(size), ir.Constant(I1, 0)]))

    def _load(self, side: str, t: DType, offset: Int) -> Value:
        return tuple(
            self.access(self.b.load(part, typ=REALS[t.real_bits], align=t.real_bits // 8))
            for part in self._parts(side, t, offset)
        )

    def _store(self, value: Value, t: DType, offset: Int) -> None:
        kind = REALS[t.real_bits]
        narrow = t.real_bits < self.nest.compute.real_bits
        for part, pointer in zip(value, self._parts("b", t, offset), strict=True):
            rounded = self.b.fptrunc(part, kind) if narrow else part
            self.access(self.b.store(rounded, pointer, align=t.real_bits // 8))

    def _parts(self, side: str, t: DType, offset: Int) -> Value:
        first = self._address(side, t, offset)
        return (first, at(self.b, first, t.real_bits // 8)) if t.kind is Kind.COMPLEX else (first,)

    def _widened(self, value: Value, t: DType) -> Value:
        wide = self.nest.compute
        return tuple(self.b.fpext(x, REALS[64]) for x in value) if t.real_bits < wide.real_bits else value

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
