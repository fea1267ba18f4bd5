"""A value of each case in the order of a group, and contenders case by case: what several figures show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import geometric_mean

from ..bench.setting import Measured
from ..compare.table import remark
from ..problem.wording import count
from ..tuning.measurement import BUSY
from .charts import Cases, Series
from .groups import Group, R, groups


def busy_words(found: Sequence[Series]) -> str:
    """The words for values that other work has touched; "" where there are none."""
    hollow = sum(map(sum, (series.hollow for series in found)))
    return f" Hollow: {BUSY} ({count(hollow, 'case')}): measure again." if hollow else ""


def by_case(
    label: str, group: Group[R], results: Mapping[str, R], value: Callable[[R], float | None]
) -> Series:
    """A value of every case of a group; None for those that are not among the results."""
    known = [results.get(name) for name in group.names]
    values = tuple(None if one is None else value(one) for one in known)
    return Series(label, values, tuple(one is not None and one.busy for one in known))


def contenders(
    results: Sequence[R], choose: Callable[[Measured], tuple[str, ...]], words: str
) -> Iterator[Cases]:
    """Times as fast as each of the peers that are chosen, with the geometric mean and the least, a chart a group."""
    for group in groups(results):
        run = group.main(choose)
        if run is None:
            continue
        names = tuple(name for name in group.names if name in run.results)
        best = [run.results[name] for name in names]
        hollow = tuple(one.busy for one in best)
        found = []
        for peer in dict.fromkeys(peer for one in best for peer in choose(one)):
            values = tuple(one.pairs(peer) if peer in choose(one) else None for one in best)
            known = [v for v in values if v is not None]
            told = f"geomean {geometric_mean(known):.2f}, least {min(known):.2f}{remark(peer, best)}"
            found.append(Series(f"{peer} ({told})", values, hollow))
        caption = (
            f"{words}, median over the rounds in which both ran; {run.label}, {count(len(names), 'case')};"
        )
        caption += f" above 1 we are faster.{busy_words(found[:1])}"
        yield Cases(group.title, caption, "times as fast", names, tuple(found), base=1, log=True)
