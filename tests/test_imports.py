"""What programs load by importing the package: next to nothing, before they call something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ttc_llvm

HEAVY = (
    "llvmlite", "sqlite3", "torch", "jax", "ml_dtypes", "platformdirs", "rich", "json", "hashlib", "pathlib",
    "tempfile", "subprocess", "multiprocessing", "asyncio", "numpy.ma", "numpy.testing", "ttc_llvm.tuning",
    "ttc_llvm.ir_builders", "ttc_llvm.lowering", "ttc_llvm.compiling", "ttc_llvm.runtime", "ttc_llvm.problem",
    "ttc_llvm.machine", "ttc_llvm.gpu", "ttc_llvm.cli",
)  # fmt: skip
ONLY_FOR_SEARCHES = (
    "statistics", "decimal", "glob", "signal", "string", "numpy.typing", "scipy", "opt_einsum", "ttc_llvm.compiling",
    "ttc_llvm.contractions.bench", "ttc_llvm.contractions.task", "ttc_llvm.lowering.plan", "ttc_llvm.tuning.cost",
    "ttc_llvm.tuning.gpu", "ttc_llvm.tuning.search.leaderboard", "ttc_llvm.tuning.space", "ttc_llvm.arrays.pairs",
    "ttc_llvm.machine.gpu_target", "ttc_llvm.problem.canonical", "llvmlite", "torch", "jax",
)  # fmt: skip
FUNCTIONS = ("transpose", "ascontiguousarray", "asfortranarray")
LOADED = """
import sys
import numpy
before = set(sys.modules)
import ttc_llvm
{use}
print("\\n".join(set(sys.modules) - before))
"""


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions"))


def loaded(use: str) -> set[str]:
    """The modules that a process loads after NumPy."""
    done = subprocess.run([sys.executable, "-c", LOADED.format(use=use)], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_arrays_load_nothing_heavy(name: str) -> None:
    """A library that may never transpose anything pays for a few small modules of ours."""
    found = loaded(f"ttc_llvm.{name}")
    assert not {module for module in found if module.startswith(tuple(f"{one}." for one in HEAVY)) or module in HEAVY}
    ours = {module for module in found if module.startswith("ttc_llvm")}
    assert ours == {"ttc_llvm"} | {
        f"ttc_llvm.{one}"
        for one in ("arguments", "arrays", "errors", "interpreter", "locks")
    } | {f"ttc_llvm.arrays.{one}" for one in ("builtin_functions", "originals", "public")}
    assert len(found) < 40


def test_errors_load_nothing_heavy() -> None:
    assert {one for one in loaded("ttc_llvm.TtcError") if one.startswith("ttc_llvm")} == {
        "ttc_llvm", "ttc_llvm.errors", "ttc_llvm.interpreter", "ttc_llvm.locks"
    }  # fmt: skip


def test_the_first_call_loads_what_it_needs() -> None:
    found = loaded("ttc_llvm.transpose(numpy.ones((30, 40)), alpha=2)")
    assert {"llvmlite.binding", "ttc_llvm.arrays.family"} <= found
    assert not {"torch", "jax", "ttc_llvm.gpu.driver", "ttc_llvm.cli", "ttc_llvm.arrays.own_kernels"} & found


MEASURED = """
import sys
sys.path.insert(0, {tests!r})
import known_speeds
import numpy
import ttc_llvm
from ttc_llvm.contractions import measuring
from ttc_llvm.contractions.fused import measuring as fused, rates
measuring.measured = lambda dtype: (known_speeds.known_speeds(), True)
fused.measured = lambda dtype: rates.FusedRates(*[1e-12] * len(rates.FusedRates._fields))
"""
CONTRACTIONS = """
x = numpy.ones((48, 48))
assert (ttc_llvm.einsum("ij,jk->ik", x, x) == 48).all()
assert (ttc_llvm.tensordot(x, x, 1) == 48).all()
"""


def test_a_contraction_loads_neither_search_nor_planner_where_the_database_knows_its_choice_and_code() -> None:
    program = MEASURED.format(tests=str(Path(__file__).parent)) + CONTRACTIONS
    subprocess.run([sys.executable, "-c", program], check=True)
    found = loaded(CONTRACTIONS)
    assert "ttc_llvm.contractions.fused.run" in found
    searching = tuple(f"{one}." for one in ONLY_FOR_SEARCHES)
    assert not {module for module in found if module in ONLY_FOR_SEARCHES or module.startswith(searching)}
    planning = ("predicting", "stored_speeds", "search", "merged", "einsum", *(
        f"fused.{name}" for name in ("rates", "stored_speeds", "packing", "execution", "plan")
    ))  # fmt: skip
    assert not {f"ttc_llvm.contractions.{name}" for name in planning} & found
    assert "ttc_llvm.problem.contraction" not in found
    unknown = loaded(CONTRACTIONS.replace("48", "49"))
    assert {"ttc_llvm.contractions.search", "ttc_llvm.contractions.fused.execution"} <= unknown


def test_names_are_those_of_the_package() -> None:
    """Completion shows them all, before any is loaded."""
    assert {name for name in dir(ttc_llvm) if not name.startswith("_")} == set(ttc_llvm.__all__) - {"__version__"}
    assert "torch" not in ttc_llvm.__all__
    with pytest.raises(AttributeError, match="module 'ttc_llvm' has no attribute 'transposed'"):
        ttc_llvm.transposed  # noqa: B018


FIRST_CALLS = """
import threading
import numpy as np
import ttc_llvm
x = np.arange(24.0).reshape(2, 3, 4)
start = threading.Barrier(6)
found = []
def call():
    start.wait()
    found.append(ttc_llvm.transpose(x, (2, 0, 1)))
threads = [threading.Thread(target=call) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 6 and all(np.array_equal(y, x.transpose(2, 0, 1)) for y in found)
"""


def test_threads_call_for_the_first_time_together() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
