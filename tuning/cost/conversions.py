"""The cost of conversions: vector operations, counted in machine code for AVX-512, of one register of the widest type
that a number has on its way. Loads that extend integers, and stores that cut them off, are counted with these."""

from __future__ import annotations

from functools import lru_cache

from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.formats import DOUBLE, FLOATS, SINGLE, Float, Format, Integer

from ..space.blocks import unit_axes

SWAP = 1  # the bytes of every number
WIDENED = {"f16": 9, "bf16": 3, "e4m3fn": 10, "e5m2": 11}  # to single precision
ROUNDED = {"f16": 12, "bf16": 7, "e4m3fn": 10, "e5m2": 12}  # from it
BY_HALF = {**WIDENED, "f16": 1, "e4m3fn": 7, "e5m2": 2}, {**ROUNDED, "f16": 1}  # where the machine converts f16
TO_ODD = 10  # double precision in single, before it is rounded further
FROM_INTEGER, TO_INTEGER, TO_WIDE_INTEGER = 2, 6, 4  # the second: of fewer than 32 bits
CLAMPED = 2  # where a type saturates
# log(time) of micro-tiles in which columns become 8-bit floats, longer than what follows. On a Zen 5, of 57 problems
# drawn at random whose first choice this changed, plans became 1.17 times as fast: 1.18 times from f32 to
# `float8_e4m3fn`, 1.24 times to `float8_e5m2`; bytes that are integers, bfloat16 and doubles gained nothing.
LONG = 0.4
WHOLE, PARTS, ALONG_A = 32, 16, 16  # elements along B where rows begin on boundaries and elsewhere, and along A


def conversion(canonical: Canonical, target: Target) -> int:
    """Vector operations of a register on its way from A to B, arithmetic left out; 0 where nothing is converted."""
    if canonical.a == canonical.b and canonical.between == canonical.a:
        return 0
    return sum(_step(*pair, target.half) for pair in passed(canonical))


def rounds_to_bytes(canonical: Canonical) -> bool:
    """True where numbers of two or four bytes become 8-bit floats."""
    return canonical.b.itemsize == 1 and canonical.a.itemsize in (2, 4) and isinstance(canonical.b.format, Float)


def is_long(canonical: Canonical, block: tuple[int, ...], aligned: bool) -> bool:
    """True for micro-tiles in which columns are slowly rounded to bytes. aligned: B's rows begin on boundaries."""
    is_row = block[0] == canonical.extents[0] <= WHOLE
    return block[unit_axes(canonical)[0]] > ALONG_A or (block[0] > (WHOLE if aligned else PARTS) and not is_row)


def passed(canonical: Canonical) -> tuple[tuple[DType, DType], ...]:
    """The conversions that a number goes through: by way of the type of the arithmetic, if there is any."""
    steps = (canonical.a, canonical.between), (canonical.between, canonical.b)
    return tuple((of, to) for of, to in steps if of != to)


@lru_cache(maxsize=256)
def _step(of: DType, to: DType, half: bool) -> int:
    found = SWAP * of.swapped + CLAMPED * to.saturates
    source, target = of.format, to.format
    if source is None or target is None or source == target:
        return found
    if isinstance(source, Integer):
        return found + FROM_INTEGER + (0 if isinstance(target, Integer) else _from_real(target, SINGLE, half))
    wide = source if source in (SINGLE, DOUBLE) else SINGLE
    found += 0 if source == wide else _small(BY_HALF[0] if half else WIDENED, source)
    if isinstance(target, Integer):
        return found + (TO_WIDE_INTEGER if target.bits >= 32 else TO_INTEGER)
    return found + _from_real(target, wide, half)


def _from_real(to: Format, wide: Format, half: bool) -> int:
    """Of a number in single or double precision."""
    if to in (SINGLE, DOUBLE):
        return int(to != wide)
    return _small(BY_HALF[1] if half else ROUNDED, to) + (TO_ODD if wide == DOUBLE else 0)


def _small(counts: dict[str, int], form: Format) -> int:
    return counts[next(name for name, known in FLOATS.items() if known == form)]
