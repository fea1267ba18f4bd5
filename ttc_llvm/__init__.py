"""A tensor transposition compiler: LLVM IR planned, compiled, tuned and run in the process.

Names are imported when they are first used, so that `import ttc_llvm` loads neither NumPy nor LLVM.
"""

from __future__ import annotations

import sys

SCRIPT = b"from ttc_llvm.cli import main"  # what the script `ttc`, which installers write, begins with


def _is_program() -> bool:
    """Whether Python runs our own command, by `-m ttc_llvm` or by the script `ttc`."""
    given = [*getattr(sys, "argv", ()), ""][0]
    if given == "-m":  # Python imports the package of the module that it is to run
        words = zip(sys.orig_argv, sys.orig_argv[1:], strict=False)  # also `-Im ttc_llvm` and `-mttc_llvm`
        if any(flag[:1] == "-" and flag[-1:] == "m" and name == "ttc_llvm" for flag, name in words):
            return True
        return any(word[:1] == "-" and word.endswith("mttc_llvm") for word in sys.orig_argv)
    if not given.endswith("ttc"):
        return False
    try:
        with open(given, "rb") as script:
            return SCRIPT in script.read(1024)
    except OSError:
        return False


def _stopped(number: int, frame: object) -> None:
    import os

    try:
        os.write(2, b"ttc: interrupted before there was any result\n")
    finally:
        os._exit(130)


def _mind_ctrl_c() -> None:
    """What follows takes a while, in which Ctrl-C would end our command with a traceback."""
    from _signal import SIGINT, default_int_handler, getsignal, signal

    if getsignal(SIGINT) is default_int_handler:  # not where a shell's background job ignores it
        signal(SIGINT, _stopped)


if _is_program():
    _mind_ctrl_c()

from . import interpreter  # noqa: E402

interpreter.check()  # before anything else is loaded: what follows starts threads and registers for forks

from . import locks  # noqa: E402

__version__ = "0.1.0"

TYPE_CHECKING = False  # as `typing` says, whose import takes longer than all that `ttc` does before it minds Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from .arrays.public import ascontiguousarray, asfortranarray, transpose
    from .errors import (
        ArrayError,
        ArtifactError,
        CompileError,
        DatabaseError,
        GpuError,
        ModelError,
        OptionError,
        OutOfMemoryError,
        PlanError,
        ProblemError,
        TargetError,
        TtcError,
        VerificationError,
    )
    from .front import compile
    from .gpu.plan import GpuPlan
    from .gpu.solution import GpuSolution
    from .gpu.target import GpuTarget
    from .measurement import Measurement
    from .native.library import Library
    from .plan import CpuPlan
    from .problem import Problem
    from .runtime import num_threads, set_num_threads
    from .solution import Solution
    from .target import Target
    from .tuning.choices import Forced
    from .tuning.gpu_candidates import GpuForced

__all__ = [
    "ArrayError",
    "ArtifactError",
    "CompileError",
    "CpuPlan",
    "DatabaseError",
    "Forced",
    "GpuError",
    "GpuForced",
    "GpuPlan",
    "GpuSolution",
    "GpuTarget",
    "Library",
    "Measurement",
    "ModelError",
    "OptionError",
    "OutOfMemoryError",
    "PlanError",
    "Problem",
    "ProblemError",
    "Solution",
    "Target",
    "TargetError",
    "TtcError",
    "VerificationError",
    "__version__",
    "ascontiguousarray",
    "asfortranarray",
    "compile",
    "num_threads",
    "set_num_threads",
    "transpose",
]

_HOMES = {
    "arrays.public": ("ascontiguousarray", "asfortranarray", "transpose"),
    "errors": (
        "ArrayError", "ArtifactError", "CompileError", "DatabaseError", "GpuError", "ModelError", "OptionError",
        "OutOfMemoryError", "PlanError", "ProblemError", "TargetError", "TtcError", "VerificationError",
    ),
    "front": ("compile",),
    "gpu.solution": ("GpuSolution",),
    "gpu.plan": ("GpuPlan",),
    "gpu.target": ("GpuTarget",),
    "measurement": ("Measurement",),
    "native.library": ("Library",),
    "plan": ("CpuPlan",),
    "problem": ("Problem",),
    "runtime": ("num_threads", "set_num_threads"),
    "solution": ("Solution",),
    "target": ("Target",),
    "tuning.choices": ("Forced",),
    "tuning.gpu_candidates": ("GpuForced",),
}  # fmt: skip
_LAZY = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(locks.imported(f".{_LAZY[name]}", __name__), name)
    except MemoryError as error:
        errors = locks.imported(".errors", __name__)
        raise errors.out_of_memory(error, f"the import of ttc_llvm.{name}") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
