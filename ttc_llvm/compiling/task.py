"""The arguments of `solve`: a task, and the bench on which its plans are timed. CPUs and GPUs differ by these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol

from ..lazy_dataclasses import dataclass
from ..runtime.kernel import Objects
from ..tuning.search.leaderboard import K, P, Subject
from ..tuning.search.search import Diverse, Limits, Outcome
from ..tuning.search.speed import Sampler
from .options import Asked
from .stored_plans import Circumstances


class Form(Protocol):
    """A problem as plans see it; str() is its part of every key."""

    @property
    def elements(self) -> int:
        """Elements of the result."""

    @property
    def bytes_moved(self) -> int:
        """Bytes that a run reads and writes at least."""


class Bench(Subject[P, K], Protocol[P, K]):
    """The subject of a search, with its tensors. canonical: the form that is timed."""

    canonical: Any

    @property
    def circumstances(self) -> Circumstances:
        """The device, what a run moves, and whether it is a smaller stand-in's."""

    @property
    def alone(self) -> Callable[[K], float] | None:
        """The function that times a run on one thread; None where only runs on all threads count."""

    def samplers(self) -> Sequence[Sampler]:
        """Runs of the same bytes without a permutation, by several methods; none where that cannot be measured."""

    def waited(self) -> float:
        """Seconds that the threads that take part have waited for a CPU so far."""

    def decided(self, outcome: Outcome[P, K], limits: Limits) -> Outcome[P, K]:
        """The outcome, whose winner has what a search does not decide."""


@dataclass(frozen=True, slots=True)
class Candidates(Generic[P]):
    """The plans of a search: offered in this order, what to try after a fast one, and diversity seeds."""

    offered: Iterable[P]
    more: Callable[[P], Iterable[P]]
    diverse: Diverse[P]


class Task(Protocol[P, K]):
    """A form to be planned for a machine."""

    @property
    def canonical(self) -> Form:
        """The form."""

    @property
    def kind(self) -> str:
        """The kind of problem, in rows of the database."""

    @property
    def asked(self) -> Asked:
        """The options of the search."""

    @property
    def versions(self) -> str:
        """The versions that its code depends on."""

    @property
    def extra(self) -> str:
        """Further facts of a row of the database: a JSON object."""

    def ceiling(self, place: str) -> str:
        """The name of what results are compared with. place: of the bench."""

    def parsed(self, text: str) -> P:
        """The plan of this text; PlanError where it does not fit."""

    def modelled(self) -> P:
        """The cost model's first choice."""

    def candidates(self, timed: Any, hints: Iterator[P]) -> Candidates[P]:
        """The plans that a search tries, hints first. timed: the form that is, which plans have to fit, too."""

    def bench(self) -> AbstractContextManager[Bench[P, K]]:
        """The place where plans are timed; TtcError, in a sentence, where they cannot be."""

    def code(self, plan: P, built: K | None = None) -> Objects:
        """The code of a plan, compiled unless it is built; none where this machine neither runs nor keeps it."""

    def fallback_code(self, plan: P) -> Objects:
        """The code of the fallback plans for the usual addresses of arrays."""
