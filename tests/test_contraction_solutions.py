"""Contractions that `ttc_llvm.compile` has planned: searched, stored, called, pickled, explained."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_contractions import TYPES, Drawn

import ttc_llvm
from ttc_llvm import (
    ArrayError,
    Contraction,
    ContractionPlan,
    ContractionSolution,
    OptionError,
    PlanError,
    ProblemError,
    cli,
)
from ttc_llvm.contractions import pairwise, search
from ttc_llvm.contractions.bench import Bench
from ttc_llvm.contractions.merged import Form, merge
from ttc_llvm.contractions.predicting import every
from ttc_llvm.errors import VerificationError
from ttc_llvm.runtime.once import Recent
from ttc_llvm.tuning.search.progress import Progress

Array = npt.NDArray[Any]
STATED = Contraction("ijk,kl->ilj", {"i": 6, "j": 7, "k": 8, "l": 5}, "float64")


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A database of this test's own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "own.sqlite"))
    yield tmp_path / "own.sqlite"


def arrays(stated: Contraction = STATED) -> tuple[Array, Array, Array]:
    kind, draw = TYPES[stated.dtype], np.random.default_rng(5)
    a, b, c = (draw.standard_normal(stated.shape(name)).astype(kind) for name in "abc")
    return a, b, c


@pytest.mark.parametrize("seed", range(400, 430))
def test_random_contractions_are_searched_and_called(seed: int) -> None:
    drawn = Drawn(seed)
    solution = ttc_llvm.compile(drawn.stated, effort=4, threads=1, progress=False)
    a, b, c = drawn.arrays
    c[...] = drawn.before if drawn.beta else np.nan
    assert solution(a, b, c) is c
    assert np.allclose(c, drawn.wanted, 1e-3 if drawn.dtype in "sc" else 1e-9)
    if drawn.stated.multiplications and c.size:
        assert solution.measurement is not None
        assert 0 < (solution.measurement.timed or 0) <= 4
        assert solution.measurement.ceiling == "a plain product"


def test_a_search_is_stored_and_found(path: Path) -> None:
    told: list[Progress] = []
    first = ttc_llvm.compile(STATED, threads=1, progress=told.append)
    assert max(progress.done for progress in told) == (first.measurement and first.measurement.timed)
    again = ttc_llvm.compile(STATED, threads=1)
    assert again.plan == first.plan
    assert first.measurement is not None
    assert again.measurement is not None
    assert again.measurement.seconds == first.measurement.seconds
    longer = Contraction("abc,cd->adb", {"a": 6, "b": 7, "c": 8, "d": 5}, "d")  # the same in other letters
    assert ttc_llvm.compile(longer, threads=1).measurement == again.measurement
    model = ttc_llvm.compile(STATED, 1, threads=1, ignore_database=True)
    assert model.measurement is None
    assert path.exists()


def test_einsum_takes_what_a_search_has_found(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = arrays()
    *_, last = every(Form(STATED, merge(STATED)))
    slowest = last.plan

    def seconds(bench: Bench, built: Any) -> float:
        return 1e-3 if built.products.plan == slowest else 1.0

    monkeypatch.setattr(Bench, "seconds", seconds)
    assert ttc_llvm.compile(STATED, -1, threads=1, progress=False).plan == slowest
    monkeypatch.setattr(pairwise, "_prepared", Recent(4))  # as in a new process
    seen: list[Any] = []
    planned = search.planned

    def found(*given: Any) -> Any:
        seen.append(planned(*given))
        return seen[-1]

    monkeypatch.setattr(pairwise, "planned", found)
    assert np.allclose(ttc_llvm.einsum("ijk,kl->ilj", a, b, threads=1, order="C"), np.einsum("ijk,kl->ilj", a, b))
    assert seen[-1].products.plan == slowest


@pytest.mark.parametrize(("slower", "copies"), [(1.01, False), (1.05, True)])
def test_of_plans_as_fast_the_one_that_copies_least_wins(
    slower: float, copies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundredth is chance, a twentieth is not."""

    def seconds(bench: Bench, built: Any) -> float:
        return 1.0 if any(order is not None for order in built.products.plan.copies) else slower

    monkeypatch.setattr(Bench, "seconds", seconds)
    solution = ttc_llvm.compile(STATED, -1, threads=1, progress=False)
    assert (solution.plan.copies != (None, None, None)) == copies
    assert solution.measurement is not None
    assert solution.measurement.seconds == (1.0 if copies else slower)
    assert np.allclose(solution(*arrays()[:2]), np.einsum("ijk,kl->ilj", *arrays()[:2]))


def test_a_wrong_element_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    build = Bench.build

    def wrong(bench: Bench, plan: Any) -> Any:
        made = build(bench, plan)
        run = made.run

        def changed(a: Array, b: Array, c: Array, alpha: complex = 1, beta: complex = 0) -> None:
            run(a, b, c, alpha, beta)
            c[1, 2, 3] += 1e-12

        monkeypatch.setattr(made, "run", changed)
        return made

    monkeypatch.setattr(Bench, "build", wrong)
    with pytest.raises(VerificationError, match=re.escape("computed a wrong element at index (1, 2, 3)")):
        ttc_llvm.compile(STATED, 2, threads=1, progress=False)


def test_arrays_of_other_strides_are_served() -> None:
    solution = ttc_llvm.compile(STATED, 1, threads=1)
    a, b, c = arrays()
    wanted = np.einsum("ijk,kl->ilj", a, b)
    assert np.allclose(solution(a, b), wanted)
    for x in (a, a[::-1][::-1], np.asfortranarray(a), np.repeat(a, 2, 2)[..., ::2]):
        for to in (c, np.asfortranarray(c), np.full((6, 5, 14), np.nan)[..., ::2]):
            to[...] = np.nan
            assert solution(x, b, to, alpha=2) is to
            assert np.allclose(to, 2 * wanted)
    assert np.allclose(solution(a.tolist(), b, c, beta=-1), 0 * wanted + wanted - 2 * wanted)


def test_lists_and_conjugated_operands_are_served() -> None:
    stated = Contraction("ij,jk->ik", {"i": 3, "j": 4, "k": 5}, "z", conjugate_a=True)
    a, b, c = arrays(stated)
    a = a + 1j * np.arange(4)
    solution = ttc_llvm.compile(stated, 1)
    for x in (a, np.asfortranarray(a)):
        assert np.allclose(solution(x, b, c), a.conj() @ b)


def test_solutions_are_pickled_as_plans() -> None:
    solution = ttc_llvm.compile(STATED, 3, threads=1, progress=False)
    again = pickle.loads(pickle.dumps(solution))
    assert (again.contraction, again.plan, again.threads) == (STATED, solution.plan, 1)
    assert again.measurement == solution.measurement
    a, b, _ = arrays()
    assert np.array_equal(again(a, b), solution(a, b))
    with pytest.raises(PlanError, match="made by another version"):
        ContractionSolution.__reduce__(solution)[0](("ttc_llvm 1",))


def test_a_given_plan_is_timed_and_not_stored(path: Path) -> None:
    texts = [str(x.plan) for x in every(Form(STATED, merge(STATED)))]
    for text in (texts[0], texts[-1]):
        solution = ttc_llvm.compile(STATED, threads=1, plan=text, progress=False)
        assert str(solution.plan) == text
        assert solution.measurement is not None
        assert solution.measurement.timed == 1
    assert ttc_llvm.compile(STATED, 1, threads=1).measurement is None


def test_the_explanation_tells_indices_plan_work_and_ranking() -> None:
    text = str(ttc_llvm.compile(STATED, 5, threads=1, progress=False).explain(3))
    for wanted in (
        "ijk,kl->ilj float64", "i:6 j:7 (m, of A and C)", "k:8 (k, of A and B, summed over)", "gemm1 m=",
        "0.00336 MFlop", "GFlop/s", "of a plain product", "fastest of 5 timed", "the first 3 of",
    ):  # fmt: skip
        assert wanted in text, text
    model = ttc_llvm.compile(STATED, 1, threads=1, ignore_database=True)
    told = " ".join(str(model.explain(0)).split())
    assert "measured nothing: this plan was not timed" in told
    assert "predicted" not in str(model.explain(0))


def test_the_database_lists_contractions_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    ttc_llvm.compile(STATED, 2, threads=1, progress=False)
    assert cli.main(["database", "list"]) == 0
    out = capsys.readouterr().out
    assert "ijk,kl->ilj  i:6 j:7 k:8 l:5  float64" in out
    name = out.split("\n")[1].split()[0] if out.startswith("id") else out.split()[0]
    assert cli.main(["database", "show", name]) == 0
    assert "spec ijk,kl->ilj, size i:6 j:7 k:8 l:5, type float64" in capsys.readouterr().out


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"target": "avx2"}, OptionError, "target is an option of transpositions"),
    ({"hot_a": True}, OptionError, "hot_a is an option of transpositions"),
    ({"forced": ttc_llvm.Forced(streaming=True)}, OptionError, "forced is an option of transpositions"),
    ({"plan": "cpu3 tile=4"}, PlanError, "is no plan of a contraction"),
    ({"plan": 5}, PlanError, "'5' is no plan of a contraction"),
    ({"plan": "gemm1 m=0 n=1 k=2 loops="}, PlanError, "does not name each index"),
    ({"threads": 0}, OptionError, "threads 0 is less than 1"),
    ({"effort": "little"}, OptionError, "little"),
    ({"time_limit": -1}, OptionError, "time_limit -1 s is not positive"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_bad_options_are_told(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        ttc_llvm.compile(STATED, **options)


NO_PLANS: list[dict[str, Any]] = [
    {"m": "12"}, {"m": STATED}, {"k": ((1, 2),)}, {"n": dict}, {"loops": (-1,)}, {"copies": ()},
    {"blocks": ((1, 2, 3),)},
    {"blocks": 5}, {"m": (1.0,)}, {"m": (True,)},
]  # fmt: skip


@pytest.mark.parametrize("given", NO_PLANS)
def test_plans_are_tuples_of_numbers(given: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="are no plan of a contraction: tuples of the numbers of its indices"):
        ContractionPlan(**{"m": (0,), "n": (1,), "k": (2,)} | given)


def test_bad_calls_are_told_in_one_sentence() -> None:
    solution = ttc_llvm.compile(STATED, 1)
    a, b, c = arrays()
    read_only = c.copy()
    read_only.flags.writeable = False
    cases: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
        ((a[1:], b), {}, ArrayError, "a has shape (5, 7, 8): the contraction has (6, 7, 8)"),
        ((a, b.astype("f"), c), {}, ArrayError, "b has dtype float32: the contraction has float64"),
        ((a, b, c[0]), {}, ArrayError, "c has shape (5, 7): the contraction has (6, 5, 7)"),
        ((a, b, c.astype("f")), {}, ArrayError, "c has dtype float32: the contraction has float64"),
        ((a, b), {"beta": 1}, ArrayError, "beta = 1.0 without c: there is nothing to be scaled"),
        ((None, b), {}, ArrayError, "a has shape (): the contraction has (6, 7, 8)"),
        (([[1], [1, 2]], b), {}, ArrayError, "a is a list that NumPy cannot read"),
        ((a, b, [1]), {}, ArrayError, "c is a list: it must be an array"),
        ((a, b, c), {"alpha": 1j}, ProblemError, "alpha = 1j is complex"),
        ((a, b, c), {"threads": 0}, OptionError, "threads 0 is less than 1"),
        ((a, b, read_only), {}, ArrayError, "c is read-only"),
    ]
    for given, options, error, message in cases:
        with pytest.raises(error, match=re.escape(message)):
            solution(*given, **options)
    square = ttc_llvm.compile(Contraction("ij,jk->ik", dict.fromkeys("ijk", 4)), 1)
    x = np.ones((4, 4))
    with pytest.raises(ArrayError, match="c shares memory with b: contractions are out of place"):
        square(x.copy(), x, x)


def test_checks_are_exact_for_long_sums() -> None:
    for dtype in "sc":
        stated = Contraction("k,k->", {"k": 600_000}, dtype)
        solution = ttc_llvm.compile(stated, 3, threads=1, progress=False)
        assert solution.measurement is not None
    assert merge(Contraction("k,k->", {"k": 4})).elements(2) == 1
