"""The example of plans on other machines, in the byte order and with the vectors of these."""

from __future__ import annotations

import shutil
from pathlib import Path

import emulators
import pytest
from emulators import MACHINES, run

from ttc_llvm import cli

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "plans"
THERE = {machine.name: machine for machine in MACHINES}


@pytest.mark.usefixtures("own_place")
@pytest.mark.parametrize(
    ("machine", "name"),
    [
        ("neon", "neon"),
        ("power9-be", "vsx-be"),
        pytest.param("sve-256", "sve256", marks=pytest.mark.slow),
        pytest.param("riscv-256", "rvv256", marks=pytest.mark.slow),
    ],
)
def test_plans_run_there(machine: str, name: str, tmp_path: Path) -> None:
    there = emulators.found(THERE[machine])
    for file in ("plan.c", "transposes.txt"):
        shutil.copy(EXAMPLE / file, tmp_path)
    given = ("--manifest=transposes.txt", "--emit=static,plan", f"--cpu={name}", "--generateOnly", "--quiet")
    assert cli.main([*given, "--output-dir=made"]) == 0
    archive = tmp_path / "made" / "lib" / "libtransposes.a"
    run(there.compiler, "-std=c99", f"-I{tmp_path}/made/include", tmp_path / "plan.c", archive, "-o", tmp_path / "plan")
    printed = run(*there.emulator, tmp_path / "plan")
    assert printed.count(" ok\n") == 9 and "WRONG" not in printed
