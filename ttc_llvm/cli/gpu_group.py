"""`ttc --manifest=FILE --cpu=sm_90`: the problems of a manifest as a group, which one launch on a GPU transposes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..compiling.gpu_compiling import check_served
from ..errors import OptionError
from ..gpu.artifact import OWN
from ..problem import dtypes
from ..problem.layouts import column_major
from ..problem.problem import Problem
from ..problem.wording import count
from . import compile as cli_compile
from . import gpu as gpu_cli
from . import library, report
from .reading import Command

if TYPE_CHECKING:
    from ..groups.device_plan import GpuGroupedPlan

# Options that a group's problems have none of, by field.
NO_PLAN = {"plan": "--plan", "loop_perm": "--loopPerm", "threads_per_block": "--threadsPerBlock"}
NO_GROUP = {"compiler": "--compiler", "against": "--against"}


def run(command: Command) -> int:
    """Check, build, write, report; returns the exit status. Raises TtcError subclasses."""
    from ..groups import device_files as files

    path = command.manifest or ""
    name = command.name or Path(path).stem
    emit = files.checked(["ptx" if kind == OWN else kind for kind in command.emit], "--emit=")
    files.check_name(name)
    gpu_cli.check_flags(command)
    for field, flag in NO_GROUP.items():
        if getattr(command, field) is not None:
            raise OptionError(f"{flag} compares a single problem's solution: a group has none")
    plan = _plan(command, path)
    cli_compile.check_folder(command, files.file_names(name, emit))
    written = plan.write(command.output_dir, name, emit, overwrite=command.force) if emit else ()
    if command.json:
        report.print_object("group", _fields(plan, name, written))
    elif not command.quiet:
        words = plan.explain().splitlines()
        report.print_rows([
            ("group", [f"{name}, {count(len(plan), 'block')}"]), ("target", [f"{plan.target} ({plan.target.triple})"]),
            ("launch", [words[1].strip()]), ("files", [str(path) for path in written]),
        ])  # fmt: skip
    return 0


def _plan(command: Command, path: str) -> GpuGroupedPlan:
    """The plan of all problems of a manifest, in its order, each as often as it stands there."""
    from ..groups.public import grouped

    first: list[Problem] = []
    problems = [problem for _, problem in library.of_manifest(command, path, lambda one: _checked(one, first))]
    a, b = problems[0].a, problems[0].b
    return grouped(
        [p.size for p in problems], [p.perm for p in problems], (dtypes.to_numpy(a), dtypes.to_numpy(b)),
        [[a.itemsize * stride for stride in column_major(p.outer_a)] for p in problems],
        out_strides=[[b.itemsize * stride for stride in column_major(p.outer_b)] for p in problems],
        conjugate=problems[0].conjugate, target=gpu_cli.target_of(command).name,
    )  # fmt: skip


def _checked(command: Command, first: list[Problem]) -> Problem:
    """The problem of one line. first: that of the first line, whose types all have."""
    gpu_cli.check_flags(command)
    for field, flag in NO_PLAN.items():
        if getattr(command, field) is not None:
            raise OptionError(f"{command.flag(flag)} is a decision of a plan: the launch of a group has none")
    problem = cli_compile.problem_of(command)
    check_served(problem)
    first.append(problem)
    if problem.dtype != first[0].dtype:
        raise OptionError(
            f"{command.flag('--dataType')}={problem.spelled}: that of the first block is {first[0].spelled}, and all"
            " blocks of a group have the same"
        )
    if problem.conjugate != first[0].conjugate:
        raise OptionError("--conjugate holds for all blocks of a group, or for none")
    return problem


def _fields(plan: GpuGroupedPlan, name: str, written: tuple[Path, ...]) -> dict[str, Any]:
    target = plan.target
    return {
        "version": __version__,
        "group": {"name": name, "blocks": len(plan), "bytes": plan.nbytes},
        "target": {word: getattr(target, word) for word in ("name", "triple", "cpu", "features")},
        "files": [str(path) for path in written],
    }
