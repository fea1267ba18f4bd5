"""The examples, built and run as their Makefiles say: every compiler, with and without OpenMP, and under valgrind."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from native_build import compiler, needs_openmp, openmp_library, run

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SIZES = {"gemm": ("70", "37", "45")}  # of the slow one under valgrind, ragged everywhere
THREADS = {"OMP_NUM_THREADS": "3"}
# What ends a program where it does what the languages leave undefined; Clang's traps need no library.
SANITIZERS = {
    "g": "-fsanitize=undefined,address -fno-sanitize-recover=all",
    "clang": "-fsanitize=undefined -fsanitize-trap=undefined",
}
VALGRIND = ("valgrind", "-q", "--error-exitcode=9")


def copied(name: str, folder: Path) -> Path:
    """The example, in a folder of its own."""
    return Path(shutil.copytree(EXAMPLES / name, folder / name))


def make(folder: Path, *variables: str) -> None:
    """`make` with objects for AVX2 machines: valgrind knows nothing beyond."""
    ttc = f"TTC={sys.executable} -m ttc_llvm"
    flags = "TTCFLAGS=--maxImplementations=1 --cpu=haswell"
    database = str(folder.parent / "solutions.db")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    run(compiler("make"), ttc, flags, *variables, cwd=folder, env={"PYTHONPATH": path, "TTC_DATABASE": database})


def check(program: Path, watched: bool = True) -> None:
    """It runs, says that all is well, and touches nothing that it should not. watched: also under valgrind."""
    for before in ((), (compiler(VALGRIND[0]), *VALGRIND[1:]))[: 1 + watched]:
        printed = run(*before, program, *SIZES.get(program.name, ()), env=THREADS)
        assert "ok" in printed and "WRONG" not in printed


def build_and_check(folder: Path, program: str, variable: str, drivers: tuple[str, ...]) -> None:
    """The program by every compiler, alone, with OpenMP and with sanitizers; objects are generated once."""
    for name in drivers:
        driver = compiler(name)
        needs_openmp(driver, folder)
        sanitizers = SANITIZERS[name.rstrip("c+")]
        for flags in ("", "-fopenmp", sanitizers):
            (folder / program).unlink(missing_ok=True)
            make(folder, f"{variable}={driver}", f"OPENMP={flags}")
            check(folder / program, watched=flags != sanitizers)


def shim(folder: Path) -> Path:
    """A command `ttc` of this checkout."""
    command = folder / "ttc"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}:$PYTHONPATH" exec "{sys.executable}" -m ttc_llvm "$@"\n')
    command.chmod(0o755)
    return command


def test_rust(tmp_path: Path) -> None:
    """Cargo needs neither a network nor a registry for it, and the compiler has nothing to remark."""
    folder = copied("rust", tmp_path)
    given = {"TTC": str(shim(tmp_path)), "TTC_DATABASE": str(tmp_path / "solutions.db"), "RUSTFLAGS": "-D warnings"}
    assert run(compiler("cargo"), "run", "--offline", "--quiet", cwd=folder, env=given) == "ok\n"


def test_the_page_of_rust(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "rust.md").read_text()
    (program,) = re.findall(r"(?ms)^```rust\n(.*?)^```$", page)
    (tmp_path / "main.rs").write_text(program)
    database = {"TTC_DATABASE": str(tmp_path / "solutions.db")}
    run(shim(tmp_path), "--perm=2,1,0", "--size=48,30,40", "--generateOnly", "--quiet", cwd=tmp_path, env=database)
    run(compiler("rustc"), "-O", "main.rs", "-C", "link-arg=sTranspose210_48x30x40.o", cwd=tmp_path)
    assert run(tmp_path / "main") == "7395\n"


def test_c(tmp_path: Path) -> None:
    build_and_check(copied("c", tmp_path), "transpose", "CC", ("gcc", "clang"))


def test_plans(tmp_path: Path) -> None:
    folder = copied("plans", tmp_path)
    build_and_check(folder, "plan", "CC", ("gcc", "clang"))
    build_and_check(folder, "planned", "CXX", ("g++", "clang++"))


def test_contraction(tmp_path: Path) -> None:
    build_and_check(copied("contraction", tmp_path), "contract", "CC", ("gcc", "clang"))


def test_cpp(tmp_path: Path) -> None:
    build_and_check(copied("cpp", tmp_path), "transpose", "CXX", ("g++", "clang++"))


@pytest.fixture(scope="module")
def packing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of six objects, which are generated once."""
    compiler("cc")
    folder = copied("packing", tmp_path_factory.mktemp("packing"))
    make(folder)
    return folder


def test_packing(packing: Path) -> None:
    build_and_check(packing, "gemm", "CC", ("gcc", "clang"))


def test_packing_in_whole_blocks(packing: Path) -> None:
    """The default size: whole blocks and ragged ones, specialised packing and that of any size."""
    (packing / "gemm").unlink()
    make(packing)
    lines = run(packing / "gemm").splitlines()
    assert len(lines) == 12 and all(line.endswith("ok") for line in lines)


@pytest.mark.parametrize("runtime", ["GNU", "LLVM"])
def test_fortran(runtime: str, tmp_path: Path) -> None:
    compiler("gfortran")
    folder = copied("fortran", tmp_path)
    openmp = "-fopenmp" if runtime == "GNU" else openmp_library(compiler("clang"), tmp_path)
    make(folder, f"OPENMP={openmp}")
    for program in ("transpose", "planned"):
        check(folder / program)


def test_makefiles_forget_what_they_built(tmp_path: Path) -> None:
    compiler("cc")
    folder = copied("c", tmp_path)
    before = sorted(os.listdir(folder))
    make(folder)
    make(folder, "clean")
    assert sorted(os.listdir(folder)) == before
