"""Records as rows of the tables of schema 2, and rows of schema 1 read as such."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database.code import Code
from ttc_llvm.tuning.database.connection import SqlRow
from ttc_llvm.tuning.database.field_rules import MAX_EXTRA, MAX_TEXT
from ttc_llvm.tuning.database.packing import MAX_PACKED, Objects
from ttc_llvm.tuning.database.records import (
    KIND,
    MAX_TIMINGS,
    Record,
    Request,
    digits,
    merge,
    timings,
    timings_text,
)
from ttc_llvm.tuning.database.schema import (
    CODE,
    CODE_COLUMNS,
    OLDER,
    OLDER_COLUMNS,
    SOLUTION_COLUMNS,
    SOLUTIONS,
    Transaction,
)

Linkable = Callable[[Request, str], Objects]
Ignored = Callable[[Any, DatabaseError], None]  # told of the ID of a malformed row, and what is wrong with it

_LONGEST = {"timings": MAX_TIMINGS, "extra": MAX_EXTRA, "objects": MAX_PACKED, "image": MAX_PACKED}


def _bounded(columns: Iterable[str]) -> str:
    """Columns of a query, NULL what is too long: pages that rows share make much of a small file, and lengths are known
    before SQLite hands anything over."""
    return ", ".join(f"CASE WHEN length({n}) <= {_LONGEST.get(n, MAX_TEXT)} THEN {n} END" for n in columns)


_SOLUTION = _bounded(SOLUTION_COLUMNS)
_BYTES = "coalesce(length(objects), 0) + coalesce(length(image), 0)"
_PACKED = f"coalesce((SELECT sum({_BYTES}) FROM {CODE} WHERE {CODE}.id = {SOLUTIONS}.id), 0)"
GET = f"SELECT {_SOLUTION} FROM {SOLUTIONS} WHERE id = ?"
GET_PLANS = f"SELECT {_SOLUTION} FROM {SOLUTIONS} WHERE problem = ? AND target = ?"
PLAN = SOLUTION_COLUMNS.index("plan")
LISTED = f"SELECT {_SOLUTION}, {_PACKED} FROM {SOLUTIONS}"
PUT = f"INSERT OR REPLACE INTO {SOLUTIONS} VALUES ({', '.join('?' * len(SOLUTION_COLUMNS))})"
PUT_CODE = f"INSERT OR REPLACE INTO {CODE} VALUES ({', '.join('?' * len(CODE_COLUMNS))})"
_OF_PLAN = f"FROM {CODE} WHERE extra IS ? AND plan IS ?"
DROP_CODE = f"DELETE {_OF_PLAN} AND rowid NOT IN (SELECT rowid {_OF_PLAN} ORDER BY rowid DESC LIMIT ?)"
GET_CODE = f"SELECT {_bounded(CODE_COLUMNS[1:])} FROM {CODE} WHERE id = ? AND versions = ?"
MAX_PLANS = 64  # of which some may be equal
MAX_HINTS = 8

_OLDER = f"SELECT {_bounded(OLDER_COLUMNS)} FROM {OLDER}"
_ASKED = "problem = ? AND target = ? AND threads = ? AND mode = ? AND options = ?"


def encode(record: Record) -> SqlRow:
    """The record as the values of its row, code aside."""
    r = record.request
    return (
        *(r.id, r.kind, r.problem, r.target, r.threads, r.mode, r.options, record.made_by),
        *(record.effort, record.plan, record.seconds, timings_text(record.timings), record.provisional, record.created),
        *(record.ceiling_gibs, record.note, record.extra),
    )


def encode_code(request: Request, code: Code) -> SqlRow:
    """The values of the row of a solution's code."""
    return (request.id, code.versions, code.plan, code.objects, code.image, code.digest, code.extra)


def decode(row: SqlRow, versions: str | None = None, objects: Linkable = lambda request, plan: ()) -> Record:
    """The inverse of `encode`; DatabaseError names what is malformed.

    versions: of the request, None = of whoever made the plan; objects: finds the code that belongs to it.
    """
    key, kind, problem, target, threads, mode, options, made_by, *rest = row
    effort, plan, seconds, runs, provisional, created, ceiling, note, extra = rest
    request = Request(problem, target, threads, mode, options, made_by if versions is None else versions, kind)
    if request.id != key:
        raise DatabaseError("its id does not belong to its request")
    found = objects(request, plan)
    return Record(
        request, effort, plan, seconds, _timings(runs), found, created, ceiling, note, made_by, provisional, extra
    )


def code(session: Transaction, request: Request, plan: str) -> Code | None:
    """The code of a plan for the versions that ask, unchecked."""
    found = session.select(GET_CODE, request.id, request.versions) if CODE in session.tables else []
    return next((one for one in (Code(*row) for row in found) if one.plan == plan), None)


def sound(
    rows: Iterable[SqlRow], ignored: Ignored, read: Callable[[SqlRow], Record]
) -> Iterator[tuple[Record, SqlRow]]:
    """The records of all rows that can be read, each with its row."""
    for row in rows:
        try:
            yield read(row), row
        except DatabaseError as error:
            ignored(row[0], error)


def listed(session: Transaction, ignored: Ignored) -> list[tuple[Record, int]]:
    """Every solution without its code, and the bytes that all of it takes."""
    new = session.select(LISTED) if SOLUTIONS in session.tables else []
    found = [(record, row[-1]) for record, row in sound(new, ignored, lambda row: decode(row[:-1]))]
    known = {row[0] for row in new}
    return found + [(record, 0) for key, record in older(session, ignored).items() if key not in known]


def plans(session: Transaction, request: Request) -> tuple[str, ...]:
    """Up to MAX_HINTS different plans of the same problem and target, the most similar requests first, those of schema
    1 last."""
    r = request
    near = f"mode != ?, abs(threads - ?), effort = -1 DESC, effort DESC LIMIT {MAX_PLANS}"
    where = f"WHERE problem = ? AND target = ? AND length(plan) <= {MAX_TEXT}"
    found: list[SqlRow] = []
    if SOLUTIONS in session.tables:
        query = f"SELECT plan FROM {SOLUTIONS} {where} AND kind = ? ORDER BY id != ?, versions != ?, {near}"
        found += session.select(query, r.problem, r.target, r.kind, r.id, r.versions, r.mode, r.threads)
    if OLDER in session.tables and r.kind == KIND:
        query = f"SELECT plan FROM {OLDER} {where} ORDER BY versions != ?, {near}"
        found += session.select(query, r.problem, r.target, r.versions, r.mode, r.threads)
    return tuple(dict.fromkeys(plan for (plan,) in found if isinstance(plan, str)))[:MAX_HINTS]


# --- schema 1: a row per request and versions ------------------------------------------------------------


def older_of(session: Transaction, request: Request, ignored: Ignored) -> Record | None:
    """The record that schema 1 holds of a request: the best of all versions, without code."""
    if OLDER not in session.tables or request.kind != KIND:
        return None
    found = session.select(f"{_OLDER} WHERE {_ASKED}", *_asked(request))
    records = [record for record, _ in sound(found, ignored, _decode_older)]
    return reduce(merge, records[1:], records[0]) if records else None


def older(session: Transaction, ignored: Ignored) -> dict[str, Record]:
    """Everything that schema 1 knows, by the ID that it has today."""
    out: dict[str, Record] = {}
    found = session.select(f"{_OLDER} ORDER BY problem, target, id") if OLDER in session.tables else []
    for record, _ in sound(found, ignored, _decode_older):
        out[record.request.id] = merge(out.get(record.request.id), record)
    return out


def remove_older(session: Transaction, request: Request) -> int:
    """Remove a request's rows of schema 1; says how many there were."""
    return session.change(f"DELETE FROM {OLDER} WHERE {_ASKED}", *_asked(request)) if OLDER in session.tables else 0


def _asked(request: Request) -> SqlRow:
    return (request.problem, request.target, request.threads, request.mode, request.options)


def _decode_older(row: SqlRow) -> Record:
    key, problem, target, threads, mode, options, versions, *rest = row
    effort, plan, seconds, runs, created, ceiling, note = rest
    request = Request(problem, target, threads, mode, options, versions)
    if digits(problem, target, threads, mode, options, versions) != key:
        raise DatabaseError("its id does not belong to its request")
    return Record(request, effort, plan, seconds, _timings(runs), (), created, ceiling, note)


def _timings(text: Any) -> Any:
    try:
        return () if text == "[]" else timings(locks.imported("json").loads(text))
    except (ValueError, TypeError, RecursionError):
        raise DatabaseError(f"timings are not JSON of at most {MAX_TIMINGS} characters") from None
