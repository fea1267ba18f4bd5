"""Machine code as the database stores it: packed, bounded, tied to its plan, signed. What may not be linked here, or is
not worth storing, is left out, which is said once."""

from __future__ import annotations

import hmac
import json
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database import trust
from ttc_llvm.tuning.database.field_rules import are_objects
from ttc_llvm.tuning.database.notices import warn_once
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.database.signing import own_secret, signature

MAX_CODE = 16 << 20  # bytes of all objects of a row
MAX_HEAD = 1 << 16  # bytes of their names and sizes
MAX_PACKED = MAX_CODE + (1 << 20)  # bytes of them as they are stored, which may not shrink at all

Objects = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """The code of one solution for one set of versions, as it is stored; nothing of it has been checked.

    objects: packed; image: linked code, and extra: a JSON object, for later versions of this program; digest: the
    signature of all of it.
    """

    versions: Any
    plan: Any
    objects: Any
    image: Any
    digest: Any
    extra: Any = "{}"

    def signature(self, secret: bytes, request: Request) -> bytes:
        """The digest that it has if it is the code of this request."""
        fields = (self.versions, self.objects, self.image, self.extra)
        return signature(secret, (request.kind, request.id, self.plan, request.target, *fields))

    def is_signed(self, secret: bytes | None, request: Request) -> bool:
        """True where it is the code of this request, signed with this secret."""
        fields = (self.versions, self.plan, self.objects, self.image, self.extra)
        if secret is None or not isinstance(self.digest, bytes):
            return False
        if not all(one is None or isinstance(one, (str, bytes)) for one in fields):
            return False
        return hmac.compare_digest(self.digest, self.signature(secret, request))


def linkable(path: Path, place: Path, request: Request, code: Code | None) -> Objects:
    """The objects that this request may link: of its versions, and signed by this user or in a trusted file.

    path, place: the database as it was named, and with all symbolic links resolved.
    """
    if code is None or code.versions != request.versions or code.objects is None:
        return ()
    found = trust.standing(place)
    if not found.safe:
        warn_once(path, "shared", trust.shared(path))
        return ()
    if not found.trusted and not code.is_signed(own_secret(), request):
        if own_secret() is not None:
            unsigned = "holds machine code that this user has not signed: it is not run, but built anew"
            warn_once(path, "signature", f"solutions database {path} {unsigned}")
        return ()
    try:
        return unpack(code.plan, code.objects)
    except DatabaseError as error:
        warn_once(path, request.id, f"solutions database {path}: code of row {request.id} is ignored: {error}")
        return ()


def signed(path: Path, record: Record) -> Code | None:
    """A record's code as it is stored; None where it could not be run later."""
    secret = own_secret()
    try:
        if secret is None:
            return None
        made = Code(record.request.versions, record.plan, pack(record.plan, record.objects), None, b"")
        return replace(made, digest=made.signature(secret, record.request))
    except DatabaseError as error:
        key = record.request.id
        warn_once(path, key, f"solutions database {path}: code of row {key} is left out: {error}")
        return None


# --- packing -----------------------------------------------------------------------------------------------


def fits(objects: Objects) -> bool:
    """True where objects are small enough to be stored."""
    return sum(len(data) for _, data in objects) <= MAX_CODE


def pack(plan: str, objects: Objects) -> bytes:
    """A line of JSON with the plan, names and sizes, then all bytes, compressed. That the code is this plan's counts:
    run with another plan's task grid, it would write wherever it pleases."""
    head = json.dumps([plan, [(name, len(data)) for name, data in objects]]).encode()
    body = b"".join(data for _, data in objects)
    if len(head) >= MAX_HEAD or not fits(objects):
        raise DatabaseError(f"objects take {len(body)} bytes, their names {len(head)}: too many to be stored")
    return zlib.compress(b"\n".join((head, body)))


def unpack(plan: str, given: Any) -> Objects:
    """The inverse of `pack`; DatabaseError for what is damaged, another plan's, or larger than it says."""
    try:
        return _unpacked(plan, given)
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DatabaseError(f"objects are damaged ({error})") from None


def _unpacked(plan: str, given: Any) -> Objects:
    inflating = zlib.decompressobj()
    start = inflating.decompress(given, MAX_HEAD)
    head, found, body = start.partition(b"\n")
    if not found:
        raise ValueError("their sizes are missing")
    packed_plan, pairs = json.loads(head)
    if packed_plan != plan:
        raise DatabaseError("objects are not those of the plan")
    total = sum(_size(size) for _, size in pairs)
    if total > MAX_CODE:
        raise ValueError(f"{total} bytes exceed {MAX_CODE}")
    body += inflating.decompress(inflating.unconsumed_tail, max(total - len(body), 0) + 1)
    if len(body) != total or not inflating.eof or inflating.unused_data:
        raise ValueError(f"they do not fill their {total} bytes")
    objects = _cut(pairs, body)
    if not are_objects(objects):
        raise ValueError("their names are not distinct texts")
    return objects


def _size(given: Any) -> int:
    if type(given) is not int or given < 0:
        raise ValueError("a size is no count")
    return given


def _cut(pairs: list[tuple[str, int]], body: bytes) -> Objects:
    out, at = [], 0
    for name, size in pairs:
        out.append((name, body[at : at + size]))
        at += size
    return tuple(out)
