"""Tables and summaries of results; pure texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from .results import Result

LONG_RUN = 128  # bytes: sub-tensors whose runs are shorter are summed up apart
RUNS_MATTER = ("ld",)
WIDEST = 28  # characters of a permutation or size: ranks of 26 are cut
EXTRA = ("memcpy", "tiled copy", "pattern")  # ratios shown beside that to the ceiling


@dataclass(frozen=True, slots=True)
class Figure:
    """A set of ratios: their geometric mean, the least and whose it is."""

    count: int
    geomean: float
    least: float
    worst: str

    def __str__(self) -> str:
        return f"{self.geomean:.3f}, least {self.least:.3f} ({self.worst}), {self.count} cases"


@dataclass(frozen=True, slots=True)
class Summary:
    """A suite's cases of one kind, mode and number of threads. ratios: by what they refer to."""

    title: str
    ratios: tuple[tuple[str, Figure], ...]


def figure(values: Sequence[tuple[str, float]]) -> Figure:
    """Geometric mean and least of named ratios above 0."""
    worst, least = min(values, key=lambda pair: pair[1])
    mean = exp(sum(log(value) for _, value in values) / len(values))
    return Figure(len(values), mean, least, worst)


def summaries(results: Iterable[Result]) -> tuple[Summary, ...]:
    """One summary a suite, kind, mode and number of threads, in the order in which they appear."""
    return tuple(Summary(title, tuple(_figures(group))) for title, group in groups(results).items())


def groups(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by what a summary puts together."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(_title(result), []).append(result)
    return found


def _title(result: Result) -> str:
    runs = ""
    if result.suite in RUNS_MATTER:
        runs = f", runs {'of' if result.run_bytes >= LONG_RUN else 'below'} {LONG_RUN} bytes"
        runs += " or more" if result.run_bytes >= LONG_RUN else ""
    threads = f"{result.threads} thread{'' if result.threads == 1 else 's'}"
    return f"{result.suite}, {_KINDS[result.kind]}, {result.mode}, {threads}{runs}"


_KINDS = {"copy": "beta = 0", "update": "beta != 0"}


def _figures(group: Sequence[Result]) -> Iterable[tuple[str, Figure]]:
    asked: list[tuple[str, Callable[[Result], float | None]]] = []
    for ceiling in dict.fromkeys(r.ceiling for r in group):
        asked.append((f"of {ceiling}", lambda r, c=ceiling: r.ratio if r.ceiling == c else None))  # type: ignore[misc]
    main = {r.ceiling for r in group}
    for extra in (name for name in EXTRA if name not in main):
        asked.append((f"of {extra}", lambda r, name=extra: r.ratio_to(name)))  # type: ignore[misc]
    for peer in dict.fromkeys(name for r in group for name in r.peers):
        asked.append((f"x {peer}", lambda r, p=peer: r.speedup(p) if p in r.peers else None))  # type: ignore[misc]
        asked.append((f"x {peer}, pairs", lambda r, p=peer: r.pairs(p) if p in r.peers else None))  # type: ignore[misc]
    for name, value in asked:
        values = [(r.name, found) for r in group if (found := value(r)) is not None]
        if values:
            yield name, figure(values)


def table(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A heading and one row a case: bandwidth, ceiling, ratios, times as fast as each peer (median of pairs)."""
    peers = tuple(dict.fromkeys(name for r in results for name in r.peers))
    extras = tuple(name for name in EXTRA if any(name in r.ceilings and name != r.ceiling for r in results))
    timed = "us" if all(r.mode == "hot" for r in results) else "ms"
    head = ("case", "perm", "size", "type", timed, "GiB/s", "ceiling", "ratio")
    rows = [(*head, *(f"of {name}" for name in extras), *(f"x {name}" for name in peers))]
    for r in results:
        cells = [r.id, *shape(r.problem["perm"], r.problem["size"]), str(r.problem["dataType"])]
        scale = 1e6 if timed == "us" else 1e3
        bound = r.ceilings.get(r.ceiling)
        cells += [f"{r.ours.best * scale:.4g}", f"{r.ours.gibs:.1f}", "-" if bound is None else f"{bound.gibs:.1f}"]
        cells += [_cell(r.ratio), *(_cell(r.ratio_to(name)) for name in extras)]
        cells += [_cell(r.pairs(name) if name in r.peers else None) for name in peers]
        rows.append(tuple(cells))
    return rows


def lines(results: Sequence[Result]) -> list[str]:
    """The table, then the summaries, as aligned text."""
    if not results:
        return ["no results"]
    found = aligned(table(results))
    for summary in summaries(results):
        found += ["", summary.title]
        width = max(len(name) for name, _ in summary.ratios) if summary.ratios else 0
        found += [f"  {name:{width}}  {figure}" for name, figure in summary.ratios]
    return found


def aligned(rows: Sequence[Sequence[str]], texts: int = 4) -> list[str]:
    """Columns of one width: the first few flush left, numbers flush right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(f"{cell:{'<' if k < texts else '>'}{widths[k]}}" for k, cell in enumerate(row)).rstrip()
        for row in rows
    ]


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def shape(perm: Iterable[int], size: Iterable[int]) -> tuple[str, str]:
    """Both as short texts: long ones are cut."""
    texts = ",".join(map(str, perm)) or "-", "x".join(map(str, size)) or "-"
    return tuple(text if len(text) <= WIDEST else f"{text[: WIDEST - 2]}.." for text in texts)  # type: ignore[return-value]
