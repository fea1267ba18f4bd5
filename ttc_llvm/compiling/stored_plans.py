"""Plans and rows of the solutions database: what is asked for, what a row answers, what is stored of a search."""

from __future__ import annotations

from typing import Generic, TypeVar

from .. import locks
from ..lazy_dataclasses import dataclass, field
from ..lowering.plan import CpuPlan, Plan
from ..lowering.plan_text import modern
from ..machine.target import Target
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..runtime import kernel
from ..runtime.kept_kernels import Kept
from ..tuning.database.opened import open_database as open_database
from ..tuning.database.packing import Objects
from ..tuning.database.records import Record
from ..tuning.measurement import GIB, Measurement

P = TypeVar("P")  # a hashable plan, whose str() is its text
PROXY = "proxy"  # a note of the database: timed on a stand-in; the bytes that it moves follow


@dataclass(frozen=True, slots=True)
class Planned(Generic[P]):
    """The plan of a canonical form. measurement: None where nothing was timed; objects: its object code, if known, and
    that of its fallbacks."""

    plan: P
    measurement: Measurement | None = None
    objects: kernel.Objects = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances of a search: the device ("" = this machine), and the bytes that a run moves, of a smaller
    stand-in or of the problem itself."""

    place: str
    bytes_moved: int
    proxy: bool = False

    @classmethod
    def of(cls, note: str, bytes_moved: int) -> Circumstances:
        """As the note of a row tells it. bytes_moved: of the problem."""
        word, _, rest = note.partition(" ")
        count, _, place = rest.partition(" ")
        if word == PROXY and count.isdecimal():
            return cls(place, int(count), proxy=True)
        return cls(note, bytes_moved)

    @property
    def note(self) -> str:
        """Its text in a row."""
        return " ".join(filter(None, (f"{PROXY} {self.bytes_moved}" if self.proxy else "", self.place)))

    def measured(self, row: Record, seconds: float, ceiling: str) -> Measurement:
        """The measurement that a row tells of, which took so many seconds. ceiling: its name."""
        timings = tuple((modern(one.plan), one.seconds) for one in row.timings)
        return Measurement(
            seconds, self.bytes_moved / seconds / GIB, row.ceiling_gibs, ceiling, timings, self.proxy,
            timed=row.timed, provisional=row.provisional,
        )  # fmt: skip


def asked_for(problem: Problem | None) -> str:
    """The problem as its caller stated it, for a row of the database, in JSON."""
    if problem is None:
        return "{}"
    wording = locks.imported("..problem.wording", __package__)
    return str(locks.imported("json").dumps({wording.ASKED: wording.asked_fields(problem)}))


def with_code(kept: Kept, canonical: str, plan: Plan, target: str, versions: str) -> Kept:
    """Code that was kept of a plan, and where there is none, the code that the user's database has, whatever asked for
    it, in whichever words. It is kept for later processes, which need not look further."""
    name = str(plan)
    if name not in kept:
        found = open_database(None).code(canonical, target, lambda text: modern(text) == name, versions)
        for key, made in by_plan(plan, found).items():
            kept.put(key, made)
    return kept


def modelled(canonical: Canonical, target: Target, threads: int) -> CpuPlan:
    """The cost model's plan, where none is stored: the model takes as long to load as most solutions to be used."""
    model = locks.imported("..tuning.cost.model", __package__)
    return model.model_plan(canonical, target, threads)  # type: ignore[no-any-return]


def by_plan(plan: object, objects: Objects) -> dict[str, bytes]:
    """Objects of a row by the texts of plans."""
    return {str(plan) if name == kernel.NAME else name: code for name, code in objects}


def named(plan: object, objects: kernel.Objects) -> Objects:
    """Objects as a row has them: the plan's own under a name for all plans."""
    return tuple((kernel.NAME if name == str(plan) else name, code) for name, code in objects.items())
