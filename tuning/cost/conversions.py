"""The cost of conversions: vector operations, counted in machine code for AVX-512, of one register of the widest type
that a number has on its way. Loads that extend integers, and stores that cut them off, are counted with these."""

from __future__ import annotations

from functools import lru_cache

from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.dtypes import DType
from ttc_llvm.problem.formats import DOUBLE, FLOATS, SINGLE, Format, Integer

SWAP = 1  # the bytes of every number
WIDENED = {"f16": 9, "bf16": 3, "e4m3fn": 10, "e5m2": 11}  # to single precision
ROUNDED = {"f16": 12, "bf16": 7, "e4m3fn": 10, "e5m2": 12}  # from it
BY_HALF = {**WIDENED, "f16": 1, "e4m3fn": 7, "e5m2": 2}, {**ROUNDED, "f16": 1}  # where the machine converts f16
TO_ODD = 10  # double precision in single, before it is rounded further
FROM_INTEGER, TO_INTEGER, TO_WIDE_INTEGER = 2, 6, 4  # the second: of fewer than 32 bits
CLAMPED = 2  # where a type saturates


def conversion(canonical: Canonical, target: Target) -> int:
    """Vector operations of a register on its way from A to B, arithmetic left out; 0 where nothing is converted."""
    if canonical.a == canonical.b and canonical.between == canonical.a:
        return 0
    return sum(_step(*pair, target.half) for pair in passed(canonical))


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
