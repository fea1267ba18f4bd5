"""Distributed permutations: programs of 1 to 4 ranks, by every MPI library at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

try:
    import mpi4py.MPI  # noqa: F401
except ImportError as error:  # also where it finds no MPI library
    pytest.skip(f"mpi4py cannot be used: {error}", allow_module_level=True)

from launch import LAUNCHERS, ROOT, Launcher, run
from test_pages import blocks

REFUSED = {
    "shapes": "ArrayError: on rank 0: layout_b has shape (6, 4): layout_a's (6, 4), permuted by (1, 0), is (4, 6)",
    "perm": "OptionError: on rank 0: perm (0, 0) does not name each of the 2 axes once",
    "other perm": "ArrayError: ranks disagree on perm: rank 0 has (0, 1), rank 2 has (1, 0)",
    "other dtype": "ArrayError: ranks disagree on dtype: rank 0 has float64, rank 2 has float32",
    "other split": "ArrayError: ranks disagree on layout_b: rank 0 has (4, 6) on a grid (3,): axis 0 block over"
    " dimension 0, rank 2 has (4, 6) on a grid (3,): axis 0 cyclic(1) over dimension 0",
    "objects": "ArrayError: on rank 0: dtype object has Python objects or items of 0 bytes: only plain data can be"
    " sent",
    "no layout": "OptionError: on rank 2: layout_b None is no Layout",
    "no layouts": "OptionError: on rank 2: layout_a None is no Layout",
    "freed": "ArrayError: the layouts' communicator was freed",
    "freed layouts": "ArrayError: the layouts' communicator was freed",
    "ranks": "OptionError: on rank 0: the layouts' communicators have other ranks, or the same in another order",
    "interrupted": "ArrayError: on rank 0: an earlier call of the plan was interrupted: only another plan can be used",
    "threads": "OptionError: on rank 0: threads 0 is less than 1",
    "a's shape": "ArrayError: on rank 2: a has shape (1, 4) and dtype float64: its part has (2, 4) and float64",
    "a's dtype": "ArrayError: on rank 2: a has shape (2, 4) and dtype float32: its part has (2, 4) and float64",
    "b's shape": "ArrayError: on rank 2: b has shape (6, 1) and dtype float64: its part has (1, 6) and float64",
    "locked": "ArrayError: on rank 2: b is read-only: the result is written to it",
    "overlap": "ArrayError: on rank 2: b shares memory with a: the permutation is out of place",
    "alpha": "ArrayError: ranks disagree on alpha: rank 0 has 1.0, rank 2 has 2.0",
    "beta": "ArrayError: on rank 0: beta = 1 without b: there is nothing to be scaled",
    "complex": "ProblemError: on rank 0: alpha = 1j is complex, but the data type float64 is real",
    "not a number": "ProblemError: on rank 2: alpha = 'x' is not a number",
    "root": "OptionError: on rank 0: root 3 is more than 2",
    "part": "ArrayError: on rank 2: part has shape (1, 4): (2, 4) is expected",
    "whole": "ArrayError: on rank 2: x has shape (6, 5): (6, 4) is expected",
}


@pytest.fixture(params=LAUNCHERS, ids=[launcher.name for launcher in LAUNCHERS])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    """Each in turn."""
    return request.param  # type: ignore[no-any-return]


def said(launcher: Launcher, ranks: int, program: str, *arguments: object) -> list[str]:
    """The lines that a program prints, which ends well."""
    done = run(launcher, ranks, program, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_there_is_a_launcher() -> None:
    assert LAUNCHERS


@pytest.mark.parametrize("ranks", (1, 2, 3, 4))
def test_random_permutations_are_right_and_send_no_byte_too_many(launcher: Launcher, ranks: int) -> None:
    assert said(launcher, ranks, "random_permutations.py", 1000 * ranks, 25) == ["right: 25"]


def test_ranks_whose_copies_cost_the_same_choose_one_order(launcher: Launcher) -> None:
    """On six ranks a sum of floats may depend on the rank."""
    assert said(launcher, 6, "random_permutations.py", 60_094, 1) == ["right: 1"]


@pytest.mark.full
@pytest.mark.parametrize("ranks", range(1, 9))
def test_more_random_permutations(launcher: Launcher, ranks: int) -> None:
    assert said(launcher, ranks, "random_permutations.py", 10_000 * ranks, 300) == ["right: 300"]


def test_plans_in_any_legal_order_wait_for_nobody_who_does_not_come(launcher: Launcher) -> None:
    assert said(launcher, 4, "many_plans.py", 100) == ["called: 100"]


@pytest.mark.full
def test_a_thousand_plans(launcher: Launcher) -> None:
    assert said(launcher, 4, "many_plans.py", 1000) == ["called: 1000"]


def test_refusals_are_the_same_on_every_rank(launcher: Launcher) -> None:
    assert dict(line.split(": ", 1) for line in said(launcher, 3, "refusals.py")) == REFUSED


def test_a_rank_that_dies_ends_the_others(launcher: Launcher) -> None:
    """Within the limit, after which `run` raises."""
    done = run(launcher, 3, "dies.py")
    assert done.returncode != 0
    assert "this rank dies" in done.stderr


def test_the_page_s_program_runs(launcher: Launcher, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    check = "assert (whole is None) == (comm.rank > 0) and b.shape == grid.local_shape\n"
    program.write_text(blocks("clusters.md")[0] + check)
    assert said(launcher, 4, str(program)) == []


@pytest.mark.parametrize("ranks", (1, 4))
def test_the_example_is_numpy_s_fft(launcher: Launcher, ranks: int) -> None:
    (line,) = said(launcher, ranks, str(ROOT / "examples" / "mpi" / "fft.py"), 20, 12, 9)
    found = re.fullmatch(rf"{ranks} ranks, grid .*: .* ms, largest error (.*)", line)
    assert found and float(found[1]) < 1e-12, line


@pytest.mark.parametrize("ranks", (1, 3))
def test_transfers_between_pencils(launcher: Launcher, ranks: int) -> None:
    assert said(launcher, ranks, "transfers.py") == ["right"]


def test_mpi4py_fft_s_transforms_are_the_same_with_our_transfers(launcher: Launcher) -> None:
    pytest.importorskip("mpi4py_fft")
    assert said(launcher, 4, "transfers.py", "fft") == ["right"]
