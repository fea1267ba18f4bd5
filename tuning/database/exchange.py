"""Solutions as JSON lines: what `export` writes and `import` reads, one solution a line. Lines may be hostile."""

from __future__ import annotations

import base64
import binascii
import json
import reprlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database.records import KIND, Record, Request, timings

FORMAT = 2
MAX_LINE = 32 << 20  # bytes
_REQUEST = Request.__match_args__
_PLAIN = ("effort", "plan", "seconds", "created", "ceiling_gibs", "note", "made_by", "provisional")
_SINCE_2 = {"kind": KIND, "made_by": "", "provisional": 0, "extra": {}}  # and what they are in lines of format 1
_REQUIRED = ("format", *_REQUEST, *_PLAIN, "extra", "timings")
_KNOWN = {*_REQUIRED, "objects"}


def to_fields(record: Record, *, objects: bool = True) -> dict[str, Any]:
    """The record as JSON's types, objects in base64; objects=False leaves them out."""
    out: dict[str, Any] = {"format": FORMAT}
    out |= {name: getattr(record.request, name) for name in _REQUEST}
    out |= {name: getattr(record, name) for name in _PLAIN}
    out["extra"] = json.loads(record.extra)
    out["timings"] = [{"plan": t.plan, "seconds": list(t.seconds)} for t in record.timings]
    if objects and record.objects:
        out["objects"] = {name: base64.b64encode(data).decode() for name, data in record.objects}
    return out


def to_line(record: Record, *, objects: bool = True) -> bytes:
    """One line of an export, its newline included."""
    return json.dumps(to_fields(record, objects=objects), allow_nan=False).encode() + b"\n"


def from_fields(given: Any, *, objects: bool) -> Record:
    """The inverse of `to_fields`; objects=False ignores them.

    DatabaseError names the field that is missing, unknown or malformed.
    """
    if not isinstance(given, dict):
        raise DatabaseError("the line is not a JSON object")
    given = _checked(given)
    return Record(
        request=Request(*(given[name] for name in _REQUEST)),
        timings=timings(given["timings"]),
        objects=_objects(given.get("objects", {})) if objects else (),
        extra=_text(given["extra"]),
        **{name: given[name] for name in _PLAIN},
    )


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, cut short where one is longer than an export's can be."""
    return iter(lambda: stream.readline(MAX_LINE + 1), b"")


def is_export(data: bytes) -> bool:
    """True where the first line of a file is one of an export, of any format up to this one."""
    line, _, _ = data.partition(b"\n")
    try:
        return len(line) <= MAX_LINE and bool(from_fields(_parse(line), objects=False))
    except DatabaseError:
        return False


def from_lines(lines: Iterable[bytes], source: str, *, objects: bool) -> Iterator[Record]:
    """The records of an export; blank lines are skipped. DatabaseError names source, line and field."""
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise DatabaseError(f"{source}, line {number}: it is longer than {MAX_LINE} bytes")
        if not line.strip():
            continue
        try:
            yield from_fields(_parse(line), objects=objects)
        except DatabaseError as error:
            raise DatabaseError(f"{source}, line {number}: {error}") from None


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise DatabaseError(f"the line is not JSON ({error})") from None


def _text(given: Any) -> str:
    try:
        return json.dumps(given)
    except RecursionError:
        raise DatabaseError("extra is nested too deep") from None


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """The line with all fields of this format; DatabaseError for missing and unknown ones."""
    version = given.get("format", FORMAT)
    if type(version) is not int or not 1 <= version <= FORMAT:
        raise DatabaseError(f"format = {reprlib.repr(version)} is not 1 to {FORMAT}, which this version reads")
    if version == 1:
        given = _SINCE_2 | given
    for name in _REQUIRED:
        if name not in given:
            raise DatabaseError(f"the field {name} is missing")
    for name in given:
        if name not in _KNOWN:
            raise DatabaseError(f"the field {reprlib.repr(name)} is unknown")
    return given


def _objects(given: Any) -> tuple[tuple[str, bytes], ...]:
    if not isinstance(given, dict):
        raise DatabaseError("objects are not a mapping of names to base64 text")
    try:
        return tuple((name, base64.b64decode(text, validate=True)) for name, text in given.items())
    except (binascii.Error, TypeError, ValueError) as error:
        raise DatabaseError(f"objects are not base64 ({error})") from None
