"""The walk over plans, the cost model's best first.

The best few seeds descend: one decision after the other takes the choice that the model likes best; of conversions more
seeds do, and what comes of them does again. The best-first walk then goes on from each plan it yields to that plan's
neighbours (one decision changed), so that rank 20 does not mean 20! loop orders; plans of a tile that has been offered
wait, so that the first ones differ.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.lowering.writing import pays, room_depends_on
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical

from .blocks import cuts_to_bytes
from .choices import Forced
from .neighbours import CHANGES, SETTLED, Change, neighbours, settled

DESCENTS = 3  # plans that descend before the first one is offered
TILES, AGAIN = 6, 5  # of conversions: tiles whose best seeds do, too; how often the best plans then do again, at most
WALK_NEIGHBOURS = 24  # pushed per yielded plan: the walk is wide enough, and stays lazy
SIBLING = 0.02  # by how much of its cost a plan waits for every plan of its tile that has been offered
ALIKE = 0.01  # the same, for every plan that stores in the same way: processors differ in what that costs
Costs = Callable[[Sequence[CpuPlan]], Sequence[float]]


class Walk:
    """Plans to be offered, by cost; equal ones as they came."""

    def __init__(self, canonical: Canonical, target: Target, forced: Forced, model: Costs) -> None:
        self.problem, self.model = (canonical, target, forced), model
        self.heap: list[tuple[float, int, CpuPlan]] = []
        self.places: dict[CpuPlan, int] = {}  # among the costs, of all plans that were pushed
        self.costs: list[float] = []
        self.offered: Counter[tuple[int, ...]] = Counter()
        self.stored: Counter[Store] = Counter()
        self.count = itertools.count()

    def plans(self, seeds: Iterable[CpuPlan]) -> Iterator[CpuPlan]:
        """Every plan that these lead to."""
        self.push(seeds)
        tiles, again = descents(*self.problem[:2])
        self.descend([*self.best(DESCENTS), *self.best_of_tiles(tiles)])
        for _ in range(again):
            before = self.best(1)
            self.descend(self.best(DESCENTS))
            if self.best(1) == before:
                break
        while self.heap:
            yield from self.step()

    def push(self, plans: Iterable[CpuPlan]) -> Iterator[float]:
        """Plans to be offered, each once; their form is settled. Returns the cost of each."""
        places, known = self.places, len(self.places)
        given = [places.setdefault(plan, len(places)) for plan in plans]
        new = [*itertools.islice(places, known, None)]
        costs = self.model(new)
        self.costs += costs
        for plan, cost in zip(new, costs, strict=True):
            heapq.heappush(self.heap, (cost, next(self.count), plan))
        return map(self.costs.__getitem__, given)

    def best(self, count: int) -> list[CpuPlan]:
        """So many plans that cost least; none has been offered yet."""
        return [plan for _, _, plan in heapq.nsmallest(count, self.heap)]

    def best_of_tiles(self, count: int) -> list[CpuPlan]:
        """The plan that costs least, of each of so many tiles."""
        found: dict[tuple[int, ...], CpuPlan] = {}
        for plan in self.best(len(self.costs)):
            found.setdefault(plan.tile, plan)
        return list(found.values())[:count]

    def descend(self, plans: Iterable[CpuPlan]) -> None:
        """Push the neighbours of each plan, and those of its best one after every kind of decision. Plans descend side
        by side: the model is faster with many at a time."""
        for change in CHANGES:
            found = [[plan, *self._changed(change, plan)] for plan in dict.fromkeys(plans)]
            costs = self.push(itertools.chain(*found))
            plans = [min(zip(group, costs, strict=False), key=itemgetter(1))[0] for group in found]

    def _changed(self, change: Change, plan: CpuPlan) -> Iterator[CpuPlan]:
        canonical, target, forced = self.problem
        others = change(*self.problem, plan)
        if change not in SETTLED:
            others = (settled(canonical.extents, forced, other) for other in others)
        known = None if forced.blockings else room_depends_on(plan)  # plans that are forced need not have room
        return (p for p in others if room_depends_on(p) == known or pays(canonical, p, target) or p in self.places)

    def step(self) -> Iterator[CpuPlan]:
        """The cheapest plan, if it need not wait; its neighbours are pushed."""
        waited, _, plan = heapq.heappop(self.heap)
        cost = self.costs[self.places[plan]] * (1 + SIBLING * self.offered[plan.tile] + ALIKE * self.stored[plan.store])
        if cost > waited and self.heap and cost > self.heap[0][0]:
            heapq.heappush(self.heap, (cost, next(self.count), plan))
            return
        self.offered[plan.tile] += 1
        self.stored[plan.store] += 1
        yield plan
        self.push(itertools.islice(neighbours(*self.problem, plan), WALK_NEIGHBOURS))


def descents(canonical: Canonical, target: Target) -> tuple[int, int]:
    """Of how many tiles the best seeds descend besides the best ones of all, and how often the best plans do again:
    where numbers in memory are converted, micro-tiles are others than the seeds', and want other tiles, prefetches and
    walks, which a descent has decided before it comes to micro-tiles. Where columns become bytes, further tiles lead
    to plans that the model likes too much."""
    if canonical.a == canonical.b or canonical.bytes_moved <= target.l2:
        return 0, 0
    return 0 if cuts_to_bytes(canonical, target) else TILES, AGAIN
