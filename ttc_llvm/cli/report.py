"""The report of a compilation: the summary for people, one JSON object for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..compare.single import Comparison
from ..compiling.gpu_solution import GpuSolution
from ..lazy_dataclasses import dataclass
from ..problem import tables, wording
from ..tuning.database.records import RETIMED
from ..tuning.measurement import Measurement
from ..tuning.search.leaderboard import CHOICE
from .compare_single import comparison_fields, comparison_rows
from .reading import Command

TOP = 10
# Versions of the forms of JSON, which docs/reference/ttc.schema.json describes. New fields do not raise them.
SCHEMAS = dict.fromkeys(
    ("compile", "contraction", "library", "group", "info", "targets", "solutions", "solution"), 1
)
TUNED, GIVEN = "tuned", "given"  # sources of plans: a search just now, and a plan that was asked for
Rows = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Compilation:
    """A finished compilation. source: tuned, database, cost model or given; elapsed: seconds of compiling and tuning;
    verified: the winner's result was to be checked; comparison: with references, where asked for."""

    solution: Any  # Solution, GpuSolution or emission.Planned
    canonical: Any  # Canonical; None of contractions
    affinity: str
    source: str
    elapsed: float
    files: tuple[Path, ...]
    verified: bool
    comparison: Comparison | None = None


def print_rows(rows: Rows) -> None:
    """Print labelled lines as wide as the terminal; there, labels are bold (unless NO_COLOR is set)."""
    lines = tables.labelled(rows)
    if not sys.stdout.isatty():
        print_lines(f"{label}{' ' * tables.GAP}{line}".rstrip() for label, line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for label, line in lines:
        console.print(Text.assemble((label, "bold"), " " * tables.GAP, line), soft_wrap=True)


def print_lines(lines: Iterable[str]) -> None:
    """Print texts, one a line."""
    for line in lines:
        print(line)


def print_object(kind: str, fields: dict[str, Any]) -> None:
    """Print one JSON object on the standard output. kind: of SCHEMAS, which its first field names."""
    print(json.dumps({"schema": f"ttc_llvm/{kind}/{SCHEMAS[kind]}"} | fields, indent=1))


def show(outcome: Compilation, command: Command) -> None:
    """Print the report that a command wants, if any."""
    if command.json:
        print_json(outcome)
    elif not command.quiet:
        print_summary(outcome, command.verbose)


# --- for people -------------------------------------------------------------------------------------------


def print_summary(outcome: Compilation, verbose: bool) -> None:
    """Print what was solved, how fast it is, how that compares with the machine, and the files written."""
    solution = outcome.solution
    rows: list[tuple[str, Sequence[str]]] = [
        ("problem", [wording.problem_line(solution.problem)]),
        ("merged", [wording.merged_line(outcome.canonical)]),
        *_machine_rows(outcome),
        ("plan", [str(solution.plan)]),
        *_measured_rows(outcome),
        *([] if outcome.comparison is None else comparison_rows(outcome.comparison)),
        ("files", [str(path) for path in outcome.files]),
    ]
    if verbose and solution.measurement is not None:
        rows.append((f"best {TOP}", _best_lines(solution.measurement)))
    print_rows(rows)


def _machine_rows(outcome: Compilation) -> Rows:
    """What the code runs on, and how it is spread there."""
    solution = outcome.solution
    if isinstance(solution, GpuSolution):
        launch = solution.launch
        blocks = "1 block" if launch.grid == 1 else f"{launch.grid} blocks"
        spread = f"{blocks} of {launch.block} threads, {launch.shared} bytes of shared memory each"
        return [("target", [f"{solution.target} ({solution.target.triple})"]), ("launch", [spread])]
    return [
        ("target", [wording.target_line(solution.target, solution.others)]),
        ("threads", [f"{solution.threads}, affinity {outcome.affinity}"]),
    ]


def _measured_rows(outcome: Compilation) -> Rows:
    measured = outcome.solution.measurement
    if measured is None:
        return [
            ("bandwidth", ["not measured: nothing was timed"]),
            ("source", ["cost model (computed now or stored earlier)" if outcome.source != GIVEN else GIVEN]),
        ]
    rule = wording.bandwidth_rule(outcome.canonical)
    speed = f"{measured.gibs:.1f} GiB/s ({rule}, per second), best run {measured.seconds * 1e3:.4g} ms"
    speed += ", on a smaller stand-in" if measured.proxy else ""
    remark = measured.remark(outcome.source in (TUNED, GIVEN))
    return [
        ("bandwidth", [speed + remark]),
        ("ceiling", [_ceiling_line(measured) + remark]),
        ("candidates", [_candidates_line(outcome, measured)]),
        ("source", [outcome.source + ("" if outcome.source == GIVEN else _provisional(measured))]),
    ]


def _provisional(measured: Measurement) -> str:
    if 0 < measured.provisional <= RETIMED:
        return ", provisional: the next request times it again"
    return f", provisional: timed {measured.provisional} times" if measured.provisional else ""


def _ceiling_line(measured: Measurement) -> str:
    if measured.ceiling_gibs is None or measured.ratio is None:
        return f"{measured.ceiling}: not measured"
    return f"{measured.ceiling_gibs:.1f} GiB/s, {measured.ceiling} measured in the same run: ratio {measured.ratio:.2f}"


def _candidates_line(outcome: Compilation, measured: Measurement) -> str:
    if outcome.source not in (TUNED, GIVEN):
        return f"{measured.count} timed by an earlier run"
    parts = [f"{measured.count} timed in {outcome.elapsed:.1f} s"]
    parts += ["stopped early"] if measured.interrupted else []
    parts += [
        "every element of the winner's result checked" if outcome.verified else "the result was not checked"
    ]
    return ", ".join(parts)


def _best_lines(measured: Measurement) -> list[str]:
    """The plans of the fastest runs, * = the winner, and how it was chosen where it is not the first."""
    moved = measured.gibs * measured.seconds  # GiB: a stand-in's where one was timed
    winner, fastest = measured.timings[0][0], sorted(measured.timings, key=lambda pair: min(pair[1]))
    found = [f"{moved / min(s):7.2f} GiB/s {'*' if plan == winner else ' '} {plan}" for plan, s in fastest[:TOP]]
    return found if fastest[0][0] == winner else [*found, CHOICE]


# --- for programs -----------------------------------------------------------------------------------------


def print_json(outcome: Compilation) -> None:
    """Print the summary as one JSON object; measurement is null where nothing was timed."""
    solution = outcome.solution
    print_object(
        "compile",
        {
            "version": __version__,
            **wording.stated_fields(solution.problem),
            "merged": {
                "text": str(outcome.canonical),
                "axes": [[axis.extent, axis.stride_a, axis.stride_b] for axis in outcome.canonical.axes],
            },
            **_machine_fields(outcome),
            "plan": str(solution.plan),
            "source": outcome.source,
            "elapsed_s": outcome.elapsed,
            "measurement": measurement_fields(outcome),
            "comparison": None if outcome.comparison is None else comparison_fields(outcome.comparison),
            "files": [str(path) for path in outcome.files],
        }
    )


def measurement_fields(outcome: Compilation) -> dict[str, Any] | None:
    """The measurement's fields; None where nothing was timed."""
    measured = outcome.solution.measurement
    if measured is None:
        return None
    return {
        "seconds": measured.seconds,
        "gibs": measured.gibs,
        "bandwidth": wording.bandwidth_rule(outcome.canonical or outcome.solution.problem),
        "ceiling": measured.ceiling,
        "ceiling_gibs": measured.ceiling_gibs,
        "ratio": measured.ratio,
        "candidates": measured.timed or len(measured.timings),
        "busy": measured.provisional > 0,
        "provisional": measured.provisional,
        "verified": outcome.source in (TUNED, GIVEN) and outcome.verified,
        "interrupted": measured.interrupted,
        "proxy": measured.proxy,
        "timings": [{"plan": plan, "seconds": seconds} for plan, seconds in measured.timings],
    }


def _machine_fields(outcome: Compilation) -> dict[str, Any]:
    solution, target = outcome.solution, outcome.solution.target
    if isinstance(solution, GpuSolution):
        launch = solution.launch
        return {
            "target": {"name": target.name, "triple": target.triple, "cpu": target.cpu, "features": target.features},
            "launch": {"grid": launch.grid, "block": launch.block, "shared": launch.shared},
        }
    return {
        "target": wording.target_fields(target),
        "others": [machine.name for machine in solution.others],
        "threads": solution.threads,
        "affinity": outcome.affinity,
    }
