"""Words that the text and the page of an explanation share: on plans, cost terms and candidates that were timed."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING

from ..lowering.fallback import for_misaligned_a, for_misaligned_b
from ..lowering.plan import CpuPlan, Store
from ..lowering.writing import resolve
from ..problem.tables import wrapped
from ..runtime.kernel import name_of
from ..tuning.cost.cost import Terms

if TYPE_CHECKING:
    from .explanation import Explanation, Tried

FACTS = 8


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


def source(e: Explanation) -> str:
    """The origin of the plan, in words."""
    measured = e.measurement
    if measured is None:
        return "not timed: the cost model's or a given one"
    if measured.timings and measured.timings[0][0] != str(e.plan):
        return "not the fastest of those that were timed"
    stand_in = " (on a smaller stand-in)" if measured.proxy else ""
    speed = f"{measured.seconds * 1e3:.4g} ms, {measured.gibs:.1f} GiB/s{stand_in}"
    return f"best of {measured.count} timed: {speed}{measured.remark(now=False)}"


def main_facts(terms: Terms) -> list[tuple[tuple[str, int | str], float]]:
    """The facts of the largest weights, the largest first."""
    return sorted(terms.facts, key=lambda pair: -abs(pair[1]))[:FACTS]


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
