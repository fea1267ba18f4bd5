"""The search for a plan of a contraction, and runs of plans that no earlier process has prepared."""

from __future__ import annotations

from ..compiling import solve as loop
from ..compiling.options import Options, checked
from ..compiling.trial import Mode
from ..problem.contraction import Contraction
from ..tuning.database.database import Database
from ..tuning.search.progress import Report
from .blocks import Runs
from .plans import Plan
from .solution import ContractionSolution
from .task import ContractionTask


def solve(
    stated: Contraction, asked: Options, store: Database, progress: Report | None, emitted: bool = False
) -> ContractionSolution:
    """`ttc_llvm.compile` for contractions, its options checked. emitted: by plans that objects can hold alone."""
    found = loop.solve(ContractionTask(stated, asked, emitted), store, progress)
    return ContractionSolution(stated, found.plan, asked.threads, found.measurement)


def execution(stated: Contraction, plan: Plan, threads: int) -> Runs:
    """A run of a plan on so many threads."""
    return ContractionTask(stated, checked(1, threads, mode=Mode.HOT)).execution(plan, threads)
