"""Solutions as JSON lines: what `export` writes and `import` reads, one solution a line."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.records import Record, Request, Timing

FORMAT = 1
_REQUEST = tuple(f.name for f in fields(Request))
_PLAIN = ("effort", "plan", "seconds", "created", "ceiling_gibs", "note")
_REQUIRED = ("format", *_REQUEST, *_PLAIN, "timings")
_KNOWN = {*_REQUIRED, "objects"}


def to_fields(record: Record, *, objects: bool = True) -> dict[str, Any]:
    """The record as JSON's types, objects in base64; objects=False leaves them out."""
    out: dict[str, Any] = {"format": FORMAT}
    out |= {name: getattr(record.request, name) for name in _REQUEST}
    out |= {name: getattr(record, name) for name in _PLAIN}
    out["timings"] = [{"plan": t.plan, "seconds": list(t.seconds)} for t in record.timings]
    if objects:
        out["objects"] = {name: base64.b64encode(data).decode() for name, data in record.objects}
    return out


def to_line(record: Record, *, objects: bool = True) -> bytes:
    """One line of an export, its newline included."""
    return json.dumps(to_fields(record, objects=objects), allow_nan=False).encode() + b"\n"


def from_fields(given: Any, *, objects: bool = True) -> Record:
    """The inverse of `to_fields`; objects=False ignores them.

    DatabaseError names the field that is missing, unknown or malformed.
    """
    if not isinstance(given, dict):
        raise DatabaseError("the line is not a JSON object")
    _check_names(given)
    return Record(
        request=Request(*(given[name] for name in _REQUEST)),
        effort=given["effort"],
        plan=given["plan"],
        seconds=given["seconds"],
        timings=timings(given["timings"]),
        objects=_objects(given.get("objects", {})) if objects else (),
        created=given["created"],
        ceiling_gibs=given["ceiling_gibs"],
        note=given["note"],
    )


def from_lines(lines: Iterable[bytes], source: str, *, objects: bool = True) -> Iterator[Record]:
    """The records of an export; blank lines are skipped. DatabaseError names source, line and field."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield from_fields(_parse(line), objects=objects)
        except DatabaseError as error:
            raise DatabaseError(f"{source}, line {number}: {error}") from None


def timings(given: Any) -> tuple[Timing, ...]:
    """Timings out of JSON's lists; DatabaseError where they have another shape."""
    try:
        return tuple(Timing(item["plan"], tuple(item["seconds"])) for item in given)
    except (TypeError, KeyError, IndexError):
        raise DatabaseError("timings are not a list of {plan, seconds}") from None


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise DatabaseError(f"the line is not JSON ({error})") from None


def _check_names(given: dict[str, Any]) -> None:
    if given.get("format", FORMAT) != FORMAT:
        raise DatabaseError(f"format = {given['format']!r} is not {FORMAT}, the one this version reads")
    for name in _REQUIRED:
        if name not in given:
            raise DatabaseError(f"the field {name} is missing")
    for name in given:
        if name not in _KNOWN:
            raise DatabaseError(f"the field {name!r} is unknown")


def _objects(given: Any) -> tuple[tuple[str, bytes], ...]:
    if not isinstance(given, dict):
        raise DatabaseError("objects are not a mapping of names to base64 text")
    try:
        return tuple((name, base64.b64decode(text, validate=True)) for name, text in given.items())
    except (binascii.Error, TypeError, ValueError) as error:
        raise DatabaseError(f"objects are not base64 ({error})") from None
