"""Is every element right? The NumPy oracle of a canonical form, in pieces, from separate real operations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Canonical, is_move
from ttc_llvm.problem.conversion import converted, values
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.kinds import Alpha, Beta

from .crew import spread

PIECE = 1 << 17  # elements compared at a time, in the caches

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Added:
    """A further term of a sum: A as it reads it, and its factor."""

    a: Array
    alpha: complex

    def part(self, at: tuple[slice, ...]) -> Added:
        """That of a box."""
        return Added(self.a[at], self.alpha)


def expected(
    canonical: Canonical, a: Array, b: Array, alpha: complex, beta: complex, further: Sequence[Added] = ()
) -> Array:
    """B as it must be after the transposition of a into b, and what is added (all with the canonical axes)."""
    kinds, compute = canonical.kinds, canonical.compute
    if is_move(kinds, canonical.a, canonical.b, canonical.conjugate):
        return a
    between, terms = canonical.between, []
    for one in (Added(a, alpha), *further) if kinds.alpha is not Alpha.ZERO else ():
        x = converted(one.a, canonical.a, between)
        x = np.conjugate(x) if canonical.conjugate else x
        terms.append(x if kinds.alpha is Alpha.ONE else _times(x, one.alpha, compute))
    if kinds.beta is Beta.ANY:
        terms.append(_times(converted(b, canonical.b, compute), beta, compute))
    with np.errstate(all="ignore"):
        total = sum(terms[1:], start=terms[0]) if terms else np.zeros(a.shape, dtypes.to_numpy(between))
    return converted(np.asarray(total), between, canonical.b)


def _times(x: Array, scalar: complex, compute: DType) -> Array:
    """x * scalar without fused multiply-add, which NumPy's complex product uses; a complex 1 does not multiply."""
    part = np.float32 if compute.real_bits == 32 else np.float64
    with np.errstate(all="ignore"):
        if compute.kind is Kind.REAL:
            return np.asarray(x * part(complex(scalar).real))
        re, im = part(complex(scalar).real), part(complex(scalar).imag)
        if re == 1 and im == 0:
            return x
        product = np.empty_like(x)
        product.real = x.real * re + x.imag * -im
        product.imag = x.imag * re + x.real * im
        return product


def mismatch(
    canonical: Canonical,
    a: Array,
    before: Array,
    after: Array,
    scalars: tuple[complex, complex],
    threads: int,
    further: Sequence[Added] = (),
) -> tuple[int, ...] | None:
    """The canonical index of a wrong element of B, or None if every one is right. before, after: B around the run."""
    steps = _piece(canonical.extents)

    def wrong(first: tuple[int, ...]) -> tuple[int, ...] | None:
        at = tuple(slice(i, i + step) for i, step in zip(first, steps, strict=True))
        added = [one.part(at) for one in further]
        wanted = _read(expected(canonical, a[at], before[at], *scalars, added), canonical.b)
        got = _read(after[at], canonical.b)
        found = ~same(wanted, got)
        if not found.any():
            return None
        return tuple(i + int(inside) for i, inside in zip(first, np.argwhere(found)[0], strict=True))

    starts = itertools.product(*(range(0, n, step) for n, step in zip(canonical.extents, steps, strict=True)))
    return min((found for found in spread(wrong, starts, threads) if found is not None), default=None)


def _piece(extents: tuple[int, ...]) -> tuple[int, ...]:
    """A box of so many elements that both sides' lines of it stay in the caches: the longest extents are halved."""
    steps = list(extents)
    while prod(steps) > PIECE:
        longest = max(range(len(steps)), key=steps.__getitem__)
        steps[longest] = -(-steps[longest] // 2)
    return tuple(max(1, step) for step in steps)


def same(wanted: Array, got: Array) -> npt.NDArray[np.bool_]:
    """The elements at which two arrays agree; all NaNs are one, plain moves are compared bit by bit."""
    if wanted.dtype.kind == "V":
        return np.asarray((_words(wanted) == _words(got)).all(axis=-1))
    equal = np.asarray(wanted == got)
    return equal if equal.all() else np.asarray(equal | ((wanted != wanted) & (got != got)))


def _read(x: Array, t: DType) -> Array:
    """What small floats are, so that all NaNs are one; everything else as it is."""
    return x if t.kind is not Kind.OPAQUE or t.format is None else values(x, t)


def _words(x: Array) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape, x.dtype.itemsize)
