"""Which plans layouts get of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ttc_llvm.arrays import own_plans, placing
from ttc_llvm.lowering.fallback import for_misaligned_b
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store, parse
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.tuning.cost.measures import Measures
from ttc_llvm.tuning.cost.model import model_plan
from ttc_llvm.tuning.space.choices import FREE

TARGET = lookup.find("znver5")


@pytest.mark.parametrize("turned", [np.s_[:, ::-1], np.s_[::-1, ::-1], np.s_[..., ::-1]])
def test_images_that_l2_nearly_holds_are_written_past_it(turned: tuple[slice, ...]) -> None:
    target = lookup.find("emeraldrapids")
    stores = {}
    for rows in (200, 480):
        x = np.empty((rows, 640, 3), np.uint16)
        canonical = placing.moves(x[turned], np.empty_like(x), 2).canonical
        stores[rows] = [own_plans.modelled(canonical, target, threads, FREE).store for threads in (1, 2)]
    assert stores == {200: [Store.CACHED, Store.CACHED], 480: [Store.ALIGNED, Store.CACHED]}


def test_planes_are_merged_with_the_lines_of_each_prefetched() -> None:
    target = lookup.find("emeraldrapids")
    for channels, ahead in ((3, own_plans.PLANES_AHEAD), (4, own_plans.FOUR_AHEAD)):
        x = np.empty((channels, 1080, 1920), np.uint16).transpose(1, 2, 0)
        plan = own_plans.modelled(placing.moves(x, np.empty_like(x, order="C"), 2).canonical, target, 1, FREE)
        assert (plan.store, plan.fetch, plan.prefetch) == (Store.ALIGNED, Fetch.BLOCKS, ahead)
        assert str(parse(str(plan))) == str(plan)


@pytest.mark.parametrize("kind", ["u1", "u2", "f4", "f8"])
@pytest.mark.parametrize("planes", [2, 3, 4])
@pytest.mark.parametrize(("pixels", "store"), [(1 << 23, Store.ALIGNED), (8300001, Store.COMBINED)])
def test_planes_are_split_with_lines_of_pixels_prefetched(kind: str, planes: int, pixels: int, store: Store) -> None:
    """Four planes one line each at a time; others as the model has them. Planes of parts of lines leave scratch."""
    x = np.empty((pixels, planes), kind).T
    canonical = placing.moves(x, np.empty(x.shape, kind), x.itemsize).canonical
    plan, model = own_plans.modelled(canonical, TARGET, 1, FREE), model_plan(canonical, TARGET, 1)
    assert (plan.store, plan.fetch, plan.prefetch) == (store, Fetch.BLOCKS, own_plans.PLANES_AHEAD)
    assert plan.block[0] == (64 // x.itemsize if planes == 4 else model.block[0])
    assert str(parse(str(plan))) == str(plan)


@pytest.mark.parametrize(
    ("turned", "beyond"),
    [(np.s_[:, ::-1], 1), (np.s_[::-1], 0), ("hwc->chw", own_plans.PLANES_AHEAD), ("chw->hwc", None)],
)
def test_pixels_are_written_into_a_last_cache_that_keeps_them(turned: Any, beyond: int | None) -> None:
    target = lookup.find("znver5")
    kept = own_plans.KEPT_AHEAD if isinstance(turned, str) else 0
    for rows, store, ahead in ((480, Store.CACHED, kept), (2160, Store.ALIGNED, beyond)):
        shape = (3, rows, 1024) if turned == "chw->hwc" else (rows, 1024, 3)
        x = np.empty(shape, np.float32)
        axes = {"hwc->chw": (2, 0, 1), "chw->hwc": (1, 2, 0)}
        view = x.transpose(axes[turned]) if isinstance(turned, str) else x[turned]
        plan = own_plans.modelled(placing.moves(view, np.empty(view.shape, "f4"), 4).canonical, target, 1, FREE)
        assert plan.store is store and ahead in (None, plan.prefetch)
        assert str(parse(str(plan))) == str(plan)


@pytest.mark.parametrize(("rows", "store"), [(480, Store.CACHED), (2160, Store.COMBINED)])
def test_transposed_pixels_are_written_into_a_last_cache_that_keeps_them(rows: int, store: Store) -> None:
    x = np.empty((rows, 3840, 3), np.uint8).swapaxes(0, 1)
    canonical = placing.moves(x, np.empty_like(x, order="C"), 1).canonical
    kept, other = (own_plans.modelled(canonical, lookup.find(name), 1, FREE) for name in ("znver5", "znver4"))
    assert kept.store is store
    ahead = Fetch.BLOCKS, own_plans.CROSSED_AHEAD
    assert ((kept.fetch, kept.prefetch) == ahead) is (store is Store.COMBINED) and other.prefetch != ahead[1]


@pytest.mark.parametrize(("kind", "shape", "axes", "picked"), [
    ("c16", (541, 168), (1, 0), np.s_[:]), ("f8", (40, 128, 90), (0, 2, 1), np.s_[:]),
    ("f8", (15, 187, 64), (1, 0, 2), np.s_[:]),
    ("?", (1314, 2512), (0, 1), np.s_[::2]), ("c8", (201802,), (0,), np.s_[::2]),
    ("f8", (4, 32, 8, 18, 5), (4, 3, 0, 1, 2), np.s_[::-1]),
    ("c16", (11, 20, 34, 2, 15), (0, 3, 1, 2, 4), np.s_[:, :, ::-1]),
])  # fmt: skip
def test_what_caches_hold_is_written_in_order_without_prefetches(
    kind: str, shape: tuple[int, ...], axes: tuple[int, ...], picked: Any
) -> None:
    view = np.empty(shape, kind)[picked].transpose(axes)
    canonical = placing.moves(view, np.empty(view.shape, kind), view.itemsize).canonical
    forced = own_plans.SMALL if view.nbytes < 1 << 20 else FREE
    kept, other = (own_plans.modelled(canonical, lookup.find(name), 1, forced) for name in ("znver5", "znver4"))
    assert (kept.store, kept.prefetch, kept.order) == (Store.CACHED, 0, canonical.along("b"))
    assert all(side <= own_plans.TILED[0] * edge for side, edge in zip(kept.tile, kept.block, strict=True))
    assert str(parse(str(kept))) == str(kept) and (kept.tile, kept.order) != (other.tile, other.order)


def test_tiles_that_crowd_a_first_cache_keep_the_order_of_the_model() -> None:
    view = np.empty((308, 64, 8))[:, :, ::-1].T
    canonical = placing.moves(view, np.empty(view.shape), 8).canonical
    plan, model = own_plans.modelled(canonical, TARGET, 1, FREE), model_plan(canonical, TARGET, 1, own_plans.ORDINARY)
    assert (plan.tile, plan.order, plan.prefetch) == (model.tile, model.order, 0)


def test_where_tiles_of_the_model_crowd_it_too_these_have_fewer_micro_tiles() -> None:
    view = np.empty((40, 16, 3, 32), "c16", "F").transpose(0, 2, 3, 1)
    canonical = placing.moves(view, np.empty(view.shape, "c16"), 16).canonical
    target, model = lookup.find("znver5"), model_plan(canonical, lookup.find("znver5"), 1, own_plans.ORDINARY)
    plan, crowded = own_plans.modelled(canonical, target, 1, own_plans.SMALL), Measures(canonical, target).crowded
    assert (plan.tile, plan.block, plan.prefetch) == ((4, 1, 1, 8), (4, 1, 1, 8), 0)
    assert any(crowded(model.tile)) and any(crowded((16, 1, 1, 16))) and not any(crowded(plan.tile))


def test_items_are_picked_in_long_tiles_and_within_a_last_cache_two_lines_at_a_time() -> None:
    target = lookup.find("znver5")
    kept, beyond = (16, own_plans.DOUBLED_AHEAD), (8, own_plans.PICKED_AHEAD)
    for shape, wanted in (((1 << 20,), kept), ((1 << 23,), beyond), ((4096, 600), beyond), ((1024, 600), kept)):
        x = np.empty(shape, "f8")[..., ::2]
        canonical = placing.moves(x, np.empty(x.shape), 8).canonical
        plan = own_plans.modelled(canonical, target, 1, FREE)
        assert (plan.block[0], plan.prefetch) == wanted
        assert plan.tile[0] == min(own_plans.LONG_TILE // 8, -(-canonical.extents[0] // plan.block[0]) * plan.block[0])
    short = placing.moves(x[:, :6], np.empty((1024, 6)), 8).canonical
    assert own_plans.modelled(short, target, 1, FREE).block[0] < 16


@pytest.mark.parametrize("kind", ["u1", "u2", "f4", "f8", "c16"])
@pytest.mark.parametrize("step", [2, -2, 3])
def test_matrices_with_gaps_are_transposed_in_squares(kind: str, step: int) -> None:
    target, items = lookup.find("znver5"), 64 // np.dtype(kind).itemsize
    x = np.empty((600, 3 * 1000), kind)[:, ::step].T
    canonical = placing.moves(x, np.empty_like(x, order="C"), x.itemsize).canonical
    block = own_plans.modelled(canonical, target, 1, FREE).block
    assert min(block) >= min(16, items) // 2 or 2 * abs(step) > items


@pytest.mark.parametrize(
    ("kind", "rows", "by_lines"), [("c16", 96, True), ("f8", 96, True), ("f8", 15, False), ("f4", 96, False)]
)
def test_wide_items_with_gaps_are_transposed_two_lines_by_two_elements(kind: str, rows: int, by_lines: bool) -> None:
    items = 128 // np.dtype(kind).itemsize
    x = np.empty((rows, 2 * 3413), kind)[:, ::2].T
    canonical = placing.moves(x, np.empty_like(x, order="C"), x.itemsize).canonical
    plan = own_plans.modelled(canonical, lookup.find("znver5"), 1, FREE)
    assert (plan.block == (items, 2)) is by_lines
    most = own_plans.TILED[0]
    tile = (min(rows, most * items), most * 2) if kind == "f8" else (rows, 2)  # of 2.5 and 5 MiB
    assert not by_lines or (plan.tile, plan.store, plan.prefetch) == (tile, Store.CACHED, 0)


@pytest.mark.parametrize(("shape", "cached"), [((90, 70, 90), True), ((90, 64, 90), True), ((90, 700, 90), False)])
def test_short_rows_of_wide_items_are_written_into_a_last_cache_that_keeps_them(
    shape: tuple[int, ...], cached: bool
) -> None:
    x = np.empty(shape, "f8").swapaxes(1, 2)
    canonical = placing.moves(x, np.empty_like(x, order="C"), 8).canonical
    kept, other = (own_plans.modelled(canonical, lookup.find(name), 1, FREE) for name in ("znver5", "znver4"))
    assert (kept.store is Store.CACHED) is cached and other.store is not Store.CACHED
    assert not cached or (kept.prefetch, kept.inner) == (0, canonical.along("b"))


@pytest.mark.parametrize(("row", "kind", "rows", "store"), [
    (43, "f8", (300, 400), Store.JOINED), (95, "f4", (400, -300), Store.JOINED), (13, "f8", (-300, 400), Store.JOINED),
    (13, "f8", (300, 400), Store.COMBINED),  # short ones in another order leave scratch
    (203, "u1", (300, 500), Store.COMBINED), (67, "u1", (-600, 400), Store.CACHED),  # no registers join bytes
    (9, "f8", (-100, 400), Store.CACHED), (43, "f8", (-200, 100), Store.JOINED),  # within the last cache
    (43, "f8", (-100, 100), Store.CACHED), (43, "f8", (150, 100), Store.CACHED),
    (64, "f8", (300, 400), Store.ALIGNED), (5001, "f8", (-10, 100), Store.ROWS),
])  # fmt: skip
def test_rows_that_are_no_whole_lines_are_joined(row: int, kind: str, rows: tuple[int, int], store: Store) -> None:
    """Negative numbers of rows: in A's order, with gaps."""
    ordered, size = min(rows) < 0, row * np.dtype(kind).itemsize
    whole = np.empty((abs(rows[0]), abs(rows[1]), 2 * row if ordered else row), kind)
    x, target = whole[..., :row] if ordered else whole.swapaxes(0, 1), lookup.find("znver5")
    canonical = placing.moves(x, np.empty(x.shape, kind), x.itemsize).canonical
    plan = own_plans.modelled(canonical, target, 1, FREE)
    assert resolve(canonical, plan, target).store is store
    ahead = plan.prefetch * plan.block_elements * x.itemsize
    assert ahead == own_plans.ROWS_AHEAD or not (store is Store.JOINED or size == 512)


@pytest.mark.parametrize(("row", "joined"), [(64, True), (128, False)])
def test_rows_off_a_line_are_joined_by_what_fetches_rows_ahead(row: int, joined: bool) -> None:
    target, x = lookup.find("znver5"), np.empty((400, 400, row)).swapaxes(0, 1)
    canonical = placing.moves(x, np.empty(x.shape), 8).canonical
    plan = own_plans.modelled(canonical, target, 1, FREE)
    found = for_misaligned_b(canonical, plan, target).plan
    assert found.prefetch == plan.prefetch > 0
    assert (resolve(canonical, found, target).store is Store.JOINED) is joined


def test_rows_that_are_prefetched_are_copied_some_lines_at_a_time() -> None:
    x = np.empty((160, 128, 4, 144), "f4")[:, ::2].transpose(1, 2, 0, 3)
    canonical = placing.moves(x, np.empty(x.shape, "f4"), 4).canonical
    plan = own_plans.modelled(canonical, lookup.find("znver5"), 1, FREE)
    assert plan.block == (64, 1, 1, 1) and plan.tile[0] == 144 and plan.prefetch == own_plans.ROWS_AHEAD // 256


@pytest.mark.parametrize(("letter", "columns", "fetch"), [("f4", 20, Fetch.BLOCKS), ("f8", 40, Fetch.ROWS)])
def test_narrow_matrices_are_read_whole(letter: str, columns: int, fetch: Fetch) -> None:
    plan = _first_choice(np.empty((300000, columns), letter).T)[1]
    line = 64 // np.dtype(letter).itemsize
    assert (plan.tile[1], plan.fetch, plan.order) == (columns, fetch, (0, 1)) and plan.tile[0] % line == 0
    assert plan.block[1] * np.dtype(letter).itemsize == 32 and plan.store is Store.ALIGNED


@pytest.mark.parametrize("columns", range(2, 9))
def test_rows_of_four_to_seven_floats_are_read_whole_in_single_lines(columns: int) -> None:
    plan = _first_choice(np.empty((300000, columns), "f4").T)[1]
    assert plan.block == {8: (64, 4)}.get(columns, (32 if columns < 4 else 16, columns))


@pytest.mark.parametrize("letter", ["i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("rows", [2, 25, 31])
def test_short_rows_of_narrow_matrices_leave_registers_in_whole_lines(letter: str, rows: int) -> None:
    canonical, plan = _first_choice(np.empty((rows, 300000), letter).T)
    found = for_misaligned_b(canonical, plan, lookup.find("znver5"))
    assert plan.block == found.plan.block == (rows, 64 // np.dtype(letter).itemsize)
    assert plan.store is Store.ALIGNED and found.store is Store.PEELED


@pytest.mark.parametrize(("letter", "rows", "block"), [("f4", 35, (35, 16)), ("f4", 40, (40, 2)), ("f8", 64, (16, 4))])
def test_longer_rows_of_narrow_matrices_are_whole_lines_or_pairs_of_them(
    letter: str, rows: int, block: tuple[int, int]
) -> None:
    plan = _first_choice(np.empty((rows, 300000), letter).T)[1]
    assert plan.block == block and (plan.prefetch == 3 or rows != 35)


@pytest.mark.parametrize(("letter", "rows"), [("f8", 53), ("f8", 93), ("f8", 106), ("c16", 61), ("c16", 87)])
def test_rows_of_wide_items_that_are_no_whole_lines_leave_scratch_of_one_line_of_each_column(
    letter: str, rows: int
) -> None:
    canonical, plan = _first_choice(np.empty((rows, 60000), letter).T)
    line, writing = 64 // np.dtype(letter).itemsize, resolve(canonical, plan, TARGET)
    assert (plan.tile, plan.block) == ((rows, line), (2 * line, line)) and plan.fetch is Fetch.BLOCKS
    assert writing.store is Store.COMBINED and writing.chain and writing.chain.run == rows * 64 * line
    assert str(parse(str(plan))) == str(plan)


def _first_choice(x: np.ndarray[Any, Any]) -> tuple[Canonical, CpuPlan]:
    canonical = placing.moves(x, np.empty(x.shape, x.dtype), x.itemsize).canonical
    return canonical, model_plan(canonical, lookup.find("znver5"), 1)
