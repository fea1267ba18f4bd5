"""The inputs of a report: results of `ttc bench` and `ttc compare`, and solutions that `ttc database` exports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..bench import contraction_results, result_line
from ..bench.contraction_results import ContractionResult
from ..bench.result_file import ResultFile
from ..bench.results import Result
from ..bench.setting import Measured
from ..errors import OptionError, os_errors
from ..lazy_dataclasses import dataclass
from ..native.whole_file import rest
from ..tuning.database import exchange
from ..tuning.database.records import Record
from ..tuning.database.solution_file import SolutionFile
from .changes import Changes, compared

SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that was read. results: of transpositions, of equal keys and equal searches the last; contractions:
    likewise; solutions: without objects; files: names, in the order given; runs: the results of each file of such, with
    its name."""

    files: tuple[str, ...]
    results: tuple[Result, ...]
    solutions: tuple[Record, ...]
    runs: tuple[tuple[str, tuple[Measured, ...]], ...] = ()
    contractions: tuple[ContractionResult, ...] = ()

    @property
    def measured(self) -> tuple[Measured, ...]:
        """All results of either kind."""
        return (*self.results, *self.contractions)

    @property
    def subject(self) -> str:
        """The kinds of problems that were measured, in words."""
        kinds = {"transpositions": not self.contractions or self.results, "contractions": self.contractions}
        return f"Tensor {' and '.join(kind for kind, found in kinds.items() if found)}"

    @property
    def changes(self) -> Changes | None:
        """The comparison of two runs; None where there are not two, or they have no case in common."""
        if len(self.runs) != 2:
            return None
        (a, first), (b, second) = self.runs
        return compared((a, b), first, second)


def read(paths: Sequence[str | Path]) -> Inputs:
    """The contents of files, each of one kind. Raises OptionError or DatabaseError, in one sentence, for a file that
    is missing, empty, of mixed kinds, or something else."""
    runs: list[tuple[str, tuple[Measured, ...]]] = []
    solutions: list[Record] = []
    for path in map(Path, paths):
        found = _contents(path)
        solutions += [one for one in found if isinstance(one, Record)]
        measured = tuple(one for one in found if not isinstance(one, Record))
        runs += [(path.name, measured)] if measured else []
    results = [one for _, measured in runs for one in measured]
    if not results and not solutions:
        raise OptionError("there is no file to report on")
    kept = {(one.key, one.id): one for one in results}.values()
    distinct = {record.request.id: record for record in solutions}
    files = tuple(Path(path).name for path in paths)
    transpositions = tuple(one for one in kept if isinstance(one, Result))
    contractions = tuple(one for one in kept if isinstance(one, ContractionResult))
    return Inputs(files, transpositions, tuple(distinct.values()), tuple(runs), contractions)


def _contents(path: Path) -> Sequence[Measured | Record]:
    with os_errors(f"{path} cannot be read"), open(path, "rb") as stream:
        data = stream.read(len(SQLITE))
        data = data if data == SQLITE else data + rest(stream)
    if data.startswith(SQLITE):
        found: Sequence[Measured | Record] = [row.record for row in SolutionFile(path).rows()]
    elif not data.strip():
        raise OptionError(f"{path} is empty: results of ttc bench or ttc compare are expected")
    else:
        found = _lines(path, data)
    if not found:
        raise OptionError(f"{path} holds no result: a line counts once it is ended")
    return found


def _lines(path: Path, data: bytes) -> Sequence[Measured | Record]:
    """The lines of one kind; the first line says which."""
    lines = data.split(b"\n")
    if len(lines) == 1 and data.startswith((b'{"format"', b'{"contraction"')):
        return ()
    kinds = [_kind(line) for line in lines if line.strip()]
    other = next((number for number, kind in enumerate(kinds, 1) if kind != kinds[0] and kind), None)
    if not kinds[0]:
        raise OptionError(f"{path} is neither results of ttc bench or ttc compare nor an export of ttc database")
    if other is not None:
        raise OptionError(f"{path}, line {other}: {kinds[other - 1]} among {kinds[0]}: a file holds one kind")
    if kinds[0] == RESULTS:
        return tuple(ResultFile(path).lines(_measured, (result_line.BEGINNING, contraction_results.BEGINNING)))
    return list(exchange.from_lines(lines, str(path), objects=False))


def _measured(line: str) -> Measured:
    read = contraction_results.from_line if '"contraction"' in line[:40] else result_line.from_line
    return read(line)


RESULTS, SOLUTIONS = "results", "solutions"
_FIELDS = (
    ({"suite", "ours"}, RESULTS),
    ({"contraction", "seconds"}, RESULTS),
    ({"effort", "versions"}, SOLUTIONS),
)


def _kind(line: bytes) -> str:
    """What a line of JSON is; "" for something else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    return next((kind for fields, kind in _FIELDS if fields <= found.keys()), "")
