"""A conversion in two passes: a transposition, and a conversion before or behind it, through memory between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compiling.compiler import plan_canonical
from ..compiling.options import Options
from ..lazy_dataclasses import replace
from ..problem import dtypes
from ..problem.canonical import Canonical
from ..problem.dtypes import DType, Kind
from ..problem.kinds import COPY, Beta
from ..runtime import kernel
from ..tuning.database.database import Database
from ..tuning.search import buffers
from ..tuning.space import peak
from ..tuning.space.peak import Ceiling
from .contender import Contender
from .workspace import Workspace, native

NAME = "two passes"
Stage = tuple[Canonical, kernel.Kernel]


def contenders(workspace: Workspace, options: Options, store: Database) -> Iterator[Contender]:
    """Both orders of the passes, each transposition planned as the case itself; none for updates, for what converts
    nothing, and where either tensor has gaps."""
    problem, canonical = workspace.case.problem, workspace.canonical
    dense = problem.elements == problem.storage("a") == problem.storage("b")
    complex_moves = Kind.COMPLEX in (problem.a.kind, problem.b.kind)
    if problem.a == problem.b or canonical.kinds.beta is Beta.ANY or workspace.case.hot or not dense or complex_moves:
        return
    between = buffers.allocate(problem.elements * canonical.widest)
    for first in (False, True):
        moves = _move(canonical, canonical.b if first else canonical.a)
        planned = plan_canonical(moves, options, (1.0, 0.0), store)
        code = planned.objects.get(str(planned.plan))
        moving = moves, kernel.cache.obtain(moves, planned.plan, workspace.target, code)
        for variant, (flat, plan) in enumerate(peak.walks(canonical, Ceiling.STREAM, workspace.target)):
            flat = replace(flat, kinds=canonical.kinds)
            converting = flat, kernel.cache.obtain(flat, plan, workspace.target)
            stages = (converting, moving) if first else (moving, converting)
            yield _both(workspace, stages, between, 2 * variant + first)


def _move(canonical: Canonical, t: DType) -> Canonical:
    item = dtypes.carrier(t.itemsize)
    return replace(canonical, a=item, b=item, kinds=COPY)


def _both(workspace: Workspace, stages: Sequence[Stage], between: buffers.Bytes, variant: int) -> Contender:
    """One stage after the other."""
    places = workspace.a.address, int(between.ctypes.data), workspace.b.address
    parts = [
        native(NAME, form, built, (places[k], places[k + 1]), workspace.scalars, workspace.threads)
        for k, (form, built) in enumerate(stages)
    ]

    def run(repeats: int, keep: object = between) -> None:
        for _ in range(repeats):
            for part in parts:
                part.run(1)

    return Contender(NAME, workspace.canonical.bytes_moved, run, variant)
