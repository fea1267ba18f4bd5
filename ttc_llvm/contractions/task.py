"""Contractions as tasks of the one search loop: plans are ranked by the machine's speeds, or timed beside a product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain

from ..compiling.options import Options
from ..compiling.task import Candidates
from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..problem import wording
from ..problem.contraction import Contraction
from ..runtime.kernel import Objects
from .bench import Bench
from .blocks import Runs
from .kept import SEARCHED
from .merged import Form, merge
from .plans import Applied, Plan, check, parse
from .predicting import ranked
from .search import execution, versions

CEILING = "a plain product"


@dataclass(frozen=True)
class ContractionTask:
    """A contraction to be planned for this machine (`task.Task`). emitted: by plans that objects can hold alone."""

    stated: Contraction
    asked: Options
    emitted: bool = False

    @cached_property
    def canonical(self) -> Form:
        """Its form."""
        return Form(self.stated, merge(self.stated))

    @property
    def kind(self) -> str:
        """Contractions, or those of objects."""
        return f"emitted {SEARCHED}" if self.emitted else SEARCHED

    @property
    def versions(self) -> str:
        """The version of plans, and which BLAS runs products."""
        return versions()

    @property
    def extra(self) -> str:
        """The contraction as it was asked for."""
        return json.dumps({wording.ASKED: wording.contraction_fields(self.stated)})

    def ceiling(self, place: str) -> str:
        """The name of what results are compared with."""
        return CEILING

    def parsed(self, text: str) -> Plan:
        """The plan of this text; PlanError where it does not fit."""
        return check(parse(text), self.canonical.merged).plan

    def ranked(self) -> list[tuple[float, Applied]]:
        """All plans, those with blocks too, by the seconds that this machine's speeds predict."""
        return ranked(self.canonical, self.asked.threads, self.emitted)

    def execution(self, plan: Plan, threads: int | None) -> Runs:
        """The execution of a plan. threads: of its copies, None = those of `set_num_threads` at each call. PlanError
        where the plan does not fit."""
        return execution(self.canonical, plan, self.asked.threads, threads)

    def modelled(self) -> Plan:
        """The plan that is predicted to be the fastest."""
        return self.ranked()[0][1].plan

    def candidates(self, timed: Form, hints: Iterator[Plan]) -> Candidates[Plan]:
        """Hints, then all plans by what is predicted."""
        return Candidates(chain(hints, (x.plan for _, x in self.ranked())), lambda _: (), lambda _: None)

    def bench(self) -> AbstractContextManager[Bench]:
        """This machine."""
        threads = self.asked.threads
        return nullcontext(Bench(self.canonical, threads, partial(self.execution, threads=threads)))

    def code(self, plan: Plan, built: Runs | None = None) -> Objects:
        """No code: BLAS has it, and copies are kernels for arrays of any extents, which are stored as such."""
        return {}

    def fallback_code(self, plan: Plan) -> Objects:
        """No code."""
        return {}
