"""Where no kernel runs: the package is imported, NumPy transposes arrays after one warning, and all else is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import strategies
from case import Case, scaling, windows
from elsewhere import CANNOT, FAULTS
from guarded_case import GuardedCase, Place
from hypothesis import given
from tiers import examples

from ttc_llvm.arrays import without_kernels
from ttc_llvm.arrays.overlaps import overlaps_itself

TESTS = Path(__file__).parent
REASONS = {
    "no llvmlite": "LLVM cannot be used here: No module named 'llvmlite'",
    "a broken llvmlite": "LLVM cannot be used here: import of llvmlite.binding halted; None in sys.modules",
    "a library that does not load": "LLVM's library cannot be loaded: torn",
    "no executable memory": "this system lets a process run no code that it makes (mprotect: Permission denied)",
    "macOS": "this machine is macOS on arm64: kernels run on x86-64 and AArch64 Linux only",
    "Windows": "this machine is Windows on AMD64: kernels run on x86-64 and AArch64 Linux only",
    "RISC-V": "this machine is Linux on riscv64: kernels run on x86-64 and AArch64 Linux only",
    "FreeBSD": "this machine is freebsd14 on amd64: kernels run on x86-64 and AArch64 Linux only",
}


def in_child(fault: str, program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process whose machine has this fault, its solutions in a folder of their own."""
    first = f"import sys; import elsewhere; elsewhere.FAULTS[{fault!r}]()"
    inside = {"PYTHONPATH": str(TESTS), "HOME": str(folder), "XDG_CACHE_HOME": str(folder), "TTC_DATABASE": ""}
    done = subprocess.run(
        [sys.executable, "-c", f"{first}\n{dedent(program)}"],
        cwd=folder, env=os.environ | inside, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode == CANNOT:
        pytest.skip("this machine cannot run a process that may not run what it writes")
    return done


ARRAYS = """
import warnings
import numpy as np
import ttc_llvm

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    x = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(ttc_llvm.transpose(x, (2, 0, 1)), x.transpose(2, 0, 1))
    assert ttc_llvm.transpose(x).flags.c_contiguous and ttc_llvm.transpose(x, order="F").flags.f_contiguous
    out = np.ones((4, 3, 2))
    assert ttc_llvm.transpose(x, out=out, alpha=2, beta=3, threads=2, effort=5) is out
    assert np.array_equal(out, 2 * x.T + 3)
    z = x.astype(np.complex64) * (1 + 2j)
    assert np.array_equal(ttc_llvm.transpose(z, alpha=2j, conjugate=True), 2j * z.conj().T)
    assert np.array_equal(ttc_llvm.transpose(np.ma.array(x, mask=x > 5), (1, 0, 2)).mask, (x > 5).transpose(1, 0, 2))
    records = np.zeros((3, 5), np.dtype([("a", "i1"), ("b", "f8")], align=True))
    records.view("u1")[...] = np.arange(240).reshape(3, 80)
    assert ttc_llvm.transpose(records).tobytes() == records.T.copy().view("V16").tobytes() != b""
    assert np.array_equal(ttc_llvm.ascontiguousarray(x.T), x.T) and ttc_llvm.asfortranarray(x).flags.f_contiguous
    for wrong in ({"out": x.T}, {"out": np.ones(3)}, {"alpha": "2"}, {"axes": (0, 0, 1)}, {"threads": 0}):
        try:
            ttc_llvm.transpose(x[0] if "axes" in wrong else x.T, **wrong)
        except ttc_llvm.TtcError:
            continue
        raise AssertionError(wrong)
(one,) = said
assert one.category is RuntimeWarning and one.filename == "<string>", one
print(one.message)
"""


@pytest.mark.parametrize("fault", FAULTS)
def test_numpy_transposes_after_one_warning(fault: str, tmp_path: Path) -> None:
    done = in_child(fault, ARRAYS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"ttc_llvm leaves transpositions to NumPy: {REASONS[fault]}")


REFUSALS = """
import ttc_llvm
from ttc_llvm.lowering.plan import parse
from ttc_llvm.machine import lookup

for name in ttc_llvm.__all__:
    getattr(ttc_llvm, name)
ttc_llvm.set_num_threads(3)
assert ttc_llvm.num_threads() == 3
problem = ttc_llvm.Problem((1, 0), (8, 16))
foreign = ttc_llvm.Solution(problem, lookup.find("haswell"), parse(PLAN), 1)
for refused in (
    lambda: ttc_llvm.compile(problem),
    lambda: ttc_llvm.compile(problem, max_implementations=1, target="native"),
    lambda: foreign(bytes(512), bytearray(512)),
):
    try:
        refused()
    except ttc_llvm.TtcError as error:
        print(error)
"""


@pytest.mark.parametrize("fault", FAULTS)
def test_everything_is_imported_and_solutions_refuse(fault: str, tmp_path: Path) -> None:
    done = in_child(fault, REFUSALS.replace("PLAN", repr(PLAN)), tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all(line.startswith(REASONS[fault]) for line in lines), lines


PLAN = "cpu3 tile=16,8 block=16,8 order=0,1 inner=0,1 parallel=1 prefetch=0 store=cached fetch=blocks panel=none"
COMMANDS = """
from ttc_llvm import cli

for words in (["--version"], ["info"], ["--perm=1,0", "--size=8,16"], ["explain", "--perm=1,0", "--size=8,16"]):
    print(words[0], cli.main(words), file=sys.stderr)
"""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_command_says_why(fault: str, tmp_path: Path) -> None:
    done = in_child(fault, COMMANDS, tmp_path)
    assert done.returncode == 0, done.stderr
    version, info, refused, status, again, explained = done.stderr.splitlines()
    assert (version, info, status, explained) == ("--version 0", "info 0", "--perm=1,0 2", "explain 2")
    assert refused.startswith(f"ttc: error: {REASONS[fault]}") and again == refused
    assert REASONS[fault] in done.stdout


@examples(60)
@given(strategies.cases(2000))
def test_numpy_computes_what_kernels_do(case: Case) -> None:
    """General strides on both sides, all kinds of scalars, types and conjugation, bit for bit."""
    made, (window_a, window_b) = GuardedCase.of(case, Place(), Place()), windows(case)
    view = window_b.view(made.b)
    if overlaps_itself(view):
        return
    scale = scaling(case)
    without_kernels.assign(window_a.view(made.a), view, scale, 1, 1)
    made.check(f": {case}")
