"""Compilers, and commands that must succeed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pytest
from processes import PATIENCE
from tiers import FULL

STRICT = ("-pedantic", "-Wall", "-Wextra", "-Werror")
_C, _CPP = ("c99", "c2x", "c11", "c17"), ("c++98", "c++2b", "c++11", "c++14", "c++17", "c++20")
# Driver, language and standard; but for full runs the oldest and the newest alone.
STANDARDS = [
    (driver, language, standard)
    for drivers, language, standards in ((("gcc", "clang"), "c", _C), (("g++", "clang++"), "c++", _CPP))
    for standard in standards[: None if FULL else 2]
    for driver in drivers
]


# What a compiler must be able to build, by how its name ends: without a C library's headers it is there in vain.
PROGRAMS = {
    "++": ("c++", "#include <vector>\nint main() { return std::vector<int>(1)[0]; }\n"),
    "cc": ("c", "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"),
    "clang": ("c", "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"),
    "gfortran": ("f95", "end\n"),
}
RUST = "cargo", "rustc"  # which may be rustup's, that finds them where the home directory says


def compiler(name: str) -> str:
    """A native tool; skips the test where it is not installed, or is a compiler that cannot build a program."""
    why = trouble(name)
    if why:
        pytest.skip(f"{name} {why}: native programs cannot be built")
    found = shutil.which(name)
    assert found is not None
    return found


@contextmanager
def building(factory: pytest.TempPathFactory) -> Iterator[tuple[Path, pytest.MonkeyPatch]]:
    """A folder for a library that the tests of a module share, where its solutions are stored, too; and a patch that
    ends with the block. Skips the tests without a C compiler."""
    compiler("cc")
    folder = factory.mktemp("library")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TTC_DATABASE", str(folder / "solutions.sqlite"))
        yield folder, patch


def trouble(name: str) -> str:
    """Why a native tool cannot be used, "" where it can."""
    found = shutil.which(name)
    if found is None:
        return "is not installed"
    if name in RUST:
        return "" if _answers(found) else "has no toolchain"
    program = next((program for end, program in PROGRAMS.items() if name.endswith(end)), None)
    return "" if program is None or _builds(found, *program) else "is installed without what its programs need"


@lru_cache
def _answers(driver: str) -> bool:
    return subprocess.run([driver, "--version"], capture_output=True).returncode == 0


@lru_cache
def _builds(driver: str, language: str, program: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [driver, "-x", language, "-", "-o", f"{folder}/program"]
        return subprocess.run(command, input=program, text=True, capture_output=True).returncode == 0


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it printed; AssertionError where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=cwd,
        env=None if env is None else {**os.environ, **env},
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def has_openmp(driver: str, folder: Path) -> bool:
    """Whether -fopenmp works: clang needs a library of its own."""
    source = folder / "openmp.c"
    source.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
    command = [driver, "-fopenmp", "-x", "c", str(source), "-o", str(folder / "openmp")]
    return subprocess.run(command, capture_output=True).returncode == 0


def needs_openmp(driver: str, folder: Path) -> None:
    """Skips the test where this compiler has no OpenMP library."""
    if not has_openmp(driver, folder):
        pytest.skip(f"{driver} is installed without an OpenMP library")


def openmp_library(driver: str, folder: Path) -> str:
    """The path of this compiler's OpenMP library; skips the test where it has none."""
    needs_openmp(driver, folder)
    loaded = run(compiler("ldd"), folder / "openmp").splitlines()
    return next(line.split()[2] for line in loaded if re.match(r"\s*lib[gi]?omp5?\.", line))
