"""The suites: pure functions from nothing, or a number of threads, to cases. Sizes are about 200 MiB a tensor."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isqrt

from ..errors import OptionError
from ..lazy_dataclasses import replace
from ..problem.dtypes import dtype, parse_pair
from ..problem.problem import Problem
from .cases import KINDS, Case, as_kind, enlarged
from .cast_cases import casts
from .in_place_cases import in_place
from .sum_cases import sums
from .ttc57 import SHAPES, TEN, in_type

TENSOR = 200 << 20  # bytes
LARGE, LARGE_BYTES = "ttc57-1g", 1 << 30
RAGGED = (-1, 1, 7)
SMALL = (2, 3, 4, 5, 6, 7, 8, 12)
NARROW, TALL = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 30, 32, 35, 40), 300_000
BIT_RANKS = (20, 22, 24, 26)
DTYPES = ("s", "d", "c", "z", "sd", "ds", "cz", "zc", "i8", "i16", "i32", "i64", "f16", "bf16")
THREADED = range(0, 57, 5)


def ttc57(threads: int) -> Iterator[Case]:
    """The 57 transpositions of the papers."""
    for number, (perm, size) in enumerate(SHAPES):
        yield Case("ttc57", f"{number:02d}", Problem(perm, size))


def ragged(threads: int) -> Iterator[Case]:
    """Each of the 57 with its stride-1 extents, A's and B's, a little off."""
    for number, (perm, size) in enumerate(SHAPES):
        for off in RAGGED:
            extents = tuple(e + off if k in (0, perm[0]) else e for k, e in enumerate(size))
            yield Case("ragged", f"{number:02d}{off:+d}", Problem(perm, extents))


def pow2(threads: int) -> Iterator[Case]:
    """Powers of two, whose rows share cache sets, and their neighbours."""
    shapes: dict[tuple[int, ...], Sequence[tuple[int, ...]]] = {
        (4096, 4096): ((1, 0),),
        (8192, 8192): ((1, 0),),
        (16384, 4096): ((1, 0),),
        (4096, 16384): ((1, 0),),
        (512, 512, 512): ((2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)),
        (256, 512, 1024): ((2, 1, 0), (1, 0, 2), (0, 2, 1), (1, 2, 0)),
        (64, 64, 128, 128): ((3, 2, 1, 0), (0, 3, 2, 1), (1, 3, 0, 2)),
    }
    for size, perms in shapes.items():
        for perm in perms:
            for off in (0, 1, 16):
                extents = tuple(e + off for e in size)
                yield Case("pow2", f"{_digits(perm)}-{_by(size)}{f'+{off}' if off else ''}", Problem(perm, extents))


def small_dims(threads: int) -> Iterator[Case]:
    """Innermost extents below a vector or a line, ranks of extents 2, images, attention layouts."""
    shapes = (*_inner(), *_bits(), *_images(), *_attention())
    return (Case("small-dims", name, problem) for name, problem in shapes)


def _inner() -> Iterator[tuple[str, Problem]]:
    elements = TENSOR // 4
    for n in SMALL:
        long = elements // n // 16 * 16
        side = isqrt(elements // n) // 8 * 8
        yield f"{n}-columns", Problem((1, 0), (n, long))
        yield f"columns-{n}", Problem((1, 0), (long, n))
        yield f"{n}-rows", Problem((0, 2, 1), (n, side, side))
        yield f"{n}-both-ends", Problem((2, 1, 0), (n, elements // n // n, n))


def _bits() -> Iterator[tuple[str, Problem]]:
    for rank in BIT_RANKS:
        identity = tuple(range(rank))
        yield f"bits{rank}-reversed", Problem(identity[::-1], (2,) * rank)
        yield f"bits{rank}-butterfly", Problem((rank - 1, *identity[1:-1], 0), (2,) * rank)
        yield f"bits{rank}-pairs", Problem(tuple(k ^ 1 for k in identity), (2,) * rank)
        for seed in range(2):
            shuffled = list(identity)
            random.Random(100 * rank + seed).shuffle(shuffled)
            yield f"bits{rank}-random{seed}", Problem(tuple(shuffled), (2,) * rank)


def _images() -> Iterator[tuple[str, Problem]]:
    for letter, name in (("s", "f32"), ("i8", "u8")):
        for c in (3, 4):
            pixels = TENSOR // dtype(letter).itemsize // c
            side, batch = isqrt(pixels), pixels // 224**2
            yield f"hwc{c}-chw-{name}", Problem((1, 2, 0), (c, side, side), letter)
            yield f"chw-hwc{c}-{name}", Problem((2, 0, 1), (side, side, c), letter)
            yield f"nhwc{c}-nchw-{name}", Problem((1, 2, 0, 3), (c, 224, 224, batch), letter)
            yield f"nchw-nhwc{c}-{name}", Problem((2, 0, 1, 3), (224, 224, c, batch), letter)


def _attention() -> Iterator[tuple[str, Problem]]:
    heads, sequence = 32, 2048
    for letter in ("s", "bf16"):
        for depth in (64, 128):
            batch = TENSOR // dtype(letter).itemsize // (depth * heads * sequence)
            name = f"{letter}-d{depth}"
            yield f"bshd-bhsd-{name}", Problem((0, 2, 1, 3), (depth, heads, sequence, batch), letter)
            yield f"bhsd-bshd-{name}", Problem((0, 2, 1, 3), (depth, sequence, heads, batch), letter)


def hot(threads: int) -> Iterator[Case]:
    """8 KiB to 1 MiB a tensor, in the caches, one thread, time per call."""
    shapes: Sequence[tuple[tuple[int, ...], tuple[int, ...], str]] = (
        ((1, 0), (48, 48), "s"), ((1, 0), (64, 64), "s"), ((1, 0), (67, 61), "s"), ((1, 0), (128, 128), "s"),
        ((1, 0), (200, 200), "s"), ((1, 0), (256, 256), "s"), ((1, 0), (500, 500), "s"), ((1, 0), (32, 4096), "s"),
        ((1, 0), (4096, 32), "s"), ((0, 2, 1), (16, 16, 16), "s"), ((0, 2, 1), (64, 48, 48), "s"),
        ((2, 1, 0), (33, 17, 29), "s"), ((2, 1, 0), (64, 32, 64), "s"), ((1, 2, 0), (3, 160, 160), "s"),
        ((3, 2, 1, 0), (8, 8, 8, 8), "s"), ((3, 2, 1, 0), (16, 12, 12, 16), "s"), ((2, 0, 3, 1), (16, 8, 16, 8), "s"),
        ((4, 3, 2, 1, 0), (8, 6, 6, 6, 8), "s"), (tuple(range(13))[::-1], (2,) * 13, "s"),
        ((1, 0), (64, 64), "d"), ((1, 0), (256, 256), "d"), ((1, 0), (64, 64), "z"), ((1, 0), (128, 128), "i8"),
        ((1, 0), (128, 128), "i16"), ((1, 0), (256, 256), "sd"),
    )  # fmt: skip
    for perm, size, letter in shapes:
        name = f"{_digits(perm)}-{_by(size)}" if len(perm) < 8 else f"bits{len(perm)}-reversed"
        yield Case("hot", f"{name}-{letter}", Problem(perm, size, letter), hot=True, threads=1)


def dtypes(threads: int) -> Iterator[Case]:
    """Ten of the 57 in every type and mix, the longest extent adapted to the size of an element."""
    for letter in DTYPES:
        item = max(t.itemsize for t in parse_pair(letter))
        for number in TEN:
            yield Case("dtypes", f"{number:02d}-{letter}", Problem(*in_type(number, item), letter))


def ld(threads: int) -> Iterator[Case]:
    """Sub-tensors in larger ones, on and off the vector boundary, and the packing of BLAS kernels."""
    for name, problem in (*_sub_tensors(), *_packing()):
        yield Case("ld", name, problem)
        if name.startswith("sub"):
            yield Case("ld", f"{name}-at3", problem, offset=3)


def _sub_tensors() -> Iterator[tuple[str, Problem]]:
    yield "sub-10-lda8192", Problem((1, 0), (7264, 7264), lda=(8192, 7264))
    yield "sub-10-both", Problem((1, 0), (7200, 7264), lda=(7300, 7264), ldb=(7301, 7200))
    yield "sub-021", Problem((0, 2, 1), (368, 384, 384), lda=(400, 400, 384), ldb=(384, 400, 384))
    yield "sub-210", Problem((2, 1, 0), (384, 355, 384), lda=(400, 360, 384), ldb=(400, 355, 384))
    yield "sub-210-odd", Problem((2, 1, 0), (384, 355, 384), lda=(385, 357, 384), ldb=(387, 359, 384))
    yield "sub-1032", Problem((1, 0, 3, 2), (96, 96, 75, 75), lda=(100, 96, 80, 75), ldb=(112, 96, 75, 75))
    yield "sub-3210", Problem((3, 2, 1, 0), (96, 75, 75, 96), lda=(128, 75, 75, 96), ldb=(128, 75, 75, 96))
    for run in (8, 16, 32, 64, 128):  # the first elements of rows of 256
        side = isqrt(TENSOR // 4 // run) // 8 * 8
        yield f"sub-rows{run}", Problem((0, 2, 1), (run, side, side), lda=(256, side, side))


def _packing() -> Iterator[tuple[str, Problem]]:
    """A column-major panel into slices of mr rows (perm 0,2,1), and one into slices of nr columns (1,0,2)."""
    for letter in ("s", "d"):
        item = dtype(letter).itemsize
        for mr in (6, 8, 16):
            slices, depth = 4096 // mr, TENSOR // item // 4096
            lda = (mr, slices + 4, depth)
            yield f"pack-a{mr}-{letter}", Problem((0, 2, 1), (mr, slices, depth), letter)
            yield f"pack-a{mr}-lda-{letter}", Problem((0, 2, 1), (mr, slices, depth), letter, lda=lda)
            yield f"pack-b{mr}-{letter}", Problem((1, 0, 2), (depth, mr, slices), letter)


def narrow(threads: int) -> Iterator[Case]:
    """Tall matrices of few columns to the other order, aligned and where NumPy's large arrays begin."""
    for letter, off in (("s", 4), ("d", 2)):
        for n in NARROW:
            for name, size in ((f"{n}-columns-{letter}", (n, TALL)), (f"columns-{n}-{letter}", (TALL, n))):
                yield Case("narrow", name, Problem((1, 0), size, letter))
                yield Case("narrow", f"{name}-at16", Problem((1, 0), size, letter), offset=off)


def threads(threads: int) -> Iterator[Case]:
    """A slice of the 57 on 1, 2, 4, ... and all threads."""
    counts = sorted({*(1 << k for k in range(threads.bit_length())), threads})
    for count in counts:
        for number in THREADED:
            yield Case("threads", f"{number:02d}-t{count}", Problem(*SHAPES[number]), threads=count)


def large(threads: int) -> Iterator[Case]:
    """The 57 at 1 GiB a tensor."""
    return (replace(enlarged(case, LARGE_BYTES), suite=LARGE) for case in ttc57(threads))


SUITES: dict[str, Callable[[int], Iterable[Case]]] = {
    "ttc57": ttc57,
    "ragged": ragged,
    "pow2": pow2,
    "small-dims": small_dims,
    "hot": hot,
    "dtypes": dtypes,
    "casts": casts,
    "in-place": in_place,
    "sums": sums,
    "ld": ld,
    "narrow": narrow,
    "threads": threads,
}
GPU_SUITES = {"ttc57": ttc57, LARGE: large, "small-dims": small_dims, "pow2": pow2, "dtypes": dtypes, "ragged": ragged}
"""Suites that tell anything on a GPU, those that tell most first."""


def cases(
    names: Sequence[str], kinds: Sequence[str] = KINDS, threads: int = 1, gpu: bool = False
) -> tuple[Case, ...]:
    """The cases of these suites, suite by suite and kind by kind; what is the same work within a suite appears once.

    kinds: of `copy` (beta = 0) and `update` (beta != 0); threads: the most that the suite `threads` uses; gpu: of the
    suites for GPUs. Raises OptionError for a suite or kind that does not exist.
    """
    suites = GPU_SUITES if gpu else SUITES
    for what, given, known in (("suite", names, tuple(suites)), ("kind", kinds, KINDS)):
        for name in given:
            if name not in known:
                where = " for GPUs" if gpu and known is not KINDS else ""
                raise OptionError(f"unknown {what} {name[:40]!r}: the choices{where} are {', '.join(known)}")
    found: list[Case] = []
    for name in dict.fromkeys(names):
        shapes = tuple(suites[name](threads))
        for kind in dict.fromkeys(kinds):
            found += _different(case for case in (as_kind(shape, kind) for shape in shapes) if case is not None)
    return tuple(found)


def _different(given: Iterable[Case]) -> Iterator[Case]:
    """The first of all cases that are the same canonical problem, in the same mode: f16 moves as i16 does."""
    seen = set()
    for case in given:
        work = replace(case, name="", problem=Problem((), ())), case.canonical
        if work not in seen:
            seen.add(work)
            yield case


def _digits(perm: Sequence[int]) -> str:
    return "".join(map(str, perm))


def _by(size: Sequence[int]) -> str:
    return "x".join(map(str, size))
