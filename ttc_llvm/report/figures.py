"""The figures of a report: which numbers each shows, and which command measures what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import geometric_mean, median

from ..bench.results import Result
from . import ranking
from .charts import Bars, Cases, Chart, Curve, Series, Spread
from .groups import RULES, Group, affinity, compiled, effort, groups, libraries
from .inputs import Inputs

GIBS = "GiB/s"


@dataclass(frozen=True, slots=True)
class Figure:
    """A kind of figure. name: of its files; make: its charts, none where the inputs lack what it needs; lacks: what
    that is; command: what measures it."""

    name: str
    title: str
    make: Callable[[Inputs], Iterator[Chart]]
    lacks: str
    command: str


def bandwidth(inputs: Inputs) -> Iterator[Cases]:
    """GiB/s of every case, one series for each number of candidates, below the ceiling (the paper's Figure 5)."""
    for group in groups(inputs.results):
        found = [(n, group.of_effort(n)) for n in group.efforts]
        series = [_series(effort_name(n), group, results, lambda r: r.ours.gibs) for n, results in found]
        best = {name: results[name] for _, results in found for name in results}
        ceiling = ", ".join(dict.fromkeys(r.ceiling for r in best.values()))
        bound = _series(f"ceiling: {ceiling}", group, best, lambda r: None if r.bound is None else r.bound.gibs)
        rule = RULES.get(group.results[0].kind, "")
        share = [r.ratio for r in best.values() if r.ratio]
        words = f"Best runs, {rule} per second."
        words += f" Geomean {geometric_mean(share):.2f} of the ceiling." if share else ""
        yield Cases(group.title, words, GIBS, group.names, tuple(series), bound)


def effort_name(number: int) -> str:
    """A search's size in words."""
    names = {1: "1 (cost model)", -1: "the whole space"}
    return names.get(number, f"{number:,} candidates")


def _series(
    label: str, group: Group, results: dict[str, Result], value: Callable[[Result], float | None]
) -> Series:
    return Series(label, tuple(value(results[name]) if name in results else None for name in group.names))


# --- contenders ---------------------------------------------------------------------------------------------


def speedup(inputs: Inputs) -> Iterator[Cases]:
    """The speedup over each compiler's loop nest (Figure 6)."""
    return _contenders(inputs, compiled, "Speedup over the same loop nest by each compiler")


def peers(inputs: Inputs) -> Iterator[Cases]:
    """The same for other libraries."""
    return _contenders(inputs, libraries, "Speedup over other libraries")


def _contenders(inputs: Inputs, choose: Callable[[Result], tuple[str, ...]], words: str) -> Iterator[Cases]:
    for group in groups(inputs.results):
        best = {one.name: one for one in group.by_effort if choose(one)}
        names = tuple(name for name in group.names if name in best)
        found = []
        for peer in dict.fromkeys(peer for one in best.values() for peer in choose(one)):
            values = tuple(best[n].pairs(peer) if peer in choose(best[n]) else None for n in names)
            mean = geometric_mean(v for v in values if v is not None)
            found.append(Series(f"{peer} (geomean {mean:.2f})", values))
        if found:
            caption = f"{words}, median over the rounds in which both ran; the largest search; above 1 we are faster."
            yield Cases(group.title, caption, "times as fast", names, tuple(found), base=1, log=True)


def affinities(inputs: Inputs) -> Iterator[Bars]:
    """Geometric mean bandwidth of every contender under each affinity (Figure 7)."""
    compared = tuple(one for one in inputs.results if compiled(one))
    for group in groups(compared or inputs.results, by_affinity=False):
        places = tuple(dict.fromkeys(place for one in group.results if (place := affinity(one))))
        if len(places) < 2:
            continue
        by_place = [{one.name: one for one in group.results if affinity(one) == place} for place in places]
        common = [name for name in group.names if all(name in results for results in by_place)]
        names = ("ttc", *_common_peers([r[name] for r in by_place for name in common])) if common else ()
        if names:
            series = tuple(
                Series(place, tuple(geometric_mean(_gibs(results[name], who) for name in common) for who in names))
                for place, results in zip(places, by_place, strict=True)
            )
            yield Bars(group.title, f"Geomean over {len(common)} cases measured under each.", GIBS, names, series)


def _common_peers(results: list[Result]) -> tuple[str, ...]:
    return tuple(name for name in results[0].peers if all(name in one.peers for one in results))


def _gibs(result: Result, who: str) -> float:
    return result.ours.gibs if who == "ttc" else result.peers[who].gibs


# --- search -------------------------------------------------------------------------------------------------


def searches(inputs: Inputs) -> Iterator[Curve]:
    """The gain of larger searches: bandwidth as a share of the ceiling, whose drift from run to run so cancels out."""
    for group in groups(inputs.results):
        efforts = [n for n in group.efforts if n > 0]
        found = [group.of_effort(n) for n in efforts]
        common = [name for name in group.names if all(name in r and r[name].ratio for r in found)]
        if len(efforts) < 2 or not common:
            continue
        shares = [[results[name].ratio or 0.0 for name in common] for results in found]
        series = (
            Series("geomean", tuple(map(geometric_mean, shares))),
            Series("least of all cases", tuple(map(min, shares))),
        )
        words = f"{len(common)} cases that were searched with each. 1 = the ceiling, measured in the same run."
        at = tuple(map(float, efforts))
        yield Curve(group.title, words, "share of the ceiling", at, series, "maxImplementations")


def planning(inputs: Inputs) -> Iterator[Spread]:
    """Seconds from a problem to its measured result, by the size of the search; seconds of compilers."""
    searched = [one for one in inputs.results if one.source != "database" and one.elapsed > 0]
    efforts = sorted({effort(one) for one in searched}, key=lambda n: (n == -1, n))
    if searched:
        values = tuple(tuple(one.elapsed for one in searched if effort(one) == n) for n in efforts)
        middle = ", ".join(f"{effort_name(n)}: {median(v):.3g} s" for n, v in zip(efforts, values, strict=True))
        words = f"Seconds a case: search, checks, ceilings and peers. Medians: {middle}."
        yield Spread("One case, search and measurement", words, "seconds", tuple(map(effort_name, efforts)), values)
    compiling: dict[str, list[float]] = {}
    for one in inputs.results:
        for name, made in one.references.items():
            if name in one.peers and not made.cached and made.compile_s > 0:
                compiling.setdefault(name, []).append(made.compile_s)
    if compiling:
        spread = tuple(map(tuple, compiling.values()))
        words = "Seconds that each compiler took for the reference of one case; those found compiled are left out."
        yield Spread("Compiling one reference", words, "seconds", tuple(compiling), spread)


FIGURES = (
    Figure("bandwidth", "Bandwidth", bandwidth, "results",
           "ttc bench --suite=ttc57 --maxImplementations=100 --output=here.jsonl"),
    Figure("speedup", "Speedup over compilers", speedup, "references by compilers",
           "ttc compare --suite=ttc57 --compiler=auto --output=compare.jsonl"),
    Figure("affinity", "Affinity", affinities, "the same cases under two or more affinities",
           "for a in compact scatter; do ttc compare --affinity=$a --output=compare.jsonl; done"),
    Figure("peers", "Other libraries", peers, "other libraries",
           "ttc bench --peers=numpy,torch,hptt,mkl --output=here.jsonl"),
    Figure("search", "What larger searches gain", searches, "the same cases with two or more sizes of search",
           "for n in 1 10 100 1000; do ttc bench --ignoreDatabase --maxImplementations=$n --output=here.jsonl; done"),
    Figure("ranking", "The cost model, expected against measured", ranking.clouds, "timings of candidates",
           "ttc database export solutions.jsonl && ttc report here.jsonl solutions.jsonl"),
    Figure("planning", "Planning time", planning, "searches that were not answered by the database",
           "ttc bench --ignoreDatabase --output=here.jsonl"),
)  # fmt: skip
