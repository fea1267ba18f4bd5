"""`ttc` without a sub-command: check what is asked for, compile, write the files, report."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..compiling import display, options
from ..compiling.compiler import CpuTask
from ..compiling.front import compile
from ..compiling.gpu_solution import GpuSolution
from ..compiling.options import Options
from ..compiling.solution import Solution
from ..compiling.trial import Mode
from ..errors import OptionError, TargetError
from ..lazy_dataclasses import dataclass, replace
from ..lowering import items
from ..machine.gpu_target import GpuTarget
from ..machine.target import Target
from ..native import artifact, library_files, marks, publish
from ..problem import of_strides
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..runtime import affinity as affinities
from ..runtime import backend, interrupts, runtime
from ..runtime.affinity import Affinity
from ..tuning.gpu.forced import GpuForced
from ..tuning.space.choices import Forced
from . import candidate_files, decisions
from . import compare_single as cli_single
from . import report as cli_report
from .machine import affinity, targets
from .reading import Command
from .report import Compilation
from .values import NamedExtents

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedCommand:
    """A checked command: everything that can be refused before anything is timed has been."""

    command: Command
    problem: Problem
    canonical: Canonical
    options: Options
    affinity: Affinity

    @property
    def machines(self) -> tuple[Target, ...]:
        """The machines that objects are for, first the one that the plan is for."""
        return (self.options.target, *self.options.others)


def run(command: Command) -> int:
    """Compile, write, report; returns the exit status. Raises TtcError subclasses."""
    job = prepare(command)
    names = artifact.file_names(job.problem, command.emit, command.symbols)
    if asked_only(command, names, job.options.target.triple):
        return 0
    check_folder(command, names)
    check_kept(job)
    references = cli_single.prepare(command, job.problem, job.options.target)
    runtime.set_affinity(job.affinity)
    _log.info("affinity %s", job.affinity)
    outcome = compiled(job)
    comparison = None if references is None else cli_single.compare(command, outcome.solution, references)
    files = (*written(command, outcome.solution), *kept(job, outcome.solution))
    cli_report.show(replace(outcome, files=files, comparison=comparison), command)
    return 0


def asked_only(command: Command, names: Sequence[str], triple: str) -> bool:
    """Print what a command would write, or for which system, where that is all that it asks."""
    if command.list_files:
        cli_report.print_lines(names)
    if command.print_target:
        cli_report.print_lines([triple])
    return command.list_files or command.print_target


def prepare(command: Command) -> CheckedCommand:
    """Check a command against the problem, the machine and itself; nothing is written. Raises TtcError subclasses."""
    check_kinds(command)
    if command.threads_per_block is not None:
        raise OptionError("--threadsPerBlock is for GPUs: the threads of a CPU are --numThreads")
    problem = problem_of(command)
    wanted, *others = targets(command)
    canonical = items.placed(problem, wanted).canonical
    untimed = command.generate_only or command.max_implementations == 1 or canonical.elements == 0
    if not (untimed or backend.runs_here(wanted)):
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
        plan=command.plan,
    )
    if command.plan is not None:
        CpuTask(canonical, chosen).parsed(command.plan)
    return CheckedCommand(command, problem, canonical, chosen, affinity(command))


def check_kinds(command: Command) -> None:
    """OptionError for unknown kinds of files."""
    for kind in command.emit:
        if kind not in library_files.kinds():
            raise OptionError(f"--emit={kind}: the choices are {', '.join(library_files.kinds())}")


def problem_of(command: Command) -> Problem:
    """The transposition that a command states. Raises OptionError or ProblemError."""
    for flag, value in (("--perm", command.terms or command.perm), ("--size", command.size)):
        if value is None:
            raise OptionError(f"{flag} is missing: a transposition needs --perm and --size")
    if command.terms and command.perm is not None:
        raise OptionError("--perm and --terms both say how A is permuted: give one of them")
    if isinstance(command.size, NamedExtents):
        raise OptionError("--size has letters of indices, which a contraction has: --einsum states one")
    for flag, given in (("--strides-c", command.strides_c is not None), ("--conjugate-b", command.conjugate_b)):
        if given:
            raise OptionError(f"{flag} is an option of contractions: --einsum states one")
    stated = Problem(
        command.perm or (),
        command.size or (),
        command.data_type,
        command.lda,
        command.ldb,
        command.alpha,
        command.beta,
        command.conjugate,
        inplace=command.inplace,
        saturate=command.saturate,
        terms=command.terms,
    )
    stated = stated.row_major if command.order == "C" else stated
    return stated if command.strides_a is None and command.strides_b is None else _by_strides(command, stated)


def _by_strides(command: Command, plain: Problem) -> Problem:
    """A problem with strides in place of outer sizes. OptionError where both are given for a tensor."""
    strides = []
    if plain.terms:
        raise OptionError("--strides-a and --strides-b are not taken beside --terms: --lda and --ldb state padding")
    sides = (
        ("a", command.lda, command.strides_a, plain.size, plain.lda),
        ("b", command.ldb, command.strides_b, plain.size_b, plain.ldb),
    )
    for side, given, wanted, extents, outer in sides:
        if wanted is None and command.inplace:
            wanted = command.strides_a if side == "b" else command.strides_b
        if given is not None and wanted is not None:
            raise OptionError(f"--ld{side} and --strides-{side} both say where {side.upper()} lies: give one of them")
        turned = wanted[::-1] if wanted is not None and command.order == "C" else wanted
        strides.append(of_strides.packed(extents, outer) if turned is None else turned)
    found = of_strides.stated(plain.perm, plain.size, *strides)
    same = found.perm == plain.perm and found.size == plain.size
    axes = plain.axes_a if same else None
    f = found
    return replace(plain, perm=f.perm, size=f.size, lda=f.lda, ldb=f.ldb, axes_a=axes, axes_b=axes)


# --- compiling and writing -------------------------------------------------------------------------------


def compiled(job: CheckedCommand, label: str = "tuning") -> Compilation:
    """The job's solution, as `compile` finds it. label: of its progress."""
    forced, threads = job.options.forced, job.options.threads
    return solved(job.command, job.problem, job.canonical, job.machines, forced, threads, job.affinity, label)


def solved(
    command: Command, problem: Problem, canonical: Canonical, target: GpuTarget | Sequence[Target],
    forced: Forced | GpuForced, threads: int | None = None, affinity: Affinity = affinities.NONE, label: str = "tuning",
) -> Compilation:  # fmt: skip
    """The solution of a checked command, for CPUs or a GPU."""
    start = time.perf_counter()
    shown = display.is_terminal() and not (command.verbose or command.quiet)
    with display.SearchDisplay(shown, label) as progress, interrupts.raised():
        solution = compile(
            problem,
            1 if command.generate_only else command.max_implementations,
            threads,
            target,
            command.time_limit,
            hot_a=command.hot_a,
            hot_b=command.hot_b,
            verify=not command.no_test,
            forced=forced,
            plan=command.plan,
            database=command.database,
            ignore_database=command.ignore_database,
            progress=progress.report,
        )
    elapsed = time.perf_counter() - start
    measured, source = solution.measurement, "cost model" if command.plan is None else cli_report.GIVEN
    if measured is not None and command.plan is None:
        source = cli_report.TUNED if progress.timed or measured.interrupted else "database"
    return Compilation(solution, canonical, str(affinity), source, elapsed, (), not command.no_test)


def written(command: Command, solution: Solution | GpuSolution) -> tuple[Path, ...]:
    """The files that a command wants, written."""
    if isinstance(solution, GpuSolution):
        return solution.write(command.output_dir, command.emit, overwrite=command.force) if command.emit else ()
    return solution.write(command.output_dir, command.emit, **asked(command)) if command.emit else ()


def asked(command: Command) -> dict[str, Any]:
    """The way files are written: arguments of `Solution.write` and `Library.write`."""
    return {"overwrite": command.force, "prefix": command.prefix, "visibility": command.visibility}


def check_folder(command: Command, names: Sequence[str]) -> None:
    """Make the folder for these files. Raises OptionError, also where there are files of others."""
    folder = Path(command.output_dir)
    if not command.emit and not command.keep:
        return
    publish.made(folder, "--output-dir")
    marks.check(folder, names, command.force)


def check_kept(job: CheckedCommand) -> None:
    """OptionError where --keep finds a folder of somebody else's in its place."""
    if job.command.keep:
        candidate_files.check(Path(job.command.output_dir), job.problem, job.command.force)


def kept(job: CheckedCommand, solution: Solution) -> tuple[Path, ...]:
    """With --keep, a folder of what was generated on the way."""
    if not job.command.keep:
        return ()
    chosen = job.options
    folder = Path(job.command.output_dir)
    found = candidate_files.generated(solution, job.canonical, chosen.forced, chosen.max_implementations)
    return (candidate_files.write(folder, solution, job.canonical, found, job.command.force),)
