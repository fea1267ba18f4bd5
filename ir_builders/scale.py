"""Arithmetic on registers: conjugation, alpha and beta. No contraction: every operation rounds by itself.

A complex factor that equals 1 (1 - 0j does, too) does not multiply: 1 * inf + 0j would be inf + nanj. A mask takes the
imaginary part's products away, and the real one's are exact, so that one body serves all factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, field
from ttc_llvm.lowering.operands import Op
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.kinds import Alpha, Beta

from .carriers import carrier_type, parts_per_element, units
from .llvmlite_extensions import bitcast, shuffle
from .values import F32, F64, at, operated, splat

_PARTS = {32: F32, 64: F64}


def _parts_type(t: DType, count: int) -> ir.VectorType:
    return ir.VectorType(_PARTS[t.real_bits], count * parts_per_element(t))


def _count(value: ir.Value, t: DType) -> int:
    return int(value.type.count) // units(t.itemsize)


def _to_parts(b: ir.IRBuilder, value: ir.Value, t: DType) -> ir.Value:
    return bitcast(b, value, _parts_type(t, _count(value, t)))


@dataclass(frozen=True, slots=True)
class Scalars:
    """alpha and beta, loaded once per function: their parts in the compute type, empty where not needed.

    vectors: the factors of `_times`, made once per number of lanes in the function's entry block.
    """

    compute: DType
    alpha: tuple[ir.Value, ...]
    beta: tuple[ir.Value, ...]
    vectors: dict[tuple[bool, int], tuple[ir.Value, ...]] = field(default_factory=dict)

    def factors(self, b: ir.IRBuilder, of_beta: bool, lanes: int) -> tuple[ir.Value, ...]:
        """alpha (or beta) as vectors: (s, s, ...), and for complex types also (i, -i, i, -i, ...) and integers:
        0 where the factor is 1."""
        key = (of_beta, lanes)
        if key not in self.vectors:
            real, *imaginary = self.beta if of_beta else self.alpha
            with b.goto_entry_block():
                vectors = [splat(b, real, lanes)]
                for part in imaginary:
                    vectors += [_alternating(b, part, lanes), splat(b, _multiplies(b, real, part), lanes)]
            self.vectors[key] = tuple(vectors)
        return self.vectors[key]


def load_scalars(b: ir.IRBuilder, pointer: ir.Value, op: Op) -> Scalars:
    """Read the scalars an operation needs in the compute type: alpha's parts, beta's, then the alphas of further terms.
    """
    parts = parts_per_element(op.compute)
    wanted = {"alpha": op.alpha is Alpha.ANY, "beta": op.beta is Beta.ANY}
    slots = {"alpha": op.term + 1 if op.term else 0, "beta": 1}
    loaded: dict[str, tuple[ir.Value, ...]] = {}
    for name, needed in wanted.items():
        loaded[name] = tuple(
            _load_part(b, pointer, op.compute, slots[name] * parts + part, f"{name}{part}")
            for part in range(parts if needed else 0)
        )
    return Scalars(op.compute, loaded["alpha"], loaded["beta"])


def _load_part(b: ir.IRBuilder, pointer: ir.Value, t: DType, slot: int, name: str) -> ir.Value:
    part = _PARTS[t.real_bits]
    size = t.real_bits // 8
    return b.load(at(b, pointer, slot * size), typ=part, align=size, name=name)


@dataclass(frozen=True, slots=True)
class Scaled:
    """Elements that are added, and their operation."""

    op: Op
    scalars: Scalars
    value: ir.Value


def apply(
    b: ir.IRBuilder, op: Op, scalars: Scalars, a: ir.Value | None, old: ir.Value | None, count: int,
    further: Sequence[Scaled] = (),
) -> ir.Value:  # fmt: skip
    """alpha * A + ... + beta * B in the compute type, as a carrier, from left to right. a, old: carriers of the compute
    type, None if unread; further: what is added to A's."""
    carrier = carrier_type(op.compute, count)
    read = [] if a is None else [Scaled(op, scalars, a), *further]
    if old is None and len(read) == 1 and op.alpha is Alpha.ONE:
        return _read(b, read[0])
    terms = [_term(b, one) for one in read]
    if old is not None:
        terms.append(_to_parts(b, old, op.compute) if op.beta is Beta.ONE else _times(b, old, scalars, True))
    if not terms:
        return ir.Constant(carrier, None)
    total = reduce(partial(operated, b, "fadd"), terms)
    return bitcast(b, total, carrier)


def _read(b: ir.IRBuilder, one: Scaled) -> ir.Value:
    return _conjugate(b, one.value, one.op.compute) if one.op.conjugate else one.value


def _term(b: ir.IRBuilder, one: Scaled) -> ir.Value:
    x = _read(b, one)
    return _to_parts(b, x, one.op.compute) if one.op.alpha is Alpha.ONE else _times(b, x, one.scalars, False)


def _conjugate(b: ir.IRBuilder, value: ir.Value, t: DType) -> ir.Value:
    parts = _to_parts(b, value, t)
    signs = ir.VectorType(ir.IntType(t.real_bits), parts.type.count)
    flip = ir.Constant(signs, [0, 1 << (t.real_bits - 1)] * (parts.type.count // 2))
    return bitcast(b, b.xor(bitcast(b, parts, signs), flip), value.type)


def _times(b: ir.IRBuilder, value: ir.Value, scalars: Scalars, by_beta: bool) -> ir.Value:
    parts = _to_parts(b, value, scalars.compute)
    lanes = int(parts.type.count)
    real, *imaginary = scalars.factors(b, by_beta, lanes)
    product = operated(b, "fmul", parts, real)
    if not imaginary:
        return product
    crossed, mask = imaginary
    swapped = shuffle(b, parts, None, [lane ^ 1 for lane in range(lanes)])
    # Compared here, not in the entry block, so that AVX-512 has the subtraction masked and nothing to select.
    multiplies = b.icmp_unsigned("!=", mask, ir.Constant(mask.type, None))
    kept = b.select(multiplies, operated(b, "fmul", swapped, crossed), ir.Constant(parts.type, None))
    return operated(b, "fsub", product, kept)  # x - 0 is x, also where x is -0


def _alternating(b: ir.IRBuilder, scalar: ir.Value, lanes: int) -> ir.Value:
    """(s, -s, s, -s, ...): x.re*ar - x.im*ai and x.im*ar + x.re*ai in one pattern; a + b is a - (-b) exactly."""
    pair = splat(b, scalar, lanes)
    negative = b.fneg(pair)
    return shuffle(b, pair, negative, [lane + (lanes if lane % 2 else 0) for lane in range(lanes)])


def _multiplies(b: ir.IRBuilder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    """-1, or 0 where the complex number is 1, so that it does not multiply."""
    other_real, other_imaginary = (
        b.fcmp_unordered("!=", part, ir.Constant(part.type, of_one)) for part, of_one in ((real, 1.0), (imaginary, 0.0))
    )
    return b.sext(b.or_(other_real, other_imaginary), ir.IntType(64 if real.type == F64 else 32))
