"""Plans that a search sends ahead, whatever the cost model thinks of them.

The model knows the machines that it was fitted to. Others like something else: what the model puts last there may be
the fastest by far, and among the first hundred plans nothing would tell. So a search also times the best seed of every
habit; where one is fast, the search goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ttc_llvm.plan import CpuPlan, Fetch

from .candidates import Costs
from .choices import Stores

EVERY = 4  # plans, for which one is sent ahead

Habit = tuple[Stores, Fetch | None]  # how a plan stores, and what it asks for: what machines differ in most


def with_scouts(plans: Iterable[CpuPlan], seeds: Iterable[CpuPlan], costs: Costs) -> Iterator[CpuPlan]:
    """The plans, and after every few of them the cheapest seed left of the habit that was offered least; each once."""
    waiting = _by_habit(seeds, costs)
    offered: Counter[Habit] = Counter()
    seen: set[CpuPlan] = set()
    for number, plan in enumerate(plans, 1):
        sent = [plan]
        if waiting and number % EVERY == 0:
            sent.append(_next(waiting, offered))
        for one in sent:
            if one not in seen:
                seen.add(one)
                offered[_habit(one)] += 1
                yield one


def _next(waiting: dict[Habit, list[CpuPlan]], offered: Counter[Habit]) -> CpuPlan:
    """Take the next scout."""
    habit = min(waiting, key=offered.__getitem__)
    group = waiting[habit]
    if len(group) == 1:
        del waiting[habit]
    return group.pop(0)


def _by_habit(seeds: Iterable[CpuPlan], costs: Costs) -> dict[Habit, list[CpuPlan]]:
    """The cheapest first: of each habit, and of the habits."""
    found = list(dict.fromkeys(seeds))
    cost = dict(zip(found, costs(found), strict=True))
    groups: dict[Habit, list[CpuPlan]] = {}
    for plan in sorted(found, key=cost.__getitem__):
        groups.setdefault(_habit(plan), []).append(plan)
    return groups


def _habit(plan: CpuPlan) -> Habit:
    return (plan.streaming, plan.staging), plan.fetch if plan.prefetch else None
