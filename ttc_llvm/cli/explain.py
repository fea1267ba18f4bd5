"""`ttc explain`: every stage of one problem; takes the options of a compilation and times nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..compiling.compiler import CpuTask
from ..compiling.solution import Solution
from ..compiling.solve import stored
from ..compiling.stored_plans import open_database
from ..contractions import emission
from ..contractions.solution import ContractionSolution
from ..contractions.solving import solve
from ..contractions.task import ContractionTask
from ..errors import OptionError, os_errors
from ..explain.explanation import RANKED
from ..explain.text import STAGES
from ..lazy_dataclasses import replace
from ..lowering import plan as plans
from ..lowering.plan_checks import check
from ..machine.gpu_target import is_gpu
from ..native import marks, whole_file
from ..tuning.cost.model import model_plan
from . import contract as cli_contract
from . import values
from .compile import CheckedCommand, prepare
from .options import OPTIONS, Parser, parser, with_examples
from .reading import Command, read

MOST_PLANS = 10_000
ALONE = ("--version", "--cmake-dir")
FILES = (
    "emit", "output_dir", "prefix", "visibility", "keep", "json", "manifest", "name", "library_version", "list_files",
    "print_target",
)  # fmt: skip
COMPARED = ("compiler", "compiler_flags", "traverse", "against")


def run(arguments: Sequence[str]) -> int:
    """Explain what is asked for; returns the exit status. Raises TtcError subclasses.

    arguments: those behind `explain`; options of a compilation are read by its own table.
    """
    if "--help" in arguments or "-h" in arguments:
        print(explain_parser().format_help(), end="")
        return 0
    made = Parser(prog="ttc explain", add_help=False)
    _add_own(made)
    given, rest = made.parse_known_args(list(arguments))
    stages, count = _stages(given.stage), _plans(given.plans)
    _check_silent(rest)
    command = replace(_check_cpu(read(rest)), generate_only=True, emit=())
    if command.einsum is not None:
        if given.stage is not None or given.html is not None:
            raise OptionError("--stage and --html show forms of a transposition: a contraction is told in one text")
        print(_contraction(command).explain(count))
        return 0
    job = prepare(command)
    explanation = _solution(job).explain(count)
    if given.html is not None:
        marks.check_file(Path(given.html), job.command.force)
        with os_errors(f"--html={given.html} cannot be written"):
            whole_file.write(given.html, explanation.html())
    if stages:
        print("\n\n".join(explanation.stage(name) for name in stages))
    elif given.html is None:
        print(explanation)
    return 0


def explain_parser() -> Parser:
    """The parser of a whole command line behind `ttc explain`: a compilation's options and its own."""
    made = parser()
    made.prog = "ttc explain"
    made.usage = (
        "ttc explain --perm=P,.. --size=N,.. [options]\n       ttc explain --einsum=SPEC --size=X:N,.. [options]"
    )
    made.description = (
        "Show every stage of one problem: merged axes, ranked plans with cost terms, loops, how threads share them,"
        " LLVM IR, assembly of the micro-tile with instruction counts, candidates that were timed. Nothing is timed."
        " Of a contraction: its indices, plan, blocks, work, predicted parts and the plans beside it. Options are those"
        " of ttc."
    )
    made.epilog = with_examples(
        "",
        "ttc explain --perm=2,1,0 --size=8,16,16 --dtype=float64",
        "ttc explain --einsum='ijk,kl->ilj' --size=i:40,j:64,k:8,l:70 --dtype=float64",
        "ttc explain --perm=1,0 --size=300,200 --stage=plans --html=page.html",
    )
    _add_own(made)
    return made


def _add_own(made: argparse.ArgumentParser) -> None:
    add = made.add_argument_group("explain's own").add_argument
    add("--stage", metavar="NAME,..", help=f"only these forms, whole: {' '.join(STAGES)}")
    add("--html", metavar="FILE", help="write a page with pictures instead of text")
    add("--plans", metavar="N", help=f"plans of the ranking, default {RANKED}")


def _check_silent(arguments: Sequence[str]) -> None:
    """Options that say which files a compilation writes are refused: they would do nothing."""
    given = {argument.partition("=")[0] for argument in arguments}
    for flag in ALONE:
        if flag in given:
            raise OptionError(f"{flag} stands alone: ttc {flag}")
    for option in OPTIONS:
        if option.field in FILES and option.flag in given:
            raise OptionError(f"{option.flag} says what a compilation writes: explain prints, or writes --html")
        if option.field in COMPARED and option.flag in given:
            raise OptionError(f"{option.flag} is for runs that are timed: explain times nothing")


def _check_cpu(command: Command) -> Command:
    for name in (command.architecture, command.cpu):
        if name is not None and is_gpu(name):
            raise OptionError(f"{name} is a GPU, and explain is for CPUs: --emit=llvm,asm writes a GPU kernel's forms")
    return command


def _stages(text: str | None) -> tuple[str, ...]:
    """The stages named; none where all are asked for."""
    stages = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    for name in stages:
        if name not in STAGES:
            raise OptionError(f"--stage={name[:40]}: the choices are {', '.join(STAGES)}")
    if text is not None and not stages:
        raise OptionError(f"--stage={text}: at least one name is expected")
    return stages


def _plans(text: str | None) -> int:
    if text is None:
        return RANKED
    with suppress(ValueError):
        number = values.integer(text)
        if 0 <= number <= MOST_PLANS:
            return number
    raise OptionError(f"--plans={text[:40]}: a number from 0 to {MOST_PLANS} is expected")


def _contraction(command: Command) -> ContractionSolution:
    """The plan given, the stored one, or the first by this machine's speeds."""
    job = cli_contract.prepare(command)
    if not any(map(emission.is_here, job.machines)):
        raise OptionError("contractions are explained for this machine: objects for others plan their calls themselves")
    plan = job.options.plan
    if plan is not None:
        task = ContractionTask(job.problem, job.options)
        return ContractionSolution(job.problem, task.parsed(plan), job.options.threads)
    return solve(job.problem, job.options, open_database(command.database, command.ignore_database), None)


def _solution(job: CheckedCommand) -> Solution:
    """The plan given, the stored one, or the cost model's; whatever was timed comes along."""
    options, canonical = replace(job.options, max_implementations=1), job.canonical
    store = open_database(job.command.database, job.command.ignore_database)
    known = stored(CpuTask(canonical, options), store)
    if options.plan is not None:
        plan = check(plans.parse(options.plan), canonical)
    elif known is not None:
        plan = known.plan
    else:
        plan = model_plan(canonical, options.target, options.threads, options.forced)
    measurement = None if known is None else known.measurement
    return Solution(job.problem, options.target, plan, options.threads, measurement)
