"""The report of a finished library: a table of its problems for people, one JSON object for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..compiling.library import Library
from ..lazy_dataclasses import dataclass
from ..problem import names
from ..problem.contraction import Contraction
from ..problem.problem import Problem
from ..problem.tables import aligned
from ..problem.wording import contraction_fields, count, stated_fields, target_fields, target_line
from .report import TUNED, Compilation, measurement_fields, print_lines, print_object, print_rows

HEAD = ("problem", "GiB/s", "ceiling", "ratio", "source", "")  # whose name tells perm, size and type; a remark


@dataclass(frozen=True, slots=True)
class Finished:
    """A library that was written. outcomes: its problems in order; elapsed: seconds."""

    library: Library
    outcomes: tuple[Compilation, ...]
    files: tuple[Path, ...]
    elapsed: float


def print_summary(finished: Finished) -> None:
    """Print a row a problem, then what holds for the library."""
    made = finished.library
    rows = [HEAD, *map(_row, finished.outcomes)]
    remarks = int(any(row[-1] for row in rows))
    print_lines(aligned([row[: len(row) - 1 + remarks] for row in rows], 1, remarks))
    print_lines([""])
    problems = count(len(finished.outcomes), "problem")
    print_rows([
        ("library", [f"{made.name} {made.version}, {problems}, {finished.elapsed:.1f} s"]),
        ("target", [target_line(made.target, made.others)]),
        ("files", [str(path) for path in finished.files]),
    ])  # fmt: skip


def _row(outcome: Compilation) -> Sequence[str]:
    measured, name = outcome.solution.measurement, names.stem(outcome.solution.problem)
    if measured is None:
        return [name, "-", "-", "-", outcome.source, ""]
    numbers = [f"{measured.gibs:.1f}", _number(measured.ceiling_gibs, 1), _number(measured.ratio, 2)]
    return [name, *numbers, outcome.source, measured.remark(outcome.source == TUNED).strip(" ()")]


def _stated_fields(problem: Problem | Contraction) -> dict[str, Any]:
    return stated_fields(problem) if isinstance(problem, Problem) else {"contraction": contraction_fields(problem)}


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def print_json(finished: Finished) -> None:
    """Print the library as one JSON object; the measurement of a problem is null where nothing was timed."""
    made = finished.library
    print_object(
        "library",
        {
            "version": __version__,
            "library": {"name": made.name, "version": made.version},
            "target": target_fields(made.target),
            "others": [machine.name for machine in made.others],
            "problems": [
                {
                    "name": names.stem(outcome.solution.problem),
                    **_stated_fields(outcome.solution.problem),
                    "threads": outcome.solution.threads,
                    "plan": None if outcome.solution.plan is None else str(outcome.solution.plan),
                    "source": outcome.source,
                    "elapsed_s": outcome.elapsed,
                    "measurement": measurement_fields(outcome),
                }
                for outcome in finished.outcomes
            ],
            "elapsed_s": finished.elapsed,
            "files": [str(path) for path in finished.files],
        }
    )
