"""Results in groups that are comparable: one suite, kind, mode, number of threads and machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ..bench.report import heading
from ..bench.results import Result
from ..bench.suites import SUITES

RULES = {"copy": "bytes of A + bytes of B", "update": "bytes of A + 2 x bytes of B"}


@dataclass(frozen=True, slots=True)
class Group:
    """Results of one title, of one suite."""

    title: str
    results: tuple[Result, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The cases, each once, in the order of the suite; those that it does not have behind, as they first appear."""
        places = _places(self.results[0].suite, max(one.threads for one in self.results))
        found = dict.fromkeys(one.name for one in self.results)
        return tuple(sorted(found, key=lambda name: places.get(name, len(places))))

    @property
    def efforts(self) -> tuple[int, ...]:
        """The candidates that the searches were allowed, ascending; -1, the whole space, last."""
        return tuple(sorted({effort(one) for one in self.results}, key=lambda n: (n == -1, n)))

    @property
    def by_effort(self) -> tuple[Result, ...]:
        """The results, those of the smallest searches first."""
        return tuple(sorted(self.results, key=lambda one: self.efforts.index(effort(one))))

    def of_effort(self, wanted: int) -> dict[str, Result]:
        """The results of one effort by case."""
        return {one.name: one for one in self.results if effort(one) == wanted}


def effort(result: Result) -> int:
    """The most candidates that the search might try."""
    options = result.facts.get("options")
    found = options.get("max_implementations") if isinstance(options, dict) else None
    return found if isinstance(found, int) else result.candidates


def affinity(result: Result) -> str:
    """The placement of threads; "" where the result does not say."""
    return str(result.facts.get("affinity", ""))


def machine(result: Result) -> str:
    """The machine's processor and its name."""
    return f"{result.facts.get('cpu', 'unknown CPU')} ({result.facts.get('machine', 'unnamed')})"


def compiled(result: Result) -> tuple[str, ...]:
    """The peers that are loop nests built by compilers."""
    return tuple(name for name in result.peers if name in result.references)


def libraries(result: Result) -> tuple[str, ...]:
    """The other peers."""
    return tuple(name for name in result.peers if name not in result.references)


def groups(results: Sequence[Result], by_affinity: bool = True) -> tuple[Group, ...]:
    """All groups, in the order in which they appear. What is the same everywhere is not in their titles."""
    machines = {machine(one) for one in results}
    places = {affinity(one) for one in results} if by_affinity else set()
    found: dict[str, list[Result]] = {}
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
