"""Contractions that an earlier process has planned run by the words that the database keeps of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fused_cases import Case
from known_speeds import known_speeds

import ttc_llvm
from ttc_llvm.contractions import calls, kept, known, pairwise, predicting, search, stored_speeds
from ttc_llvm.contractions.fused import execution, rates, run
from ttc_llvm.contractions.fused import stored_speeds as fused_speeds
from ttc_llvm.operands.operand import Array
from ttc_llvm.runtime import runtime
from ttc_llvm.runtime.once import Recent

X = np.random.default_rng(3).integers(-9, 9, (6, 20, 30)).astype(float)
Y = np.random.default_rng(4).integers(-9, 9, (30, 6, 18)).astype(float)
CALLS: dict[str, Callable[[], Array]] = {
    "einsum": lambda: ttc_llvm.einsum("aib,bcd->cadi", X, Y),
    "reversed": lambda: ttc_llvm.einsum("aib,bcd->cadi", X[::-1, :, ::-1], Y[:, ::-1]),
    "out": lambda: ttc_llvm.einsum("aib,bcd->cadi", X, Y, out=np.full((6, 6, 36, 20), 2.0)[:, :, ::2], alpha=3, beta=2),
    "complex": lambda: ttc_llvm.einsum("aib,bcd->adci", X + 1j * X, Y + 2j),
    "batch": lambda: ttc_llvm.einsum("aib,bad->iad", X, Y),
    "vector": lambda: ttc_llvm.einsum("ab,bac->c", X[:, 3], Y),
    "tensordot": lambda: ttc_llvm.tensordot(X, Y, 1),
    "axes": lambda: ttc_llvm.tensordot(X, Y, ([2, 0], [0, 1])),
}
PLAIN: dict[str, Callable[[], Array]] = {
    "einsum": lambda: np.einsum("aib,bcd->cadi", X, Y),
    "reversed": lambda: np.einsum("aib,bcd->cadi", X[::-1, :, ::-1], Y[:, ::-1]),
    "out": lambda: 3 * np.einsum("aib,bcd->cadi", X, Y) + 4,
    "complex": lambda: np.einsum("aib,bcd->adci", X + 1j * X, Y + 2j),
    "batch": lambda: np.einsum("aib,bad->iad", X, Y),
    "vector": lambda: np.einsum("ab,bac->c", X[:, 3], Y),
    "tensordot": lambda: np.tensordot(X, Y, 1),
    "axes": lambda: np.tensordot(X, Y, ([2, 0], [0, 1])),
}


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of this test's own, and speeds by which all plans are fused."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "own.sqlite"))
    monkeypatch.setattr(stored_speeds, "measured", lambda dtype, threads: known_speeds())
    known = rates.FusedRates(*[1e-13] * len(rates.FusedRates._fields))
    monkeypatch.setattr(fused_speeds, "measured", lambda dtype: known)
    monkeypatch.setattr(predicting, "is_settled", lambda dtype, threads: True)
    for name in ("_numbers", "_looks"):
        monkeypatch.setattr(kept, name, count())
    forget(monkeypatch)
    return tmp_path / "own.sqlite"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(known, "_known", Recent(64))
    for name in ("_prepared", "_placed"):
        monkeypatch.setattr(pairwise, name, Recent(64))


def unplanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that are not found fail from here on."""
    for name in ("_steps", "_dotted"):
        monkeypatch.setattr(calls, name, lambda: pytest.fail("the call is planned anew"))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_found_by_a_later_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, wanted = CALLS[name](), PLAIN[name]()
    assert np.array_equal(first, wanted)
    forget(monkeypatch)
    unplanned(monkeypatch)
    for _ in range(2):
        again = CALLS[name]()
        assert np.array_equal(again, wanted)
        assert again.strides == first.strides


def test_what_a_search_finds_is_taken_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.ones((40, 50)), np.ones((50, 60))
    out = np.empty((40, 60))
    ttc_llvm.einsum("ij,jk->ik", x, y, out=out)
    stated = ttc_llvm.Contraction("ij,jk->ik", {"i": 40, "j": 50, "k": 60}, "d")
    found = ttc_llvm.compile(stated, 4, progress=False, plan=None)
    forget(monkeypatch)
    seen: list[Any] = []
    planned = search.planned

    def watched(*given: Any) -> Any:
        seen.append(planned(*given))
        return seen[-1]

    monkeypatch.setattr(pairwise, "planned", watched)
    ttc_llvm.einsum("ij,jk->ik", x, y, out=out)
    assert [str(one.products.plan) for one in seen] in ([], [str(found.plan)])
    assert seen or "fused" in str(found.plan)


def test_damaged_rows_are_ignored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS["einsum"]()
    with closing(sqlite3.connect(path)) as file, file:
        (table,) = file.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%code%'").fetchone()
        images = file.execute(f"SELECT rowid, image FROM {table} WHERE plan = ?", (kept.KIND,)).fetchall()
        assert images
        for row, image in images:
            broken = image[:-9] + bytes([image[-9] ^ 1]) + image[-8:]
            file.execute(f"UPDATE {table} SET image = ? WHERE rowid = ?", (broken, row))
    forget(monkeypatch)
    assert np.array_equal(CALLS["einsum"](), PLAIN["einsum"]())


def test_few_calls_of_a_process_are_kept_and_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FIRST", 1)
    CALLS["einsum"]()
    CALLS["tensordot"]()
    forget(monkeypatch)
    unplanned(monkeypatch)
    CALLS["einsum"]()
    with pytest.raises(pytest.fail.Exception):
        CALLS["tensordot"]()
    forget(monkeypatch)
    monkeypatch.setattr(kept, "LOOKS", 1)
    with pytest.raises(pytest.fail.Exception):
        CALLS["einsum"]()


@pytest.mark.parametrize("seed", range(40))
def test_words_are_kept_as_text_and_run_without_memory_for_copies(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def scratch(size: int, level: int = 0) -> Array:
        raise MemoryError

    monkeypatch.setattr(run, "scratch", scratch)
    case = Case(seed)
    for products in case.plans():
        prepared = execution.prepared(case.stated, products)
        assert run.parse(str(prepared)) == prepared
        assert not case.check(products)


def test_plans_are_of_the_threads_of_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    planned, asked, before = search.planned, list[int](), runtime.num_threads()

    def watched(*given: Any) -> Any:
        asked.append(runtime.num_threads())
        return planned(*given)

    monkeypatch.setattr(pairwise, "planned", watched)
    try:
        for threads, spec in ((2, "aib,bcd->cadi"), (1, "xiy,ycd->cxdi")):
            ttc_llvm.set_num_threads(threads)
            assert np.array_equal(ttc_llvm.einsum(spec, X, Y), PLAIN["einsum"]())
    finally:
        ttc_llvm.set_num_threads(before)
    assert asked == [2, 1]


@pytest.mark.parametrize("scalars", [{"alpha": 10**400}, {"alpha": -(10**400)}, {"beta": 10**400}])
def test_scalars_beyond_numbers_are_told_of_known_calls(scalars: dict[str, Any]) -> None:
    out = np.zeros((6, 6, 18, 20))
    for _ in range(2):
        ttc_llvm.einsum("aib,bcd->cadi", X, Y, out=out)
        with pytest.raises(ttc_llvm.ProblemError, match="range"):
            ttc_llvm.einsum("aib,bcd->cadi", X, Y, out=out, **scalars)


def test_keys_without_a_short_text_are_not_kept() -> None:
    with pytest.raises(ttc_llvm.ProblemError, match="digits"):
        ttc_llvm.tensordot(X, Y, 10**5000)
    spec = "aib,bcd->cadi" + " " * kept.LONGEST
    assert np.array_equal(ttc_llvm.einsum(spec, X, Y), PLAIN["einsum"]())
    assert kept.find((spec,), 1) is None
    assert kept.find((10**5000,), 1) is None
