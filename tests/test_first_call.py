"""The first call of a new process whose database has the code: LLVM is not loaded, nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = """
import os, pickle, sys
import numpy as np
import ttc_llvm
def checked():
    x = np.random.default_rng().random((40, 60))
    assert np.array_equal(ttc_llvm.transpose(x), x.T)
    b = np.full((60, 40), np.nan, order="F")
    solution(np.asfortranarray(x), b)
    assert np.array_equal(b, x.T)
path = sys.argv[1]
if os.path.exists(path):
    solution = pickle.loads(open(path, "rb").read())
else:
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (40, 60), "d"), max_implementations=1)
    open(path, "wb").write(pickle.dumps(solution))
checked()
child = os.fork()
if child == 0:
    checked()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
if "llvmlite" not in sys.modules:
    print("no LLVM")
    accesses = [line.split()[1] for line in open("/proc/self/maps")]
    assert not [found for found in accesses if "w" in found and "x" in found]
"""


def _run(tmp_path: Path, **variables: str) -> str:
    home = {"TTC_DATABASE": str(tmp_path / "solutions.sqlite3"), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", CALLS, str(tmp_path / "solution")]
    done = subprocess.run(command, env={**os.environ, **home, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("folder", [None, "/nowhere"])
def test_arrays_and_unpickled_solutions_run_without_llvm(tmp_path: Path, folder: str | None) -> None:
    """Also in a forked child, and where there is no folder for temporary files; no page can be written and executed."""
    assert _run(tmp_path) == ""  # it compiles
    assert _run(tmp_path, **({"TMPDIR": folder} if folder else {})) == "no LLVM"


def test_unpickled_solutions_compile_where_the_database_lacks_their_code(tmp_path: Path) -> None:
    _run(tmp_path)
    assert _run(tmp_path, TTC_DATABASE=str(tmp_path / "other.sqlite3")) == ""
