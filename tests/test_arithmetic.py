"""Complex factors of 1 do not multiply, whatever they meet, on any way; results do not depend on earlier calls."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import machine
import numpy as np
import pytest
import reference
from entry_calls import Call, invoke
from known_layouts import forgotten
from reference import Array
from test_entries import compiled, plain_plan

import ttc_llvm
from ttc_llvm.arrays import pairs
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import dtypes, interface
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.interface import Entry, Sizes
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, kernel
from ttc_llvm.tuning.search import verify

PARTS = (0.0, -0.0, 1.5, -3.0, np.inf, -np.inf, np.nan)
NUMBERS = np.array([complex(re, im) for re in PARTS for im in PARTS])  # 49, infinities beside finite parts among them
ONE_BELOW = complex(1, -0.0)
FACTORS = (0, complex(-0.0, -0.0), 1, 1 + 0j, ONE_BELOW, 3 + 0j, complex(3, -0.0), complex(-0.0, 2), 2 - 3j, np.nan)
TYPES = ("c", "z", "cz", "zc")


def scalars() -> Iterator[tuple[complex, complex]]:
    """All pairs of alpha and beta."""
    return itertools.product(FACTORS, FACTORS)


@lru_cache(maxsize=64)
def numbers(problem: Problem) -> tuple[Array, Array]:
    """A and B in flat storage, so that every number of A meets every number of B."""
    every = np.tile(NUMBERS, len(NUMBERS))
    a, b = (every.astype(reference.numpy_type(t)) for t in (problem.a, problem.b))
    return a, b


def square(dtype: str, conjugate: bool = False) -> Problem:
    return Problem((1, 0), (len(NUMBERS),) * 2, dtype, alpha=2 - 3j, beta=2j, conjugate=conjugate)


def product(factor: complex, x: tuple[float, float], part: type[Any]) -> tuple[Any, Any]:
    """factor * x by separate real operations; a factor of 1 does nothing."""
    re, im = part(complex(factor).real), part(complex(factor).imag)
    if re == 1 and im == 0:
        return x[0], x[1]
    return x[0] * re - x[1] * im, x[1] * re + x[0] * im


def by_hand(problem: Problem, alpha: complex, beta: complex) -> Array:
    """B's storage after the call, element by element."""
    (a, b), n = numbers(problem), len(NUMBERS)
    part = np.float32 if problem.compute.real_bits == 32 else np.float64
    result = np.empty((n * n, 2), f"f{problem.b.real_bits // 8}")
    with np.errstate(all="ignore"):
        for i, j in itertools.product(range(n), range(n)):
            x, y = a[i + n * j], b[j + n * i]
            read = part(x.real), part(-x.imag if problem.conjugate else x.imag)
            terms = [product(f, v, part) for f, v in ((alpha, read), (beta, (part(y.real), part(y.imag)))) if f != 0]
            result[j + n * i] = [sum(of_part[1:], of_part[0]) for of_part in zip(*terms, strict=True)] or (0, 0)
    return result.view(b.dtype).ravel()


def wanted(problem: Problem, alpha: complex, beta: complex) -> Array:
    """The same by the oracle of all tests, for speed."""
    a, b = (x.reshape((len(NUMBERS),) * 2, order="F") for x in numbers(problem))
    found = reference.combine(a.T, b, (problem.a, problem.b), alpha, beta, problem.conjugate)
    return found.ravel(order="F")


def agree(problem: Problem, alpha: complex, beta: complex, got: Array) -> None:
    """AssertionError where an element differs, in the sign of a zero even."""
    plain = reference.is_plain(problem.a, problem.b, alpha, beta, problem.conjugate)
    expected = wanted(problem, alpha, beta)
    if not reference.same(got, expected, problem.b, plain):
        where = next(k for k, (x, y) in enumerate(zip(got, expected, strict=True)) if repr(x) != repr(y))
        old = numbers(problem)[1][where]
        raise AssertionError(f"{problem} {alpha=} {beta=}: {old} became {got[where]}, not {expected[where]}")


# --- the rule -------------------------------------------------------------------------------------------


def test_what_ones_do() -> None:
    x = np.array([complex(np.inf, 1), complex(-0.0, -0.0), complex(np.nan, 1), complex(1, -np.inf)])
    for one in (1, 1 + 0j, ONE_BELOW, True, np.complex64(1)):
        kept = ttc_llvm.transpose(np.zeros(4, "c16"), out=x.copy(), alpha=0, beta=one)
        assert reference.same(kept, x, dtypes.dtype("z"), False), one
        added = ttc_llvm.transpose(x, out=np.full(4, complex(-0.0, -0.0)), alpha=one, beta=one)
        assert reference.same(added, x, dtypes.dtype("z"), False), one


@pytest.mark.parametrize("dtype", ["c", "zc"])
def test_the_oracle_does_as_written_by_hand(dtype: str) -> None:
    for conjugate in (False, True):
        problem = square(dtype, conjugate)
        for alpha, beta in ((1, ONE_BELOW), (ONE_BELOW, 2j), (2 - 3j, 1), (0, 1), (complex(3, -0.0), 3 + 0j)):
            expected = by_hand(problem, alpha, beta)
            assert reference.same(wanted(problem, alpha, beta), expected, problem.b, False), (alpha, beta)


@pytest.mark.parametrize("dtype", TYPES)
def test_verification_knows_the_rule(dtype: str) -> None:
    a, b = (x.reshape((len(NUMBERS),) * 2, order="F") for x in numbers(square(dtype)))
    for alpha, beta in ((1, 1), (ONE_BELOW, 2j), (2 - 3j, ONE_BELOW), (0, 1)):
        problem = replace(square(dtype), alpha=alpha, beta=beta)
        found = verify.expected(canonicalise(problem).canonical, a.T, b, alpha, beta)
        assert reference.same(found.ravel(order="F"), wanted(problem, alpha, beta), problem.b, False), (alpha, beta)


TINY = 1e-60  # rounds to 0 in single precision


@pytest.mark.parametrize(("dtype", "unit"), [("s", 1), ("c", 1), ("c", 1j)])
def test_what_rounds_to_nought_or_one_is_that(dtype: str, unit: complex) -> None:
    """As for those who call from C, where alpha and beta are rounded before they are compared."""
    problem = Problem((1, 0), (7, 7), dtype)
    a, b = (np.full(problem.size, np.nan, dtypes.to_numpy(t), order="F") for t in (problem.a, problem.b))
    solution = ttc_llvm.compile(problem, 1, 1)
    assert not solution(a, b, alpha=TINY * unit, beta=-TINY * unit).any()
    assert not ttc_llvm.transpose(a, out=np.full_like(b, np.nan), alpha=TINY * unit, beta=TINY * unit).any()
    assert Problem((0,), (3,), dtype, alpha=1 + 1e-12 + TINY * unit, beta=TINY * unit) == Problem((0,), (3,), dtype)
    assert Problem((0,), (3,), "zc", alpha=TINY).alpha == TINY  # the arithmetic is in double precision


def test_real_ones_multiply_exactly() -> None:
    """All but signalling NaNs, which become quiet ones."""
    x = np.array(PARTS)
    assert reference.same(
        ttc_llvm.transpose(np.zeros(7), out=x.copy(), alpha=0, beta=1), x, dtypes.dtype("d"), False
    )
    signalling = np.array([0x7FF0000000000001], np.uint64).view("f8")
    quiet = ttc_llvm.transpose(np.zeros(1), out=signalling.copy(), alpha=0, beta=1)
    assert quiet.view(np.uint64) == signalling.view(np.uint64) | 1 << 51


# --- every way ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payback", [0, 1 << 62], ids=["own kernel", "family"])
@pytest.mark.parametrize("dtype", TYPES)
def test_transpose(dtype: str, payback: int) -> None:
    with forgotten(payback):
        for conjugate in (False, True):
            problem = square(dtype, conjugate)
            for alpha, beta in scalars():
                agree(problem, alpha, beta, transposed(problem, alpha, beta))


def transposed(problem: Problem, alpha: Any, beta: Any) -> Array:
    """B's storage, by the functions of arrays."""
    a, b = (x.reshape((len(NUMBERS),) * 2, order="F") for x in numbers(problem))
    out = b.copy(order="F")
    ttc_llvm.transpose(a, out=out, alpha=alpha, beta=beta, conjugate=problem.conjugate)
    return np.ravel(out, order="F")


@pytest.mark.parametrize("row", ["host", *machine.ROWS])
@pytest.mark.parametrize("dtype", TYPES)
def test_solutions(row: str, dtype: str) -> None:
    solution = Solution(square(dtype), *_planned(square(dtype), machine.found(row)))
    for alpha, beta in scalars():
        a, b = numbers(solution.problem)
        out = b.copy()
        solution(a, out, alpha, beta)
        agree(solution.problem, alpha, beta, out)


def _planned(problem: Problem, target: Target) -> tuple[Target, Any, int]:
    return target, plain_plan(problem, target), 1


@pytest.mark.parametrize("row", ["host", "sse2", "avx2"])
@pytest.mark.parametrize("dtype", TYPES)
def test_entries_of_objects(row: str, dtype: str) -> None:
    """Specialised and any-size bodies, as a whole and in parts."""
    target, problem = machine.found(row), square(dtype, conjugate=dtype == "z")
    linked = compiled(problem, target, plain_plan(problem, target))
    a, before = numbers(problem)
    ways = itertools.product(scalars(), ((None, False), (problem.size, False), (problem.size, True)), (0, 3))
    for (alpha, beta), (size, wide), parts in ways:
        for through_beta in (True, False)[: 1 + (beta == 0)]:
            b = before.copy()
            call = Call(alpha, beta, parts=parts, through_beta=through_beta, size=size, wide=wide)
            invoke(linked.address, problem, call, a.ctypes.data, b.ctypes.data)
            agree(problem, alpha, beta, b)


def test_the_entries_tested_are_all_of_an_object() -> None:
    ways = itertools.product((False, True), (False, True), Sizes)
    names = {Entry(square("c"), beta, part, sizes).name for beta, part, sizes in ways}
    assert names == {entry.name for entry in interface.entries(square("c"))}


# --- earlier calls --------------------------------------------------------------------------------------


EQUAL: tuple[Any, ...] = (3 + 0j, complex(3, -0.0), 3, 3.0, np.complex64(complex(3, -0.0)), np.array(3 + 0j))
Scaled = Callable[[Any, Any], Array]


def independent(fresh: Callable[[], Scaled]) -> None:
    """AssertionError where a result depends on calls before with equal scalars. fresh(): a function that knows of none;
    it takes alpha and beta and returns B."""
    for first, reverse in itertools.product(range(len(EQUAL)), (False, True)):
        turn = (EQUAL[first:] + EQUAL[:first])[:: -1 if reverse else 1]
        for pairs_of in (lambda x: (x, 2j), lambda x: (2j, x), lambda x: (x, x)):
            call = fresh()
            for alpha, beta in map(pairs_of, turn):
                agree(square("z"), complex(alpha), complex(beta), call(alpha, beta))


def test_solutions_do_not_remember_equal_scalars() -> None:
    planned = _planned(square("z"), backend.host_target())

    def fresh() -> Scaled:
        solution = Solution(square("z"), *planned)
        a, b = numbers(solution.problem)
        return lambda alpha, beta: solution(a, b.copy(), alpha, beta)

    independent(fresh)


def test_transpose_does_not_remember_equal_scalars() -> None:
    def fresh() -> Scaled:
        pairs._scaling.cache_clear()
        return partial(transposed, square("z"))

    independent(fresh)


def test_what_is_refused_is_refused_after_what_equals_it() -> None:
    x = np.arange(12.0).reshape(3, 4)
    for _ in range(3):
        assert np.array_equal(ttc_llvm.transpose(x, (1, 0)), x.T)
    for axes in ((1.0, 0.0), (True, False), (np.float64(1), 0)):
        with pytest.raises(ttc_llvm.ArrayError, match="do not permute"):
            ttc_llvm.transpose(x, axes)  # type: ignore[arg-type]
    assert np.array_equal(ttc_llvm.transpose(x, (np.int64(1), np.int8(0))), x.T)


def test_a_pickled_solution_keeps_the_signs_of_zeros() -> None:
    problem = replace(square("z"), alpha=complex(3, -0.0), beta=0)
    solution = Solution(problem, *_planned(problem, backend.host_target()))
    a, b = numbers(problem)
    for one in (solution, pickle.loads(pickle.dumps(solution))):
        agree(problem, problem.alpha, problem.beta, one(a, b.copy()))


def test_stored_code_of_the_old_rule_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first revision by which complex ones do not multiply is 3."""
    problem, path = replace(square("c"), alpha=2, beta=1), tmp_path / "ttc.db"
    built: list[bytes | None] = []

    def build(*given: Any) -> kernel.Kernel:
        built.append(given[3])
        return original(*given)

    original, current = kernel.build, kernel.REVISION
    monkeypatch.setattr(kernel, "REVISION", 2)
    ttc_llvm.compile(problem, 2, database=path)
    monkeypatch.setattr(kernel, "build", build)
    for revision in (2, current):
        monkeypatch.setattr(kernel, "REVISION", revision)
        monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
        solution = ttc_llvm.compile(problem, 2, database=path)
        solution(*(x.copy() for x in numbers(problem)))
    assert (built[0] is None, built[1]) == (False, None)
