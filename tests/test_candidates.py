"""Candidates and the cost model: every plan offered is valid, decisions are respected, ranks make sense."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from ttc_llvm.lowering import plan as plans
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.lowering.plan_checks import check
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup as targets
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, Canonical, canonicalise, from_axes
from ttc_llvm.problem.dtypes import dtype
from ttc_llvm.problem.kinds import Alpha, Beta, Kinds
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost.cost import Model, operations
from ttc_llvm.tuning.cost.model import model_plan, ranked
from ttc_llvm.tuning.space import blocks, candidates, neighbours, walk
from ttc_llvm.tuning.space.chained import chained_seeds
from ttc_llvm.tuning.space.choices import FREE, Forced, can_stream, inner_orders, tile_orders

AVX512 = targets.find("avx512")
SSE2 = targets.find("sse2")
S = dtype("s")
UPDATE = Kinds(Alpha.ANY, Beta.ANY)


def canonical(
    perm: tuple[int, ...], size: tuple[int, ...], *, kind: str = "s", beta: float = 0.0
) -> Canonical:
    alpha = 2.0 if beta else 1.0
    return canonicalise(Problem(perm, size, kind, alpha=alpha, beta=beta)).canonical


def some_problems() -> list[Canonical]:
    rng = random.Random(7)
    found = [canonical((0,), (5,)), canonical((), ()), canonical((1, 0), (1, 7))]
    for _ in range(40):
        rank = rng.randint(1, 6)
        perm = tuple(rng.sample(range(rank), rank))
        size = tuple(rng.choice([1, 2, 3, 5, 8, 15, 16, 17, 64, 100]) for _ in range(rank))
        kind = rng.choice(["s", "d", "c", "z", "sd", "zc", "i8", "i16", "v3"])
        beta = 0.0 if kind in ("i8", "i16", "v3") else rng.choice([0.0, 1.0])
        found.append(canonical(perm, size, kind=kind, beta=beta))
    axes = [Axis(16, -1, 1), Axis(9, 0, 16), Axis(7, 32, 200)]  # backwards, broadcast, padded
    return [
        *found,
        from_axes(axes, S, S, UPDATE).canonical,
        from_axes([Axis(9, 3, 5)], S, S, UPDATE).canonical,
    ]


@pytest.mark.parametrize("machine", [SSE2, AVX512, targets.scalar(AVX512)], ids=str)
def test_every_plan_offered_is_valid_and_offered_once(machine: Target) -> None:
    for problem in some_problems():
        offered = list(itertools.islice(ranked(problem, machine, 2), 60))
        assert len(set(offered)) == len(offered)
        for plan in offered:
            check(plan, problem)
            assert plans.parse(str(plan)) == plan
            assert not plan.non_temporal or can_stream(problem)


def test_neighbours_are_valid_and_differ_in_something() -> None:
    for problem in some_problems():
        plan = model_plan(problem, AVX512, 2)
        for other in neighbours.neighbours(problem, AVX512, FREE, plan):
            assert other != plan
            check(other, problem)


def test_tiles_do_not_grow_beyond_the_rows_that_are_prefetched() -> None:
    problem = canonical((0, 3, 2, 1), (24, 103, 103, 103))
    text = ("cpu3 tile=24,103,16,103 block=24,1,1,1 order=2,0,1,3 inner=0,1,2,3 parallel=1 "
            "prefetch={} store=cached fetch={} panel=none")  # fmt: skip
    for prefetch, fetch in ((1, "rows"), (0, "blocks")):
        plan = check(plans.parse(text.format(prefetch, fetch)), problem)
        found = list(neighbours.neighbours(problem, AVX512, FREE, plan))
        assert found == [check(other, problem) for other in found]


@pytest.mark.parametrize("beta", [0.0, 1.0])
@pytest.mark.parametrize("perm, size", [((0,), (1 << 22,)), ((0, 2, 1), (5000, 70, 80)), ((0, 2, 1), (4096, 9, 8))])
def test_rows_are_copied_in_long_pieces(perm: tuple[int, ...], size: tuple[int, ...], beta: float) -> None:
    """Short ones end in partial lines where B begins off a line."""
    problem = canonical(perm, size, kind="d", beta=beta)
    for plan in itertools.islice(ranked(problem, AVX512, 1), 60):
        assert plan.tile[0] * 8 >= min(8 * size[0], 15 << 10)


def test_the_ranking_is_the_same_every_time() -> None:
    problem = canonical((2, 1, 0), (96, 75, 64), beta=1)
    first, again = (list(itertools.islice(ranked(problem, AVX512, 2), 50)) for _ in range(2))
    assert first == again
    model = Model(problem, AVX512, 2)
    assert model(first[0]) <= min(map(model, candidates.seeds(problem, AVX512, FREE)))


def test_rank_26_is_enumerated_lazily() -> None:
    problem = canonical(tuple(range(26))[::-1], (2,) * 26)
    assert len(list(itertools.islice(ranked(problem, AVX512, 2), 20))) == 20


@pytest.mark.parametrize(("perm", "size", "rank"), [((1, 0), (64, 48), 2), ((2, 1, 0), (32, 5, 48), 3)])
def test_the_papers_space(perm: tuple[int, ...], size: tuple[int, ...], rank: int) -> None:
    offered = list(candidates.paper_space(canonical(perm, size), SSE2, FREE))
    assert len(offered) == math.factorial(rank) * 16
    assert len({plan.order for plan in offered}) == math.factorial(rank)


def test_forced_decisions_hold_everywhere() -> None:
    problem = canonical((2, 1, 0), (256, 5, 256))
    forced = Forced(streaming=False, prefetch=(3,), blockings=((32, 16), (64, 64)), orders=((1, 0, 2),))
    for plan in itertools.islice(ranked(problem, AVX512, 2, forced), 80):
        assert (plan.store, plan.prefetch, plan.order) == (Store.CACHED, 3, (1, 0, 2))
        assert plan.tile in {(16, 1, 32), (64, 1, 64)}


def test_usual_orders() -> None:
    problem = canonical((2, 1, 0), (40, 50, 60))
    assert all(sorted(order) == [0, 1, 2] for order in tile_orders(problem) + inner_orders(problem))
    assert inner_orders(problem)[0][-1] == 0  # B's unit axis innermost
    assert inner_orders(problem)[1][-1] == 2  # A's


@pytest.mark.parametrize(
    ("machine", "kind", "block"),
    [("avx512", "s", (16, 16)), ("avx2", "d", (8, 4)), ("avx2", "s", (16, 8)), ("sse2", "d", (8, 2))],
)
def test_micro_tiles_are_whole_lines_of_b(machine: str, kind: str, block: tuple[int, ...]) -> None:
    assert blocks.blocks(canonical((1, 0), (640, 640), kind=kind, beta=1), targets.find(machine))[0] == block


def test_small_unit_extents_are_covered_together() -> None:
    (first, *_) = blocks.blocks(canonical((2, 0, 1), (4, 4, 100)), AVX512)
    assert first == (16, 16)  # 4 x 4 merges
    (first, *_) = blocks.blocks(canonical((2, 1, 0), (4, 8, 100)), AVX512)
    assert first == (16, 4, 4)  # four columns of four: a register of A spans both axes


def test_whole_rows_of_bytes_are_not_made_of_half_registers() -> None:
    perm, size = (2, 1, 0), (200, 500, 48)
    halves, single = (blocks.blocks(canonical(perm, size, kind=pair), AVX512) for pair in ("s,f16", "s,u8"))
    assert (48, 2, 8) in halves
    assert all(block[:2] != (48, 4) for block in single)
    image = canonical((2, 0, 1), (224, 224, 3), kind="s,u8")  # channels become the last axis
    assert (3, 64) in blocks.blocks(image, AVX512)


def test_conversions_descend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: dict[str, list[float]] = {}
    for further in (walk.descents, lambda *_: (0, 0)):
        monkeypatch.setattr(walk, "descents", further)
        for pair, perm, size in (("s,e4m3fn", (1, 0), (5000, 8000)), ("i64,s", (0, 3, 2, 1), (232, 16, 75, 96))):
            problem = canonical(perm, size, kind=pair)
            model = Model(problem, AVX512, 1)
            found = next(candidates.enumerate_plans(problem, AVX512, FREE, model.costs))
            chosen.setdefault(pair, []).append(model(found))
    assert all(long < short for long, short in chosen.values())


def test_columns_are_rounded_to_bytes_in_short_micro_tiles() -> None:
    zen = targets.find("znver5")
    for pair, size, most in (
        ("s,e4m3fn", (384, 355, 384), 32),  # rows of whole lines
        ("s,e5m2", (700, 355, 190), 16),
        ("bf16,e4m3fn", (700, 355, 24), 24),  # short rows are taken whole
    ):
        problem = canonical((2, 1, 0), size, kind=pair)
        model, chosen = Model(problem, zen, 1), model_plan(problem, zen, 1)
        assert chosen.block[0] <= most and chosen.block[2] <= 16 and model.long(chosen.block) == 0
        assert model.long((most + 1, 1, 16)) == model.long((16, 1, 17)) > 0
        assert model.terms(chosen.changed(block=(1, 1, 17))).long > 0
    for machine, pair in ((zen, "s,u8"), (zen, "s,bf16"), (zen, "d,e4m3fn"), (AVX512, "s,e4m3fn")):
        assert Model(canonical((2, 1, 0), (384, 355, 384), kind=pair), machine, 1).long((64, 1, 32)) == 0


def plan(tile: tuple[int, ...], block: tuple[int, ...], **decisions: object) -> CpuPlan:
    axes = tuple(range(len(tile)))
    return replace(CpuPlan(tile, block, axes[::-1], axes[::-1], 2, 6), **decisions)  # type: ignore[arg-type]


def test_costs_that_must_not_be_cheaper() -> None:
    problem = canonical((1, 0), (8000, 8000), beta=1)
    model = Model(problem, AVX512, 2)
    good = plan((64, 512), (16, 16))
    for worse in (
        replace(good, block=(1, 1)),  # scalars
        replace(good, tile=(8000, 8000)),  # one task for two threads
    ):
        assert model(worse) > model(good)
    alone = Model(problem, AVX512, 1)  # threads that share the memory take as long without prefetches
    assert alone(replace(good, prefetch=0)) > alone(good)
    assert model(replace(good, store=Store.COMBINED)) == model(good)  # B is read


def test_threads_share_only_what_tasks_allow() -> None:
    problem = canonical((1, 0), (3000, 3000), beta=1)
    whole, halves, quarters = (plan((rows, 3000), (16, 16)) for rows in (3000, 1504, 752))
    two, four = Model(problem, AVX512, 2), Model(problem, AVX512, 4)
    assert two(whole) == four(whole)
    assert two(halves) == four(halves)
    assert two(quarters) == pytest.approx(2 * four(quarters))


def test_cached_tensors_are_not_streamed_to() -> None:
    assert not model_plan(canonical((1, 0), (64, 64)), AVX512, 1).non_temporal
    assert model_plan(canonical((1, 0), (8192, 8192)), AVX512, 1).non_temporal


@pytest.mark.parametrize(("cpu", "known"), [("emeraldrapids", True), ("cascadelake", False)])
def test_copies_in_l2_prefetch_rows_that_begin_within_lines_and_follow_a_along_whole_lines(
    cpu: str, known: bool
) -> None:
    machine, even = targets.find(cpu), canonical((1, 0), (128, 160))
    chosen, small = (model_plan(canonical((1, 0), size), machine, 1) for size in ((298, 322), (67, 61)))
    assert (chosen.prefetch, chosen.fetch, small.prefetch) == (int(known), Fetch.BLOCKS, 0)
    model, plan = Model(even, machine, 1), model_plan(even, machine, 1)
    along = {side: plan.changed(inner=even.along(side)) for side in "ab"}
    assert (model(along["a"]) < model(along["b"])) == known
    assert plan == along["a"] or not known


def test_rows_that_crowd_one_cache_set_cost_more() -> None:
    """Whatever the fitted part makes of them."""
    narrow, wide = plan((64, 64), (8, 8)), plan((64, 64), (16, 16))
    costs = {}
    for stride in (8192, 8208):
        axes = [Axis(4096, stride, 1), Axis(4096, 1, stride)]
        model = Model(from_axes(axes, S, S, UPDATE).canonical, AVX512, 1)
        costs[stride] = model.terms(wide).crowding - model.terms(narrow).crowding
    assert costs[8192] > costs[8208]


def test_a_remainder_counts_as_a_whole_micro_tile() -> None:
    even, odd = (Model(canonical((1, 0), (n, n)), SSE2, 1) for n in (64, 65))
    assert odd(plan((64, 64), (4, 4))) / even(plan((64, 64), (4, 4))) > (65 / 64) ** 2


def test_operations_of_micro_tiles() -> None:
    problem = canonical((1, 0), (640, 640), beta=1)
    assert operations(problem, (16, 16), AVX512) == 16 + 16 + 64
    rows = canonical((0, 2, 1), (64, 10, 10), beta=1)
    assert operations(rows, (64, 1, 1), AVX512) == 8  # four loads, four stores, nothing to shuffle


def test_scratch_leaves_room_in_the_cache() -> None:
    """Long runs of B leave scratch, but a tile of them must not push the tensors out of L2."""
    problem = canonical((3, 2, 0, 5, 1, 4), (39, 5, 15, 119, 15, 15), beta=0)
    costs = Model(problem, AVX512, 2).costs
    offered = list(itertools.islice(candidates.enumerate_plans(problem, AVX512, FREE, costs), 300))
    staged = [plan for plan in offered if plan.store is Store.COMBINED]
    assert len(staged) > 100
    for plan in staged:
        assert lower(problem, plan, AVX512).scratch <= AVX512.l2 // 2
        tile = [min(size, extent) for size, extent in zip(plan.tile, problem.extents, strict=True)]
        assert math.prod(tile) * problem.a.itemsize <= AVX512.l2 // 2


@pytest.mark.parametrize(("machine", "row", "wanted"), [("avx512", 369, 4), ("avx512", 15, 0), ("avx2", 369, 0)])
def test_seeds_of_ragged_rows_that_stay_are_joined_in_registers(machine: str, row: int, wanted: int) -> None:
    """One row a tile, eight lines a micro-tile, where the machine can join them and rows have a line; longer tiles."""
    target = targets.find(machine)
    form = canonicalise(Problem((0, 2, 1), (row, 400, 1000))).canonical
    found = [seed for seed in chained_seeds(form, target) if resolve(form, seed[0], target).store is Store.JOINED]
    rows = [fetched for plan, fetched in found if (plan.tile, plan.block) == ((row, 1, 1), (128, 1, 1))]
    assert sum(map(len, rows)) == wanted
    assert all(plan.block[0] % 16 == 0 for plan, _ in found)


@given(st.data())
def test_a_settled_plan_is_its_own_and_does_the_same(data: st.DataObject) -> None:
    c = canonicalise(data.draw(strategies.problems())).canonical
    plan = data.draw(strategies.plans(c, AVX512))
    found = neighbours.settled(c.extents, FREE, plan)
    assert neighbours.settled(c.extents, FREE, found) == found
    kept = ("tile", "block", "prefetch", "store")
    assert [getattr(found, name) for name in kept] == [getattr(plan, name) for name in kept]
    assert found.fallback is None
    assert found.loops(c.extents) == plan.loops(c.extents)
    assert [k for k in found.inner if plan.block[k] < found.box(c.extents)[k]] == [
        k for k in plan.inner if plan.block[k] < plan.box(c.extents)[k]
    ]
    assert found.tasks(c.extents) == plan.tasks(c.extents)
