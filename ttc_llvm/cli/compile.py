"""`ttc` without a sub-command: check what is asked for, compile, write the files, report."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..compiling import library, machines, options
from ..compiling.front import compile
from ..compiling.gpu_solution import GpuSolution
from ..compiling.options import Options
from ..compiling.solution import Solution
from ..compiling.trial import Mode
from ..errors import OptionError, TargetError
from ..lowering import items
from ..machine import target
from ..machine.target import Target
from ..native import artifact, marks
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..runtime import affinity as affinities
from ..runtime import backend, interrupts, runtime
from ..runtime.affinity import Affinity
from . import candidate_files, decisions
from . import compare_single as cli_single
from . import report as cli_report
from .progress import Progressing
from .reading import Command

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A checked command: everything that can be refused before anything is timed has been."""

    command: Command
    problem: Problem
    canonical: Canonical
    options: Options
    affinity: Affinity


def run(command: Command) -> int:
    """Compile, write, report; returns the exit status. Raises TtcError subclasses."""
    job = prepare(command)
    if command.list_files:
        cli_report.print_lines(artifact.file_names(job.problem, command.emit))
        return 0
    check_folder(command, artifact.file_names(job.problem, command.emit))
    check_kept(job)
    references = cli_single.prepare(command, job.problem, job.options.target)
    runtime.set_affinity(job.affinity)
    _log.info("merged problem: %s", job.canonical)
    machine, threads = job.options.target, job.options.threads
    _log.info("target %s (%s), %d threads, affinity %s", machine, machine.cpu, threads, job.affinity)
    start = time.perf_counter()
    with Progressing(command.verbose or command.quiet) as progress:
        solution = compiled(job, progress)
    elapsed = time.perf_counter() - start
    comparison = None if references is None else cli_single.compare(command, solution, references)
    written = solution.write(command.output_dir, command.emit, overwrite=command.force) if command.emit else ()
    files = (*written, *kept(job, solution))
    source = source_of(solution, progress.batches)
    outcome = cli_report.Outcome(
        solution, job.canonical, str(job.affinity), source, elapsed, files, not command.no_test, comparison
    )
    if command.json:
        cli_report.print_json(outcome)
    elif not command.quiet:
        cli_report.print_summary(outcome, command.verbose)
    return 0


def prepare(command: Command) -> Job:
    """Check a command against the problem, the machine and itself; nothing is written. Raises TtcError subclasses."""
    _check_emit(command)
    if command.threads_per_block is not None:
        raise OptionError("--threadsPerBlock is for GPUs: the threads of a CPU are --numThreads")
    problem = problem_of(command)
    wanted, *others = _targets(command)
    canonical = items.placed(problem, wanted).canonical
    if not (_untimed(command) or canonical.elements == 0 or backend.runs_here(wanted)):
        raise TargetError(
            f"target {wanted} cannot be timed here: this machine lacks its instructions;"
            " --generateOnly takes the cost model's plan"
        )
    chosen = options.checked(
        command.max_implementations,
        command.num_threads,
        (wanted, *others),
        command.time_limit,
        Mode.of(command.hot_a, command.hot_b),
        verify=not command.no_test,
        forced=decisions.forced(command, problem, canonical, wanted),
    )
    if not {"obj", "header", "static", "shared"}.isdisjoint(command.emit):
        artifact.check_int(problem)
    return Job(command, problem, canonical, chosen, _affinity(command))


def _untimed(command: Command) -> bool:
    return command.generate_only or command.max_implementations == 1


def problem_of(command: Command) -> Problem:
    """The transposition that a command states. Raises OptionError or ProblemError."""
    for flag, value in (("--perm", command.perm), ("--size", command.size)):
        if value is None:
            raise OptionError(f"{flag} is missing: a transposition needs --perm and --size")
    return Problem(
        command.perm or (),
        command.size or (),
        command.data_type,
        command.lda,
        command.ldb,
        command.alpha,
        command.beta,
        command.conjugate,
    )


# --- the machine -----------------------------------------------------------------------------------------


def _targets(command: Command) -> tuple[Target, ...]:
    """The machines that the object is for, first the one that plans are made for."""
    name = command.cpu if command.cpu is not None else command.architecture
    if name is not None and not all(part.strip() for part in name.split(",")):
        raise TargetError("the name of the architecture or CPU is empty")
    found = machines.chosen(name)
    if command.architecture is not None and command.cpu is not None:
        found = _on_architecture(command.architecture, command.cpu, found)
    return tuple(map(target.scalar, found[:1])) if command.no_vec else found


def _on_architecture(architecture: str, cpu: str, found: tuple[Target, ...]) -> tuple[Target, ...]:
    """CPUs of that architecture, or on that triple."""
    if target.is_triple(architecture):
        return tuple(target.on_triple(machine, architecture) for machine in found)
    wanted = backend.resolve(architecture)
    if any(_registers(wanted) != _registers(machine) for machine in found):
        raise OptionError(
            f"--architecture={architecture} contradicts --cpu={cpu}: give one of them, or a CPU of that architecture"
        )
    return found


def _registers(machine: Target) -> tuple[object, ...]:
    """What tells one instruction set from another."""
    return machine.triple.partition("-")[0], machine.vector_bits, machine.small_vector_bits, machine.masked


def _affinity(command: Command) -> Affinity:
    if command.affinity is not None:
        return affinities.parse(command.affinity)
    return affinities.NONE if affinities.process_mask() is None else affinities.parse("compact")


# --- compiling and writing -------------------------------------------------------------------------------


def compiled(job: Job, progress: Progressing) -> Solution:
    """The job's solution, as `compile` finds it."""
    command, chosen = job.command, job.options
    with interrupts.raised():
        found: Solution = compile(
            job.problem,
            1 if command.generate_only else chosen.max_implementations,
            chosen.threads,
            (chosen.target, *chosen.others),
            chosen.time_limit,
            hot_a=command.hot_a,
            hot_b=command.hot_b,
            verify=chosen.verify,
            forced=chosen.forced,
            database=command.database,
            ignore_database=command.ignore_database,
            progress=progress.report,
        )
    return found


def source_of(solution: Solution | GpuSolution, batches: int) -> str:
    """The origin of a solution, in words. batches: how often its search reported."""
    measured = solution.measurement
    if measured is None:
        return "cost model"
    return "tuned" if batches or measured.interrupted else "database"


def _check_emit(command: Command) -> None:
    for kind in command.emit:
        if kind not in library.kinds():
            raise OptionError(f"--emit={kind}: the choices are {', '.join(library.kinds())}")


def check_folder(command: Command, names: Sequence[str]) -> None:
    """Make the folder for these files: hours of tuning must not end at a mistyped one, or at another's file. Raises
    OptionError."""
    folder = Path(command.output_dir)
    if not command.emit and not command.keep:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--output-dir={folder} cannot be made: {error.strerror or error}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionError(f"--output-dir={folder} cannot be written")
    marks.check(folder, names, command.force)


def check_kept(job: Job) -> None:
    """OptionError where --keep finds a folder of somebody else's in its place."""
    if job.command.keep:
        candidate_files.check(Path(job.command.output_dir), job.problem, job.command.force)


def kept(job: Job, solution: Solution) -> tuple[Path, ...]:
    """With --keep, a folder of what was generated on the way."""
    if not job.command.keep:
        return ()
    chosen = job.options
    folder = Path(job.command.output_dir)
    found = candidate_files.generated(solution, job.canonical, chosen.forced, chosen.max_implementations)
    return (candidate_files.write(folder, solution, job.canonical, found, job.command.force),)
