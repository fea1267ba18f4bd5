"""Memory for tuning: our own buffers, on huge pages where the system has them, filled with random data."""

from __future__ import annotations

import contextlib
import mmap
from math import prod

import numpy as np
import numpy.typing as npt

from ttc_llvm import locks
from ttc_llvm.errors import OutOfMemoryError
from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.problem import dtypes, sums
from ttc_llvm.problem.canonical import Axis, Canonical, static
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.formats import Float
from ttc_llvm.problem.in_place import images
from ttc_llvm.problem.orbits import cycles

from .crew import spread

HUGE = 2 << 20
LOW_BITS = 64 << 10  # bytes: a proxy keeps its strides modulo this
SPARE = 64  # bytes behind a tensor, into which it can be moved
COARSE = 256  # numbers are multiples of its inverse
FILL = 4 << 20  # bytes per random stream, so that threads fill side by side

Bytes = npt.NDArray[np.uint8]


def allocate(size: int) -> Bytes:
    """Zeroed bytes that start on a huge-page boundary, in memory mapped up to the next one; freed with the array.

    OutOfMemoryError where the system has none for them."""
    total = (-(-max(size, 1) // HUGE) + 1) * HUGE
    memory = _mapped(total)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without huge pages: ordinary ones serve
            memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.uint8)
    start = -whole.ctypes.data % HUGE
    return whole[start : start + max(size, 1)]


def _mapped(size: int) -> mmap.mmap:
    try:
        if hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        return mmap.mmap(-1, size)
    except (OSError, OverflowError, MemoryError):  # OverflowError: more bytes than a process has addresses
        raise OutOfMemoryError(f"a tensor to time plans with takes {size >> 20} MiB: there is no memory") from None


@dataclass(frozen=True, slots=True)
class Span:
    """Elements that a canonical form addresses on one side: how many, and which of them index 0 is."""

    elements: int
    origin: int


def span(canonical: Canonical, which: str) -> Span:
    """The address range of A (`"a"`), as all terms read it, or B (`"b"`), in elements."""
    walks = [(0, canonical.strides(which)), *((x.offset, x.strides) for x in canonical.terms if which == "a")]
    low, high = 0, 0
    for first, strides in walks:
        reach = [(e - 1) * static(s) for e, s in zip(canonical.extents, strides, strict=True)]
        low = min(low, first + sum(r for r in reach if r < 0))
        high = max(high, first + sum(r for r in reach if r > 0))
    return Span(high - low + 1 if 0 not in canonical.extents else 0, -low)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One side's memory: raw bytes, element type, and which element canonical index 0 is; coarse: its numbers have few
    digits, so that the order in which they are added does not matter."""

    memory: Bytes
    dtype: DType
    origin: int
    coarse: bool = False

    @property
    def address(self) -> int:
        """Address of the element at canonical index 0."""
        return int(self.memory.ctypes.data) + self.origin * self.dtype.itemsize

    def moved(self, by: int) -> Tensor:
        """The tensor so many bytes further in the same memory: what `tensor` makes has `SPARE` behind it, once."""
        return replace(self, memory=self.memory[by:])

    def fill(self, seed: int, threads: int) -> None:
        """Random data of the element type (never zeros, NaN or denormals), written by as many threads."""
        chunks = [self.memory[i : i + FILL] for i in range(0, len(self.memory), FILL)]
        spread(lambda item: _fill(item[1], self.dtype, seed + item[0], self.coarse), enumerate(chunks), threads)


def tensor(canonical: Canonical, which: str, seed: int, threads: int) -> Tensor:
    """A new, filled tensor for one side of a canonical form, with `SPARE` bytes more than it needs."""
    t = canonical.a if which == "a" else canonical.b
    extent = span(canonical, which)
    made = Tensor(allocate(extent.elements * t.itemsize + SPARE), t, extent.origin, bool(canonical.terms))
    made.fill(seed, threads)
    return made


def _fill(chunk: Bytes, t: DType, seed: int, coarse: bool) -> None:
    with locks.IMPORTS:
        from numpy import random
    rng = random.Generator(random.SFC64(seed))
    size = t.real_bits // 8
    if isinstance(t.format, Float) and t.kind is Kind.OPAQUE and len(chunk) % t.itemsize == 0:
        _between(chunk, rng.bytes(len(chunk)), t.format)
        return
    if t.kind is Kind.OPAQUE or len(chunk) % size:
        chunk[:] = np.frombuffer(rng.bytes(len(chunk)), np.uint8)
        return
    values = chunk.view(f"f{size}")
    rng.random(out=values, dtype=values.dtype.type)
    values += 0.5
    if coarse:
        np.rint(values * COARSE, out=values)
        values /= COARSE
    if t.swapped:
        values.byteswap(inplace=True)


def _between(chunk: Bytes, random: bytes, form: Float) -> None:
    """Numbers of a small format from 0.5 to 2, of either sign."""
    bits = chunk.view(f"u{form.bits // 8}")
    bits[:] = np.frombuffer(random, bits.dtype)
    bits &= bits.dtype.type(1 << form.bits - 1 | (2 << form.mantissa) - 1)
    bits |= bits.dtype.type(form.bias - 1 << form.mantissa)


def strided(t: Tensor, canonical: Canonical, which: str) -> npt.NDArray[np.generic]:
    """The tensor as a NumPy view with the canonical axes."""
    np_type = dtypes.to_numpy(t.dtype)
    flat = t.memory[: len(t.memory) // np_type.itemsize * np_type.itemsize].view(np_type)
    strides = tuple(static(s) * np_type.itemsize for s in canonical.strides(which))
    return np.lib.stride_tricks.as_strided(flat[t.origin :], canonical.extents, strides)


def further(a: Tensor, canonical: Canonical) -> list[npt.NDArray[np.generic]]:
    """A as the further terms of a sum read it, with the canonical axes."""
    places = [replace(a, origin=a.origin + term.offset) for term in canonical.terms]
    return [strided(place, sums.single(canonical, n), "a") for n, place in enumerate(places, 1)]


def footprint(canonical: Canonical) -> int:
    """Bytes of both tensors' address ranges."""
    return sum(
        span(canonical, which).elements * t.itemsize for which, t in (("a", canonical.a), ("b", canonical.b))
    )


def proxy(canonical: Canonical, limit: int) -> Canonical:
    """The same problem, small enough that both tensors take at most `limit` bytes: the longest extents are
    halved, and strides shrink with them but keep their low bits (cache sets, page offsets); those of sums stay."""
    small = canonical
    while footprint(small) > limit and prod(small.extents) > 1:
        longest = max(range(len(small.axes)), key=lambda k: small.extents[k])
        axes = list(small.axes)
        groups = _together(small, longest)
        for k in next(group for group in groups if longest in group):
            axes[k] = replace(axes[k], extent=-(-small.extents[k] // 2))
        kept = tuple(axes) if canonical.terms else _closed_up(canonical, tuple(axes))
        small = replace(canonical, axes=kept)
    return small


def _together(form: Canonical, longest: int) -> tuple[tuple[int, ...], ...]:
    """Axes that keep one extent: the longest, and in place or in a sum all that take each other's places."""
    if form.in_place:
        return cycles(images(form.axes) or ())
    group = sums.group(form) if form.terms else ()
    return sums.orbits(group) if group else ((longest,),)


def _closed_up(canonical: Canonical, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    a = _strides(canonical, axes, "a", canonical.a.itemsize)
    b = _strides(canonical, axes, "b", canonical.b.itemsize)
    return tuple(Axis(axis.extent, sa, sb) for axis, sa, sb in zip(axes, a, b, strict=True))


def _strides(canonical: Canonical, axes: tuple[Axis, ...], which: str, itemsize: int) -> list[int]:
    old = [static(s) for s in canonical.strides(which)]
    period = LOW_BITS // itemsize
    new = list(old)
    reach = 1
    for k in sorted(range(len(old)), key=lambda k: abs(old[k])):
        size = abs(old[k])
        if size > reach and size >= period:
            size = min(size, reach + (size - reach) % period)
        new[k] = size if old[k] > 0 else -size
        reach += (static(axes[k].extent) - 1) * size
    return new
