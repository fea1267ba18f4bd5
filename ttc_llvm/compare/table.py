"""Results beside their references as a table, as summaries, and as rows for spreadsheets; pure texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from ..bench import report
from ..bench.report import Column
from ..bench.results import Reference, Result, Timing
from ..bench.setting import Measured
from ..problem.tables import aligned, wrapped
from ..problem.wording import count
from . import compilers

WIDEST = 300  # characters of a message
CSV_COLUMNS = (
    "suite", "name", "kind", "mode", "threads", "affinity", "perm", "size", "dataType", "lda", "ldb", "contender",
    "role", "gibs", "best_s", "median_s", "runs", "speedup", "pairs", "compiler", "version", "flags", "traverse",
    "compile_s", "message", "busy",
)  # fmt: skip


def lines(results: Sequence[Result]) -> list[str]:
    """The table; geometric mean, least and most a reference; how each was built; what could not be."""
    if not results:
        return ["no results"]
    found = aligned(table(results), len(report.CASE), any(r.busy for r in results))
    words = "ms, GiB/s: our best run; NAME: GiB/s of the reference; x: speedup over it, median over the rounds"
    found += ["", *wrapped(f"{words} in which both ran, one after the other.")]
    for title, group in report.groups(results).items():
        found += ["", *wrapped(title, rest="  "), *_summary(group)]
    built = list(_built(results))
    if built:
        found += ["", "references", *aligned(built, 3)]
    failed = list(_failed(results))
    return [*found, *(["", "left out", *failed] if failed else [])]


def names(results: Iterable[Result]) -> tuple[str, ...]:
    """The references of these results that were timed at least once, in the order in which they appear."""
    return tuple(dict.fromkeys(name for r in results for name in r.references if name in r.peers))


def table(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A heading and one row a case: our time and bandwidth, each reference's bandwidth, and times as fast (pairs)."""
    columns = [*report.CASE, report.times(results), report.GIBS]
    for name in names(results):
        columns += [_gibs(name), report.pairs(name)]
    return report.texts(columns, results)


def _gibs(peer: str) -> Column:
    return Column(peer, lambda r: r.peers[peer].gibs if peer in r.peers else None, ".1f")


def _summary(group: Sequence[Result]) -> Iterator[str]:
    shown = names(group)
    width = max(map(len, shown), default=0)
    for name in shown:
        ratios = [(r.name, ratio) for r in group if (ratio := r.pairs(name)) is not None]
        found = report.figure(ratios)
        best, most = max(ratios, key=lambda pair: pair[1])
        yield from wrapped(
            f"geomean {found.geomean:.2f}, least {found.least:.2f} ({found.worst}), most {most:.2f} ({best}),"
            f" {count(found.count, 'case')}{remark(name, group)}",
            f"  x {name:{width}}  ",
            " " * (width + 6),
        )


def remark(name: str, results: Sequence[Measured]) -> str:
    """The words for a contender that runs on one thread beside us on several; "" for others."""
    made = (one.references[name] for one in results if name in one.references and one.threads > 1)
    return f", {compilers.SERIAL}" if any(map(compilers.on_one_thread, made)) else ""


def _built(results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    """One row a reference, version and flags: what it is, and what compiling took in all."""
    groups: dict[tuple[str, str, str], list[Reference]] = {}
    for r in results:
        for name, made in r.references.items():
            key = (name, made.version, f"{' '.join(made.flags)} ({made.traverse})")
            groups.setdefault(key, []).append(made)
    for key, group in groups.items():
        spent, timed = sum(made.compile_s for made in group), sum(not made.message for made in group)
        yield *key, f"{timed} of {len(group)} timed, compiled in {spent:.1f} s"


def _failed(results: Sequence[Result]) -> Iterator[str]:
    """One line a reference and reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for r in results:
        for name, made in r.references.items():
            if made.message:
                reasons.setdefault((name, made.message), []).append(r.id)
    for (name, message), ids in reasons.items():
        where = ids[0] if len(ids) == 1 else f"{len(ids)} cases, first {ids[0]}"
        yield from wrapped(f"{name}: {where}: {message[:WIDEST]}", "  ", "    ")


# --- rows for spreadsheets ----------------------------------------------------------------------------------


def to_csv(results: Iterable[Result]) -> str:
    """CSV with a heading; one row a case and contender: ours, ceilings, references, other peers."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for r in results:
        case = {
            "suite": r.suite, "name": r.name, "kind": r.kind, "mode": r.mode, "threads": r.threads,
            "affinity": r.facts.get("affinity", ""), "perm": ",".join(map(str, r.problem["perm"])),
            "dataType": r.problem["dataType"], "busy": "yes" if r.busy else "",
        }  # fmt: skip
        case |= {side: "x".join(map(str, r.problem.get(side) or ())) for side in ("size", "lda", "ldb")}
        writer.writerows(case | cells for cells in _contenders(r))
    return stream.getvalue()


def _contenders(r: Result) -> Iterator[dict[str, object]]:
    yield {"contender": "ttc", "role": "ours"} | _timing(r.ours)
    for name, timing in r.ceilings.items():
        yield {"contender": name, "role": "ceiling"} | _timing(timing)
    for name in dict.fromkeys((*r.references, *r.peers)):
        made, ratios = r.references.get(name), {"speedup": r.speedup(name), "pairs": r.pairs(name)}
        found = {"contender": name, "role": "peer" if made is None else "reference"} | _timing(r.peers.get(name))
        found |= {column: f"{ratio:.5g}" for column, ratio in ratios.items() if ratio is not None}
        if made is not None:
            found |= {column: getattr(made, column) for column in ("compiler", "version", "traverse", "message")}
            found |= {"flags": " ".join(made.flags), "compile_s": f"{made.compile_s:.4g}"}
        yield found


def _timing(timing: Timing | None) -> dict[str, object]:
    if timing is None:
        return {}
    return {
        "gibs": f"{timing.gibs:.5g}", "best_s": f"{timing.best:.5g}", "median_s": f"{timing.median:.5g}",
        "runs": len(timing.seconds),
    }  # fmt: skip
