"""The cost model: estimated seconds of a plan. It ranks plans; its times are only roughly right.

Memory time is the bytes moved at the machine's usual bandwidth, scaled by what the fitted weights of the plan's facts
and networks say, and by rows that crowd one cache set; instruction time comes from the operations of a micro-tile,
remainders counted whole; the longer one counts, and threads share it as evenly as the task grid allows. Tensors
that fit the caches need no fit: prefetches and non-temporal stores cost time there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, prod
from operator import attrgetter
from typing import Any

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.kinds import Alpha, Beta

from ..space.blocks import converts_first, registers, width
from .conversions import LONG, conversion, is_long, rounds_to_bytes
from .features import Features, kind
from .fitted import networks
from .groups import Fact, columns, table
from .linear_model import weight, weights
from .vocabulary import BASE, named

SECONDS_PER_BYTE = 4.5e-11  # per core, cold, prefetched
CACHED_PER_BYTE = 1.2e-11  # per core, in L2
OPERATION = 0.28e-9  # seconds of one vector instruction
OVERLAP = 0.2  # share of the shorter of memory and instruction time that the longer one does not hide
LOOP = 1.5e-9  # seconds of one iteration of a micro-tile loop
CONFLICT = 0.1  # log(time) for every doubling of a set's lines beyond its ways
# log(time) of non-temporal stores of single lines, where a machine writes pairs of them faster. On 25 problems that
# were timed on two such machines, the best plans with single lines reached 0.86 and 0.95 of the best ones with pairs;
# weights of micro-tiles are alike for all machines, and most timings are of one on which single lines are faster.
SINGLE = 0.1
TILE = 4e-9  # seconds of one iteration of a tile loop
# log(time) in L2, measured on an Emerald Rapids: of copies whose rows of B begin within lines, each of which two stores
# miss in L1 unless it is prefetched; and of micro-tiles that follow each other along B where its rows are whole lines.
# Of 58 random problems the choice of 19 changed: 1.19 times as fast (0.84 to 2.12), then without those of one byte.
MISSED, ALONG_B = 0.5, 0.12
CROWDED = 2 << 10  # bytes from row to row of B, of which a multiple fills one or two sets of L1
# The networks' share in log(time), by class of problems: they are right more often than the weights, but further off
# where wrong. In updates the weights are further off: with this share choices are 1.03 to 1.05 times as fast
# (docs/lab/zen5.md, two threads).
NETWORKS_SHARE = {"rows copy": 0.5, "columns copy": 0.5, "rows update": 0.9, "columns update": 0.9}

_grid_depends_on = attrgetter("tile", "order", "panel", "parallel")  # of a plan, `Model.balance`


@dataclass(frozen=True, slots=True)
class Terms:
    """The parts of a plan's cost. seconds: expected in all; memory, compute: seconds of one thread, of which the
    longer counts; balance: threads that share the work; crowding: of cache sets, in log(time); single, long: the same
    of single lines, and of long micro-tiles; facts: of the plan, each with what its weight adds in log(time), none
    where the tensors fit the caches; networks: what the networks add; cached: the tensors fit the caches; waiting: of
    micro-tiles that wait for L2 there, in log(time)."""

    seconds: float
    memory: float
    compute: float
    balance: float
    crowding: float
    single: float
    long: float
    facts: tuple[tuple[Fact, float], ...]
    networks: float
    cached: bool
    waiting: float = 0.0


class Model:
    """The cost of plans of one canonical form on one target with so many threads: call it with a plan.

    What does not depend on the plan is computed once; what few decisions determine is remembered by them.
    """

    def __init__(self, canonical: Canonical, target: Target, threads: int) -> None:
        self.canonical, self.target, self.threads = canonical, target, threads
        self.extents = canonical.extents
        size = canonical.elements * (canonical.a.itemsize + canonical.b.itemsize)
        self.cached = size <= target.l2 * max(1, threads)
        self._in_l2 = self.cached and size > target.l1 and target.pairs
        self._features = Features(canonical, target, threads)
        self._kind, self._converts = kind(canonical), canonical.a != canonical.b
        self._networks = NETWORKS_SHARE[self._kind]
        rounds = self._kind == "columns copy" and rounds_to_bytes(canonical)
        self._rounds = rounds and self._features.family == "Zen 5"  # where that was measured
        self._moved = canonical.bytes_moved
        self._added: dict[tuple[tuple[int, ...], Store], float] = {}
        self._balances: dict[Any, float] = {}
        self._compute: dict[tuple[tuple[int, ...], bool, bool], float] = {}

    def __call__(self, plan: CpuPlan) -> float:
        """Seconds that the plan is expected to take."""
        return self.costs([plan])[0]

    def costs(self, plans: Sequence[CpuPlan]) -> list[float]:
        """Seconds that each plan is expected to take; many at a time are faster."""
        return [self._seconds(plan, score) for plan, score in zip(plans, self.scores(plans), strict=True)]

    def _seconds(self, plan: CpuPlan, score: float) -> float:
        compute = self._computing(plan)
        memory = self._memory(plan, score)
        longer = memory if memory > compute else compute
        if self.cached:  # the fit has seen it elsewhere
            longer = (longer + OVERLAP * min(memory, compute)) * exp(self.waiting(plan))
        return longer if self.threads == 1 else longer / self.balance(plan)

    def waiting(self, plan: CpuPlan) -> float:
        """The cost, in log(time), of micro-tiles that wait for L2."""
        if not (self._in_l2 and self._kind.startswith("columns")):
            return 0.0
        if self._features.past == "streaming":
            steps = self._features.measures.strides[1]
            crowds = len(steps) != 2 or steps[1] % CROWDED == 0
            return 0.0 if crowds else ALONG_B * (plan.inner != self.canonical.along("a"))
        waits = self._kind == "columns copy" and self.canonical.b.itemsize > 1
        return MISSED * (waits and (plan.prefetch, plan.fetch) != (1, Fetch.BLOCKS))

    def terms(self, plan: CpuPlan) -> Terms:
        """The same seconds, and what they are made of."""
        (score,) = self.scores([plan])
        seconds, memory, compute = self._seconds(plan, score), self._memory(plan, score), self._computing(plan)
        if self.cached:
            return Terms(seconds, memory, compute, self.balance(plan), 0.0, 0.0, 0.0, (), 0.0, True, self.waiting(plan))
        facts = tuple(
            ((named(*whose), bucket), (1 - self._networks) * weight((self._kind, *whose), bucket, self._converts))
            for whose, bucket in self._features.owned(plan)
        )
        known = networks(self._features.columns(plan), self._converts)
        said = self._networks * known([self._features.numbers(plan)])[0]
        added = self.crowding(plan.block), self.single(plan), self.long(plan.block)
        return Terms(seconds, memory, compute, self.balance(plan), *added, facts, said, False)

    def balance(self, plan: CpuPlan) -> float:
        """Threads that really share the work: tasks come in whole tiles."""
        if self.threads == 1:
            return 1.0
        key = _grid_depends_on(plan)
        found = self._balances.get(key)
        if found is None:
            tasks = plan.tasks(self.extents)
            found = tasks / -(-tasks // min(self.threads, tasks)) if tasks > 1 else 1.0
            self._balances[key] = found
        return found

    def _memory(self, plan: CpuPlan, score: float) -> float:
        moved = self._moved
        if self.cached:  # the fitted weights and streaming stores are for tensors in memory
            tiles = prod(-(-extent // size) for extent, size in zip(self.extents, plan.tile, strict=True))
            return moved * CACHED_PER_BYTE * (4.0 if plan.non_temporal else 1.0) + tiles * TILE
        key = plan.block, plan.store
        added = self._added.get(key)
        if added is None:
            added = self._added[key] = self.crowding(plan.block) + self.single(plan) + self.long(plan.block)
        return moved * SECONDS_PER_BYTE * exp(score + added)

    def scores(self, plans: Sequence[CpuPlan]) -> list[float]:
        """The sum of the networks and of the weights of the plans' facts, in log(time): nothing of tensors in the
        caches."""
        if self.cached or not plans:
            return [0.0] * len(plans)
        base, family = weight((self._kind, "", BASE, ""), "", self._converts), self._features.family
        found = [self._features(plan) for plan in plans]
        weighed = [base + weights(self._kind, mode, family, self._converts).of(groups) for mode, groups in found]
        said = networks(columns(found[0][1]), self._converts)(table([groups for _, groups in found]))
        share = self._networks
        return [share * s + (1 - share) * w for s, w in zip(said, weighed, strict=True)]

    def crowding(self, block: tuple[int, ...]) -> float:
        """The cost, in log(time), of lines of a micro-tile that share L1 sets beyond their ways."""
        return CONFLICT * sum(self._features.measures.crowded(block))

    def single(self, plan: CpuPlan) -> float:
        """The cost, in log(time), of non-temporal stores of micro-tiles whose rows of B are single lines."""
        direct = self.target.pairs and self._kind == "columns copy" and plan.store in (Store.ALIGNED, Store.PEELED)
        return SINGLE * (direct and self._features.measures.footprints(plan.block)[1].run_bytes < 2 * self.target.line)

    def long(self, block: tuple[int, ...]) -> float:
        """The cost, in log(time), of micro-tiles that are too long for columns that are rounded to bytes."""
        return LONG * (self._rounds and is_long(self.canonical, block, self._features.past == "streaming"))

    def _computing(self, plan: CpuPlan) -> float:
        staged = self._features.store(plan) in (Store.BUFFERED, Store.COMBINED)
        key = (plan.block, staged, plan.prefetch > 0)
        found = self._compute.get(key)
        if found is None:
            blocks = prod(-(-extent // size) for extent, size in zip(self.extents, plan.block, strict=True))
            work = operations(self.canonical, plan.block, self.target) * (1.6 if staged else 1.0)
            work += self.cached * conversions(self.canonical, plan.block, self.target)  # else the fit has seen them
            asked = lines(self.canonical, plan.block, self.target) if plan.prefetch else 0
            # A remainder costs as much as a whole micro-tile.
            found = self._compute[key] = blocks * (LOOP + (work + asked) * OPERATION)
        return found


def operations(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    """Vector loads, stores and shuffles of one micro-tile."""
    a, b = registers(canonical, block, target)
    if canonical.kinds.alpha is Alpha.ZERO:
        return 2 * b.registers
    same = bool(a.run) and a.run == b.run
    first = converts_first(canonical, target)
    exchanged = b.registers if first else max(a.registers, b.registers)
    stages = 0 if same else max(1, ((a.lanes if first else max(a.lanes, b.lanes)) - 1).bit_length())
    joined = max(0, a.registers - b.registers) if first else 0
    return a.registers + b.registers + stages * exchanged + joined


def conversions(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    """Vector operations of one micro-tile that convert numbers."""
    return conversion(canonical, target) * -(-prod(block) // width(canonical, target))


def lines(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    """Prefetches of one micro-tile: the lines of the tensors that are read, about one a register."""
    a, b = registers(canonical, block, target)
    reads_a, reads_b = canonical.kinds.alpha is not Alpha.ZERO, canonical.kinds.beta is Beta.ANY
    return reads_a * a.registers + reads_b * b.registers
