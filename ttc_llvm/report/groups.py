"""Results in groups that are comparable: one suite, kind, mode, number of threads and machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Generic, TypeVar

from ..bench.report import heading
from ..bench.setting import Measured, affinity, by_size, day, effort, effort_name, machine
from ..bench.suites import SUITES
from ..lazy_dataclasses import dataclass, replace

RULES = {"copy": "bytes of A + bytes of B", "update": "bytes of A + 2 x bytes of B"}

R = TypeVar("R", bound=Measured)


@dataclass(frozen=True, slots=True)
class Group(Generic[R]):
    """Results of one title, of one suite."""

    title: str
    results: tuple[R, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The cases, each once, in the order of the suite; those that it does not have behind, as they first appear."""
        places = _places(self.results[0].suite, max(one.threads for one in self.results))
        found = dict.fromkeys(one.name for one in self.results)
        return tuple(sorted(found, key=lambda name: places.get(name, len(places))))

    @property
    def runs(self) -> tuple[Run[R], ...]:
        """The results of each search size and day, the smallest searches first."""
        found: dict[tuple[int, str], list[R]] = {}
        for one in self.results:
            found.setdefault((effort(one), day(one)), []).append(one)
        keys = sorted(found, key=lambda key: (by_size(key[0]), key[1]))
        several = len({when for _, when in keys}) > 1
        return tuple(
            Run(effort_name(size) + (f", {when}" if several else ""), size, {r.name: r for r in found[size, when]})
            for size, when in keys
        )

    def main(self, holds: Callable[[R], object] = bool) -> Run[R] | None:
        """Of the runs that have results of a kind, those of the one with most cases; the largest search, and the last
        day, of several. Runs are never mixed."""
        chosen = replace(self, results=tuple(filter(holds, self.results))).runs
        return max(reversed(chosen), key=lambda run: len(run.results), default=None)


@dataclass(frozen=True, slots=True)
class Run(Generic[R]):
    """Results of one search size, affinity and day. results: by case."""

    label: str
    effort: int
    results: dict[str, R]


def compiled(result: Measured) -> tuple[str, ...]:
    """The peers that are loop nests built by compilers."""
    return tuple(name for name in result.peers if name in result.references)


def libraries(result: Measured) -> tuple[str, ...]:
    """The other peers."""
    return tuple(name for name in result.peers if name not in result.references)


def groups(results: Sequence[R], by_affinity: bool = True) -> tuple[Group[R], ...]:
    """All groups, in the order in which they appear. What is the same everywhere is not in their titles."""
    machines = {machine(one) for one in results}
    places = {affinity(one) for one in results} if by_affinity else set()
    found: dict[str, list[R]] = {}
    for one in results:
        parts = [heading(one)]
        parts += [f"affinity {affinity(one) or 'unknown'}"] if len(places) > 1 else []
        parts += [machine(one)] if len(machines) > 1 else []
        found.setdefault(", ".join(parts), []).append(one)
    return tuple(Group(title, tuple(group)) for title, group in found.items())


@cache
def _places(suite: str, threads: int) -> dict[str, int]:
    shapes = SUITES[suite](threads) if suite in SUITES else ()
    return {case.name: number for number, case in enumerate(shapes)}
