"""Tables and summaries of results; pure texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import geometric_mean
from typing import Any

from ..lazy_dataclasses import dataclass, replace
from ..problem.tables import aligned, wrapped
from ..problem.wording import count
from ..tuning.measurement import BUSY
from .results import Result
from .setting import Measured, differing

LONG_RUN = 128  # bytes: sub-tensors whose runs are shorter are summed up apart
RUNS_MATTER = ("ld",)
WIDEST = 28  # characters of a permutation or size: ranks of 26 are cut
EXTRA = ("memcpy", "tiled copy", "pattern", "two passes", "calls")  # ratios shown beside that to the ceiling
KINDS = {"copy": "beta = 0", "update": "beta != 0"}
Value = str | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: a heading, and what it says of a result. shown: the format of its numbers; digits: of
    those that count, in pages."""

    head: str
    value: Callable[[Any], Value]
    shown: str = ".2f"
    digits: int = 3

    def cell(self, result: Measured) -> str:
        """The value as text; `-` where there is none."""
        found = self.value(result)
        return "-" if found is None else found if isinstance(found, str) else f"{found:{self.shown}}"


CASE = (
    Column("case", lambda r: r.id),
    Column("perm", lambda r: shape(r.problem["perm"], ())[0]),
    Column("size", lambda r: shape((), r.problem["size"])[1]),
    Column("type", lambda r: str(r.problem["dataType"])),
)
GIBS = Column("GiB/s", lambda r: r.ours.gibs, ".1f")
CEILING = Column("ceiling", lambda r: None if r.bound is None else r.bound.gibs, ".1f")
RATIO = Column("ratio", lambda r: r.ratio)
NOTE = Column("", lambda r: BUSY if r.busy else "")


def times(results: Iterable[Result]) -> Column:
    """Our time: in us where all results are hot, else in ms."""
    hot = all(r.mode == "hot" for r in results)
    return Column("us" if hot else "ms", lambda r: r.ours.best * (1e6 if hot else 1e3), ".4g", 4)


def of(ceiling: str) -> Column:
    """Our bandwidth as a share of a ceiling's."""
    return Column(f"of {ceiling}", lambda r: r.ratio_to(ceiling))


def speedup(peer: str) -> Column:
    """The speedup over a peer, best run by best run."""
    return Column(f"x {peer}", lambda r: r.speedup(peer))


def pairs(peer: str) -> Column:
    """The speedup over a peer, median of pairs."""
    return Column(f"x {peer}", lambda r: r.pairs(peer) if peer in r.peers else None)


def peers(results: Iterable[Measured]) -> tuple[str, ...]:
    """The peers of these results, in the order in which they appear."""
    return tuple(dict.fromkeys(name for r in results for name in r.peers))


def texts(columns: Iterable[Column], results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The headings, and a row of texts for each result. The last says which figures other work has touched."""
    chosen = (*columns, *([NOTE] if any(r.busy for r in results) else []))
    return [tuple(c.head for c in chosen), *(tuple(c.cell(r) for c in chosen) for r in results)]


def table(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A heading and one row a case: bandwidth, ceiling, ratios, times as fast as each peer (median of pairs)."""
    extras = (name for name in EXTRA if any(name in r.ceilings and name != r.ceiling for r in results))
    ours = (times(results), GIBS, CEILING, RATIO)
    return texts((*CASE, *ours, *map(of, extras), *map(pairs, peers(results))), results)


def lines(results: Sequence[Result]) -> list[str]:
    """The table, then the summaries, as aligned text."""
    if not results:
        return ["no results"]
    found = aligned(table(results), len(CASE), any(r.busy for r in results))
    found += ["", *wrapped(legend(results))]
    for summary in summaries(results):
        found += ["", *wrapped(summary.title, rest="  ")]
        width = max(len(name) for name, _ in summary.ratios) if summary.ratios else 0
        for name, figure in summary.ratios:
            found += wrapped(str(figure), f"  {name:{width}}  ", " " * (width + 4))
    return found


def legend(results: Sequence[Result]) -> str:
    """The terms of the table and of the summaries, in a sentence each."""
    found = "ms, GiB/s: best run; ceiling: the same bytes without a permutation (SAXPY or a copy) in the same run;"
    found += " ratio, of NAME: GiB/s by the ceiling's, by NAME's; below: geometric means and the least."
    found += " x NAME: speedup over NAME, pairs: median over the rounds in which both ran." if peers(results) else ""
    busy = sum(r.busy for r in results)
    return found + (f" {count(busy, 'case')} of {len(results)} on a busy machine: measure again." if busy else "")


def shape(perm: Iterable[int], size: Iterable[int]) -> tuple[str, str]:
    """Both as short texts: long ones are cut."""
    texts = ",".join(map(str, perm)) or "-", "x".join(map(str, size)) or "-"
    return tuple(text if len(text) <= WIDEST else f"{text[: WIDEST - 2]}.." for text in texts)  # type: ignore[return-value]


# --- summaries --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RatioSummary:
    """A set of ratios: their geometric mean, the least and whose it is."""

    count: int
    geomean: float
    least: float
    worst: str

    def __str__(self) -> str:
        return f"{self.geomean:.3f}, least {self.least:.3f} ({self.worst}), {count(self.count, 'case')}"


@dataclass(frozen=True, slots=True)
class Summary:
    """A suite's cases of one kind, mode and number of threads. ratios: by what they refer to."""

    title: str
    ratios: tuple[tuple[str, RatioSummary], ...]


def figure(values: Sequence[tuple[str, float]]) -> RatioSummary:
    """Geometric mean and least of named ratios above 0."""
    worst, least = min(values, key=lambda pair: pair[1])
    return RatioSummary(len(values), geometric_mean(value for _, value in values), least, worst)


def summaries(results: Iterable[Result]) -> tuple[Summary, ...]:
    """One summary a suite, kind, mode and number of threads, and effort, affinity, day and machine where these differ,
    in the order in which they appear."""
    return tuple(Summary(title, tuple(_figures(group))) for title, group in groups(results).items())


def groups(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by what a summary puts together: those of one run."""
    alike: dict[str, list[Result]] = {}
    for result in results:
        runs = f", runs {_runs(result.run_bytes)}" if result.suite in RUNS_MATTER else ""
        alike.setdefault(heading(result) + runs, []).append(result)
    found: dict[str, list[Result]] = {}
    for title, group in alike.items():
        label = differing(group)
        for result in group:
            found.setdefault(", ".join(filter(None, (title, label(result)))), []).append(result)
    return found


def heading(result: Measured) -> str:
    """Suite, kind, mode and threads of a result, which those that may be compared have in common."""
    return f"{result.suite}, {KINDS.get(result.kind, result.kind)}, {result.mode}, {count(result.threads, 'thread')}"


def _runs(size: int) -> str:
    return f"of {LONG_RUN} bytes or more" if size >= LONG_RUN else f"below {LONG_RUN} bytes"


def _figures(group: Sequence[Result]) -> Iterator[tuple[str, RatioSummary]]:
    main = tuple(dict.fromkeys(r.ceiling for r in group))
    columns = [*map(_of_main, main), *(of(name) for name in EXTRA if name not in main)]
    for peer in peers(group):
        columns += [speedup(peer), replace(pairs(peer), head=f"x {peer}, pairs")]
    for column in columns:
        values = [(r.name, found) for r in group if isinstance(found := column.value(r), float)]
        if values:
            yield column.head, figure(values)


def _of_main(ceiling: str) -> Column:
    return Column(f"of {ceiling}", lambda r: r.ratio if r.ceiling == ceiling else None)
