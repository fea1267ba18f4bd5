"""Kernels of layouts' own are kept: a later process runs them without what plans and compiles."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from known_layouts import NATIVE, forgotten

import ttc_llvm
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.machine import lookup
from ttc_llvm.runtime import backend, kept_kernels

CALLS = """
import io, os, sys
from threading import Thread
import numpy as np
import ttc_llvm
from ttc_llvm.arrays.layouts import layouts
PREPARED
chance = np.random.default_rng()
def at(place, values):
    # The same numbers at an address, of which it depends what kernel runs.
    memory = np.empty(values.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + place
    found = memory[start : start + values.nbytes].view("f8").reshape(values.shape)
    found[...] = values
    return found
def checked(threads):
    layouts().reset(payback=0)
    for axes, shape in (((2, 0, 1), (64, 50, 60)), ((1, 0), (520, 517))):
        for alpha, beta in ((1, 0), (2, 0.5)):
            for place_a, place_b in ((0, 0), (0, 0), (16, 0), (16, 0), (0, 8), (16, 8)):
                x, out = at(place_a, chance.random(shape)), at(place_b, chance.random([shape[k] for k in axes]))
                wanted = alpha * x.transpose(axes) + beta * out
                assert ttc_llvm.transpose(x, axes, out=out, alpha=alpha, beta=beta, threads=threads) is out
                assert np.allclose(out, wanted, rtol=1e-15)
    assert not layouts().families._records
def large():
    # Threads from cold, then a small array.
    x, small, results = chance.random((1024, 2048)), chance.random((30, 40)), []
    threads = [Thread(target=lambda: results.append(ttc_llvm.transpose(x))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3 and all(np.array_equal(y, x.T) for y in results)
    assert not layouts().families._records
    assert np.array_equal(ttc_llvm.transpose(small), small.T) and layouts().families._records
AFTER
print(*(name for name in sys.modules if name.split(".")[0] in ("llvmlite", "ttc_llvm")), sep="\\n")
"""
SERIAL = "checked(1)\nchecked(2)"
FORKED = """
child = os.fork()
if child == 0:
    CALLED
    os._exit("llvmlite" in sys.modules)
assert os.waitpid(child, 0)[1] == 0
"""
PLANNING = (
    "llvmlite", "ttc_llvm.compiling", "ttc_llvm.tuning.cost", "ttc_llvm.arrays.own_plans", "ttc_llvm.lowering.lower"
)  # fmt: skip
ROWS = "FROM code_v2 WHERE plan = 'kernel of a layout'"


def _run(folder: Path, prepared: str = "", after: str = SERIAL) -> set[str]:
    """The modules of ours and of LLVM that a new process has loaded."""
    home = {"TTC_DATABASE": str(folder / "solutions.sqlite3"), "HOME": str(folder), "XDG_STATE_HOME": ""}
    program = CALLS.replace("PREPARED", prepared).replace("AFTER", after)
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {*done.stdout.split()}


def _rows(folder: Path, what: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "solutions.sqlite3")) as connection:
        return connection.execute(f"SELECT {what} {ROWS}").fetchall()


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    assert {*PLANNING} <= _run(folder)
    return folder


@pytest.fixture
def stored(_made: Path, tmp_path: Path) -> Path:
    """A folder with a copy of a database that has the kernels."""
    shutil.copytree(_made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@NATIVE
@pytest.mark.parametrize("after", [SERIAL, FORKED.replace("CALLED", "checked(2)")])
def test_a_second_process_plans_and_compiles_nothing(stored: Path, after: str) -> None:
    """Neither for large arrays nor for misaligned ones; nor in a child of fork."""
    before = _rows(stored, "id, versions, image")
    assert not {*PLANNING} & _run(stored, after=after)
    assert _rows(stored, "id, versions, image") == before != []


@NATIVE
def test_large_arrays_load_no_any_size_kernel(tmp_path: Path) -> None:
    """Neither while theirs is made nor when it is kept; a small one loads its own."""
    assert {*PLANNING} <= _run(tmp_path, after="large()")
    for after in ("large()", FORKED.replace("CALLED", "large()")):
        assert not {*PLANNING} & _run(tmp_path, after=after)


SPOILED = {
    "damaged": "UPDATE code_v2 SET image = substr(image, 1, length(image) / 2)",
    "unsigned": "UPDATE code_v2 SET digest = zeroblob(32)",
    "of another version": "UPDATE code_v2 SET versions = 'cpu3 code2 ttc0.0.9 llvm1'",
}


@NATIVE
@pytest.mark.parametrize(("how", "trusted"), [*((how, False) for how in SPOILED), ("damaged", True)])
def test_what_cannot_be_run_is_built_anew_and_kept(stored: Path, how: str, trusted: bool) -> None:
    before = _rows(stored, "count(*)")
    with closing(sqlite3.connect(stored / "solutions.sqlite3")) as connection, connection:
        assert connection.execute(f"{SPOILED[how]} WHERE plan = 'kernel of a layout'").rowcount > 1
    quiet = "sys.stderr = io.StringIO()"
    trust = f"import os; os.environ['TTC_DATABASE_TRUST'] = os.environ['TTC_DATABASE'] * {trusted}; {quiet}"
    assert "llvmlite" in _run(stored, trust)
    assert "llvmlite" not in _run(stored, trust)
    assert _rows(stored, "count(*)") >= before


OTHERS = {
    "plans": "import ttc_llvm.arrays.own_kernels as own; own._revision = lambda: 'another'",
    "caches": "from dataclasses import replace; own = backend.host_target(); other = replace(own, l2=own.l2 * 2); ",
    "processor": "other = lookup.find('haswell'); ",
}


@NATIVE
@pytest.mark.parametrize("what", OTHERS)
def test_kernels_for_others_are_made_anew(stored: Path, what: str) -> None:
    if what == "processor" and not backend.runs_here(lookup.find("haswell")):
        pytest.skip("no code of another processor runs here")
    change = OTHERS[what]
    if what != "plans":
        imports = "from ttc_llvm.machine import lookup; from ttc_llvm.runtime import backend"
        change = f"{imports}; {change}backend.host_target = lambda: other"
    assert {*PLANNING} <= _run(stored, change)
    assert not {*PLANNING} & _run(stored, change)
    assert not {*PLANNING} & _run(stored)  # both are kept


def test_the_oldest_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.setattr(kept_kernels, "MOST", 3)
    with forgotten():
        layouts().reset(payback=0)
        for number in range(2, 7):
            x = np.random.default_rng().random((number, 70_000))
            assert np.array_equal(ttc_llvm.transpose(x, threads=1), x.T)
            assert len(_rows(tmp_path, "id")) == min(number - 1, 3)
        for kind in ("kernel of a layout", "another"):
            requests = [kept_kernels.request_for(kind, f"form {k}", "target", "versions") for k in range(5)]
            for request in requests:
                kept_kernels.keep(request, {"note": b"1"})
                kept_kernels.keep(request, {"code": b"2"})
            wanted = [{}, {}, *[{"note": b"1", "code": b"2"}] * 3]
            assert [kept_kernels.stored(request) for request in requests] == wanted
    assert len(_rows(tmp_path, "id")) == 3
