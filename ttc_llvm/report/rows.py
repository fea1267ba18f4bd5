"""The table under the plots: a row for each result."""

from __future__ import annotations

from collections.abc import Sequence

from ..bench import report
from ..bench.report import Column, Value
from ..bench.results import Result
from ..bench.setting import affinity, day, effort, machine
from ..lazy_dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: columns, and a row of values for each result."""

    columns: tuple[Column, ...]
    values: tuple[tuple[Value, ...], ...]


def rows(results: Sequence[Result]) -> Rows:
    """The table of all results. Columns that say the same of everything are left out, save what identifies a case."""
    columns = (
        *_CASE,
        *(c for c in _SETTING if len({c.value(one) for one in results}) > 1),
        *_MEASURED,
        *map(report.pairs, report.peers(results)),
        *([replace(report.NOTE, head="remark")] if any(one.busy for one in results) else []),
    )
    return Rows(columns, tuple(tuple(column.value(one) for column in columns) for one in results))


def _join(one: Result, field: str, by: str) -> str:
    return by.join(map(str, one.problem.get(field) or ())) or "-"


_CASE = (
    Column("case", lambda one: f"{one.suite}/{one.name}"),
    Column("kind", lambda one: one.kind),
    Column("perm", lambda one: _join(one, "perm", ",")),
    Column("size", lambda one: _join(one, "size", "x")),
    Column("type", lambda one: str(one.problem.get("dataType", "-"))),
)
_SETTING = (
    Column("machine", machine),
    Column("mode", lambda one: one.mode),
    Column("threads", lambda one: float(one.threads)),
    Column("affinity", affinity),
    Column("day", day),
    Column("candidates", lambda one: float(effort(one))),
)
_MEASURED = (
    Column("ms", lambda one: one.ours.best * 1e3, digits=4),
    report.GIBS,
    report.CEILING,
    report.RATIO,
    Column("planning s", lambda one: one.elapsed),
)
