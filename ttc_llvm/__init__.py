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

# As `typing` says, whose import takes longer than all that `ttc` does before it minds Ctrl-C; not a plain False,
# for which Jedi would leave the names out.
TYPE_CHECKING = any(())
if TYPE_CHECKING:  # `X as X`: the name is ours to give on
    from typing import Any

    from .arrays.public import ascontiguousarray as ascontiguousarray
    from .arrays.public import asfortranarray as asfortranarray
    from .arrays.public import transpose as transpose
    from .arrays.reshaping import permute_reshape as permute_reshape
    from .arrays.reshaping import rearrange as rearrange
    from .arrays.reshaping import reshape as reshape
    from .arrays.result_memory import set_result_pool as set_result_pool
    from .arrays.sums import permute_sum as permute_sum
    from .compiling.exports import Imported as Imported
    from .compiling.exports import export_solutions as export_solutions
    from .compiling.exports import import_solutions as import_solutions
    from .compiling.front import compile as compile
    from .compiling.gpu_solution import GpuSolution as GpuSolution
    from .compiling.library import Library as Library
    from .compiling.solution import Solution as Solution
    from .contractions.fused.plan import FusedPlan as FusedPlan
    from .contractions.plan import ContractionPlan as ContractionPlan
    from .contractions.public import einsum as einsum
    from .contractions.public import tensordot as tensordot
    from .contractions.solution import ContractionSolution as ContractionSolution
    from .errors import ArrayError as ArrayError
    from .errors import ArtifactError as ArtifactError
    from .errors import CompileError as CompileError
    from .errors import DatabaseError as DatabaseError
    from .errors import GpuError as GpuError
    from .errors import ModelError as ModelError
    from .errors import OptionError as OptionError
    from .errors import OrderWarning as OrderWarning
    from .errors import OutOfMemoryError as OutOfMemoryError
    from .errors import PlanError as PlanError
    from .errors import ProblemError as ProblemError
    from .errors import TargetError as TargetError
    from .errors import TtcError as TtcError
    from .errors import VerificationError as VerificationError
    from .groups.device_plan import GpuGroupedPlan as GpuGroupedPlan
    from .groups.plan import GroupedPlan as GroupedPlan
    from .groups.public import grouped as grouped
    from .lowering.gpu.plan import GpuPlan as GpuPlan
    from .lowering.plan import CpuPlan as CpuPlan
    from .machine.gpu_target import GpuTarget as GpuTarget
    from .machine.target import Target as Target
    from .problem.contraction import Contraction as Contraction
    from .problem.problem import Problem as Problem
    from .runtime.runtime import num_threads as num_threads
    from .runtime.runtime import set_num_threads as set_num_threads
    from .tuning.gpu.forced import GpuForced as GpuForced
    from .tuning.measurement import Measurement as Measurement
    from .tuning.search.progress import Progress as Progress
    from .tuning.space.choices import Forced as Forced

_HOMES = {
    "arrays.public": ("ascontiguousarray", "asfortranarray", "transpose"),
    "arrays.reshaping": ("permute_reshape", "rearrange", "reshape"),
    "arrays.result_memory": ("set_result_pool",),
    "errors": (
        "ArrayError", "ArtifactError", "CompileError", "DatabaseError", "GpuError", "ModelError", "OptionError",
        "OrderWarning", "OutOfMemoryError", "PlanError", "ProblemError", "TargetError", "TtcError", "VerificationError",
    ),
    "arrays.sums": ("permute_sum",),
    "contractions.fused.plan": ("FusedPlan",),
    "contractions.plan": ("ContractionPlan",),
    "contractions.public": ("einsum", "tensordot"),
    "contractions.solution": ("ContractionSolution",),
    "groups.device_plan": ("GpuGroupedPlan",),
    "groups.plan": ("GroupedPlan",),
    "groups.public": ("grouped",),
    "compiling.exports": ("Imported", "export_solutions", "import_solutions"),
    "compiling.front": ("compile",),
    "compiling.gpu_solution": ("GpuSolution",),
    "lowering.gpu.plan": ("GpuPlan",),
    "machine.gpu_target": ("GpuTarget",),
    "tuning.measurement": ("Measurement",),
    "tuning.search.progress": ("Progress",),
    "compiling.library": ("Library",),
    "lowering.plan": ("CpuPlan",),
    "problem.contraction": ("Contraction",),
    "problem.problem": ("Problem",),
    "runtime.runtime": ("num_threads", "set_num_threads"),
    "compiling.solution": ("Solution",),
    "machine.target": ("Target",),
    "tuning.space.choices": ("Forced",),
    "tuning.gpu.forced": ("GpuForced",),
}  # fmt: skip
_LAZY = {name: home for home, names in _HOMES.items() for name in names}
_APART = ("dask", "mpi", "torch")  # not among the names of `__all__`: who asks for one loads its library
__all__ = sorted((*_LAZY, "__version__"))


def __getattr__(name: str) -> Any:
    if name in _APART:
        return _apart(name)
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(locks.imported(f".{_LAZY[name]}", __name__), name)
    except MemoryError as error:
        errors = locks.imported(".errors", __name__)
        raise errors.out_of_memory(error, f"the import of ttc_llvm.{name}") from error
    globals()[name] = value
    return value


def _apart(name: str) -> Any:
    try:
        return locks.imported(f".{name}", __name__)
    except ImportError as error:
        raise AttributeError(str(error)) from error


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
