"""The speeds of this machine for products and copies: measured once, and kept in the solutions database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from math import prod
from operator import le
from typing import Any

import numpy as np

from ..arrays import assignment
from ..arrays.pairs import PLAIN
from ..errors import PlanError
from ..problem import dtypes
from ..problem.contraction import Contraction
from ..runtime import backend, runtime
from ..runtime.once import once
from ..runtime.pool import cpu_count
from ..tuning.database.opened import open_database
from ..tuning.database.records import RETIMED, Record, Request
from ..tuning.search.speed import DRIFT
from . import blas
from .execution import Execution
from .merged import merge
from .rates import CUTS, LAYOUTS, LONG, MILLION, SHORT, Grid, Rates, Sizes, Speed, from_text, to_text
from .space import plans
from .splitting import COLUMNS, DEPTH, GAIN, NO_GAINS, ROWS, Gains

KIND = "speeds"  # of rows in the database, whose objects are named by how often the machine was busy
REVISION = "speeds10"  # raised when what is measured, or its text, changes
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE")
TINY, THIN, EDGE = 4, 16, 256
TALL, WAIST = 1536, 64  # extents of a product that is cut
WIDE = 2048  # of a result that is larger than the caches next to a core
FLAT, DEEP, APART = 12, 120, 480  # extents of short products
VISITED = 48 << 20  # bytes that they come to together
ROUNDS, ENOUGH = 3, 2e-2  # runs of each, and the seconds after which there are no more
TRIALS, STRANGE = 3, 4  # a speed so many times below another is measured again: threads of BLAS have waited
REPEATS, LEAST_REPEATS, FEW = 64, 4, 400_000  # products in one call, of so many multiplications together


@once
def measured(dtype: str, threads: int) -> Rates:
    """The rates of a data type with so many threads of ours: from the solutions database, or measured, in a second,
    and stored. What was measured while the machine was busy is measured again by later processes, twice at most."""
    how = f"{REVISION} {settings()}"
    request = Request(f"speeds of products of {dtype}", backend.host_target().key, threads, "hot-ab", "", how, KIND)
    store = open_database(None)
    busy = 0
    for name, text in store.native(request, how):
        with suppress(PlanError, ValueError):
            busy = int(name)
            if not 0 < busy <= RETIMED:
                return from_text(text.decode())
    before = _steady(dtype)
    found = _measured(dtype)
    again = 0 if 1 / DRIFT < _steady(dtype) / before < DRIFT else busy + 1
    store.keep_native(Record(request, 1, how, objects=((str(again), to_text(found).encode()),)))
    return found


def settings() -> str:
    """The conditions of BLAS's speed beside the machine: which it is, and the threads that it may start."""
    found = blas.scipy_blas()
    given = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    return " ".join([("numpy", "scipy")[found is not None], f"cpus={cpu_count()}", *given])


def _steady(dtype: str) -> float:
    """Seconds of a product that tells whether the machine is as fast as before."""
    return _product(dtype, LAYOUTS["N", "N"], (EDGE,) * 3)


def _measured(dtype: str) -> Rates:
    tiny = _product(dtype, LAYOUTS["N", "N"], (TINY,) * 3)
    many = _product(dtype, "lik,lkj->lij", (TINY,) * 3)
    speeds = {kind: _speed(dtype, spec, tiny) for kind, spec in LAYOUTS.items()}
    itemsize, short = dtypes.dtype(dtype).itemsize, speeds["N", "N"]
    near = _product(dtype, LAYOUTS["N", "N"], (EDGE, EDGE, THIN)) - tiny  # the same products in the caches
    long = _product(dtype, LAYOUTS["N", "N"], (WIDE, WIDE, THIN)) - near * (WIDE // EDGE) ** 2
    together, apart = _visits(dtype, short, (APART, FLAT, FLAT), APART * FLAT, "lik,lkj->lij", "lik,lkj->ilj")
    read = _visits(dtype, speeds["N", "T"], (DEEP, FLAT, DEEP), DEEP**2, "lki,lkj->lij", "kli,lkj->lij")
    written = max(0.0, together - read[0]), max(0.0, long / (WIDE**2 * itemsize))  # as much is read there
    start = _copy(dtype, TINY)
    small, large = (2 * itemsize * n * n / (_copy(dtype, n) - start / 2) for n in (EDGE, WIDE))
    return Rates(
        speeds, max(many - tiny, 0.0) / REPEATS, written, max(apart - together, 0.0), read, (small, large), start,
        {key: _gain(dtype, *key) for key in CUTS},
    )  # fmt: skip


def _visits(dtype: str, speed: Speed, sizes: Sizes, moved: int, *specs: str) -> tuple[float, float]:
    """Seconds that short products take more, by each byte of `moved` elements that they bring from memory, where these
    lie in one way and in another."""
    itemsize = dtypes.dtype(dtype).itemsize
    visits, near = VISITED // (moved * itemsize), speed.seconds(sizes)
    one, other = (_product(dtype, spec, sizes, repeats=visits) / visits - near for spec in specs)
    return max(one, 0.0) / (moved * itemsize), max(other, 0.0) / (moved * itemsize)


def _gain(dtype: str, left: str, right: str, side: str) -> float:
    """Times as fast as one long product its parts are."""
    sizes = {COLUMNS: (TALL, WAIST, WAIST), ROWS: (WAIST, TALL, WAIST), DEPTH: (WAIST, WAIST, TALL)}[side]
    whole, parts = (
        _product(dtype, LAYOUTS[left, right], sizes, {(left, right, side): gain}) for gain in (0.0, 2 * GAIN)
    )
    return whole / parts


def _speed(dtype: str, spec: str, tiny: float) -> Speed:
    return Speed(*(_speeds(dtype, spec, grid, tiny) for grid in (SHORT, LONG)))


def _speeds(dtype: str, spec: str, grid: Grid, tiny: float) -> dict[Sizes, float]:
    """The speeds of the corners, by ascending extents: one far below those of smaller products is measured again."""
    found: dict[Sizes, float] = {}
    for sizes in grid.corners:
        smaller = [speed for known, speed in found.items() if all(map(le, known, sizes))]
        for _ in range(TRIALS):
            found[sizes] = max(found.get(sizes, 0.0), _corner(dtype, spec, sizes, tiny))
            if found[sizes] > max(smaller, default=0.0) / STRANGE:
                break
    return found


def _corner(dtype: str, spec: str, sizes: Sizes, tiny: float) -> float:
    """Multiplications a second; many small products are run in one call, which then counts for little."""
    work = prod(sizes)
    if work > MILLION:
        return work / max(_product(dtype, spec, sizes) - tiny, 1e-9)
    repeats = min(max(FEW // work, LEAST_REPEATS), REPEATS)
    return work * repeats / max(_product(dtype, _many(spec), sizes, repeats=repeats) - tiny, 1e-9)


def _many(spec: str) -> str:
    """The same product of many matrices each."""
    a, _, rest = spec.partition(",")
    b, _, c = rest.partition("->")
    return f"l{a},l{b}->l{c}"


def _product(
    dtype: str, spec: str, sizes: tuple[int, int, int], gains: Gains = NO_GAINS, repeats: int = REPEATS
) -> float:
    """Seconds of a product of m x k by k x n, or of so many."""
    extents = dict(zip("ijkl", (*sizes, repeats), strict=True))
    contraction = Contraction(spec, {index: extents[index] for index in extents if index in spec}, dtype)
    execution = Execution(contraction, next(plans(merge(contraction))), gains=gains)
    kind = dtypes.to_numpy(contraction.element)
    a, b, c = (np.ones(contraction.shape(name), kind) for name in "abc")
    return _least(lambda: execution.run(a, b, c))


def _copy(dtype: str, extent: int) -> float:
    """Seconds of the transposition of a square matrix."""
    x = np.ones((extent, extent), dtypes.to_numpy(dtypes.dtype(dtype)))
    y = np.ones_like(x)
    threads = runtime.num_threads()
    return _least(lambda: assignment.engine().assign(x.T, y, PLAIN, threads, 1, fresh=True))


def _least(run: Callable[[], Any]) -> float:
    """Seconds of the fastest of some runs, after one that brings memory and code; long ones are few."""
    run()
    found: list[float] = []
    while len(found) < ROUNDS and sum(found) < ENOUGH:
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return max(min(found), 1e-9)
