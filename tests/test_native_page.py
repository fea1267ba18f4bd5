"""docs/native.md: its commands run, its code compiles, and what it names exists."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from native_build import STRICT, compiler, run

from ttc_llvm.problem import interface
from ttc_llvm.problem.problem import Problem

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "native.md").read_text()
FORTRAN = """
real(c_float) :: a(48, 30, 40), b(40, 30, 48), wide(50, 31, 40), x(7, 50, 33), y(33, 50, 7)
a = 1; wide = 1; x = 1
"""


def blocks(language: str) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands(start: str) -> list[list[str]]:
    """The commands that begin so, as arguments."""
    shown = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith(f"$ {start}")]
    return [shlex.split(command, comments=True) for command in shown]


def generate(folder: Path) -> None:
    """Every `ttc` command of the page, at its fastest."""
    environment = {"PYTHONPATH": str(ROOT), "TTC_DATABASE": str(folder / "solutions.db")}
    for command in commands("ttc"):
        options = (*command[1:], "--maxImplementations=1")
        run(sys.executable, "-m", "ttc_llvm", *options, cwd=folder, env=environment)


def test_commands_and_code(tmp_path: Path) -> None:
    generate(tmp_path)
    code, contraction = blocks("c")
    head, _, body = code.partition("\n\n")
    source = f"{head}\nstatic float a[62000], b[70000];\nint main(void)\n{{\n{body}\n    return 0;\n}}\n"
    (tmp_path / "program.c").write_text(source)
    ((driver, *rest),) = commands("cc program.c")
    run(compiler(driver), *STRICT, *rest, cwd=tmp_path)
    run(tmp_path / "program")
    head, _, body = contraction.partition("\n\n")
    tensors = "static double a[24 * 16 * 8 * 12], b[8 * 12 * 20 * 10], c[24 * 16 * 20 * 10];"
    source = f"{head}\n{tensors}\nint main(void)\n{{\n{body}\n    return 0;\n}}\n"
    (tmp_path / "contract.c").write_text(source)
    run(compiler(driver), *STRICT, "contract.c", *tmp_path.glob("*Contract*.o"), "-o", "contract", cwd=tmp_path)
    run(tmp_path / "contract")
    for driver, *rest in commands("cc -shared"):
        run(compiler(driver), *rest, "-Wl,-z,defs", cwd=tmp_path)


def test_cpp_code(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "TTC_DATABASE": str(tmp_path / "solutions.db")}
    wanted = ("--perm=2,1,0", "--size=48,30,40", "--dataType=d", "--generateOnly")
    run(sys.executable, "-m", "ttc_llvm", *wanted, cwd=tmp_path, env=environment)
    (code,) = blocks("cpp")
    name = "dTranspose210_48x30x40"
    program = f'#include "{name}.h"\nstatic double a[57600], b[57600];\nint main()\n{{\n{code}}}\n'
    (tmp_path / "program.cpp").write_text(program)
    run(compiler("g++"), "-std=c++11", *STRICT, "program.cpp", f"{name}.o", "-o", "program", cwd=tmp_path)
    run(tmp_path / "program")


def test_fortran_code(tmp_path: Path) -> None:
    compiler("gfortran")
    generate(tmp_path)
    (code,) = blocks("fortran")
    use, _, calls = code.partition("\n")
    program = f"use iso_c_binding\n{use}\nimplicit none\n{FORTRAN}{calls}end\n"
    (tmp_path / "program.f90").write_text(program)
    ((driver, *rest),) = commands("gfortran")
    run(compiler(driver), "-Wall", "-Werror", *rest, "-o", "program", cwd=tmp_path)
    run(tmp_path / "program")


def test_the_table_names_the_entries() -> None:
    problem = Problem((2, 1, 0), (8, 16, 16), "s")
    stem = "sTranspose210_8x16x16"
    named = {stem + end for end in re.findall(r"`\.\.\.(_[a-z0-9_]+)`", PAGE)} | {stem}
    entries = {entry.name for entry in (*interface.entries(problem), *interface.threaded(problem))}
    assert entries <= named


@pytest.mark.parametrize("name", ["c", "cpp", "fortran", "packing"])
def test_the_page_names_every_example(name: str) -> None:
    assert f"`examples/{name}`" in PAGE and (ROOT / "examples" / name / "Makefile").exists()
