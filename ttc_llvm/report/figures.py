"""The figures of a report: which numbers each shows, and which command measures what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import geometric_mean, median

from ..bench.results import Result
from ..bench.setting import FACTS, affinity, by_size, differing, effort, effort_name
from ..lazy_dataclasses import dataclass, replace
from ..problem.wording import count
from ..tuning.measurement import BUSY
from . import changes, contraction_figures, ranking
from .case_series import busy_words, by_case, contenders
from .charts import Bars, Cases, Chart, Curve, Series, Spread
from .groups import RULES, Group, compiled, groups, libraries
from .inputs import Inputs

GIBS = "GiB/s"
CEILING = "The ceiling: as many bytes without a permutation, in the same run (SAXPY for beta != 0, else a copy)."


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
    """GiB/s of every case of one run below the ceiling of that run (the paper's Figure 5)."""
    for group in groups(inputs.results):
        run = group.main()
        if run is None:
            continue
        found = run.results
        ceiling = ", ".join(dict.fromkeys(r.ceiling for r in found.values()))
        bound = by_case(f"ceiling: {ceiling}", group, found, lambda r: None if r.bound is None else r.bound.gibs)
        words = f"{run.label}. Best runs, {RULES.get(group.results[0].kind, '')} per second. {CEILING}"
        shown = by_case(run.label, group, found, lambda r: r.ours.gibs)
        yield Cases(group.title, words + busy_words([shown]), GIBS, group.names, (shown,), bound)


def shares(inputs: Inputs) -> Iterator[Cases]:
    """The same as shares of the ceiling, of every run of its own."""
    for group in groups(inputs.results):
        found, means = [], []
        for run in group.runs:
            shown = by_case(run.label, group, run.results, lambda r: r.ratio)
            known = [value for value in shown.values if value]
            found += [shown] if known else []
            means += [f"{run.label} {geometric_mean(known):.2f} ({count(len(known), 'case')})"] if known else []
        if found:
            words = f"1 = the ceiling of the same run. {CEILING} Geometric means: {'; '.join(means)}."
            words += busy_words(found)
            yield Cases(group.title, words, "share of the ceiling", group.names, tuple(found), base=1)


# --- contenders ---------------------------------------------------------------------------------------------


def speedup(inputs: Inputs) -> Iterator[Cases]:
    """The speedup over each compiler's loop nest (Figure 6)."""
    return contenders(inputs.results, compiled, "Speedup over the same loop nest by each compiler")


def peers(inputs: Inputs) -> Iterator[Cases]:
    """The same for other libraries."""
    return contenders(inputs.results, libraries, "Speedup over other libraries")


def affinities(inputs: Inputs) -> Iterator[Bars]:
    """Geometric mean bandwidth of every contender under each affinity (Figure 7), of searches of one size."""
    compared = tuple(one for one in inputs.results if compiled(one))
    for group in groups(compared or inputs.results, by_affinity=False):
        for size in sorted({run.effort for run in group.runs}, key=by_size):
            alike = tuple(one for one in group.results if effort(one) == size)
            yield from _affinity(replace(group, results=alike), effort_name(size))


def _affinity(group: Group[Result], label: str) -> Iterator[Bars]:
    places = dict.fromkeys(place for one in group.results if (place := affinity(one)))
    runs = {p: replace(group, results=tuple(r for r in group.results if affinity(r) == p)).main() for p in places}
    by_place = [run.results for run in runs.values() if run is not None]
    common = [name for name in group.names if all(name in found for found in by_place)] if len(places) > 1 else []
    names = ("ttc", *_common_peers([r[name] for r in by_place for name in common])) if common else ()
    if not names:
        return
    series = tuple(
        Series(place, tuple(geometric_mean(_gibs(results[name], who) for name in common) for who in names))
        for place, results in zip(places, by_place, strict=True)
    )
    busy = sum(results[name].busy for results in by_place for name in common)
    words = f"{label}. Geometric means over {len(common)} cases measured under each; which CPUs threads are bound to."
    words += f" {busy} results: {BUSY}." if busy else ""
    yield Bars(group.title, words, GIBS, names, series)


def _common_peers(results: list[Result]) -> tuple[str, ...]:
    return tuple(name for name in results[0].peers if all(name in one.peers for one in results))


def _gibs(result: Result, who: str) -> float:
    return result.ours.gibs if who == "ttc" else result.peers[who].gibs


# --- search -------------------------------------------------------------------------------------------------


def searches(inputs: Inputs) -> Iterator[Curve]:
    """The gain of larger searches: bandwidth as a share of the ceiling, whose drift from run to run so cancels out."""
    for group in groups(inputs.results):
        runs = {run.effort: run for run in group.runs if run.effort > 0}  # the last day of each size
        found = [run.results for run in runs.values()]
        common = [name for name in group.names if all(name in r and r[name].ratio for r in found)]
        if len(runs) < 2 or not common:
            continue
        shares = [[results[name].ratio or 0.0 for name in common] for results in found]
        series = (
            Series("geomean", tuple(map(geometric_mean, shares))),
            Series("least of all cases", tuple(map(min, shares))),
        )
        words = f"The same {count(len(common), 'case')} with each size. 1 = the ceiling of the same run. {CEILING}"
        at = tuple(map(float, runs))
        yield Curve(group.title, words, "share of the ceiling", at, series, "candidates (maxImplementations)")


def planning(inputs: Inputs) -> Iterator[Spread]:
    """Seconds from a problem to its measured result, by the size of the search; seconds of compilers."""
    searched = [one for one in inputs.results if one.source != "database" and one.elapsed > 0]
    label = differing(searched, FACTS[1:])
    found: dict[str, list[float]] = {}
    for one in sorted(searched, key=lambda one: by_size(effort(one))):
        name = ", ".join(filter(None, (effort_name(effort(one)), label(one))))
        found.setdefault(name, []).append(one.elapsed)
    if found:
        values = tuple(map(tuple, found.values()))
        middle = "; ".join(f"{name}: {median(v):.3g} s" for name, v in found.items())
        words = f"Seconds a case: search, checks, ceilings and peers. Medians: {middle}."
        yield Spread("One case, search and measurement", words, "seconds", tuple(found), values)
    compiling: dict[str, list[float]] = {}
    for one in inputs.results:
        for name, made in one.references.items():
            if name in one.peers and not made.cached and made.compile_s > 0:
                compiling.setdefault(name, []).append(made.compile_s)
    if compiling:
        spread = tuple(map(tuple, compiling.values()))
        words = "Seconds that each compiler took for the reference of one case; those found compiled are left out."
        yield Spread("Compiling one reference", words, "seconds", tuple(compiling), spread)


def comparison(inputs: Inputs) -> Iterator[Cases]:
    """The second of two runs by the first, case by case."""
    if inputs.changes is not None:
        yield changes.chart(inputs.changes)


FIGURES = (
    Figure("changes", "Two runs compared", comparison, "two files of results that have cases in common",
           "ttc report before.jsonl after.jsonl"),
    Figure("bandwidth", "Bandwidth", bandwidth, "results",
           "ttc bench --suite=ttc57 --maxImplementations=100 --output=here.jsonl"),
    Figure("shares", "Share of the ceiling", shares, "ceilings that could be measured",
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
    Figure("gflops", "Contractions", contraction_figures.speeds, "contractions", contraction_figures.COMMAND),
    Figure("libraries", "Contractions by other libraries", contraction_figures.libraries,
           "contractions beside other libraries", contraction_figures.COMMAND),
    Figure("roofline", "Contractions below the roofs", contraction_figures.rooflines, "contractions",
           contraction_figures.COMMAND),
)  # fmt: skip
