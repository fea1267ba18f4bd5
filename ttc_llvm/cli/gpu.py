"""`ttc --architecture=cuda`: what is asked for is checked, compiled, written and reported as for a CPU."""

from __future__ import annotations

import logging

from ..compiling.gpu_compiling import check_served
from ..errors import OptionError
from ..gpu import artifact, devices
from ..lazy_dataclasses import replace
from ..machine.gpu_target import GpuTarget, is_gpu
from ..problem.canonical import Canonical, canonicalise
from ..problem.problem import Problem
from ..tuning.gpu.forced import GpuForced
from . import compare_gpu_single as gpu_single
from . import compile as cli_compile
from . import report as cli_report
from .decisions import to_axes
from .options import VERSION
from .reading import Command

_log = logging.getLogger(__name__)
CPU_ONLY = {
    "num_threads": "--numThreads", "affinity": "--affinity", "no_vec": "--no-vec", "no_align": "--no-align",
    "streaming_stores": "--streamingStores", "prefetch_distances": "--prefetchDistances", "blockings": "--blockings",
    "keep": "--keep", "prefix": "--prefix",
}  # fmt: skip


def wanted(command: Command) -> bool:
    """True where a command means a GPU."""
    return any(name is not None and is_gpu(name) for name in (command.architecture, command.cpu))


def run(command: Command) -> int:
    """Compile, write, report; returns the exit status. Raises TtcError subclasses."""
    problem, target, forced = _checked(command)
    canonical = canonicalise(problem).canonical
    untimed = command.generate_only or command.max_implementations == 1
    if not untimed and canonical.elements:
        _log.info("device %s", devices.timing(target))
    cli_compile.check_folder(command, artifact.file_names(problem, target.is_nvidia, command.emit))
    references = gpu_single.prepare(command, problem, target)
    outcome = cli_compile.solved(command, problem, canonical, target, forced)
    comparison = None if references is None else gpu_single.compare(command, outcome.solution, references)
    files = cli_compile.written(command, outcome.solution)
    cli_report.show(replace(outcome, files=files, comparison=comparison), command)
    return 0


# --- what is asked for ------------------------------------------------------------------------------------


def check_flags(command: Command) -> None:
    """OptionError for options that only CPUs have."""
    for field, flag in CPU_ONLY.items():
        if getattr(command, field):
            raise OptionError(f"{command.flag(flag)} is for CPUs: a GPU's plan has no such decision")
    cpu_only = {
        "--visibility": command.visibility != "default", "--list-files": command.list_files,
        "--print-target": command.print_target, "--library-version": command.library_version != VERSION,
    }  # fmt: skip
    for flag, asked in cpu_only.items():
        if asked:
            raise OptionError(f"{flag} is for CPUs only")


def _checked(command: Command) -> tuple[Problem, GpuTarget, GpuForced]:
    """Everything that can be refused before anything is timed."""
    check_flags(command)
    problem = cli_compile.problem_of(command)
    check_served(problem)
    target = target_of(command)
    artifact.checked(command.emit, target.is_nvidia, "--emit=")
    threads = command.threads_per_block
    if threads is not None and max(threads) > target.max_threads:
        most = f"exceeds {target.max_threads}, what {target} runs per block"
        raise OptionError(f"--threadsPerBlock={','.join(map(str, threads))} {most}")
    return problem, target, GpuForced(threads, _order(command, problem, canonicalise(problem).canonical))


def target_of(command: Command) -> GpuTarget:
    """`--cpu` names the GPU; `--architecture` alone may do so, too."""
    architecture, cpu = command.architecture, command.cpu
    if cpu is None or architecture is None:
        return devices.resolve(cpu or architecture or "")
    if not is_gpu(architecture) or not is_gpu(cpu):
        raise OptionError(f"--architecture={architecture} contradicts --cpu={cpu}: one is a GPU, the other is none")
    family, found = devices.resolve(architecture), devices.resolve(cpu)
    if family.triple != found.triple:
        raise OptionError(f"--architecture={architecture} contradicts --cpu={cpu}: they are of different makers")
    return found


def _order(command: Command, problem: Problem, canonical: Canonical) -> tuple[int, ...] | None:
    orders = command.loop_perm
    if orders is None:
        return None
    if len(orders) > 1:
        raise OptionError("--loopPerm: one order of the blocks is taken for a GPU")
    return to_axes(orders[0], problem, canonical)


