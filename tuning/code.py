"""Machine code as the database stores it: packed, bounded, tied to its plan, signed."""

from __future__ import annotations

import hmac
import json
import zlib
from dataclasses import dataclass, replace
from typing import Any

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.records import Record, Request, are_objects
from ttc_llvm.tuning.signing import signature

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

    def is_signed(self, secret: bytes | None, request: Request) -> bool:
        """True where it is the code of this request, signed with this secret."""
        fields = (self.versions, self.plan, self.objects, self.image, self.extra)
        if secret is None or not isinstance(self.digest, bytes):
            return False
        if not all(one is None or isinstance(one, (str, bytes)) for one in fields):
            return False
        return hmac.compare_digest(self.digest, _signed(secret, request, *fields))


def packed(record: Record, secret: bytes) -> Code:
    """The code of a record, signed; DatabaseError where it exceeds the bounds."""
    unsigned = Code(record.request.versions, record.plan, pack(record.plan, record.objects), None, b"")
    fields = (unsigned.versions, unsigned.plan, unsigned.objects, unsigned.image, unsigned.extra)
    return replace(unsigned, digest=_signed(secret, record.request, *fields))


def _signed(
    secret: bytes, request: Request, versions: str | bytes | None, plan: str | bytes | None, *code: str | bytes | None
) -> bytes:
    return signature(secret, (request.kind, request.id, plan, request.target, versions, *code))


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
