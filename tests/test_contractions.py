"""Contractions as values: what they refuse, how their indices merge, and that every plan computes the same."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from known_speeds import known_speeds

from ttc_llvm import Contraction, PlanError, ProblemError
from ttc_llvm.contractions import (
    blas,
    blocking,
    blocks,
    choices,
    execution,
    last_cache,
    measuring,
    plan,
    plans,
    predicting,
    rates,
    space,
    splitting,
    stored_speeds,
    timing,
    traffic,
)
from ttc_llvm.contractions import products as products_module
from ttc_llvm.contractions.execution import Execution
from ttc_llvm.contractions.fused import rates as fused_rates
from ttc_llvm.contractions.fused import stored_speeds as fused_speeds
from ttc_llvm.contractions.gemm import Gemm, gemm, passes
from ttc_llvm.contractions.last_cache import share_beyond
from ttc_llvm.contractions.merged import Form, Merged, merge
from ttc_llvm.contractions.products import BlasLoops, NumpyProducts
from ttc_llvm.contractions.speeds import LONG, MILLION, SHORT, Speed
from ttc_llvm.runtime.pool import Call
from ttc_llvm.tuning.database.database import Database

Array = npt.NDArray[Any]
TYPES = {"s": "f", "d": "d", "c": "F", "z": "D"}
ERROR = {"s": 1e-3, "c": 1e-3, "d": 1e-9, "z": 1e-9}
REFUSED: list[tuple[tuple[Any, ...], str]] = [
    (("ij,jk", {}), r"spec 'ij,jk' is not of the form 'ijk,kl->ijl'"),
    (("ij,jk,kl->il", {}), r"is not of the form"),
    ((5, {}), r"spec 5 is not a text"),
    (("ij,jk->ik", {"i": 1, "j": 2}), r"has no extent of index k"),
    (("ij,jk->ik", {"i": 1, "j": 2, "k": 3, "l": 4}), r"has index 'l', which spec 'ij,jk->ik' lacks"),
    (("ij,jk->ik", {"i": 1, "j": 2, "k": -1}), r"the extent of index k -1 is less than 0"),
    (("ij,jk->ik", {"i": 1, "j": 2, "k": 1.5}), r"the extent of index k 1\.5 is not an integer"),
    (("ij,jk->ik", 5), r"size 5 is not a sequence"),
    (("ij,jk->ik", [1, 2]), r"is no mapping of indices to extents"),
    (("ij,jk->ik", [("i", 1), ("j", 2), ("i", 3), ("k", 4)]), r"has an index twice"),
    (("ij,jk->il", dict.fromkeys("ijkl", 2)), r"index k of spec 'ij,jk->il' stands in one tensor only"),
    (("ii,ik->k", {"i": 1, "k": 2}), r"index i stands more than once in a"),
    (("i1,1k->ik", {}), r"has '1' in a: indices are letters of ASCII"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2), "f16"), r"data type f16 has no products here"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2), "d", (1, 2, 3)), r"strides_a \(1, 2, 3\) has 3 entries, but a has 2 axes"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2), "d", None, None, (1, 1)), r"strides_c \(1, 1\) lets elements of C"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2), "d", None, None, None, 1j), r"alpha = 1j is complex"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2), "d", None, None, None, 1, 0, True), r"conjugation needs a complex"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2**40)), r"is beyond 64-bit addresses"),
    (("ij,jk->ik", dict.fromkeys("ijk", 2**21)), r"has more than 2\*\*62 multiplications"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_bad_contractions_are_told(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Contraction(*arguments)


def test_contractions_are_values() -> None:
    one = Contraction("ijk, kl -> ijl", {"i": 8, "j": 4, "k": 3, "l": 5}, "float64")
    assert one == Contraction("ijk,kl->ijl", [("l", 5), ("k", 3), ("j", 4), ("i", 8)], "d", strides_a=None)
    assert str(one) == "ijk,kl->ijl i:8,j:4,k:3,l:5 d"
    assert (one.shape("c"), one.strides("a"), one.multiplications) == ((8, 4, 5), (12, 3, 1), 480)
    assert [one.class_of(x).value for x in "ijkl"] == ["m", "m", "k", "n"]
    with pytest.raises(ProblemError, match="operand 'd' is unknown"):
        one.shape("d")


def test_indices_merge_where_all_tensors_allow() -> None:
    merged = merge(Contraction("ijk,kl->ijl", {"i": 8, "j": 4, "k": 3, "l": 5}))
    assert str(merged) == "d m:32:3:5 n:5:1:1 k:3:1:5"
    apart = merge(Contraction("ijk,kl->jil", {"i": 8, "j": 4, "k": 3, "l": 5}))
    assert str(apart) == "d m:4:3:40 m:8:12:5 n:5:1:1 k:3:1:5"
    backwards = merge(Contraction("ij,jk->ik", dict.fromkeys("ijk", 2), strides_c=(-2, 1), strides_a=(-2, 1)))
    assert (str(backwards), backwards.reversed) == ("d m:2:2:2 n:2:1:1 k:2:1:2", "i")


class Drawn:
    """A random contraction, and arrays that lie as it says."""

    def __init__(self, seed: int) -> None:
        draw, self.rng = random.Random(seed), np.random.default_rng(seed)
        letters = draw.sample("abcdefghijklmn", 9)
        counts = [0, 0, 1, 2], [0, 1, 2, 3], [0, 1, 2], [0, 1, 2]
        batch, m, n, k = ([letters.pop() for _ in range(draw.choice(count))] for count in counts)
        sides = [[*batch, *m, *k], [*batch, *n, *k], [*batch, *m, *n]]
        for side in sides:
            draw.shuffle(side)
        edges, every = [0, 1, 1, 2, 3], batch + m + n + k
        size = {x: draw.choice(edges) if draw.random() < 0.2 else draw.randint(1, 6) for x in every}
        self.dtype = draw.choice("sdcz")
        self.arrays = [self._array(draw, [size[x] for x in side]) for side in sides]
        flags = [self.dtype in "cz" and draw.random() < 0.3 for _ in range(2)]
        of_a, of_b, of_c = (tuple(step // x.itemsize for step in x.strides) for x in self.arrays)
        spec = "{},{}->{}".format(*map("".join, sides))
        self.alpha, self.beta = draw.choice([(1, 0), (2, 0), (1, 1), (0.5, -2)])
        self.stated = Contraction(spec, size, self.dtype, of_a, of_b, of_c, self.alpha, self.beta, *flags)
        a, b = (x.conj() if flag else x for x, flag in zip(self.arrays, flags, strict=False))
        self.before = self.arrays[2].copy()
        self.wanted = self.alpha * np.einsum(spec, a, b) + (self.beta * self.before if self.beta else 0)

    def _array(self, draw: random.Random, shape: list[int]) -> Array:
        order = draw.sample(range(len(shape)), len(shape))
        memory = np.asarray(self.rng.standard_normal([shape[k] + draw.choice([0, 0, 2]) for k in order]))
        if self.dtype in "cz":
            memory = memory + 1j * self.rng.standard_normal(memory.shape)
        inside = (..., *map(slice, shape))
        turned = (..., *(slice(None, None, draw.choice([1] * 9 + [-1])) for _ in shape))
        view: Array = memory.astype(TYPES[self.dtype]).transpose(np.argsort(order))[inside][turned]
        return view

    def check(self, run: blocks.Runs) -> None:
        """Run it on a result that must not be read where beta is 0."""
        a, b, c = self.arrays
        c[...] = self.before if self.beta else np.nan
        run.run(a, b, c, self.alpha, self.beta)
        error = ERROR[self.dtype]
        assert np.allclose(c, self.wanted, error, error), (self.stated, run.products.plan)


@pytest.mark.parametrize("seed", range(150))
def test_every_plan_computes_the_same(seed: int) -> None:
    drawn = Drawn(seed)
    merged = merge(drawn.stated)
    every = list(space.plans(merged))
    assert len({str(x.plan) for x in every}) == len(every) > 0
    for products in random.Random(seed).sample(every, min(6, len(every))):
        assert plan.parse(str(products.plan)) == products.plan
        made = Execution(drawn.stated, products)
        drawn.check(made)
        made._run = NumpyProducts(products)
        drawn.check(made)


@pytest.mark.parametrize("dtype", "sdcz")
def test_operands_are_read_and_results_scaled_as_alpha_and_beta_say(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every plan: OpenBLAS multiplies small matrices by an alpha of 0, and takes a beta of 0 + NaN i for 0."""
    for name, value in (("PIECE_BYTES", 64), ("LEAST", 2), ("RUN_BYTES", 0)):
        monkeypatch.setattr(blocking, name, value)
    stated = Contraction("bik,bkj->bji", {"b": 2, "i": 6, "k": 5, "j": 7}, dtype)
    a, b, c = (np.ones(stated.shape(name), TYPES[dtype]) for name in "abc")
    nothing, every = np.full_like(a, np.nan), list(space.plans(merge(stated)))
    pieces = [found for x in every if (found := blocking.blocked(stated, x)) is not None]
    assert pieces
    for products in [*every, *pieces]:
        made = blocks.executed(stated, products)
        for alpha, beta in ((0, 0), (-0.0, 1), (0, -2)):
            c[...] = 3 if beta else np.nan
            made.run(nothing, b, c, alpha, beta)
            assert (c == 3 * beta).all(), products.plan
        c[...] = 3
        made.run(a, b, c, 1, complex(0, np.nan) if dtype in "cz" else np.nan)
        assert np.isnan(c).all(), products.plan


@pytest.mark.parametrize("seed", range(500, 560))
def test_the_first_plan_is_that_of_the_ranking(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found without a look at most others, whatever the speeds."""
    draw, stated = random.Random(seed), Drawn(seed).stated
    edge = draw.choice([1, 4, 30])
    size = {letter: n * draw.randint(1, edge) for letter, n in stated.size}
    form = Form(large := Contraction(stated.spec, size, str(stated.dtype)), merge(large))
    known = known_speeds()
    costs = {name: getattr(known, name) * 2 ** draw.uniform(-4, 4) for name in ("run", "call", "start")}
    copied: Any = tuple(value * 2 ** draw.uniform(-2, 2) for value in known.copied)
    drawn = dataclasses.replace(known, **costs, copied=copied)
    tiles = fused_rates.FusedRates(*[10 ** draw.uniform(-11, -6) for _ in fused_rates.FusedRates._fields])
    monkeypatch.setattr(stored_speeds, "measured", lambda dtype, threads: drawn)
    monkeypatch.setattr(fused_speeds, "measured", lambda dtype: tiles)
    seconds, applied = predicting.ranked(form, 2)[0]
    first = predicting.first(form, 2)
    assert (first.seconds, first.applied) == (seconds, applied)
    for times in (0.5, 1, 1.01):
        assert (predicting.first(form, 2, times * seconds).applied is not None) == (times > 1)


@pytest.mark.parametrize("seed", range(150, 250))
def test_pieces_compute_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "PIECE_BYTES", 64)
    monkeypatch.setattr(blocking, "LEAST", 2)
    monkeypatch.setattr(blocking, "RUN_BYTES", 0)
    drawn = Drawn(seed)
    merged = merge(drawn.stated)
    every = [found for x in space.plans(merged) if (found := blocking.blocked(drawn.stated, x)) is not None]
    for products in random.Random(seed).sample(every, min(4, len(every))):
        assert plan.check(plan.parse(str(products.plan)), merged) == products
        assert products.pieces > 1
        drawn.check(blocks.executed(drawn.stated, products))


def test_long_products_that_are_cut_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    if blas.scipy_blas() is None:
        pytest.skip("SciPy is not installed")
    monkeypatch.setattr(splitting, "SMALL", 12)
    monkeypatch.setattr(splitting, "LEAST", 2)
    gains, seen = splitting.Gains(dict.fromkeys(rates.CUTS, 2.0)), set()
    for seed in range(310, 410):
        drawn = Drawn(seed)
        every = list(space.plans(merge(drawn.stated)))
        for products in random.Random(seed).sample(every, min(6, len(every))):
            made = Execution(drawn.stated, products, gains=gains)
            call = gemm(products)
            cut = call and splitting.split(call, gains)
            seen.add((cut.side, bool(cut.rest), splitting.kind(call)) if call and cut else None)
            drawn.check(made)
    assert len(seen) >= 10
    slower = splitting.Gains(dict.fromkeys(rates.CUTS, 1.0))
    assert splitting.split(gemm(every[0]) or pytest.fail("no product"), slower) is None


def test_long_products_of_copies_on_cache_lines_are_cut_first() -> None:
    """Short products gain by operands on cache lines, which copies with whole lines are, and others are not."""
    gains = splitting.Gains(dict.fromkeys(rates.CUTS, 1.0), dict.fromkeys(rates.LAYOUTS, (1.3, 1.1)))
    for columns, copies, on_lines in ((64, (2, 1), True), (60, (2, 1), False), (64, None, False)):
        stated = Contraction("ik,kj->ij", {"i": 304, "j": columns, "k": 304}, "d")
        products = plan.Products(merge(stated), plan.ContractionPlan((0,), (1,), (2,), (), (None, copies, None)))
        call = gemm(products) or pytest.fail("no product")
        assert call.on_lines == (on_lines, False, False)
        assert (splitting.split(call, gains) is not None) == on_lines


def test_only_long_products_are_cut() -> None:
    def cuts(rows: int, columns: int, depth: int) -> list[tuple[object, ...]]:
        return [tuple(cut) for cut in splitting.cuts(Gemm(False, ("N", "N"), (1, 1, 1), rows, columns, depth))]

    assert cuts(24864, 24, 168) == [("rows", 192, 129, 96)]
    assert cuts(24, 24864, 168) == [("columns", 192, 129, 96)]
    assert cuts(48, 44, 2112) == [("depth", 352, 6, 0)]
    assert cuts(300, 60, 300) == [("depth", 32, 9, 12)]
    for sizes in ((1000, 300, 300), (96, 96, 96), (0, 5, 5), (5, 5, 10**4)):
        assert cuts(*sizes) == []


def test_cuts_leave_lines_together() -> None:
    """Rows are not cut across many columns of the result, nor sums across many lines of an operand."""
    for transposed, sides in ((("N", "N"), ["columns"]), (("N", "T"), ["columns", "depth"]), (("T", "T"), ["columns"])):
        call = Gemm(False, transposed, (1, 1, 1), 288, 280, 50)
        assert [cut.side for cut in splitting.cuts(call)] == [side for side in sides if side != "depth"]
        deep = Gemm(False, transposed, (1, 1, 1), 70, 70, 900)
        assert [cut.side for cut in splitting.cuts(deep)] == [side for side in sides if side == "depth"]


def test_traffic_counts_what_inner_loops_do_not_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(spec: str, **size: int) -> list[traffic.Moved]:
        stated = Contraction(spec, size, "d")
        products = next(space.plans(merge(stated)))
        return [*traffic.traffic(products, gemm(products), None)]

    one, many = traffic.ONE, traffic.MANY
    assert moved("ij,jk->ik", i=50, j=60, k=70) == [(0, one, 0)] * 3  # all is in the caches
    assert moved("ij,jk->ik", i=500, j=600, k=700) == [(2400000, one, 0), (3360000, one, 0), (2800000, one, 0)]
    a, b, c = moved("lij,jk->ilk", l=300, i=80, j=60, k=70)  # rows of C, 80 at a time, lie apart
    assert (a, b, c) == ((300 * 80 * 60 * 8, one, 0), (60 * 70 * 8, one, 0), (300 * 80 * 70 * 8, many, 0))
    assert moved("lij,jk->ilk", l=300, i=20, j=60, k=70)[2] == (300 * 20 * 70 * 8, traffic.SEVERAL, 0)
    a, b, c = moved("lij,ljk->ik", l=300, i=80, j=60, k=70)  # C stays where it is
    assert (a[0], b[0], c[0]) == (300 * 80 * 60 * 8, 300 * 60 * 70 * 8, 80 * 70 * 8)
    monkeypatch.setattr(last_cache, "_bytes", lambda: 4 << 20)
    a, b, c = moved("lij,ljk->ik", l=300, i=300, j=40, k=400)  # C comes again for each term, from the last cache
    assert (c.bytes, c.again) == (300 * 400 * 8, 299 * 300 * 400 * 8)
    monkeypatch.setattr(last_cache, "_bytes", lambda: 2 << 20)  # which does not keep it
    a, b, c = moved("lij,ljk->ik", l=300, i=300, j=40, k=400)
    assert (c.bytes, c.again) == (300 * 300 * 400 * 8, 0)
    a, b, c = moved("mlij,jk->lmik", m=40, l=300, i=80, j=600, k=70)  # B comes again with each product
    assert b.bytes + b.again == 40 * 80 * 600 * 70 * 8


@pytest.mark.parametrize("seed", range(250, 310))
def test_without_memory_tensors_stay_in_place(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def scratch(size: int, level: int = 0) -> Array:
        raise MemoryError

    for module in (execution, blocks):
        monkeypatch.setattr(module, "scratch", scratch)
    for name, value in (("PIECE_BYTES", 64), ("LEAST", 2), ("RUN_BYTES", 0)):
        monkeypatch.setattr(blocking, name, value)
    drawn = Drawn(seed)
    every = [x for x in space.plans(merge(drawn.stated)) if x.scratch()]
    for products in random.Random(seed).sample(every, min(6, len(every))):
        drawn.check(Execution(drawn.stated, products))
        pieces = blocking.blocked(drawn.stated, products)
        if pieces is not None:
            drawn.check(blocks.executed(drawn.stated, pieces))


def test_blas_runs_every_plan_without_conjugation_in_place() -> None:
    found = blas.scipy_blas()
    if found is None:
        pytest.skip("SciPy is not installed")
    for seed in range(40):
        drawn = Drawn(seed)
        for products in space.plans(merge(drawn.stated)):
            call = gemm(products)
            if call is None:
                assert any(products.merged.conjugate)
            else:
                assert isinstance(Execution(drawn.stated, products)._run, BlasLoops)


@pytest.mark.parametrize("seed", range(600, 640))
def test_threads_share_short_products(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever begins at whichever product, and in whichever order."""
    if blas.scipy_blas() is None:
        pytest.skip("SciPy is not installed")
    drawn, calls = Drawn(seed), list[int]()

    def run(call: Call, threads: int, moved: int) -> None:
        assert threads == 3
        parts = sorted({0, random.Random(seed).randint(0, call.tasks), call.tasks})
        calls.extend(parts[1:])
        for begin, end in [*pairwise(parts)][::-1]:
            blas.loops()[0](call.a, call.b, call.scalars, call.params, 0, begin, end)

    monkeypatch.setattr(products_module, "LEAST", 0)
    monkeypatch.setattr(products_module, "runtime", SimpleNamespace(run=run))
    every = list(space.plans(merge(drawn.stated)))
    for products in random.Random(seed).sample(every, min(6, len(every))):
        calls.clear()
        drawn.check(Execution(drawn.stated, products, 3))
        outer = [products.merged.indices[k] for k in products.plan.loops if C in products.merged.indices[k].tensors]
        is_shared = gemm(products) is not None and all(index.extent for index in products.merged.indices)
        assert not is_shared or bool(calls) == (math.prod(index.extent for index in outer) > 1)


def test_threads_that_share_products_take_less_time() -> None:
    """Of a prediction, too; long products are left to the threads of BLAS."""
    known = known_speeds()
    for m, tasks in ((20, 30), (300, 1)):
        stated = Contraction("lik,lkj->lij", {"l": 30, "i": m, "k": m, "j": m}, "d")
        products = next(space.plans(merge(stated)))
        call = gemm(products) or pytest.fail("no product")
        found = products_module.shared_tasks(products, call, None, splitting.NO_GAINS)
        assert found == (tasks if blas.is_published() else 1)
        share = 0.5 if tasks > 1 and blas.is_published() else 1
        one, two = ((known.seconds(products, threads) - known.run) for threads in (1, 2))
        assert two == pytest.approx(share * one)
    draw = np.random.default_rng(1)
    stated = Contraction("lik,lkj->lij", {"l": 301, "i": 40, "k": 40, "j": 40}, "d")
    a, b = (draw.standard_normal(stated.shape(name)) for name in "ab")
    c = np.empty(stated.shape("c"))
    for _ in range(3):
        Execution(stated, next(space.plans(merge(stated))), 2).run(a, b, c)
        assert np.allclose(c, a @ b)


A, B, C = range(3)
BY_HAND: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    ("ij,jk->ik", ((A,), (B,), (C,))),
    ("ji,jk->ik", ((), (C,), (C,))),
    ("ij,kj->ik", ((C,), (), (C,))),
    ("ji,kj->ik", ((), (), ())),
]


@pytest.mark.parametrize(("spec", "wanted"), BY_HAND)
def test_blas_conjugates_what_it_transposes(spec: str, wanted: tuple[tuple[int, ...], ...]) -> None:
    """wanted: tensors that are gone through for conj(A) B, A conj(B) and conj(A) conj(B), all in place."""
    for (a, b), tensors in zip(((True, False), (False, True), (True, True)), wanted, strict=True):
        stated = Contraction(spec, dict.fromkeys("ijk", 4), "z", conjugate_a=a, conjugate_b=b)
        in_place = next(space.plans(merge(stated)))
        assert in_place.scratch() == 0
        assert passes(in_place) == tensors


def test_larger_products_than_integers_hold_are_not_blas() -> None:
    small, large = blas.Blas({}, 32), blas.Blas({}, 64)
    assert small.admits(2**31 - 1, 5)
    assert not small.admits(5, 2**31)
    assert large.admits(2**40)


SIGNATURE = "void (char *, char *, {0} *, {0} *, {0} *, d *, d *, {0} *, d *, {0} *, d *, d *, {0} *)"


@pytest.mark.parametrize(("kind", "bits"), [("int", 32), ("npy_int64", 64), ("short", None)])
def test_integers_are_read_from_signatures(kind: str, bits: int | None) -> None:
    assert blas._bits(SIGNATURE.format(kind).encode()) == bits
    assert blas._bits(b"void (char *)") is None
    assert blas._bits(b"int") is None


MERGED: Merged = merge(Contraction("ijk,lk->jil", {"i": 8, "j": 4, "k": 3, "l": 5}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gemm1 m=0 n=2 k=3 loops=", r"does not name each index"),
        ("gemm1 m=0 n=3 k=2 loops=1", r"has indices of .* in groups of other classes"),
        ("gemm1 m=0,1 n=2 k=3 loops=", r"makes matrices of .* that BLAS cannot address"),
        ("gemm1 m=1 n=2 k=3 loops=0 a=0,1", r"copies a of .* without each of its indices once"),
        ("gemm2 m=1 n=2 k=3 loops=0", r"is no plan of a contraction"),
        ("gemm1 m=1 n=2 k=3", r"is no plan of a contraction"),
        ("gemm1 m=1 n=2 k=3 loops=0 c=0,1,2 blocks=3:1", r"has blocks of .* that are not along its rows"),
        ("gemm1 m=1 n=2 k= loops=0,3 c=0,1,2 blocks=3:1", r"has blocks of .* that are not along its rows"),
        ("gemm1 m=0,1 n=2 k=3 loops= a=0,1,3 c=0,1,2 blocks=1:4", r"has blocks along 1, which is not the outermost"),
        ("gemm1 m=1 n=2 k=3 loops=0 blocks=1:x", r"is no plan of a contraction"),
        ("gemm1 m=x n=2 k=3 loops=", r"is no plan of a contraction"),
        ("", r"is no plan of a contraction"),
    ],
)
def test_bad_plans_are_told(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan.check(plan.parse(text), MERGED)


def test_rates_rank_copies_behind_products_in_place() -> None:
    every = (*SHORT.corners, *LONG.corners)
    every_speed = {sizes: min(1e10, 1e7 * max(sizes) * min(sizes)) for sizes in every}
    speed = Speed(every_speed, every_speed, ((0.0, 1.0, 2.0),) * 4)
    fetched = ((1e-10,) * 4, (1e-10,) * 4), (1e-11, 1e-10, 1e-10)
    speeds = dict.fromkeys(rates.LAYOUTS, speed)
    known = rates.Rates(speeds, 1e-6, 1e-6, *fetched, (2e10, 2e10, 1e10, 1e10), 1e-6, 0.0, splitting.NO_GAINS)
    merged = merge(Contraction("ij,jk->ik", dict.fromkeys("ijk", 512)))
    ranked = sorted(space.plans(merged), key=known.seconds)
    assert ranked[0].plan.copies == (None, None, None)
    assert ranked[0].scratch() == 0
    assert all(known.seconds(x) > known.seconds(ranked[0]) for x in ranked[1:])
    slow = dataclasses.replace(known, run=1e-3)
    assert all(slow.seconds(x) - known.seconds(x) == pytest.approx(1e-3 - 1e-6) for x in ranked)


def test_copies_whose_rows_become_columns_take_longer() -> None:
    """Rows that stay rows do not, where they are of some lines."""
    speeds = dict.fromkeys(rates.LAYOUTS, Speed({}, {}, ((),) * 4))
    fetched = ((0.0,) * 4,) * 2, (0.0, 0.0, 0.0)
    known = rates.Rates(speeds, 0.0, 0.0, *fetched, (1e12, 1e10, 4e10, 2e10), 0.0, 0.0, splitting.NO_GAINS)
    for k, order, speed in ((80, (0, 1, 2), 4e10), (80, (1, 0, 2), 4e10), (80, (0, 2, 1), 2e10), (20, (1, 0, 2), 2e10)):
        merged = merge(Contraction("ijk,kl->jil", {"i": 2000, "j": 1999, "k": k, "l": 8}, "d"))
        numbers = merged.of_tensor(0)
        seconds = known.copy(merged, 0, tuple(numbers[axis] for axis in order))
        assert seconds == pytest.approx(2 * merged.bytes[0] / speed)


@pytest.mark.parametrize(("apart", "columns", "is_slow"), [(8192, 256, True), (8200, 256, False), (8192, 8, False)])
def test_columns_in_one_set_of_the_first_cache_take_longer(apart: int, columns: int, is_slow: bool) -> None:
    """A cache of 32 to 64 KiB has room for eight to sixteen lines that are pages apart."""
    flat = {kind: dict.fromkeys(grid.corners, 1e12) for kind, grid in (("short", SHORT), ("long", LONG))}
    speed = Speed(flat["short"], flat["long"], ((0.0, 1.0, 2.0),) * 4)
    fetched = ((0.0,) * 4,) * 2, (0.0, 0.0, 0.0)
    speeds, gains = dict.fromkeys(rates.LAYOUTS, speed), splitting.NO_GAINS
    known = rates.Rates(speeds, 0.0, 0.0, *fetched, (1e12,) * 4, 0.0, 1e-8, gains)
    size = {"j": columns, "i": 4, "k": 8}
    stated = Contraction("kj,ik->ji", size, "d", None, None, (apart, 1))
    seconds = min(known.seconds(products) for products in space.plans(merge(stated)) if products.plan.copies[2] is None)
    assert (seconds > 0.9e-8 * columns) == is_slow


@pytest.mark.parametrize(("spec", "extent", "are_strips"), [
    ("lki,kj->lij", 48, True), ("lki,kj->lij", 8, False), ("lik,kj->lij", 48, False), ("ik,lkj->lij", 48, False),
])  # fmt: skip
def test_right_operands_that_are_read_in_strips_take_longer(spec: str, extent: int, are_strips: bool) -> None:
    """Short products do that where columns follow each other, in rows of more than a line."""
    slow = dataclasses.replace(known_speeds(), read=(1e-11, 1e-11, 1e-9))
    stated = Contraction(spec, {"l": 4000, "i": extent, "k": 48, "j": 48}, "d")
    products = next(space.plans(merge(stated)))
    seconds = slow.seconds(products) - dataclasses.replace(slow, read=(1e-11,) * 3).seconds(products)
    assert (seconds > 0.9e-9 * share_beyond(products.merged) * max(products.merged.bytes[:2])) == are_strips


def test_parts_of_products_are_shared() -> None:
    """Of one long product or of several, where a BLAS runs each part by one thread; else it may share them among its
    own."""
    for batches in (1, 3):
        stated = Contraction("lik,lkj->lij", {"l": batches, "i": 20, "k": 40, "j": 9000}, "d")
        products = next(space.plans(merge(stated)))
        call = gemm(products) or pytest.fail("no product")
        for most in (splitting.BY_ONE_THREAD, splitting.SMALL):
            gains = splitting.Gains(dict.fromkeys(rates.CUTS, 0.75), alone=dict.fromkeys(rates.LAYOUTS, float(most)))
            assert splitting.split(call, gains) is None
            cut = splitting.split(call, gains, products_module.outer_products(products), 2)
            assert cut is not None and most / 2 < cut.size * 20 * 40 <= most
            if blas.is_published():
                assert products_module.shared_tasks(products, call, cut, gains) == batches * cut.parts
                assert products_module.shared_tasks(products, call, None, gains) == 1
                long = splitting.Split(cut.side, 2 * cut.size, cut.parts // 2, 0)
                assert products_module.shared_tasks(products, call, long, gains) == 1
    assert splitting.at_a_time(3, 2) == 1.5


def test_clocks_are_hardly_timed_with_many_runs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def passes(seconds: float) -> float:
        now[0] += seconds
        return now[0]

    clock = partial(passes, 5e-7)
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=clock, process_time=clock))
    assert timing.usual(lambda: passes(1e-6)) == pytest.approx(1.5e-6)
    assert timing.usual(lambda: passes(1e-6), timing.TOGETHER) == pytest.approx(1e-6, rel=0.02)


def test_what_the_last_cache_keeps_costs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares grow with the tensors, are all where no cache is known, and matrices to measure are beyond it."""
    sizes = [merge(Contraction("ij,jk->ik", dict.fromkeys("ijk", extent))) for extent in range(100, 2000, 50)]
    for cache in (0, 8 << 20, 32 << 20, 1 << 30):
        monkeypatch.setattr(last_cache, "_bytes", lambda cache=cache: cache)
        found = [last_cache.share_beyond(merged) for merged in sizes]
        assert found == sorted(found) and found[-1] == (0.0 if cache == 1 << 30 else 1.0)
        assert found[0] == (0.0 if cache else 1.0)
        for itemsize in (4, 8, 16):
            size = itemsize * last_cache.square(itemsize) ** 2
            assert min(cache, 220 << 20) < size <= last_cache.beyond() <= 256 << 20


def test_speeds_are_those_of_the_corners_around() -> None:
    """What is measured is found again, and what lies between or outside is bounded by its neighbours."""
    draw = random.Random(5)
    both = [{sizes: draw.uniform(1e9, 5e10) for sizes in grid.corners} for grid in (SHORT, LONG)]
    speed = Speed(both[0], both[1], ((0.0, 1.0, 2.0),) * 4)
    for known in both:
        for sizes, found in known.items():
            assert math.prod(sizes) / found == pytest.approx(speed.seconds(sizes), rel=0.2)
    slowest, fastest = min(map(min, (x.values() for x in both))), max(map(max, (x.values() for x in both)))
    for _ in range(500):
        m, n, k = (int(10 ** draw.uniform(0, 5)) for _ in range(3))
        work = m * n * max(k, 4) if m * n * k <= MILLION else math.prod(max(extent, 16) for extent in (m, n, k))
        assert work / fastest <= speed.seconds((m, n, k)) <= work / slowest


def test_rows_left_over_take_as_long_as_was_measured() -> None:
    """Half a vector takes as long as a whole one here, everywhere between the corners."""
    flat = [dict.fromkeys(grid.corners, 1e10) for grid in (SHORT, LONG)]
    speed = Speed(flat[0], flat[1], (tuple(map(float, range(48))), tuple(-(-x // 16) * 16.0 for x in range(48))) * 2)
    for m, rows in ((24, 100), (24, 97), (24, 33), (30, 17), (7, 50), (640, 100), (1500, 57)):
        full = -(-rows // 16) * 16
        assert speed.seconds((m, rows, 20)) == pytest.approx(speed.seconds((m, full, 20)), rel=1e-6)
        assert speed.seconds((m + 1, rows, 20)) / speed.seconds((m, rows, 20)) == pytest.approx((m + 1) / m, rel=1e-6)


def test_rows_left_over_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two vectors more at most; as floats, which texts spell as they will be read again."""
    seconds = {64: 3.0, 65: 2.0, 96: 4.0}
    monkeypatch.setattr(timing, "product_seconds", lambda dtype, spec, sizes, *_: seconds.get(sizes[1], 6.0))
    clock = timing.Stopwatch("s")
    found = measuring._ragged(clock, "ik,kj->ij", True, (24, 24), 1)
    left = [0.0, 1.0, *[float(extent + 64) for extent in range(2, 32)]]
    assert json.dumps(found) == json.dumps([32 * turn + x for turn in range(3) for x in left])
    whole = measuring._ragged(clock, "ik,kj->ij", True, (24, 24), 32)
    assert json.dumps(whole[60:66]) == json.dumps([124.0, 125.0, 126.0, 127.0, 96.0, 65.0])


def test_measured_rates_are_positive_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "DRIFT", 1e9)  # this machine is never busy,
    monkeypatch.setattr(timing, "WAITS", 1e9)  # and no thread waits for long
    monkeypatch.setattr(measuring, "_measured", measuring._measured.__wrapped__)  # type: ignore[attr-defined]
    found = stored_speeds.measured.__wrapped__("s", 1)  # type: ignore[attr-defined]
    every = [[*speed.short.values(), *speed.long.values()] for speed in found.products.values()]
    assert min(*found.copied, found.start, *map(min, every)) > 0
    for speed in found.products.values():
        assert [side[0] for side in speed.ragged] == [0.0] * 4
        assert all(least <= x for side in speed.ragged for least, x in enumerate(side))
    assert min(min(both) for both in found.gains.lines.values()) >= 1
    assert rates.from_text(rates.to_text(found)) == found
    child = "from ttc_llvm.contractions import measuring, rates, stored_speeds; measuring._measured = None; "
    child += "print(rates.to_text(stored_speeds.measured('s', 1)))"
    run = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.returncode) == (rates.to_text(found), 0), run.stderr


def test_a_busy_machine_is_measured_in_part_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once threads have waited for CPUs for long, times are guessed; later processes measure them."""
    timed: list[tuple[int, ...]] = []

    def product_seconds(dtype: str, spec: str, sizes: tuple[int, ...], *_: Any) -> float:
        timed.append(sizes)
        return 1e-6 + math.prod(sizes) / 1e10

    monkeypatch.setattr(timing, "product_seconds", product_seconds)
    monkeypatch.setattr(timing, "GLANCE", 0.0)
    monkeypatch.setattr(timing, "waited", lambda: timing.WAITS * len(timed) / 100)
    monkeypatch.setattr(measuring, "_measured", measuring._measured.__wrapped__)  # type: ignore[attr-defined]
    measure = stored_speeds.measured.__wrapped__  # type: ignore[attr-defined]
    found = measure("d", 3)
    assert len(timed) == 101
    assert not stored_speeds.is_settled("d", 3)
    for speed in found.products.values():
        for sizes in ((5, 6, 70), (64, 100, 64), (500, 500, 500), (3000, 40, 200)):
            assert speed.seconds(sizes) == pytest.approx(math.prod(sizes) / 1e10, rel=0.5)
    assert rates.from_text(rates.to_text(found)) == found
    monkeypatch.setattr(timing, "waited", lambda: 0.0)
    assert measure("d", 3) != found
    assert len(timed) > 1000
    assert stored_speeds.is_settled("d", 3)


def test_choices_are_kept_where_speeds_are_settled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Later calls take them, but no text that is no choice."""
    store, stated = Database(tmp_path / "choices.sqlite3"), Contraction("ik,kj->ij", {"i": 40, "k": 30, "j": 20})
    forms, chosen = [Form(stated, merge(stated))], choices.Choice(0, plans.parse("gemm1 m=0 n=1 k=2 loops="))
    for counter in ("_numbers", "_looks"):
        monkeypatch.setattr(choices, counter, iter(range(8)))

    asked: list[bool] = []

    def made(is_kept: bool, number: int = 0) -> choices.Choice:
        def make() -> choices.Choice:
            asked.append(is_kept)
            return choices.Choice(number, chosen.plan)

        return choices.made(forms, 1, "versions", store, make, lambda: is_kept)

    assert [made(is_kept) for is_kept in (False, True, True)] == [chosen] * 3
    assert asked == [False, True]
    monkeypatch.setattr(choices, "KIND", "another kind")
    assert [made(True, number) for number in (5, 6)] == [choices.Choice(number, chosen.plan) for number in (5, 6)]


@pytest.mark.parametrize("text", ["", "[]", "1 2\n3\n4", "x", "1\n" * 30 + "1", "NaN\n" * 30])
def test_texts_that_are_no_rates_are_told(text: str) -> None:
    with pytest.raises(PlanError, match="does not tell the speeds of a machine"):
        rates.from_text(text)
