"""Compilers, and commands that must succeed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

STRICT = ("-pedantic", "-Wall", "-Wextra", "-Werror")


def compiler(name: str) -> str:
    """A native tool; skips the test where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: native programs cannot be built")
    return found


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it printed; AssertionError where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=300,
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
