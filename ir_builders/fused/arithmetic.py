"""Arithmetic on registers of a micro-kernel: sums of products become elements of alpha A B + beta C."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lowering.micro_kernel import MicroKernel

from ..llvmlite_extensions import external, reference, shuffle, suffix, vector_type, written
from ..values import F32, F64, I32, I64, at
from ..vector_loads import load

# Pairs of real numbers in memory, for even and for odd lanes: factors of the sums of a column, of those of its
# imaginary part with lanes swapped; of C; and where alpha or beta are complex, of both sums and of C the other way.
SUM, CROSSED, OLD, SUM_SWAPPED, STRAIGHT, OLD_SWAPPED = range(6)
PAIRS = 6
_ONES = {32: (I32, 0x3F800000), 64: (I64, 0x3FF0000000000000)}  # the bits of one


def vector(kernel: MicroKernel) -> ir.VectorType:
    """The type of a register."""
    return vector_type(F32 if kernel.dtype.real_bits == 32 else F64, kernel.lanes)


class Arithmetic:
    """Operations in one function. scalars: the address of its factors, see `SUM`."""

    def __init__(self, module: ir.Module, b: ir.IRBuilder, kernel: MicroKernel, scalars: ir.Value) -> None:
        self._module, self._b, self._kernel, self._scalars = module, b, kernel, scalars
        self._kind = vector(kernel)

    def factor(self, number: int) -> ir.Value:
        """One pair of factors, in all lanes."""
        size = self._kernel.dtype.real_bits // 8
        pair = vector_type(self._kind.element, 2)
        lanes = [lane % 2 for lane in range(self._kernel.lanes)]
        return shuffle(self._b, load(self._b, at(self._b, self._scalars, 2 * size * number), pair, size), None, lanes)

    def is_one(self, number: int) -> ir.Value:
        """True where both factors of a pair are one: by their bits, as all registers of real numbers hold sums."""
        b, (kind, one), size = self._b, _ONES[self._kernel.dtype.real_bits], self._kernel.dtype.real_bits // 8
        first, second = (load(b, at(b, self._scalars, size * (2 * number + k)), kind, size) for k in range(2))
        return b.and_(b.icmp_signed("==", first, kind(one)), b.icmp_signed("==", second, kind(one)))

    def swapped(self, x: ir.Value) -> ir.Value:
        """Each two lanes the other way round."""
        return shuffle(self._b, x, None, [lane ^ 1 for lane in range(self._kernel.lanes)])

    def times(self, x: ir.Value, y: ir.Value) -> ir.Value:
        """x y."""
        return written(self._b, self._kind, f"fmul {self._kind} {reference(x)}, {reference(y)}")

    def plus(self, x: ir.Value, y: ir.Value, name: str = "") -> ir.Value:
        """x + y."""
        return written(self._b, self._kind, f"fadd {self._kind} {reference(x)}, {reference(y)}", name)

    def added(self, x: ir.Value, y: ir.Value, z: ir.Value, name: str = "") -> ir.Value:
        """x y + z."""
        kind, b = self._kind, self._b
        if not self._kernel.fused:
            return self.plus(z, self.times(x, y), name)
        f = reference(external(self._module, f"llvm.fma.{suffix(kind)}", kind, [kind] * 3))
        given = ", ".join([f"{kind} {reference(value)}" for value in (x, y, z)])
        return written(b, kind, f"call {kind} {f}({given})", name)
