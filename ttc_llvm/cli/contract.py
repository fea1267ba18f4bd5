"""`ttc --einsum=SPEC`: a contraction is checked, planned, written and reported."""

from __future__ import annotations

import time

from .. import __version__
from ..compiling import display, options
from ..compiling.options import Options
from ..compiling.trial import Mode
from ..contractions import emission, plans
from ..contractions.explaining import flops
from ..contractions.solving import solve
from ..errors import OptionError
from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..native import artifact
from ..native.contraction_artifact import ContractionSpec
from ..problem import wording
from ..problem.contraction import OPERANDS, Contraction
from ..problem.layouts import column_major
from ..runtime import interrupts, runtime
from ..runtime.affinity import Affinity
from ..tuning.database.opened import open_database
from . import compile as cli_compile
from . import gpu, machine
from .options import GROUPS, OPTIONS
from .reading import Command
from .report import GIVEN, TUNED, Compilation, print_object, print_rows
from .values import NamedExtents

_OF_TRANSPOSITIONS = (
    "perm", "terms", "lda", "ldb", "hot_a", "hot_b", "no_vec", "no_align", "keep", "saturate", "inplace",
    *(option.field for title in ("references that the solution is compared with", "decisions taken for the search")
      for option in GROUPS[title] if option.field != "plan"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckedContraction:
    """A checked command that states a contraction. machines: that objects are for, first the one that plans are for."""

    command: Command
    problem: Contraction
    machines: tuple[Target, ...]
    options: Options
    affinity: Affinity


def run(command: Command) -> int:
    """Plan, write, report; returns the exit status. Raises TtcError subclasses."""
    job = prepare(command)
    names = artifact.file_names(job.problem, command.emit, command.symbols)
    if cli_compile.asked_only(command, names, job.machines[0].triple):
        return 0
    cli_compile.check_folder(command, names)
    runtime.set_affinity(job.affinity)
    outcome = compiled(job)
    made = replace(outcome.solution.spec_for(job.machines), symbols=command.symbols)
    files = artifact.write(made, command.output_dir, command.emit, command.force) if command.emit else ()
    outcome = replace(outcome, files=files)
    if command.json:
        _print_json(outcome, made)
    elif not command.quiet:
        _print_summary(outcome, made)
    return 0


def prepare(command: Command) -> CheckedContraction:
    """Check a command; nothing is planned or written. Raises TtcError subclasses."""
    _check_options(command)
    machines = machine.targets(command)
    is_here = any(map(emission.is_here, machines))
    if command.plan is not None and not is_here:
        raise OptionError("--plan is a plan of this machine's own code: objects for others plan their calls themselves")
    if command.plan is not None and command.emit and not emission.holds(plans.parse(command.plan)):
        raise OptionError(f"--plan={command.plan} calls a BLAS, or copies: objects hold fused plans without copies")
    effort = 1 if command.generate_only else command.max_implementations
    asked = options.checked(
        effort, command.num_threads, None, command.time_limit, Mode.HOT, verify=not command.no_test, plan=command.plan
    )
    return CheckedContraction(command, contraction_of(command), machines, asked, machine.affinity(command))


def contraction_of(command: Command) -> Contraction:
    """The contraction that a command states. Raises OptionError or ProblemError."""
    if not isinstance(command.size, NamedExtents):
        raise OptionError("--einsum needs the extent of each index: --size=a:24,i:16")
    pairs = tuple(zip(command.size.letters, command.size, strict=True))
    assert command.einsum is not None
    plain = Contraction(command.einsum, pairs, command.data_type)
    packed = [plain.strides(name) for name in OPERANDS]
    if command.order == "F":
        packed = [column_major(plain.shape(name)) for name in OPERANDS]
    given = command.strides_a, command.strides_b, command.strides_c
    a, b, c = (
        (None if command.order != "F" else own) if wanted is None else wanted
        for own, wanted in zip(packed, given, strict=True)
    )
    return replace(
        plain, strides_a=a, strides_b=b, strides_c=c, alpha=command.alpha, beta=command.beta,
        conjugate_a=command.conjugate, conjugate_b=command.conjugate_b,
    )  # fmt: skip


def _check_options(command: Command) -> None:
    """OptionError for options that mean nothing here."""
    for option in OPTIONS:
        if option.field in _OF_TRANSPOSITIONS and getattr(command, option.field) != option.default:
            flag = command.flag(option.flag)
            raise OptionError(f"{flag} is an option of transpositions: a contraction has no use for it")
    if gpu.wanted(command):
        raise OptionError("contractions are compiled for CPUs: take another --architecture, or --cpu")
    cli_compile.check_kinds(command)


def compiled(job: CheckedContraction, label: str = "tuning") -> Compilation:
    """The job's solution, an `emission.Planned`. label: of its progress."""
    command, stated, machines = job.command, job.problem, job.machines
    start = time.perf_counter()
    plan, measured, source = None, None, "cost model" if command.plan is None else GIVEN
    is_empty = command.plan is None and 0 in stated.extents.values()  # there is nothing to plan
    if any(map(emission.is_here, machines)) and not is_empty:  # nothing is timed for another machine
        store = open_database(command.database, command.ignore_database)
        shown = display.is_terminal() and not (command.verbose or command.quiet)
        with display.SearchDisplay(shown, label) as progress, interrupts.raised():
            solution = solve(stated, job.options, store, progress.report, emitted=True)
        plan, measured = solution.plan, solution.measurement
        if measured is not None and command.plan is None:
            source = TUNED if progress.timed else "database"
    planned = emission.Planned(stated, plan, measured, job.options.threads, machines)
    return Compilation(
        planned, None, str(job.affinity), source, time.perf_counter() - start, (), not command.no_test
    )


# --- reports --------------------------------------------------------------------------------------------


def _print_summary(outcome: Compilation, made: ContractionSpec) -> None:
    planned = outcome.solution
    print_rows([
        ("contraction", [str(made.problem)]),
        ("work", [f"{flops(made.problem) / 1e6:,.4g} MFlop"]),
        ("target", [wording.target_line(planned.targets[0], planned.targets[1:])]),
        ("threads", [f"{planned.threads}, affinity {outcome.affinity}"]),
        ("plan", [made.plan]),
        ("speed", [made.speed or "not measured: nothing was timed"]),
        ("scratch", [f"{made.scratch:,} bytes"]),
        ("source", [outcome.source]),
        ("files", [str(path) for path in outcome.files]),
    ])  # fmt: skip


def _print_json(outcome: Compilation, made: ContractionSpec) -> None:
    planned = outcome.solution
    print_object("contraction", {
        "version": __version__,
        "contraction": wording.contraction_fields(made.problem),
        "target": wording.target_fields(planned.targets[0]),
        "others": [one.name for one in planned.targets[1:]],
        "threads": planned.threads,
        "affinity": outcome.affinity,
        "plan": made.plan,
        "source": outcome.source,
        "elapsed_s": outcome.elapsed,
        "flops": flops(made.problem),
        "scratch": made.scratch,
        "seconds": planned.measurement.seconds if planned.measurement is not None and made.speed else None,
        "files": [str(path) for path in outcome.files],
    })  # fmt: skip
