"""Features that distinguish plans of one problem: facts for the weights of the cost model, numbers for its networks.

`benchmarks/ranking/fit.py` finds the weights. What a plan fetches and how it stores is its mode, which has weights of
its own; fetching blocks into L2 is a mode where that was measured, elsewhere it counts as fetching them into L1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2
from operator import attrgetter
from typing import Any

from ttc_llvm.lazy_dataclasses import NamedTuple
from ttc_llvm.lowering.peeling import has_aligned_rows
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Loops, Store, loops
from ttc_llvm.lowering.writing import combined, overwrites, resolve, room_depends_on, writes_vectors
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.kinds import Beta

from ..space.blocks import same_unit_axis
from . import groups
from .conversions import conversion
from .groups import Fact, Group, Part, one_hot
from .measures import Measures
from .streams import Steps, steps
from .vocabulary import CHAINED, FAMILIES, FAMILY, FETCHES, STAGINGS, STORES, named

Owned = tuple[tuple[str, str, str], int | str]  # a fact by mode, name and family ("" = all), and its bucket
MANY = 8  # axes: higher ranks, all of which are many small extents, count as this
_walk_depends_on = attrgetter("tile", "block", "order", "inner", "panel")  # of a plan, `_Walk`


class _Walk(NamedTuple):
    """What plans share that visit elements in the same order. inner: of `vocabulary.INNER`; around: the loops over
    panels and tiles; steps: from micro-tile to micro-tile; streams: the runs of memory that they walk; groups: of
    micro-tiles, tiles and their order; ahead: of the steps, by the distance of prefetches into L1; chains: of chained
    runs, by the loops that threads share."""

    inner: str
    around: Loops
    steps: Steps
    streams: Sequence[int]
    groups: tuple[Group, ...]
    ahead: dict[int, Group]
    chains: dict[int, Group]


def kind(canonical: Canonical) -> str:
    """The class of problems that share their weights."""
    shape = "rows" if same_unit_axis(canonical) else "columns"
    return f"{shape} {'update' if canonical.kinds.beta is Beta.ANY else 'copy'}"


class Features:
    """Facts and numbers of plans of one canonical form on one target with so many threads; what few decisions determine
    is remembered."""

    def __init__(self, canonical: Canonical, target: Target, threads: int = 1) -> None:
        self.canonical, self.target = canonical, target
        self.measures = Measures(canonical, target)
        self.extents = canonical.extents
        self._overwrites = overwrites(canonical) and not canonical.terms
        aligned = has_aligned_rows(canonical, target.vector_bits // 8)  # else rows have heads and tails
        self.past = "streaming" if aligned else "ragged"
        self.by_block = not aligned and not same_unit_axis(canonical)  # whether lines are whole
        self.family = next((text for start, text in FAMILIES.items() if target.cpu.startswith(start)), "")
        self.problem = self._problem(threads)
        self._groups: dict[Part, Group] = {}
        self._unchained, self._simple = groups.unchained(self.measures), dict[Any, tuple[str, Group]]()
        self._walks: dict[Any, _Walk] = {}
        self._stores: dict[Any, Store] = {}

    def facts(self, plan: CpuPlan) -> list[Fact]:
        """The plan's facts, by their names in full: those that families differ in come once more for this family."""
        return [(named(*whose), bucket) for whose, bucket in self.owned(plan)]

    def owned(self, plan: CpuPlan) -> list[Owned]:
        """The same facts by mode, name and family."""
        mode, found = self(plan)
        general = [((mode, name, ""), bucket) for group in found for name, bucket in (*group.shared, *group.own)]
        own = [((mode, name, self.family), bucket) for group in found for name, bucket in group.own]
        return [*general, *own] if self.family else general

    def numbers(self, plan: CpuPlan) -> list[float]:
        """The plan's numbers for the networks, in the order of `columns`."""
        return [number for group in self(plan)[1] for number in group.values]

    def columns(self, plan: CpuPlan) -> tuple[str, ...]:
        """The names of the plan's numbers: those of every plan."""
        return groups.columns(self(plan)[1])

    def __call__(self, plan: CpuPlan) -> tuple[str, list[Group]]:
        """The plan's mode, and its groups of facts and numbers, the problem's first, always in the same order."""
        stored, staged = self.written(plan)
        fetch, walk = self._fetch(plan), self._walk(plan)
        into_l1 = plan.prefetch if fetch is Fetch.BLOCKS else 0
        steps = walk.ahead.get(into_l1) or self._ahead(plan, walk, into_l1)
        chain = self._chain(plan, walk) if staged == CHAINED else self._unchained
        key = (stored, staged, fetch, plan.prefetch, walk.inner)
        mode, simple = self._simple.get(key) or self._decided(key)
        return mode, [self.problem, simple, *walk.groups, steps, chain]

    def _decided(self, key: tuple[str, str, Fetch, int, str]) -> tuple[str, Group]:
        """The mode of plans, and the group of their decisions."""
        stored, staged, fetch, distance, inner = key
        mode = f"{FETCHES[fetch]} {stored}"
        found = self._simple[key] = mode, groups.simple(self.measures, mode, distance, staged, inner)
        return found

    def _ahead(self, plan: CpuPlan, walk: _Walk, distance: int) -> Group:
        """The group of steps from micro-tile to micro-tile."""
        found = groups.steps(self.measures, plan.block, walk.steps, walk.streams, distance)
        walk.ahead[distance] = found
        return found

    def _walk(self, plan: CpuPlan) -> _Walk:
        key = _walk_depends_on(plan)
        found = self._walks.get(key)
        if found is None:
            inner = self.measures.innermost(plan.inner[-1])
            around = loops(plan.tile, plan.order, plan.panel, self.extents)
            micro, shape = self._group(groups.micro, (plan.block,)), self._group(groups.shape, (inner, plan.tile))
            walk = self._group(groups.walk, (plan.tile, plan.order, around, bool(plan.panel)))
            taken = steps(plan, around, self.extents)
            streams = self.measures.streams(plan.block, taken)
            found = self._walks[key] = _Walk(inner, around, taken, streams, (micro, shape, walk), {}, {})
        return found

    def _chain(self, plan: CpuPlan, walk: _Walk) -> Group:
        found = walk.chains.get(plan.parallel)
        if found is None:
            key = (tuple(map(min, plan.tile, self.extents)), walk.around, plan.parallel)
            found = walk.chains[plan.parallel] = self._group(groups.chained, key)
        return found

    def _group(self, find: Callable[..., Group], key: tuple[Any, ...]) -> Group:
        part = (find, key)
        found = self._groups.get(part)
        if found is None:
            found = self._groups[part] = find(self.measures, *key)
        return found

    def store(self, plan: CpuPlan) -> Store:
        """The store strategy that serves."""
        if plan.store is not Store.COMBINED:  # others need not be looked at closely
            return plan.store
        key = room_depends_on(plan)
        found = self._stores.get(key)
        if found is None:
            serves = combined(self.canonical, key, self.target) if self._overwrites else None
            found = self._stores[key] = (serves or resolve(self.canonical, plan, self.target)).store
        return found

    def written(self, plan: CpuPlan) -> tuple[str, str]:
        """The model's words for the way in which the plan writes B, of `STORED` and `STAGED`."""
        store, past = self.store(plan), self.past
        if store is Store.ALIGNED and self.by_block:
            whole = writes_vectors(self.canonical, plan.block, self.target.vector_bits // 8)
            store, past = (Store.ALIGNED, "streaming") if whole else (Store.CACHED, past)
        return STORES[store] or past, STAGINGS[store]

    def _fetch(self, plan: CpuPlan) -> Fetch:
        known = plan.prefetch and (self.target.far or plan.fetch is not Fetch.FAR)
        return plan.fetch if known else Fetch.BLOCKS

    def _problem(self, threads: int) -> Group:
        """The machine and the problem: the same for every plan."""
        m, target = self.measures, self.target
        extents = [m.extents[k] * size for k, size in zip(m.units, m.sizes, strict=True)]
        numbers = {
            **one_hot("family", self.family, FAMILY),
            "l1": log2(max(1, target.l1)),
            "l2": log2(max(1, target.l2)),
            "item a": log2(m.sizes[0]),
            "item b": log2(m.sizes[1]),
            "converted": log2(1 + conversion(self.canonical, target)),
            "row a": log2(max(1, extents[0])),
            "row b": log2(max(1, extents[1])),
            "update": float(self.canonical.kinds.beta is Beta.ANY),
            "rows stay": float(m.units[0] == m.units[1]),
            "rows aligned": float(self.past == "streaming"),
            "axes": float(min(len(m.extents), MANY)),
            "memory shared": float(threads > 1),
        }
        return groups.named((), (), numbers)
