"""The speeds of this machine for products and copies: measured once, and kept in the solutions database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
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
from ..tuning.database.records import Record, Request
from ..tuning.search.speed import DRIFT
from . import blas
from .execution import Execution
from .merged import merge
from .rates import LAYOUTS, Rates, Speed, from_text, to_text
from .space import plans

KIND = "speeds"  # of rows in the database
REVISION = "speeds1"  # raised when what is measured, or its text, changes
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE")
LARGE = 256  # extent at which a matrix product is near its best speed, with all of it in the caches
SMALL = 16  # and one at which what an extent costs shows
TINY = 4
MOST = 4.0 * SMALL  # of a half: what is beyond is a disturbance
WIDE = 2048  # of a result that is larger than the caches next to a core
ROWS = 1024  # of a result whose rows lie apart, 64 times 16 elements each
ROUNDS = 3
REPEATS = 64  # tiny products in one call


@once
def measured(dtype: str, threads: int) -> Rates:
    """The rates of a data type with so many threads of ours: from the solutions database, or measured, in some 100 ms,
    and stored. What was measured while the machine was busy is measured again by later processes, twice at most."""
    request = Request(f"products of {dtype}", backend.host_target().key, threads, "hot-ab", _settings(), REVISION, KIND)
    store = open_database(None)
    record = store.find(request, 1).record
    if record is not None and not record.is_due:
        with suppress(PlanError):
            return from_text(record.plan)
    before = _steady(dtype)
    found = _measured(dtype)
    drift = _steady(dtype) / before
    again = 0 if 1 / DRIFT < drift < DRIFT else 1 + (record.provisional if record is not None else 0)
    store.store(Record(request, 1, to_text(found), seconds=before, provisional=again))
    return found


def _settings() -> str:
    """What the speed of BLAS depends on beside the machine: which it is, and the threads that it may start."""
    found = blas.scipy_blas()
    given = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    return " ".join([("numpy", "scipy")[found is not None], f"cpus={cpu_count()}", *given])


def _steady(dtype: str) -> float:
    """Seconds of a product that tells whether the machine is as fast as before."""
    return _product(dtype, LAYOUTS["N", "N"], (LARGE,) * 3)


def _measured(dtype: str) -> Rates:
    tiny = _product(dtype, LAYOUTS["N", "N"], (TINY,) * 3)
    many = _product(dtype, "lik,lkj->lij", (TINY,) * 3)
    speeds = {kind: _speed(dtype, spec, tiny) for kind, spec in LAYOUTS.items()}
    wide = WIDE, WIDE, SMALL
    size = dtypes.dtype(dtype).itemsize * WIDE**2
    beyond = _product(dtype, LAYOUTS["N", "N"], wide) - speeds["N", "N"].seconds(wide)
    thin = ROWS, SMALL, SMALL
    visits = _product(dtype, "lik,lkj->ilj", thin) - _product(dtype, "lik,lkj->lij", thin)
    start = _copy(dtype, TINY)
    small, large = (2 * dtypes.dtype(dtype).itemsize * n * n / (_copy(dtype, n)) for n in (LARGE, WIDE))
    call, visited = max(many - tiny, 0.0) / REPEATS, max(visits, 0.0) / (ROWS * REPEATS)
    return Rates(speeds, call, max(0.0, beyond / size), visited, (small, large), start)


def _speed(dtype: str, spec: str, tiny: float) -> Speed:
    best = LARGE**3 / _product(dtype, spec, (LARGE,) * 3)
    halves = []
    for position in range(3):
        sizes = [LARGE] * 3
        sizes[position] = SMALL
        seconds = _product(dtype, spec, (sizes[0], sizes[1], sizes[2]))
        half = SMALL * (best * max(seconds - tiny, 1e-9) / (SMALL * LARGE**2) - 1)
        halves.append(min(max(half, 0.0), MOST))
    share = 1.0
    for half in halves:
        share *= LARGE / (LARGE + half)
    return Speed(best / share, (halves[0], halves[1], halves[2]))


def _product(dtype: str, spec: str, sizes: tuple[int, int, int]) -> float:
    """Seconds of one product of m x k by k x n."""
    extents = dict(zip("ijkl", (*sizes, REPEATS), strict=True))
    contraction = Contraction(spec, {index: extents[index] for index in extents if index in spec}, dtype)
    execution = Execution(contraction, next(plans(merge(contraction))))
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
    run()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return max(min(found), 1e-9)
