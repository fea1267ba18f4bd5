"""Objects and images of a row as bytes, bounded and tied to their plan: run with another plan's task grid, code would
write wherever it pleases."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database.digests import sha256
from ttc_llvm.tuning.database.field_rules import are_objects

MAX_CODE = 16 << 20  # bytes of all objects and images of a row
MAX_HEAD = 1 << 16  # bytes of their names and sizes
MAX_PACKED = MAX_CODE + (1 << 20)  # bytes of them as they are stored, which may not shrink at all
IMAGE = b"ttc image 1\n"  # what linked images begin with; other code is objects

Objects = tuple[tuple[str, bytes], ...]
Sizes = list[tuple[str, int]]  # by name


def is_image(code: bytes) -> bool:
    """True for linked images: other code is an object, which is still to be linked."""
    return code.startswith(IMAGE)


def fits(objects: Objects) -> bool:
    """True where code is small enough to be stored."""
    return sum(len(data) for _, data in objects) <= MAX_CODE


def pack(plan: str, objects: Objects) -> bytes:
    """A line of JSON with the plan, names and sizes, then all bytes, compressed."""
    return _packed(locks.imported("json").dumps([plan, [(name, len(data)) for name, data in objects]]), b"\n", objects)


def unpack(plan: str, given: Any) -> Objects:
    """The inverse of `pack`; DatabaseError for what is damaged, another plan's, or larger than it says."""
    return _unpacked(given, b"\n", lambda head: _listed(plan, head))


def pack_images(plan: str, images: Objects) -> bytes:
    """Lines with the digest of all bytes, the plan, sizes and names, an empty line, then all bytes, compressed. Without
    JSON, which takes as long to load as all else that a call needs of the database."""
    lines = (_digest(images), plan, *(f"{len(data)} {name}" for name, data in images))
    if any(line.count("\n") or not line for line in lines):
        raise DatabaseError("the plan or the name of an image is not one line of text")
    return _packed("\n".join(lines), b"\n\n", images)


def unpack_images(plan: str, given: Any) -> Objects:
    """The inverse of `pack_images`; errors as of `unpack`."""
    digests = list[str]()

    def sizes(head: bytes) -> Sizes:
        digest, packed_plan, *lines = head.decode().split("\n")
        digests.append(digest)
        _check_plan(packed_plan, plan)
        return [(name, int(size)) for size, _, name in (line.partition(" ") for line in lines)]

    images = _unpacked(given, b"\n\n", sizes)
    if [_digest(images)] != digests:
        raise DatabaseError("images are damaged (their digest is another)")
    return images


def _digest(images: Objects) -> str:
    return str(sha256(b"".join(data for _, data in images)).hexdigest())


def _listed(plan: str, head: bytes) -> Sizes:
    packed_plan, pairs = locks.imported("json").loads(head)
    _check_plan(packed_plan, plan)
    return [(name, size) for name, size in pairs]


def _check_plan(packed: Any, plan: str) -> None:
    if packed != plan:
        raise DatabaseError("objects are not those of the plan")


def _packed(head: str, end: bytes, objects: Objects) -> bytes:
    text, body = head.encode(), b"".join(data for _, data in objects)
    if len(text) >= MAX_HEAD or not fits(objects):
        raise DatabaseError(f"objects take {len(body)} bytes, their names {len(text)}: too many to be stored")
    return zlib.compress(end.join((text, body)))


def _unpacked(given: Any, end: bytes, sizes: Callable[[bytes], Sizes]) -> Objects:
    """sizes: reads what stands before the end of the head."""
    try:
        return _read(given, end, sizes)
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DatabaseError(f"objects are damaged ({error})") from None


def _read(given: Any, end: bytes, sizes: Callable[[bytes], Sizes]) -> Objects:
    inflating = zlib.decompressobj()
    start = inflating.decompress(given, MAX_HEAD)
    head, found, body = start.partition(end)
    if not found:
        raise ValueError("their sizes are missing")
    pairs = sizes(head)
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


def _cut(pairs: Sequence[tuple[str, int]], body: bytes) -> Objects:
    out, at = [], 0
    for name, size in pairs:
        out.append((name, body[at : at + size]))
        at += size
    return tuple(out)
