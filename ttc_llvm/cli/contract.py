"""`ttc --einsum=SPEC`: a contraction is checked, planned, written and reported."""

from __future__ import annotations

import time
from pathlib import Path

from .. import __version__
from ..compiling import display, options
from ..compiling.trial import Mode
from ..contractions import emission
from ..contractions.explaining import flops
from ..contractions.solution import solve
from ..errors import OptionError
from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..native import contraction_artifact
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
from .report import GIVEN, TUNED, print_object, print_rows
from .values import NamedExtents

_OF_TRANSPOSITIONS = (
    "perm", "lda", "ldb", "hot_a", "hot_b", "no_vec", "no_align", "keep", "name", "prefix",
    "visibility",
    *(option.field for title in ("references that the solution is compared with", "decisions taken for the search")
      for option in GROUPS[title] if option.field != "plan"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a report tells. seconds: of a run, None where nothing was timed; files: written; elapsed: seconds."""

    made: contraction_artifact.ContractionSpec
    targets: tuple[Target, ...]
    threads: int
    affinity: Affinity
    source: str
    seconds: float | None
    files: tuple[Path, ...]
    elapsed: float


def run(command: Command) -> int:
    """Plan, write, report; returns the exit status. Raises TtcError subclasses."""
    _check_options(command)
    stated, targets = contraction_of(command), machine.targets(command)
    names = contraction_artifact.file_names(stated, command.emit)
    if cli_compile.asked_only(command, names, targets[0].triple):
        return 0
    cli_compile.check_folder(command, names)
    placed = machine.affinity(command)
    runtime.set_affinity(placed)
    outcome = _solved(command, stated, targets, placed)
    if command.json:
        _print_json(outcome)
    elif not command.quiet:
        _print_summary(outcome)
    return 0


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
    known = contraction_artifact.kinds()
    for kind in command.emit:
        if kind not in known:
            raise OptionError(f"--emit={kind}: the choices for a contraction are {', '.join(known)}")


def _solved(command: Command, stated: Contraction, targets: tuple[Target, ...], placed: Affinity) -> _Outcome:
    start = time.perf_counter()
    effort = 1 if command.generate_only else command.max_implementations
    asked = options.checked(
        effort, command.num_threads, None, command.time_limit, Mode.HOT, verify=not command.no_test, plan=command.plan
    )
    plan, measured, source = None, None, "cost model" if command.plan is None else GIVEN
    if any(map(emission.is_here, targets)):  # nothing is timed for another machine
        store = open_database(command.database, command.ignore_database)
        shown = display.is_terminal() and not (command.verbose or command.quiet)
        with display.SearchDisplay(shown, "tuning") as progress, interrupts.raised():
            solution = solve(stated, asked, store, progress.report, emitted=True)
        plan, measured = solution.plan, solution.measurement
        if measured is not None and command.plan is None:
            source = TUNED if progress.timed else "database"
    elif command.plan is not None:
        raise OptionError("--plan is a plan of this machine's own code: objects for others plan their calls themselves")
    made = emission.spec(stated, plan, targets, measured)
    files = contraction_artifact.write(made, command.output_dir, command.emit, command.force) if command.emit else ()
    seconds = measured.seconds if measured is not None and made.speed else None
    return _Outcome(made, targets, asked.threads, placed, source, seconds, files, time.perf_counter() - start)


# --- reports --------------------------------------------------------------------------------------------


def _print_summary(outcome: _Outcome) -> None:
    made, targets = outcome.made, outcome.targets
    print_rows([
        ("contraction", [str(made.stated)]),
        ("work", [f"{flops(made.stated) / 1e6:,.4g} MFlop"]),
        ("target", [wording.target_line(targets[0], targets[1:])]),
        ("threads", [f"{outcome.threads}, affinity {outcome.affinity}"]),
        ("plan", [made.plan]),
        ("speed", [made.speed or "not measured: nothing was timed"]),
        ("scratch", [f"{made.scratch:,} bytes"]),
        ("source", [outcome.source]),
        ("files", [str(path) for path in outcome.files]),
    ])  # fmt: skip


def _print_json(outcome: _Outcome) -> None:
    made, targets = outcome.made, outcome.targets
    print_object("contraction", {
        "version": __version__,
        "contraction": wording.contraction_fields(made.stated),
        "target": wording.target_fields(targets[0]),
        "others": [one.name for one in targets[1:]],
        "threads": outcome.threads,
        "affinity": str(outcome.affinity),
        "plan": made.plan,
        "source": outcome.source,
        "elapsed_s": outcome.elapsed,
        "flops": flops(made.stated),
        "scratch": made.scratch,
        "seconds": outcome.seconds,
        "files": [str(path) for path in outcome.files],
    })  # fmt: skip
