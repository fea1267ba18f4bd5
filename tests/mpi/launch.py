"""Programs of several ranks, by every MPI library at hand: the environment's wheel, and the system's Open MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LIMIT = 120  # seconds
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT")


class Launcher(NamedTuple):
    """name: of the library; command: of its launcher; variables: that make mpi4py use it."""

    name: str
    command: tuple[str, ...]
    variables: dict[str, str]


def _found() -> Iterator[Launcher]:
    if find_spec("mpi4py") is None:
        return
    of_wheel = Path(sys.executable).parent / "mpiexec"
    if of_wheel.exists():
        is_open = (of_wheel.parent / "ompi_info").exists()
        yield Launcher("wheel", (str(of_wheel), *(["--oversubscribe"] if is_open else [])), {})
    own = shutil.which("mpirun.openmpi")
    library = next(iter(sorted(Path("/usr/lib").glob("*/libmpi.so.40"))), None)
    if own and library:
        variables = {"MPI4PY_MPIABI": "openmpi", "MPI4PY_LIBMPI": str(library)}
        yield Launcher("openmpi", (own, "--oversubscribe"), variables)


LAUNCHERS = tuple(_found())


def run(launcher: Launcher, ranks: int, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A program of this folder on so many ranks; one whose rank dies ends, or is stopped after LIMIT."""
    variables = {
        **os.environ, **launcher.variables, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1",
        **{f"{name}{more}": "1" for name in AS_ROOT for more in ("", "_CONFIRM")},
    }  # fmt: skip
    words = [sys.executable, "-m", "mpi4py", str(HERE / program), *map(str, arguments)]
    return subprocess.run(
        [*launcher.command, "-n", str(ranks), *words],
        env=variables, capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
