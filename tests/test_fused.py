"""Fused contractions: every plan computes within its error bound, and reads and writes what it should."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fused_cases import TYPES, Case

import ttc_llvm
from ttc_llvm import Contraction, PlanError, cli
from ttc_llvm.compiling.options import checked
from ttc_llvm.contractions import last_cache
from ttc_llvm.contractions import plans as every_plan
from ttc_llvm.contractions.copies import LINE
from ttc_llvm.contractions.fused import measuring, packing, rates, shares, space, stored_speeds
from ttc_llvm.contractions.fused.execution import FusedExecution
from ttc_llvm.contractions.fused.job import job, turns
from ttc_llvm.contractions.fused.plan import Fused, FusedPlan, parse
from ttc_llvm.contractions.last_cache import share_beyond
from ttc_llvm.contractions.merged import A, B, C, merge
from ttc_llvm.contractions.predicting import Predictions
from ttc_llvm.contractions.splitting import NO_GAINS
from ttc_llvm.contractions.task import ContractionTask
from ttc_llvm.ir_builders.attributes import length_known, new_module
from ttc_llvm.ir_builders.fused import fields as f
from ttc_llvm.ir_builders.fused import turning
from ttc_llvm.ir_builders.fused.micro_kernel import add_micro_kernel
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.micro_kernel import MicroKernel, blocks
from ttc_llvm.machine import lookup
from ttc_llvm.operands.addresses import data_address
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.database.opened import open_database

STATED = Contraction("ijk,kl->ilj", {"i": 40, "j": 50, "k": 30, "l": 64}, "float64")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A database of this test's own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "own.sqlite"))
    yield tmp_path / "own.sqlite"


@pytest.mark.parametrize("seed", range(60))
def test_random_contractions_are_within_their_bounds(seed: int) -> None:
    case = Case(seed)
    for products in case.plans():
        assert case.check(products, 1 + seed % 2) == ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 200))
def test_more_random_contractions_are_within_their_bounds(seed: int) -> None:
    case = Case(seed)
    for products in case.plans():
        assert case.check(products, 1 + seed % 2) == ""


def test_the_bounds_of_cases_are_narrow() -> None:
    """A wrong term, and a write beside C, are found."""
    every = (case for case in map(Case, range(50)) if case.before.size and case.arrays[0].flags.writeable)
    case = next(case for case in every if case.alpha != 0 and case.plans())
    products = case.plans()[0]
    a = case.arrays[0]
    assert case.expected[1].max() > 0
    a[(0,) * a.ndim] += 1
    assert "wrong elements" in case.check(products)


@pytest.mark.parametrize("dtype", "sdcz")
def test_nothing_is_read_that_counts_for_nothing(dtype: str) -> None:
    """With beta = 0 not C, with alpha = 0 neither A nor B; complex factors of 1 do not multiply."""
    stated = Contraction("ik,kj->ij", {"i": 50, "j": 50, "k": 20}, dtype)
    a, b, c = (np.ones(stated.shape(name), TYPES[dtype]) for name in "abc")
    c[...] = np.nan
    for products in space.plans(merge(stated)):
        run = FusedExecution(stated, products, 1).run
        run(a, b, c, 1, 0)
        assert (c == 20).all()
        run(a * np.nan, b, c, 0, 2)
        assert (c == 40).all()
        c[...] = np.inf
        run(a, b, c, 1, 1)
        assert np.isposinf(c.real).all()
        c[...] = np.nan


@pytest.mark.parametrize("dtype", "sdcz")
@pytest.mark.parametrize("halves", [1, 2, 4])
@pytest.mark.parametrize(("result", "tiles"), [("ijvu", 2.375), ("jivu", 1.5), ("jivu", 3.25), ("jivu", 3.5)])
def test_c_is_written_past_the_caches_on_any_boundary(dtype: str, halves: int, result: str, tiles: float) -> None:
    """Runs of rows of half a tile, a tile and two, and columns that follow each other, all of them or up to one within
    a tile, with ragged and small blocks; what lies around C is kept."""
    kernel, kind = MicroKernel.of(dtype, backend.host_target()), TYPES[dtype]
    run = kernel.rows // 2 * halves
    size = {"i": 3, "u": run, "j": 2, "v": int(tiles * kernel.columns), "k": 7}
    stated = Contraction(f"iuk,jvk->{result}", size, dtype)
    draw = np.random.default_rng(halves)
    a, b = (draw.integers(-9, 9, stated.shape(name)).astype(kind) for name in "ab")
    wanted = np.einsum(stated.spec, a, b)
    streaming = [x for x in space.plans(merge(stated)) if x.plan.streams]
    assert bool(streaming) == kernel.streams(backend.host_target()) or tiles == 3.25
    memory = np.empty(wanted.size + 2 * LINE, kind)
    for products in streaming:
        small = replace(products, plan=replace(products.plan, block=(kernel.rows, kernel.columns, 7)))
        for start in range(LINE // np.dtype(kind).itemsize + 1):
            memory[...] = -1
            c = memory[start : start + wanted.size].reshape(wanted.shape)
            FusedExecution(stated, small if start % 3 == 2 else products, 1 + start % 2).run(a, b, c)
            assert (c == wanted).all()
            assert (memory[:start] == -1).all() and (memory[start + c.size :] == -1).all()


@pytest.mark.parametrize("dtype", "sdcz")
def test_rows_that_follow_each_other_by_pieces_of_registers_are_written_where_they_belong(dtype: str) -> None:
    """Runs of rows in C are odd numbers of pieces, beside elements that belong to others."""
    piece = MicroKernel.of(dtype, backend.host_target()).piece
    for runs in (1, 3, 5):
        apart = runs * piece + 1
        size = {"i": 5, "u": runs * piece, "j": 19, "k": 6}
        stated = Contraction("iku,jk->jiu", size, dtype, strides_c=(5 * apart, apart, 1))
        draw = np.random.default_rng(runs)
        a, b = (draw.integers(-9, 9, stated.shape(name)).astype(TYPES[dtype]) for name in "ab")
        memory = np.empty((19, 5, apart), TYPES[dtype])
        for products in space.plans(merge(stated)):
            memory[...] = -1
            FusedExecution(stated, products, 1).run(a, b, memory[:, :, :-1])
            assert (memory[:, :, :-1] == np.einsum(stated.spec, a, b)).all()
            assert (memory[:, :, -1] == -1).all()


@pytest.mark.parametrize("dtype", "sdcz")
@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ("akb,jk->jba", {"a": 16, "b": 48, "j": 11, "k": 9}),
        ("akb,jk->jba", {"a": 48, "b": 16, "j": 20, "k": 5}),
        ("jk,akb->jba", {"a": 24, "b": 112, "j": 11, "k": 300}),
        ("cabkd,kj->dcjba", {"a": 24, "b": 6, "c": 2, "d": 32, "j": 11, "k": 5}),
        ("akdbc,jk->cjbda", {"a": 48, "b": 3, "c": 16, "d": 5, "j": 16, "k": 9}),
        ("dbkc,kj->dcjb", {"b": 24, "c": 19, "d": 3, "j": 11, "k": 4}),
        ("amji,cbkm->kjicba", {"a": 20, "m": 30, "j": 5, "i": 3, "c": 4, "b": 13, "k": 12}),
    ],
)  # fmt: skip
def test_rows_and_columns_are_packed_in_every_way(dtype: str, spec: str, size: dict[str, int]) -> None:
    """Turned, in runs of registers and of pieces, one by one; whole and ragged blocks, on one and two threads."""
    stated = Contraction(spec, size, dtype)
    draw = np.random.default_rng(5)
    a, b = (draw.integers(-9, 9, stated.shape(name)).astype(TYPES[dtype]) for name in "ab")
    c = np.empty(stated.shape("c"), TYPES[dtype])
    for number, products in enumerate(space.plans(merge(stated))):
        c[...] = np.nan
        FusedExecution(stated, products, 1 + number % 2).run(a, b, c)
        assert (c == np.einsum(spec, a, b, optimize=True)).all()


def test_turns_of_the_next_block_are_prefetched_and_change_nothing() -> None:
    """Of tensors that the last cache does not keep, in runs of some lines: their offsets take the place of packed ones.
    """
    size = {"a": 24, "k": 21, "d": 24, "b": 24, "c": 24, "j": 24}
    stated = Contraction("akdbc,jk->cjbda", size, "s")
    a = (np.arange(np.prod(stated.shape("a"))) % 19).astype("f").reshape(stated.shape("a"))
    b = (np.arange(24 * 21) % 7).astype("f").reshape(24, 21)
    wanted, c = np.einsum(stated.spec, a, b, optimize=True), np.empty(stated.shape("c"), "f")
    turned = [x for x in space.plans(merge(stated)) if x.plan.streams and words_of(x)["TURN_HEIGHT"]]
    assert turned or not MicroKernel.of("s", backend.host_target()).streams(backend.host_target())
    for number, products in enumerate(turned):
        c[...] = np.nan
        FusedExecution(stated, products, 1 + number % 2).run(a, b, c)
        assert (c == wanted).all()


@pytest.mark.parametrize(("dtype", "extent"), [("s", 192), ("s", 176), ("d", 168), ("d", 192)])
def test_blocks_hold_whole_turns(dtype: str, extent: int) -> None:
    """What is left of a block would be packed one by one. No line of A is read by many turns."""
    kernel = MicroKernel.of(dtype, backend.host_target())
    size = {"a": extent, "k": 192, "b": 192 if dtype == "s" else extent, "j": 24}
    for products in space.plans(merge(Contraction("akb,jk->jba", size, dtype))):
        found = turns(products, kernel)
        if found is not None:
            assert found.share == 1
            assert found.height * kernel.dtype.itemsize >= 2 * LINE or kernel.group * kernel.dtype.itemsize < LINE


@pytest.mark.parametrize(("spec", "extents", "dtype", "block", "rows", "height", "lines"), [
    ("akbc,jk->cjba", (96, 96, 84, 96), "s", (1344, 24, 96), 2304, 48, 36),  # nearly all of L2, for longer runs of A
    ("akbc,jk->cjba", (72, 72, 72, 72), "d", (888, 24, 72), 1728, 72, 15),
    ("akb,jk->jba", (384, 384, 384), "s", (336, 24, 384), 384, 24, 48),  # no whole registers, but whole blocks
    ("cabkd,kj->dcjba", (24, 24, 24, 24, 24), "s", (5424, 24, 24), 1152, 24, 1),  # a fifth will do
    ("akdbc,jk->cjbda", (48, 48, 32, 32, 48), "d", (1344, 24, 48), 1152, 48, 1152),  # all runs in six sets of L2
])  # fmt: skip
def test_rows_are_turned_in_blocks_of_long_runs(
    spec: str, extents: tuple[int, ...], dtype: str, block: tuple[int, int, int], rows: int, height: int, lines: int
) -> None:
    size = dict(zip(spec.partition(",")[0], extents, strict=True)) | {"j": 24}
    merged, kernel = merge(Contraction(spec, size, dtype)), MicroKernel.of(dtype, lookup.find("avx512"))
    last = len(extents)
    plan = FusedPlan(tuple(range(last - 1)), (last - 1,), (last,), (), block, True)
    words = np.array(job(Fused(merged, plan), kernel), np.int64)
    assert (words[f.BLOCK_M // 8], words[f.TURN_HEIGHT // 8]) == (rows, height)
    assert turning.crowd(data_address(words), int(words[f.RUN // 8]), size["k"]) == lines


EVEN = (200, 200, 50, 1), (330, 330, 9, 1), (900, 150, 20, 1), (150, 901, 20, 1), (61, 60, 30, 6)


@pytest.mark.parametrize("dtype", "sdcz")
@pytest.mark.parametrize(("m", "n", "k", "batches"), EVEN)
def test_two_threads_share_a_product_evenly(dtype: str, m: int, n: int, k: int, batches: int) -> None:
    """By batches, rows or columns: the longer part has little more than a half."""
    stated = Contraction("bik,bkj->bij", {"b": batches, "i": m, "j": n, "k": k}, dtype)
    for products in space.plans(merge(stated)):
        words = words_of(products)
        extents = products.batches, *products.sizes[:2]
        assert -(-words["TASKS"] // 2) * words["STEP"] <= 0.54 * extents[words["SIDE"]]


def words_of(products: Fused) -> dict[str, int]:
    """What the job of a plan says of threads, and of turns."""
    words = job(products, MicroKernel.of(products.merged.dtype, backend.host_target()))
    return {name: words[getattr(f, name) // 8] for name in ("SIDE", "STEP", "TASKS", "TURN_HEIGHT", "RUN")}


def test_threads_do_not_each_pack_a_matrix_that_is_picked_one_by_one() -> None:
    sides = set()
    for products in space.plans(merge(Contraction("imjn,lnkm->ijkl", dict.fromkeys("ijklmn", 24), "d"))):
        left, right = (products.is_packed_by_vectors(tensor) for tensor in products.tensors[:2])
        if left != right:
            sides.add((left, words_of(products)["SIDE"]))
    assert sides == {(False, f.BY_ROWS), (True, f.BY_COLUMNS)}


def test_threads_begin_at_whole_turns_where_these_are_many() -> None:
    rows = MicroKernel.of("s", backend.host_target()).rows
    for length, are_many in ((64, False), (8192, True)):
        stated = Contraction("akb,jk->jba", {"a": 48, "b": length, "j": 3, "k": 2}, "s")
        a, b = np.arange(96 * length, dtype="f").reshape(48, 2, length) % 7, np.ones((3, 2), "f")
        for products in space.plans(merge(stated)):
            words = words_of(products)
            turn = words["TURN_HEIGHT"] * words["RUN"]
            if turn:
                assert words["STEP"] == (turn if are_many and turn % rows == 0 else rows)
                c = np.full(stated.shape("c"), np.nan, "f")
                FusedExecution(stated, products, 3).run(a, b, c)
                assert (c == a.sum(1).T).all()


MACHINES = (
    "avx512", "knl", "avx2", "avx", "sse2", "neon", "sve", "sve256", "sve512", "vsx", "vsx-be", "rvv", "rvv256", "wasm",
)  # fmt: skip
MULTIPLY = {
    "avx512": "vfmadd", "knl": "vfmadd", "avx2": "vfmadd", "avx": "vmulp", "sse2": "mulp", "neon": "fmla",
    "sve": "fmla", "sve256": "fmla", "sve512": "fmla", "vsx": "xvmadd", "vsx-be": "xvmadd", "rvv": "vfmacc",
    "rvv256": "vfmacc", "wasm": "x2.mul|x4.mul",
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "vectors"), [*((dtype, None) for dtype in "sdcz"), ("d", 1)])
@pytest.mark.parametrize("machine", MACHINES)
def test_sums_stay_in_registers(machine: str, dtype: str, vectors: int | None) -> None:
    """The innermost loop multiplies into all of a tile's registers, and neither stores nor reads the stack."""
    target = lookup.find(machine)
    kernel = MicroKernel.of(dtype, target)
    module = new_module(target)
    made = add_micro_kernel(module, kernel, "multiply_tile", vectors)
    made.linkage = ""
    length_known([made], target)
    loop = innermost(backend.assembly(str(module), target), machine)
    assert not [line for line in loop if re.search(r"\(%rsp\)|\[sp|\(1\)$|\(sp\)", line)]
    assert sum(bool(re.search(MULTIPLY[machine], line)) for line in loop) == (vectors or kernel.vectors) * kernel.width


def innermost(assembly: str, machine: str) -> list[str]:
    """The instructions of the micro-kernel's loop over terms, which is its only loop."""
    function = assembly.partition("multiply_tile:")[2]
    if machine == "wasm":
        return function.partition("\tloop")[2].partition("end_loop")[0].splitlines()
    parts = re.split(r"\n([.\w]+):", function)
    blocks = dict(zip(parts[1::2], parts[2::2], strict=True))
    (loop,) = [text for label, text in blocks.items() if "BB" in label and re.search(rf"\s{re.escape(label)}\b", text)]
    return loop.splitlines()


@pytest.mark.parametrize("dtype", "sdcz")
@pytest.mark.parametrize("machine", MACHINES)
def test_blocks_fit_in_the_caches(machine: str, dtype: str) -> None:
    target = lookup.find(machine)
    kernel = MicroKernel.of(dtype, target)
    size = kernel.dtype.itemsize
    for sizes in ((5000, 5000, 5000), (1, 1, 1), (9000, 100, 24), (7, 9000, 300), (100, 100, 10000)):
        made = blocks(kernel, target, sizes)
        assert made.rows % kernel.rows == made.columns % kernel.columns == 0
        assert kernel.columns * made.terms * size <= target.l1 // 2
        assert made.rows * made.terms * size <= max(target.l2 // 2, kernel.rows * made.terms * size)
        assert made.rows < sizes[0] + kernel.rows
        assert made.columns < sizes[1] + kernel.columns
        assert made.terms <= sizes[2]


def test_plans_are_texts() -> None:
    for products in space.plans(merge(STATED)):
        text = str(products.plan)
        assert parse(text) == every_plan.parse(text) == products.plan
        assert every_plan.check(products.plan, products.merged) == products
    made = parse("fused1 rows=3 columns=0,1 terms=2 batches= block=96,64,32 streams")
    assert made == FusedPlan((3,), (0, 1), (2,), (), (96, 64, 32), True)
    copied = parse("fused1 rows=3 columns=0,1 terms=2 batches= block=96,64,32 b=2,0,1")
    assert copied.copies == (None, (2, 0, 1), None)


NO_TEXTS = [
    "", "fused1", "fused0 rows=0 columns=1 terms=2 batches= block=1,1,1", "fused1 rows=0 columns=1 terms=2 batches=",
    "fused1 rows=0 columns=1 terms=2 batches= block=1,1", "fused1 rows=0 columns=1 terms=2 batches= block=0,1,1",
    "fused1 rows=x columns=1 terms=2 batches= block=1,1,1", "fused1 rows=0 rows=0 columns=1 terms=2 block=1,1,1",
    "fused1 rows=0 columns=1 terms=2 batches= block=1,1,1 streams streams",
    "fused1 rows=0 columns=-1 terms=2 batches= block=1,1,1",
    "fused1 rows=0 columns=1 terms=2 batches= block=1,1,1 c=0,1",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_TEXTS)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match="plan of a fused contraction"):
        parse(text)


@pytest.mark.parametrize(("text", "message"), [
    ("fused1 rows=0 columns=1 terms=2 batches= block=8,8,8", "does not name each index"),
    ("fused1 rows=0,1 columns=2 terms=3 batches= block=8,8,8 a=0,1", "without each of its indices once"),
    ("fused1 rows=0,1 columns=3 terms=2 batches= block=8,8,8", "in groups of other classes"),
])  # fmt: skip
def test_plans_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        ttc_llvm.compile(STATED, plan=text, progress=False)


def test_plans_are_candidates_beside_those_of_a_blas(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Predictions, "seconds", lambda self, applied: 1 + len(str(applied.plan)))
    monkeypatch.setattr(Predictions, "gains", NO_GAINS)
    task = ContractionTask(STATED, checked(1, 1))
    ranked = task.ranked()
    texts = [str(x.plan) for _, x in ranked]
    assert {text.split()[0] for text in texts} == {"gemm1", "fused1"}
    text = next(text for text in texts if text.startswith("fused1"))
    solution = ttc_llvm.compile(STATED, threads=1, plan=text, progress=False)
    assert str(solution.plan) == text
    assert solution.measurement is not None
    a, b = np.random.rand(40, 50, 30), np.random.rand(30, 64)
    assert np.allclose(solution(a, b), np.einsum("ijk,kl->ilj", a, b))
    told = str(solution.explain(0))
    for wanted in ("A packed by ", "terms, ", "C in place", "in tiles of"):
        assert wanted in told
    assert "predicted" not in told


def test_speeds_are_stored_and_found(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    fixed = rates.FusedRates(*range(1, 1 + len(rates.FusedRates._fields)))._replace(start=1e-6)
    made = rates.FusedRates(*(value * 1e-9 for value in fixed))

    def measured(dtype: str) -> rates.FusedRates:
        calls.append(dtype)
        return made

    monkeypatch.setattr(measuring, "measured", measured)
    ask: Any = stored_speeds.measured.__wrapped__  # type: ignore[attr-defined]
    assert ask("d") == ask("d") == made
    assert calls == ["d"]
    assert ask("s") == made
    assert calls == ["d", "s"]


@pytest.mark.parametrize("spec", ["kur,kj->jru", "urk,kj->jur", "kur,kj->jur", "kru,kj->jur", "ukr,kj->ujr"])
def test_shares_of_what_is_packed_and_written_together_are_counted_by_places(spec: str) -> None:
    kernel = MicroKernel.of("d", lookup.find("avx512"))
    for r, u, k in product((5, 11, 12, 36, 40), (24, 48), (7, 8, 20, 33)):
        merged = merge(Contraction(spec, {"u": u, "r": r, "k": k, "j": 8}, "d"))
        for fused in space.plans(merged):
            plan = fused.plan
            if fused.swapped or any(plan.copies):
                continue
            rows, written, terms = (
                _steps(fused, *side, kernel.group) for side in ((A, plan.rows), (C, plan.rows), (A, plan.terms))
            )
            pieces = kernel.piece if r % kernel.piece == 0 else kernel.group
            whole = [set(steps) == {1} for steps in _steps(fused, C, plan.rows, kernel.rows)]
            past, kept, cut = packing.shares_written(fused, kernel)
            assert past + kept + cut == pytest.approx(1)
            if not plan.streams:
                assert kept == pytest.approx(sum(whole) / -(-u * r // kernel.rows), abs=0.1)
            assert packing.share_apart(fused, kernel) == pytest.approx(1 - _in_a_row(written, pieces), abs=0.05)
            if not fused.is_packed_by_vectors(A):
                continue
            wanted = _in_a_row(rows, pieces)
            if not packing.goes_on(fused, A):
                wanted = _in_a_row(terms, kernel.group)
            assert packing.together(fused, A, kernel) == pytest.approx(wanted, abs=0.05)


def _steps(fused: Fused, tensor: int, numbers: tuple[int, ...], group: int) -> list[list[int]]:
    """From each row, or term, of whole groups to the next one."""
    places = [0]
    for number in numbers:
        index = fused.merged.indices[number]
        places = [place + k * index.strides[tensor] for place in places for k in range(index.extent)]
    groups = [places[k : k + group] for k in range(0, len(places) - group + 1, group)]
    return [[y - x for x, y in pairwise(group)] for group in groups]


def _in_a_row(groups: list[list[int]], piece: int) -> float:
    """The share of groups whose elements follow each other, or those of each piece do."""
    inside = [[step for k, step in enumerate(steps, 1) if k % piece] for steps in groups]
    return sum({*steps} == {1} for steps in inside) / max(1, len(groups))


def test_lines_of_batches_that_the_last_cache_keeps_are_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of larger products anew for each product."""
    monkeypatch.setattr(last_cache, "_bytes", lambda: 32 << 20)
    fixed = rates.FusedRates(*[1e-12] * len(rates.FusedRates._fields))
    seconds = []
    for m in (200, 2000):
        fused = next(space.plans(merge(Contraction("mkb,knb->bmn", {"m": m, "k": 600, "n": 2, "b": 64}, "s"))))
        more = fixed._replace(read=1e-9).seconds(fused, 1) - fixed.seconds(fused, 1)
        seconds.append(more / fused.merged.elements(A) / share_beyond(fused.merged))
    assert seconds[1] > 8 * seconds[0] > 0


@pytest.mark.parametrize(("run", "rows"), [(288, 1152), (24, 1344), (1000, 1344), (40, 1320)])
def test_blocks_that_are_written_past_the_caches_hold_whole_runs(run: int, rows: int) -> None:
    """Of rows that follow each other in C, where one fits."""
    kernel = MicroKernel.of("d", lookup.find("avx512"))
    merged = merge(Contraction("kur,kj->ujr", {"u": 50, "r": run, "k": 24, "j": 64}, "d"))
    fused = next(x for x in space.plans(merged) if not x.swapped)
    assert space._whole_runs(fused, 1344, kernel) == rows
    assert space._whole_runs(fused, 50 * run, kernel) == 50 * run


@pytest.mark.parametrize("rows", [24, 20, 16])
def test_tiles_past_the_caches_are_whole(rows: int) -> None:
    """Those of the last columns, or whose rows lie in several runs, are written through them."""
    kernel = MicroKernel.of("d", lookup.find("avx512"))
    merged = merge(Contraction("kur,kj->ujr", {"u": 50, "r": rows, "k": 4, "j": 12}, "d"))
    plans = [x for x in space.plans(merged) if not x.swapped]
    past, whole, cut = packing.shares_written(replace(plans[0], plan=replace(plans[0].plan, streams=True)), kernel)
    assert (past, whole, cut) == ((0.5, 0.5, 0.0) if rows == kernel.rows else (0.0, 0.0, 1.0))


def test_lines_that_products_share_come_from_the_last_cache_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where batches are nearest in memory, and a core's own caches do not keep the lines of one."""
    monkeypatch.setattr(last_cache, "_bytes", lambda: 1 << 30)
    fixed = rates.FusedRates(*[1e-12] * len(rates.FusedRates._fields))._replace(scattered=1e-6)
    found = []
    for spec, m in (("bmk,bkn->mnb", 300), ("bmk,bkn->bnm", 300), ("bmk,bkn->mnb", 20)):
        fused = next(space.plans(merge(Contraction(spec, {"m": m, "k": 6, "n": 200, "b": 30}, "d"))))
        found.append(fixed.seconds(fused, 1) / fused.merged.elements(C))
    assert found[0] > 100 * max(found[1:])


def test_terms_of_a_line_that_come_in_later_blocks_are_fetched_again() -> None:
    """Where those of all rows do not stay in a core's own caches meanwhile."""
    fixed = rates.FusedRates(*[1e-12] * len(rates.FusedRates._fields))._replace(fetched=1e-6)
    found = []
    for rows, depth in ((192, 252), (20, 252), (192, 2000)):
        merged = merge(Contraction("dac,bcd->ab", {"d": 79, "a": 275, "c": 143, "b": rows}, "d"))
        (fused, *_) = (x for x in space.plans(merged) if not (any(x.plan.copies) or x.is_packed_by_vectors(B)))
        fused = replace(fused, plan=replace(fused.plan, block=(*fused.plan.block[:2], depth)))
        found.append(fixed.seconds(fused, 1))
    assert found[0] > 100 * max(found[1:])


def test_parts_of_a_prediction_are_all_of_it() -> None:
    """And the blocks and what is packed are those of the plan."""
    fixed = rates.FusedRates(*(1e-9 * (2 + k % 5) for k in range(len(rates.FusedRates._fields))))
    for seed in range(40):
        for products in Case(seed).plans():
            found = shares.shares(fixed, products, 2)
            assert sum(found.values()) == pytest.approx(fixed.seconds(products, 2))
            assert list(found.values()) == sorted(found.values(), reverse=True)
            assert len(found) == 5 and found["arithmetic"] > 0
            assert shares.packed(products) >= products.batches * products.sizes[2] * sum(products.sizes[:2])
            assert len(list(shares.caches(products))) == 3


def test_the_command_line_explains(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", "--einsum=ijk,kl->ilj", "--size=i:40,j:64,k:8,l:70", "--dtype=d", "--threads=1"]
    plan = "fused1 rows=0,1 columns=2 terms=3 batches= block=576,72,8"
    assert cli.main([*asked, f"--plan={plan}", "--plans=2"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"plan {plan} A packed by i,j,k, by vectors B packed by l,k, by vectors C in place" in told
    assert "of m x n x k = 2560 x 70 x 8, in tiles of" in told
    assert re.search(r"predicted [\d.e-]+ ms, [\d.]+ GFlop/s, [\d.]+ GB/s ", told)
    assert re.search(r"\d+% arithmetic.*: limited by [\w ]+ the micro-kernel reaches", told)
    assert cli.main([*asked, "--plans=1"]) == 0
    assert "the first 1 of" in capsys.readouterr().out
    assert cli.main([*asked, "--plan=fused1 rows=0,1 columns=2 terms=3 batches= block=96000,72,80000"]) == 0
    assert re.search(r"2,5\d\d rows by 8 terms", " ".join(capsys.readouterr().out.split()))  # not more than there are
    refused = {
        "--stage=plans": "a contraction is told in one text", "--plan=x": "no plan of a contr",
        "--cpu=neon": "contractions are explained for this machine",
    }  # fmt: skip
    for option, message in refused.items():
        assert cli.main([*asked, option]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "1 2", "1e-9 " * 16 + "NaN", "{}"])
def test_damaged_speeds_are_measured_again(own: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    made = rates.FusedRates(*[1e-9] * len(rates.FusedRates._fields))
    monkeypatch.setattr(measuring, "measured", lambda dtype: made)
    monkeypatch.setattr(stored_speeds, "_text", lambda rates: text)
    ask: Any = stored_speeds.measured.__wrapped__  # type: ignore[attr-defined]
    ask("d")
    monkeypatch.undo()
    monkeypatch.setenv("TTC_DATABASE", str(own))
    monkeypatch.setattr(measuring, "measured", lambda dtype: made)
    open_database(None)
    assert ask("d") == made
