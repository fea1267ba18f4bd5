"""The table under the plots: a row for each result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..bench.results import Result
from .groups import affinity, effort, machine

Value = str | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a heading, and what it says of a result; digits: of numbers shown."""

    head: str
    value: Callable[[Result], Value]
    digits: int = 3


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: columns, and a row of values for each result."""

    columns: tuple[Column, ...]
    values: tuple[tuple[Value, ...], ...]


def rows(results: Sequence[Result]) -> Rows:
    """The table of all results. Columns that say the same of everything are left out, save what identifies a case."""
    columns = [*_CASE, *(c for c in _SETTING if len({c.value(one) for one in results}) > 1), *_MEASURED]
    columns += [_peer(name) for name in dict.fromkeys(name for one in results for name in one.peers)]
    values = tuple(tuple(column.value(one) for column in columns) for one in results)
    return Rows(tuple(columns), values)


def _ceiling(one: Result) -> float | None:
    found = one.ceilings.get(one.ceiling)
    return None if found is None else found.gibs


def _peer(name: str) -> Column:
    return Column(f"x {name}", lambda one: one.pairs(name) if name in one.peers else None)


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
    Column("candidates", lambda one: float(effort(one))),
)
_MEASURED = (
    Column("ms", lambda one: one.ours.best * 1e3, 4),
    Column("GiB/s", lambda one: one.ours.gibs),
    Column("ceiling", _ceiling),
    Column("ratio", lambda one: one.ratio),
    Column("planning s", lambda one: one.elapsed),
)
