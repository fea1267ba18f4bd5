"""The suites are what they say: counts, shapes, canonical forms; and how cases are chosen and shrunk."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest

from ttc_llvm.bench import suites
from ttc_llvm.bench.cases import COPY, KINDS, UPDATE, Case, as_kind, run_bytes, select, shrunk
from ttc_llvm.bench.suites import SUITES, cases
from ttc_llvm.bench.ttc57 import SHAPES
from ttc_llvm.errors import OptionError
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem

ROOT = Path(__file__).parent.parent
THREADS = 6
EVERY = cases(tuple(SUITES), KINDS, THREADS)
MIB = 1 << 20


def of(suite: str, kind: str = COPY) -> list[Case]:
    """The cases of one suite and kind."""
    return [case for case in EVERY if case.suite == suite and case.kind == kind]


def named(suite: str, name: str, kind: str = COPY) -> Case:
    """One case."""
    (found,) = (case for case in of(suite, kind) if case.name == name)
    return found


def axes(case: Case) -> str:
    """The axes of its canonical form."""
    return " ".join(map(str, case.canonical.axes))


# --- what is in them --------------------------------------------------------------------------------------


# By suite: copies and updates.
COUNTS = {
    "ttc57": (57, 57), "ragged": (171, 171), "pow2": (45, 45), "small-dims": (76, 64), "hot": (25, 23),
    "dtypes": (90, 80), "casts": (69, 69), "in-place": (21, 21), "sums": (6, 6), "ld": (42, 42), "narrow": (128, 128),
    "threads": (48, 48),
}  # fmt: skip


@pytest.mark.parametrize("suite", SUITES)
def test_counts(suite: str) -> None:
    assert (len(of(suite)), len(of(suite, UPDATE))) == COUNTS[suite]


@pytest.mark.parametrize("suite", SUITES)
def test_the_page_names_every_suite(suite: str) -> None:
    assert f"`{suite}`" in (ROOT / "docs" / "performance.md").read_text()


def test_names_are_unique_and_kinds_have_their_scalars() -> None:
    assert len({case.id for case in EVERY}) == len(EVERY)
    scalars = {(case.kind, case.problem.alpha, case.problem.beta) for case in EVERY if case.suite != "casts"}
    assert {(kind, complex(a), complex(b)) for kind, a, b in scalars} == {(COPY, 1, 0), (UPDATE, 2, 4)}
    scales = {case.problem.alpha for case in of("casts")}
    assert scales == {1, float(np.float32(1 / 255)), 1 / 16, 3 / 16, 170}


def test_names_can_be_written_on_a_command_line() -> None:
    """No comma or wildcard in a name, and no number, but for those of the 57."""
    assert not [case.id for case in EVERY if set(case.name) & set(" ,/*?[]")]
    assert {case.suite for case in EVERY if case.name.isdecimal()} == {"ttc57"}


@pytest.mark.parametrize("suite", [name for name in SUITES if name != "hot"])
def test_cold_cases_exceed_caches_and_fit_in_memory(suite: str) -> None:
    least = {"small-dims": 4 * MIB, "narrow": 2 * MIB, "casts": 20 * MIB, "in-place": 3 * MIB}  # an image, 1000^2
    small = least.get(suite, 60 * MIB)  # 4096^2
    most = (1100 if suite == "in-place" else 650) * MIB
    for case in of(suite) + of(suite, UPDATE):
        p = case.problem
        assert small <= p.elements * max(p.a.itemsize, p.b.itemsize) <= most, case.id
        assert max(p.storage("a") * p.a.itemsize, p.storage("b") * p.b.itemsize) < 7 << 30, case.id
        assert not case.hot


def test_hot_cases_fit_the_caches_and_run_on_one_thread() -> None:
    sizes = [case.problem.elements * case.problem.a.itemsize for case in of("hot")]
    assert min(sizes) >= 8 << 10 and max(sizes) <= MIB
    assert all(case.hot and case.threads == 1 for case in of("hot"))


def test_the_57_are_those_of_the_papers() -> None:
    assert len(SHAPES) == 57
    assert SHAPES[0] == ((1, 0), (7264, 7264)) and SHAPES[56] == ((5, 4, 3, 2, 1, 0), (32, 5, 15, 15, 15, 112))
    assert [sum(len(perm) == rank for perm, _ in SHAPES) for rank in range(2, 7)] == [3, 9, 15, 15, 15]
    for perm, size in SHAPES:
        assert len(canonicalise(Problem(perm, size)).canonical.axes) == len(perm), "indices merge"
        assert 190 * MIB < 4 * prod(size) < 240 * MIB


def test_ragged_changes_both_unit_stride_extents() -> None:
    assert named("ragged", "09-1").problem.size == (383, 355, 383)
    assert named("ragged", "12+7").problem.size == (87, 96, 75, 96)  # A's and B's are the same
    assert named("ragged", "01+1").problem.size == (43409, 1217)


def test_powers_of_two_and_their_neighbours() -> None:
    assert axes(named("pow2", "10-16384x4096")) == "4096:16384:1 16384:1:4096"
    assert named("pow2", "210-512x512x512+16").problem.size == (528, 528, 528)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("3-columns", "17476256:3:1 3:1:17476256"),
        ("columns-3", "3:17476256:1 17476256:1:3"),
        ("bits20-butterfly", "2:524288:1 262144:2:2 2:1:524288"),
        ("hwc3-chw-u8", "69889600:3:1 3:1:69889600"),
        ("chw-hwc4-f32", "4:13104400:1 13104400:1:4"),
        ("bshd-bhsd-s-d64", "64:1:1 2048:2048:64 32:64:131072 12:4194304:4194304"),
    ],
)
def test_small_dims(name: str, expected: str) -> None:
    assert axes(named("small-dims", name)) == expected


def test_bits_have_every_rank_and_nothing_merges_where_they_are_reversed() -> None:
    ranks = {len(case.problem.perm) for case in of("small-dims") if case.name.startswith("bits")}
    assert ranks == {20, 22, 24, 26}
    assert len(named("small-dims", "bits26-reversed").canonical.axes) == 26
    assert named("small-dims", "bits24-random0") == named("small-dims", "bits24-random0")
    perms = {case.problem.perm for case in of("small-dims") if case.name.startswith("bits24-random")}
    assert len(perms) == 2


def test_dtypes_come_in_every_type_that_is_different_work() -> None:
    copies, updates = (sorted({case.problem.dtype for case in of("dtypes", kind)}) for kind in KINDS)
    assert copies == ["cz", "d", "ds", "i16", "i8", "s", "sd", "z", "zc"]  # c moves as d does, f16 as i16, ...
    assert updates == ["c", "cz", "d", "ds", "s", "sd", "z", "zc"]


def test_packing_is_the_transposition_that_blas_kernels_do() -> None:
    """Slices of mr rows: element (i, k, s) of the panel's rows i + mr s, column k, goes to (i, s) -> [s][k][i]."""
    assert axes(named("ld", "pack-a6-s")) == "6:1:1 12800:4092:6 682:6:76800"
    assert axes(named("ld", "pack-b8-d")) == "8:6400:1 6400:1:8 512:51200:51200"
    assert named("ld", "pack-a16-lda-s").canonical.axes[1].stride_a == 4096 + 4 * 16


def test_runs_of_sub_tensors() -> None:
    lengths = {name: run_bytes(named("ld", name).canonical) for name in ("sub-rows8", "sub-rows128", "pack-a6-s")}
    assert lengths == {"sub-rows8": 32, "sub-rows128": 512, "pack-a6-s": 24}
    assert run_bytes(named("ld", "sub-210").canonical) == 4 * 384
    assert run_bytes(named("ld", "sub-10-both").canonical) == 4 * 7200


def test_unknown_suites_and_kinds_are_refused() -> None:
    with pytest.raises(OptionError, match="unknown suite 'ttc58': the choices are ttc57, ragged"):
        cases(("ttc58",))
    with pytest.raises(OptionError, match="unknown kind 'beta': the choices are copy, update"):
        cases(("ttc57",), ("beta",))


def test_moves_cannot_be_updated() -> None:
    assert as_kind(Case("x", "y", Problem((1, 0), (4, 4), "i8")), UPDATE) is None


# --- choosing ---------------------------------------------------------------------------------------------


def chosen(*wanted: str, suite: str = "ttc57") -> list[str]:
    """Names of the cases that are left of a suite, copies only."""
    return [case.name for case in select(of(suite), wanted)]


def test_numbers_slices_names_and_patterns() -> None:
    assert chosen() == [case.name for case in of("ttc57")]
    assert chosen("3", "55:") == ["03", "55", "56"]
    assert chosen("::20") == ["00", "20", "40"]
    assert chosen("-1") == ["56"]
    assert chosen("5?") == [f"{k}" for k in range(50, 57)]
    assert chosen("bits20*", suite="small-dims") == [c.name for c in of("small-dims") if c.name.startswith("bits20")]
    assert chosen("small-dims/3-rows", suite="small-dims") == ["3-rows"]
    both = cases(("ttc57",))
    assert [case.id for case in select(both, ("07/update",))] == ["ttc57/07/update"]
    assert [case.id for case in select(both, ("7",))] == ["ttc57/07/copy", "ttc57/07/update"]


@pytest.mark.parametrize("text", ["57", "nothing*", "", "60:", "1-2"])
def test_what_matches_nothing_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="match nothing"):
        select(of("ttc57"), (text,))


def test_a_sample_is_drawn_by_its_seed() -> None:
    first, again, other = (select(of("ragged"), sample=12, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == 12
    assert list(first) == sorted(first, key=of("ragged").index)
    assert len(select(of("ttc57"), sample=1000)) == 57
    with pytest.raises(OptionError, match="sample 0"):
        select(of("ttc57"), sample=0)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.id)
def test_shrinking_keeps_the_transposition_and_its_padding(case: Case) -> None:
    small = shrunk(case, 64 << 10)
    p, q = case.problem, small.problem
    assert q.elements * max(q.a.itemsize, q.b.itemsize) <= 64 << 10
    assert (q.perm, q.dtype, q.beta) == (p.perm, p.dtype, p.beta)
    for outer, extents, new_outer, new_extents in (
        (p.outer_a, p.size, q.outer_a, q.size), (p.outer_b, p.size_b, q.outer_b, q.size_b),
    ):  # fmt: skip
        padding = [o - e for o, e in zip(outer, extents, strict=True)]
        assert padding == [o - e for o, e in zip(new_outer, new_extents, strict=True)]


def test_small_problems_stay_as_they_are() -> None:
    case = named("hot", "10-64x64-s")
    assert shrunk(case, MIB) == case


@pytest.mark.parametrize(("most", "counts"), [(1, {1}), (2, {1, 2}), (3, {1, 2, 3}), (16, {1, 2, 4, 8, 16})])
def test_threads_double_up_to_the_most(most: int, counts: set[int]) -> None:
    assert {case.threads for case in suites.threads(most)} == counts
