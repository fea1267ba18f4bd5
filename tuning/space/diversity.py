"""Diversity seeds: plans that a search times whatever the cost model estimates for them.

The model knows the machines that it was fitted to. On others, a plan that it ranks last may be the fastest by far, and
the first hundred plans of the ranking would not show that. So a search also times the best seeds of every strategy
class; where one is fast, the search continues with its neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Generic

from ttc_llvm.locks import cached_property

from ..search.leaderboard import P


class DiversitySeeds(Generic[P]):
    """Seeds of plans, by strategy class; they are drawn, and their costs asked for, when the first one is wanted.

    costs: seconds expected of each; strategy: a plan's class, by the decisions in which machines differ most.
    """

    def __init__(
        self, seeds: Iterable[P], costs: Callable[[Sequence[P]], Sequence[float]], strategy: Callable[[P], Hashable]
    ) -> None:
        self._seeds, self._costs, self._strategy = seeds, costs, strategy

    def __call__(self, timed: Collection[P]) -> P | None:
        """The cheapest seed not timed yet of the class that was timed least; None where there is none."""
        count = Counter(map(self._strategy, timed))
        for strategy in sorted(self._waiting, key=count.__getitem__):
            fresh = next((plan for plan in self._waiting[strategy] if plan not in timed), None)
            if fresh is not None:
                return fresh
        return None

    @cached_property
    def _waiting(self) -> dict[Hashable, list[P]]:
        """The cheapest seed first, within a class and among classes."""
        seeds = list(dict.fromkeys(self._seeds))
        cost = dict(zip(seeds, self._costs(seeds), strict=True))
        found: dict[Hashable, list[P]] = {}
        for plan in sorted(seeds, key=cost.__getitem__):
            found.setdefault(self._strategy(plan), []).append(plan)
        return found
