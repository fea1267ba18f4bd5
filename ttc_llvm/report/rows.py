"""The tables under the plots: a row for each result."""

from __future__ import annotations

from collections.abc import Sequence

from ..bench import report
from ..bench.contraction_results import CEILING, ContractionResult
from ..bench.report import Column, Value
from ..bench.results import Result
from ..bench.setting import Measured, affinity, day, effort, machine
from ..lazy_dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: columns, and a row of values for each result."""

    columns: tuple[Column, ...]
    values: tuple[tuple[Value, ...], ...]


def rows(results: Sequence[Result]) -> Rows:
    """The table of transpositions."""
    return _rows(results, _CASE, _MEASURED)


def contraction_rows(results: Sequence[ContractionResult]) -> Rows:
    """The table of contractions."""
    return _rows(results, _CONTRACTION, _WORK)


def _rows(results: Sequence[Measured], case: Sequence[Column], figures: Sequence[Column]) -> Rows:
    """Columns that say the same of everything are left out, save what identifies a case."""
    columns = (
        *case,
        *(c for c in _SETTING if len({c.value(one) for one in results}) > 1),
        *figures,
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
_CONTRACTION = (
    Column("case", lambda one: f"{one.suite}/{one.name}"),
    Column("type", lambda one: one.dtype),
    Column("spec", lambda one: one.spec),
    Column("size", lambda one: " ".join(f"{index}:{extent}" for index, extent in one.size.items())),
    Column("m,n,k", lambda one: ",".join(map(str, one.sizes))),
)
_WORK = (
    Column("Flop", lambda one: float(one.flops)),
    Column("bytes", lambda one: float(one.bytes)),
    Column("Flop/byte", lambda one: one.flops / one.bytes),
    Column("ms", lambda one: one.ours.best * 1e3, digits=4),
    Column("predicted ms", lambda one: "-" if one.predicted is None else one.predicted * 1e3, digits=4),
    Column("GFlop/s", lambda one: one.gflops()),
    Column("plain product", lambda one: one.gflops(CEILING)),
    Column("of it", lambda one: one.pairs(CEILING)),
    Column("plan", lambda one: one.plan),
    Column("scratch", lambda one: float(one.scratch)),
)
