"""Kernels of layouts' own: loaded by the first layout that needs one, as most programs never do.

Those of large results are kept in the solutions database with the cost model's plan: where an earlier process has
stored a layout's, LLVM and what plans are not loaded. Those of small ones are made after thousands of calls, and
storing one takes as long as making it.
"""

from __future__ import annotations

import os
from typing import Any

from .. import locks, lowering, tuning
from ..errors import PlanError
from ..ir_builders.pool_layout import SERIAL_BYTES, WAKING_BYTES
from ..logs import Log
from ..lowering.plan import CpuPlan, parse
from ..lowering.plan_checks import check
from ..problem.canonical import Canonical, Placed
from ..runtime import backend, kernel
from ..runtime.executable import Executable
from ..runtime.kept_kernels import Kept, request_for
from ..runtime.once import once
from ..runtime.stored_code import states_of
from .scalings import Scaling

_log = Log(__name__)
CACHED_BYTES = 1 << 20  # a smaller result stays in the caches: nothing is gained by storing past them
_PLANNERS = "own_plans.py", "copy_kinds.py"
_KIND, _PLAN = "kernel of a layout", "plan"  # of rows, and the name of the plan's text beside its code


def planned(placed: Placed, scale: Scaling, threads: int, effort: int) -> Executable:
    """A layout's plan, made code by its first run. threads: at most so many; effort: plans that are considered, and
    timed where they are more than one."""
    canonical = placed.canonical
    small = canonical.elements * canonical.b.itemsize < CACHED_BYTES
    useful = min(threads, max(1, canonical.bytes_moved // SERIAL_BYTES))
    if effort != 1:
        return _plans().searched(placed, scale, useful, effort, small)  # type: ignore[no-any-return]
    if canonical.bytes_moved < WAKING_BYTES:  # workers sleep, mostly, and this thread then runs the plan alone
        useful = 1
    return (_modelled if small else _kept)(placed, useful)


def _modelled(placed: Placed, threads: int) -> Executable:
    """The cost model's plan for arrays that caches hold."""
    canonical, target = placed.canonical, backend.host_target()
    plan = _plans().modelled(canonical, target, threads, _plans().SMALL)
    _log.debug("layout %s has a kernel of its own: %s", canonical, plan)
    return Executable(placed, plan, target)


def _kept(placed: Placed, threads: int) -> Executable:
    """The cost model's plan with its code, as far as either is stored."""
    canonical, target = placed.canonical, backend.host_target()
    caches = f"l1={target.l1} l2={target.l2} kept={target.kept}"
    key = str(canonical), target.key, kernel.versions(), threads, f"plans{_revision()} {caches}"
    kept = Kept(request_for(_KIND, *key))
    plan = _parsed(kept.get(_PLAN, b""), canonical)
    if plan is None:
        plan = _plans().modelled(canonical, target, threads, _plans().FREE)
        kept.put(_PLAN, str(plan).encode())
    _log.debug("layout %s has a kernel of its own: %s", canonical, plan)
    return Executable(placed, plan, target, kept)


@once
def _revision() -> str:
    """Of the plans that `own_plans.modelled` makes, and of their fallbacks, by the files that they come from, to their
    last change: a refitted model makes others."""
    folders = [os.path.join(tuning.__path__[0], name) for name in ("cost", "space")]
    found = [file for folder in (*folders, lowering.__path__[0]) for file in os.scandir(folder)]
    found += [file for file in os.scandir(os.path.dirname(__file__)) if file.name in _PLANNERS]
    return states_of(file for file in found if file.name.endswith((".py", ".npz")))


def _parsed(text: bytes, canonical: Canonical) -> CpuPlan | None:
    """A stored plan; None where there is none that this program knows."""
    try:
        return check(parse(text.decode()), canonical) if text else None
    except (PlanError, UnicodeDecodeError) as error:
        _log.warning("the stored plan of layout %s is ignored: %s", canonical, error)
        return None


def _plans() -> Any:
    """What only layouts need whose kernels are not stored."""
    return locks.imported(".own_plans", __package__)
