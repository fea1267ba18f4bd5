"""Words that the text and the page of an explanation share: on plans, cost terms and candidates that were timed."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING

from ..lowering.fallback import for_misaligned_a, for_misaligned_b
from ..lowering.plan import CpuPlan, Store
from ..lowering.writing import resolve
from ..problem.tables import wrapped
from ..problem.wording import count
from ..runtime.kernel import name_of
from ..tuning.cost.conversions import conversion, passed
from ..tuning.cost.cost import Terms
from ..tuning.search.leaderboard import CHOICE
from ..tuning.space.blocks import converts_first, width

if TYPE_CHECKING:
    from .explanation import Explanation, RankedPlan, Tried

FACTS = 8
CHOSEN_BY_MODEL = (
    "Above the chosen plan: without timing, the first turn is taken, at which the model's search from its seeds ends;"
    " neighbours that it meets later may be expected a little faster."
)
CHOSEN_BY_TIME = "Above the chosen plan: it was the fastest of those timed, whatever the model expects."
NOT_CHOSEN = "Above the chosen plan: it was given, not chosen."
_MEANT = {  # facts of the cost model; by how their names begin
    "base": "all problems of this class",
    "mode": "how it prefetches and stores",
    "distance": "micro-tiles prefetched ahead",
    "staging": "scratch through which B's rows go",
    "inner": "whose rows a tile walks innermost",
    "block": "rows of a micro-tile in A x B, bytes",
    "block a": "rows of a micro-tile in A, log2 bytes",
    "block b": "rows of a micro-tile in B, log2 bytes",
    "tile": "size of a tile, log2 bytes",
    "waste": "elements added by remainders, class",
    "runs, along": "runs, by whose memory the tiles follow",
    "runs": "runs of a tile in A and B, log2 bytes",
    "run a": "run of a tile in A, log2 bytes",
    "run b": "run of a tile in B, log2 bytes",
    "run handed on": "run of B through several tiles, log2 bytes",
    "lines": "lines touched by lines used, 4 log2",
    "misses": "TLB misses per cache line, 2 log2",
    "path": "whose memory the tile loops follow",
    "panel": "loops over tiles split once more",
    "streams": "both streams, and lines that crowd L1",
    "stream": "what hardware prefetches alone, log2 bytes",
    "pages": "pages of a micro-tile, log2",
    "flight": "prefetched lines that share a set of L1",
    "waiting": "bytes of partial lines that wait, log2",
}


STORES = {
    Store.CACHED: "by ordinary stores",
    Store.ALIGNED: "by non-temporal stores of micro-tiles, which needs an aligned B",
    Store.ROWS: "row by row, each by non-temporal stores from its own first boundary",
    Store.PEELED: "by non-temporal stores of micro-tiles from B's first boundary on",
    Store.BUFFERED: "through scratch, from which rows leave by non-temporal stores",
    Store.COMBINED: "in whole lines through scratch: parts pass on to the next tile",
    Store.JOINED: "in whole lines that are joined in registers, from row to row",
}


def written(e: Explanation) -> str:
    """The way in which B is written, in words."""
    return STORES[resolve(e.canonical, e.plan, e.target).store]


def other_plans(e: Explanation) -> Iterator[tuple[str, str]]:
    """The plans that run at other addresses, each after the condition in words: B is misaligned for this plan, or A is
    misaligned to the cache line."""
    if e.nest.alignment > e.canonical.b.itemsize:
        found = for_misaligned_b(e.canonical, e.plan, e.target)
        by_rule = for_misaligned_b(e.canonical, e.plan.without_fallback, e.target)
        why = "by rule" if found == by_rule else "as the plan decides"
        yield f"where B is misaligned to {e.nest.alignment} bytes, {why}", name_of(found.plan, found.loads)
    lines = for_misaligned_a(e.canonical, e.plan, e.target)
    if lines.loads:
        yield f"where A alone is misaligned to {e.target.line} bytes", name_of(lines.plan, lines.loads)


def conversion_lines(e: Explanation) -> list[str]:
    """The types that numbers go through, what that costs, and the type of the arithmetic; none where they stay."""
    c = e.canonical
    if not passed(c):
        return []
    way = " -> ".join(dict.fromkeys(map(str, (c.a, c.between, c.b))))
    cost = f"{count(conversion(c, e.target), 'vector operation')} for {width(c, e.target)} numbers"
    carried = c.b if converts_first(c, e.target) else c.between
    return [f"numbers are converted {way}, registers exchange {carried}: {cost}; alpha and beta in {c.compute}"]


def source(e: Explanation) -> str:
    """The origin of the plan, in words."""
    measured = e.measurement
    if measured is None:
        return "not timed: the cost model's or a given one"
    if not is_winner(e):
        return f"a given plan: another is the best of {measured.count} timed"
    stand_in = " (on a smaller stand-in)" if measured.proxy else ""
    speed = f"{measured.seconds * 1e3:.4g} ms, {measured.gibs:.1f} GiB/s{stand_in}"
    return f"best of {measured.count} timed: {speed}{measured.remark(now=False)}"


def is_winner(e: Explanation) -> bool:
    """True where the plan won a search."""
    timings = () if e.measurement is None else e.measurement.timings
    return bool(timings) and timings[0][0] == str(e.plan)


def by_time(e: Explanation) -> list[Tried]:
    """The candidates that were timed, the fastest run first."""
    return sorted(e.tried, key=lambda tried: tried.seconds)


def choice_of_candidates(e: Explanation) -> str:
    """The rule of the choice, where another plan had a faster run; else empty."""
    faster = e.tried and by_time(e)[0].plan != str(e.plan)
    return (CHOICE if is_winner(e) else NOT_CHOSEN) if faster else ""


def by_cost(e: Explanation) -> list[tuple[int, RankedPlan]]:
    """The model's plans, the fastest expected first, each with its turn."""
    return sorted(enumerate(e.ranked, 1), key=lambda pair: pair[1].terms.seconds)


def choice_of_ranked(e: Explanation) -> str:
    """The same where the model expects another plan to be faster."""
    if e.chosen is None or all(one.terms.seconds >= e.chosen.terms.seconds for one in e.ranked):
        return ""
    if is_winner(e):
        return CHOSEN_BY_TIME
    return CHOSEN_BY_MODEL if e.ranked[0].plan == e.plan.without_fallback else NOT_CHOSEN


def meaning(fact: str) -> str:
    """The meaning of a fact of the cost model, in words. fact: its name, without the mode."""
    return max((pair for pair in _MEANT.items() if fact.startswith(pair[0])), key=lambda pair: len(pair[0]))[1]


def main_facts(terms: Terms) -> list[tuple[tuple[str, int | str], float]]:
    """The facts of the largest weights, the largest first, named without the mode that they have in common."""
    largest = sorted(terms.facts, key=lambda pair: -abs(pair[1]))[:FACTS]
    return [((name.rpartition(": ")[2], bucket), weight) for (name, bucket), weight in largest]


def mode(terms: Terms) -> str:
    """The mode that the facts have in common: the plan's way to prefetch and to store, in the model's words."""
    return next((name.partition(": ")[0] for (name, _), _ in terms.facts if ": " in name), "")


def factor(weight: float) -> str:
    """A weight in log(time) as a factor."""
    return f"x {exp(weight):.3f}"


def plan_lines(plan: CpuPlan | str, indent: int = 2) -> list[str]:
    """A plan's text, wrapped."""
    pad = " " * indent
    return wrapped(str(plan), pad, pad)


def measured_gibs(tried: Tried, e: Explanation) -> float:
    """GiB/s of a candidate's best run; a stand-in moves fewer bytes than the problem."""
    measured = e.measurement
    return 0.0 if measured is None else measured.gibs * measured.seconds / tried.seconds
