"""Plans that a search sends ahead, whatever the cost model thinks of them.

The model knows the machines that it was fitted to. Others like something else: what the model puts last there may be
the fastest by far, and among the first hundred plans nothing would tell. So a search also times the best seeds of
every habit; where one is fast, the search goes on from there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from ttc_llvm.plan import CpuPlan, Fetch

from .candidates import Costs
from .choices import Stores

Habit = tuple[Stores, Fetch | None]  # how a plan stores, and what it asks for: what machines differ in most


def in_turn(seeds: Iterable[CpuPlan], costs: Costs) -> Iterator[CpuPlan]:
    """The cheapest seed of every habit, then the second of each, and so on; in each turn the cheapest first."""
    found = list(dict.fromkeys(seeds))
    cost = dict(zip(found, costs(found), strict=True))
    groups: dict[Habit, list[CpuPlan]] = {}
    for plan in sorted(found, key=cost.__getitem__):
        groups.setdefault(_habit(plan), []).append(plan)
    for turn in itertools.zip_longest(*groups.values()):
        yield from sorted((plan for plan in turn if plan is not None), key=cost.__getitem__)


def _habit(plan: CpuPlan) -> Habit:
    return (plan.streaming, plan.staging), plan.fetch if plan.prefetch else None
