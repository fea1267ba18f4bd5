"""Plans that a search sends ahead, whatever the cost model thinks of them.

The model knows the machines that it was fitted to. Others like something else: what the model puts last there may be
the fastest by far, and among the first hundred plans nothing would tell. So a search also times the best seeds of
every habit; where one is fast, the search goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property

from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store

from .candidates import Costs

Habit = tuple[Store, Fetch | None]  # how a plan stores, and what it asks for: what machines differ in most


class Scouts:
    """Seeds of plans, by habit; they are drawn, and their costs asked for, when the first one is wanted."""

    def __init__(self, seeds: Iterable[CpuPlan], costs: Costs) -> None:
        self._seeds, self._costs = seeds, costs

    def __call__(self, timed: Collection[CpuPlan]) -> CpuPlan | None:
        """The cheapest seed not timed yet of the habit that was timed least; None where there is none."""
        count = Counter(map(_habit, timed))
        for habit in sorted(self._waiting, key=count.__getitem__):
            fresh = next((plan for plan in self._waiting[habit] if plan not in timed), None)
            if fresh is not None:
                return fresh
        return None

    @cached_property
    def _waiting(self) -> dict[Habit, list[CpuPlan]]:
        """The cheapest seed first, within a habit and among habits."""
        seeds = list(dict.fromkeys(self._seeds))
        cost = dict(zip(seeds, self._costs(seeds), strict=True))
        found: dict[Habit, list[CpuPlan]] = {}
        for plan in sorted(seeds, key=cost.__getitem__):
            found.setdefault(_habit(plan), []).append(plan)
        return found


def _habit(plan: CpuPlan) -> Habit:
    return plan.store, plan.fetch if plan.prefetch else None
