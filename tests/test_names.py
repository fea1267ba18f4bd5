"""C names: valid identifiers, distinct, of bounded length."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from ttc_llvm.problem import interface, names
from ttc_llvm.problem.problem import Problem

RANK_12 = tuple(range(11, -1, -1))

TABLE = [
    (Problem((2, 1, 0), (8, 16, 16)), "sTranspose210_8x16x16"),
    (Problem((2, 1, 0), (8, 16, 16), "s", (32, 32, 32)), "sTranspose210_8x16x16_lda32x32x32"),
    (Problem((1, 0), (8, 4), "d", None, (5, 9)), "dTranspose10_8x4_ldb5x9"),
    (Problem((1, 0), (8, 4), "c", (9, 4), (5, 9), conjugate=True), "cTranspose10_8x4_lda9x4_ldb5x9_conj"),
    (Problem((1, 0), (8, 4), "s", (8, 4), (4, 8)), "sTranspose10_8x4"),
    (Problem((0,), (7,), "sd"), "sdTranspose0_7"),
    (Problem((1, 0), (3, 5), "zc"), "zcTranspose10_3x5"),
    (Problem((1, 0), (3, 5), "bf16"), "bf16Transpose10_3x5"),
    (Problem((1, 0), (3, 0), "i8"), "i8Transpose10_3x0"),
    (Problem((1, 0), (3, 5), "v12"), "v12Transpose10_3x5"),
    (Problem((), (), "z"), "zTranspose_"),
    (Problem((), (3, 3), "z", terms=[(0.5, (0, 1)), (1 - 2j, (1, 0))]), "zSum0p5_01_1im2_10_3x3"),
    (
        Problem(RANK_12, (2,) * 12),
        "sTranspose11_10_9_8_7_6_5_4_3_2_1_0_2x2x2x2x2x2x2x2x2x2x2x2",
    ),
]


@pytest.mark.parametrize(("problem", "name"), TABLE, ids=[name for _, name in TABLE])
def test_name(problem: Problem, name: str) -> None:
    assert names.stem(problem) == name


def test_ten_indices_need_no_separator_eleven_do() -> None:
    assert names.stem(Problem(tuple(range(10)), (1,) * 10)).startswith("sTranspose0123456789_")
    assert names.stem(Problem(tuple(range(11)), (1,) * 11)).startswith("sTranspose0_1_2_3_4_5_6_7_8_9_10_")


def test_alpha_and_beta_are_no_part_of_a_name() -> None:
    problem = Problem((1, 0), (3, 4))
    assert names.stem(replace(problem, alpha=2.0, beta=3.0)) == names.stem(problem)


ENDS = ("", "_part", "_beta", "_beta_part")


def test_entries() -> None:
    found = [entry.name for entry in interface.entries(Problem((1, 0), (3, 4)))]
    assert found == [f"sTranspose10_3x4{size}{end}" for size in ("", "_any", "_i64") for end in ENDS]


def test_plain_moves_have_no_entry_with_beta() -> None:
    found = interface.entries(Problem((1, 0), (3, 4), "i8"))
    ends = ("", "_part", "_any", "_any_part", "_i64", "_i64_part")
    assert [entry.name for entry in found] == [f"i8Transpose10_3x4{end}" for end in ends]


def test_long_names_are_cut_and_stay_distinct() -> None:
    size = tuple(range(1000, 1064))
    perm = tuple(range(64))
    a = Problem(perm, (1,) * 64, "s", None, None)
    long = [
        names.stem(replace(a, lda=size[:1] + (1,) * k + (2,) + (1,) * (62 - k), perm=perm)) for k in range(40)
    ]
    assert len(set(long)) == 40
    assert all(len(name) == names.LONGEST and re.fullmatch(r"\w+_h[0-9a-f]{16}", name) for name in long)


@given(st.lists(strategies.problems(10_000, (0, 8)), min_size=2, max_size=12))
def test_names_are_identifiers_and_tell_kernels_apart(problems: list[Problem]) -> None:
    kernels = {_kernel(p): names.stem(p) for p in problems}
    assert len(set(kernels.values())) == len(kernels)
    assert all(re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) for name in kernels.values())
    assert all(len(name) <= names.LONGEST for name in kernels.values())


def _kernel(p: Problem) -> tuple[object, ...]:
    return (p.perm, p.size, p.dtype, p.outer_a, p.outer_b, p.conjugate)


def test_include_guards_tell_headers_apart() -> None:
    guards = [names.guard(header) for header in ("a.b", "a-b", "a_b", "a+b")]
    assert len(set(guards)) == 4 and guards[2] == "TTC_a_b_H"
    assert all(re.fullmatch("[A-Za-z0-9_]+", guard) for guard in guards)
