"""`ttc --architecture=cuda`: what is asked for is checked, compiled, written and reported as for a CPU."""

from __future__ import annotations

import logging
import time
from typing import Any

from .. import __version__
from ..compiling.front import compile
from ..compiling.gpu_solution import GpuSolution
from ..compiling.options import candidate_count
from ..errors import OptionError
from ..gpu import artifact, devices
from ..machine.gpu_target import GpuTarget, is_gpu
from ..problem.canonical import Canonical, canonicalise
from ..problem.problem import Problem
from ..problem.wording import problem_fields
from ..runtime import interrupts
from ..tuning.gpu_candidates import GpuForced
from . import compare_gpu_single as gpu_single
from . import compile as cli_compile
from . import loop_order
from . import report as cli_report
from .progress import Progressing
from .reading import Command

_log = logging.getLogger(__name__)
CPU_ONLY = {
    "num_threads": "--numThreads", "affinity": "--affinity", "no_vec": "--no-vec", "no_align": "--no-align",
    "streaming_stores": "--streamingStores", "prefetch_distances": "--prefetchDistances", "blockings": "--blockings",
    "keep": "--keep",
}  # fmt: skip


def wanted(command: Command) -> bool:
    """True where a command means a GPU."""
    return any(name is not None and is_gpu(name) for name in (command.architecture, command.cpu))


def run(command: Command) -> int:
    """Compile, write, report; returns the exit status. Raises TtcError subclasses."""
    problem, target, forced = _checked(command)
    canonical = canonicalise(problem).canonical
    _log.info("merged problem: %s", canonical)
    _log.info("target %s", target)
    untimed = command.generate_only or command.max_implementations == 1
    if not untimed and canonical.elements:
        _log.info("device %s", devices.timing(target))
    cli_compile.check_folder(command, artifact.file_names(problem, target.is_nvidia, command.emit))
    references = gpu_single.prepare(command, problem, target)
    start = time.perf_counter()
    with Progressing(command.verbose or command.quiet) as progress, interrupts.raised():
        solution = compile(
            problem,
            1 if command.generate_only else command.max_implementations,
            target=target,
            time_limit=command.time_limit,
            hot_a=command.hot_a,
            hot_b=command.hot_b,
            verify=not command.no_test,
            forced=forced,
            database=command.database,
            ignore_database=command.ignore_database,
            progress=progress.report,
        )
    elapsed = time.perf_counter() - start
    comparison = None if references is None else gpu_single.compare(command, solution, references)
    files = solution.write(command.output_dir, command.emit, overwrite=command.force) if command.emit else ()
    source = cli_compile.source_of(solution, progress.batches)
    outcome = cli_report.Outcome(
        solution, canonical, "none", source, elapsed, files, not command.no_test, comparison
    )
    if command.json:
        cli_report.print_object(_fields(outcome, solution))
    elif not command.quiet:
        cli_report.print_summary(outcome, command.verbose)
    return 0


# --- what is asked for ------------------------------------------------------------------------------------


def _checked(command: Command) -> tuple[Problem, GpuTarget, GpuForced]:
    """Everything that can be refused before anything is timed."""
    for field, flag in CPU_ONLY.items():
        if getattr(command, field):
            raise OptionError(f"{flag} is for CPUs: a GPU's plan has no such decision")
    if command.list_files:
        raise OptionError("--list-files lists the files for CPUs only")
    problem = cli_compile.problem_of(command)
    target = _target(command)
    artifact.checked(command.emit, target.is_nvidia)
    candidate_count(command.max_implementations)
    threads = command.threads_per_block
    if threads is not None and threads < 1:
        raise OptionError(f"--threadsPerBlock={threads} is less than 1")
    if threads is not None and threads > target.max_threads:
        raise OptionError(f"--threadsPerBlock={threads} exceeds {target.max_threads}, what {target} runs per block")
    return problem, target, GpuForced(threads, _order(command, problem, canonicalise(problem).canonical))


def _target(command: Command) -> GpuTarget:
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
    return loop_order.to_axes(orders[0], problem, canonical)


# --- what comes out ---------------------------------------------------------------------------------------


def _fields(outcome: cli_report.Outcome, solution: GpuSolution) -> dict[str, Any]:
    """The summary as one JSON object, under the names that a CPU's has."""
    launch, target = solution.launch, solution.target
    return {
        "version": __version__,
        "problem": problem_fields(solution.problem),
        "merged": {
            "text": str(outcome.canonical),
            "axes": [[axis.extent, axis.stride_a, axis.stride_b] for axis in outcome.canonical.axes],
        },
        "target": {"name": target.name, "triple": target.triple, "cpu": target.cpu, "features": target.features},
        "launch": {"grid": launch.grid, "block": launch.block, "shared": launch.shared},
        "plan": str(solution.plan),
        "source": outcome.source,
        "elapsed_s": outcome.elapsed,
        "measurement": cli_report.measurement_fields(outcome),
        "comparison": cli_report.compared_fields(outcome),
        "files": [str(path) for path in outcome.files],
    }
