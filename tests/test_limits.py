"""A few commands under a few limits of the system; `make limits` has them all."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits as Linux has them")


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The table of commands and limits. OpenBLAS chooses its kernels, which decide how much memory it takes."""
    for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.syspath_prepend(Path(__file__).parent / "endurance")
    return importlib.import_module("limits")


@pytest.mark.parametrize(
    ("command", "name", "most", "kind"),
    [
        ("compile", "NPROC", 1, "result"),  # no thread can be started
        ("python", "NPROC", 2, "result"),
        ("large", "AS", 420 * MIB, ""),  # or there is no room for its stack
        ("compile", "AS", 260 * MIB, ""),
        ("transpose", "AS", 410 * MIB, ""),
        ("python", "DATA", 160 * MIB, ""),
        ("compile", "NOFILE", 8, "result"),
        ("explain", "FSIZE", 8 << 10, "refused"),
        ("generate", "FSIZE", 1 << 10, "refused"),
    ],
)
def test_a_limit_costs_threads_or_one_line(limits: Any, command: str, name: str, most: int, kind: str) -> None:
    outcome = limits.attack(command, limits.Limit(name, most))
    assert not outcome.is_fault, outcome
    if kind and outcome.kind != "foreign":
        assert outcome.kind == kind, outcome


def test_a_compiler_that_cannot_be_started_costs_its_column(limits: Any) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    outcome = limits.attack("compare", limits.Limit("NPROC", 1))
    assert outcome.kind in ("result", "refused"), outcome
