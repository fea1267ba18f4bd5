"""The cost model's facts: how micro-tiles follow each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ttc_llvm import Problem
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine import lookup as targets
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.tuning.cost.features import Features
from ttc_llvm.tuning.cost.linear_model import at

AVX512 = targets.find("avx512")
SIZES: dict[int | str, float] = {1: 0.5, 3: 0.1, 4: -0.3}


def canonical(perm: tuple[int, ...], size: tuple[int, ...]) -> Canonical:
    return canonicalise(Problem(perm, size, "s", alpha=2, beta=4)).canonical


def facts(problem: Canonical, plan: CpuPlan) -> dict[str, int | str]:
    """The facts by name, without the mode that they are of."""
    return {name.partition(": ")[2]: bucket for name, bucket in Features(problem, AVX512).facts(plan)}


def walking(tile: tuple[int, ...], order: tuple[int, ...], distance: int = 6) -> CpuPlan:
    block = tuple(min(16, extent) for extent in tile)
    return CpuPlan(tile, block, order, order, 2, distance)


def test_rows_are_walked_to_their_ends_and_on_where_memory_goes_on() -> None:
    problem = canonical((2, 1, 0), (40, 30, 480))  # axis 0 is B's unit axis, axis 2 A's, of 40 elements
    along_a = facts(problem, walking((16, 1, 40), (0, 1, 2)))
    assert (along_a["stream a"], along_a["stream b"]) == (12, 6)  # 40 x 30 elements, 16 elements
    along_b = facts(problem, walking((16, 1, 16), (2, 1, 0)))
    assert (along_b["stream a"], along_b["stream b"]) == (6, 13)  # 16 elements, 480 x 30


def test_a_panel_ends_a_walk() -> None:
    problem = canonical((1, 0), (4096, 4096))
    plan = CpuPlan((16, 16), (16, 16), (0, 1), (0, 1), 2, 6, panel=(64, 256))
    assert facts(problem, plan)["stream a"] == 10
    assert facts(problem, walking((16, 16), (0, 1)))["stream a"] == 13


def test_what_is_asked_for_shares_the_sets_of_l1() -> None:
    crowded, spread = canonical((1, 0), (8192, 8192)), canonical((1, 0), (8272, 8272))
    plan = walking((16, 16), (0, 1))
    assert facts(crowded, plan)["streams"] == "pages lines over"
    assert facts(spread, plan)["streams"] == "pages lines loose"
    assert "flight a" not in facts(crowded, walking((16, 16), (0, 1), distance=0))
    rows = CpuPlan((16, 16), (16, 16), (0, 1), (0, 1), 2, 1, fetch=Fetch.ROWS)  # into L2
    assert facts(crowded, rows)["streams"] == "pages lines alone"
    far = replace(plan, fetch=Fetch.FAR)  # into L2 as well, where that was measured
    assert facts(crowded, far)["streams"] == "pages lines over"
    zen4 = {name.partition(": ")[2]: bucket for name, bucket in Features(crowded, targets.find("znver4")).facts(far)}
    assert zen4["streams"] == "pages lines alone" and "flight a" not in zen4


def test_how_wide_tiles_are_beside_the_way_in_which_they_follow_each_other() -> None:
    problem = canonical((1, 0), (7264, 7264))
    for order, along in (((0, 1), "a"), ((1, 0), "b")):
        found = facts(problem, CpuPlan((16, 32), (16, 16), order, (0, 1), 2, 6))
        assert found["runs"] == found[f"runs, along {along}"] == "7 6"
        assert len([name for name in found if name.startswith("runs, along")]) == 2  # one of the family


def test_sides_of_a_micro_tile_are_runs_over_as_many_axes_as_they_take() -> None:
    problem = canonical(tuple(range(20))[::-1], (2,) * 20)
    single = tuple([1] * 20)
    order = tuple(range(20))
    for count, side in ((2, 4), (3, 5), (4, 6)):  # axes of 2 on either side; 8 bytes along the unit axis in all cases
        block = (*[2] * count, *single[2 * count :], *[2] * count)
        found = facts(problem, CpuPlan(block, block, order, order))
        assert (found["block a"], found["block b"], found["block"]) == (side, side, f"{1 << side}x{1 << side}")
    wide = facts(canonical((1, 0), (4096, 4096)), walking((16, 16), (0, 1)))
    assert (wide["block a"], wide["block b"]) == (6, 6)


def test_pages_of_a_micro_tile() -> None:
    near, far = canonical((1, 0, 2), (96, 64, 1000)), canonical((2, 1, 0), (96, 1000, 64))
    assert facts(near, walking((16, 16, 1), (2, 0, 1)))["pages b"] == 0  # 16 rows of B, 256 bytes apart
    assert facts(far, walking((16, 1, 16), (0, 1, 2)))["pages b"] == 4


def test_pages_are_found_again_while_their_translations_are_at_hand() -> None:
    """Misses per line, twice their log2. Along A's rows, then on in A: 59 x 384 pages come between two lines of one
    page of B. Along A's rows, then on in B: 384 pages do, and three rows of A share one."""
    problem = canonical((2, 1, 0), (384, 59, 2320))
    on_in_a = facts(problem, walking((16, 1, 16), (0, 1, 2)))
    assert (on_in_a["misses a"], on_in_a["misses b"]) == (-12, 0)  # a page holds 64 lines
    on_in_b = facts(problem, walking((16, 1, 16), (1, 0, 2)))
    assert (on_in_b["misses a"], on_in_b["misses b"]) == (-9, -12)


def test_panels_save_translations() -> None:
    problem = canonical((1, 0), (8192, 8192))
    whole = walking((16, 16), (0, 1))
    assert facts(problem, whole)["misses b"] == 0
    assert facts(problem, replace(whole, panel=(1024, 1024)))["misses b"] == -12


def test_runs_that_go_on_are_told_by_their_length_and_by_what_waits_meanwhile() -> None:
    """Tiles of 16 x 16 go on along B's rows: at once, 16 lines wait; after 512 rows of B are through, as many do."""
    problem = canonicalise(Problem((1, 0), (4097, 4097), "s", alpha=1, beta=0)).canonical
    at_once = CpuPlan((16, 16), (16, 16), (1, 0), (0, 1), 1, store=Store.COMBINED)
    names = ("run handed on", "waiting")
    assert [facts(problem, at_once)[name] for name in names] == [13, 10]
    columns = replace(at_once, order=(0, 1), panel=(4097, 512))
    assert [facts(problem, columns)[name] for name in names] == [13, 15]
    pieces = replace(columns, panel=(256, 512))
    assert [facts(problem, pieces)[name] for name in names] == [10, 15]
    assert not set(names) & set(facts(problem, replace(at_once, tile=(4112, 16))))
    *_, run, waiting = Features(problem, AVX512).numbers(columns)
    assert (round(2**run), 2**waiting) == (4 * 4097, 512 * 64)


@pytest.mark.parametrize(
    ("bucket", "weight"), [(1, 0.5), (2, 0.3), (3, 0.1), (0, 0.5), (9, -0.3), ("no such word", 0.0)]
)
def test_sizes_that_no_timing_had_weigh_what_the_nearest_do(bucket: int | str, weight: float) -> None:
    assert at(SIZES, bucket) == pytest.approx(weight)
    assert at({}, bucket) == 0.0
