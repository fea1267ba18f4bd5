"""Static libraries: `ar` archives in the System V and GNU form, with a symbol table, the same bytes every time.

Written here because llvmlite has no archiver and users' machines may have no `ar`. Times, owners and modes
are constants, as `ar` writes them with D.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..errors import ArtifactError
from ..lazy_dataclasses import dataclass
from . import elf

MAGIC = b"!<arch>\n"
HEADER = 60  # bytes of a member's header
LONGEST_NAME = 15  # characters that a header holds beside the slash; longer names stand in a table
LIMIT = 1 << 32  # offsets in the symbol table have 32 bits


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive."""

    name: str
    data: bytes


def write(members: Sequence[Member]) -> bytes:
    """The archive of these ELF objects, in their order. ArtifactError for other objects, for a symbol that two
    of them define, and beyond 4 GiB."""
    symbols = [(name, k) for k, member in enumerate(members) for name in elf.defined_symbols(member.data)]
    _check_distinct(members, symbols)
    names, long_names = _names(members)
    place = len(MAGIC) + _room(len(_symbol_table(symbols, [0] * len(members))))
    place += _room(len(long_names)) if long_names else 0
    offsets = []
    for member in members:
        offsets.append(place)
        place += _room(len(member.data))
    if place >= LIMIT:
        raise ArtifactError(f"an archive of {place} bytes cannot be written: its offsets have 32 bits")
    parts = [_member("/", _symbol_table(symbols, offsets), mode="0")]
    parts += [_member("//", long_names, mode="")] if long_names else []
    parts += [_member(name, member.data) for name, member in zip(names, members, strict=True)]
    return MAGIC + b"".join(parts)


def symbols(data: bytes) -> tuple[str, ...]:
    """Names in the symbol table of an archive, none where it has no table. ArtifactError if that ends early."""
    at = len(MAGIC) + HEADER
    if data[len(MAGIC) : at - 44] != b"/".ljust(16):
        return ()
    try:
        (count,) = struct.unpack_from(">I", data, at)
        length = int(data[at - 12 : at - 2])
        return tuple(name.decode() for name in data[at + 4 + 4 * count : at + length].split(b"\0")[:count])
    except (struct.error, ValueError):
        raise ArtifactError("an archive ends early: its symbols cannot be read") from None


def _check_distinct(members: Sequence[Member], symbols: Sequence[tuple[str, int]]) -> None:
    homes: dict[str, int] = {}
    for name, home in symbols:
        first = homes.setdefault(name, home)
        if first != home:
            raise ArtifactError(f"symbol {name} is defined by {members[first].name} and by {members[home].name}")


def _names(members: Sequence[Member]) -> tuple[list[str], bytes]:
    """What stands in each header, and the table of long names."""
    found, table = [], b""
    for member in members:
        if len(member.name) <= LONGEST_NAME:
            found.append(f"{member.name}/")
        else:
            found.append(f"/{len(table)}")
            table += f"{member.name}/\n".encode()
    return found, table + b"\n" * (len(table) % 2)


def _symbol_table(symbols: Sequence[tuple[str, int]], offsets: Sequence[int]) -> bytes:
    """Big-endian count and offsets, then the names; even, as GNU's."""
    places = struct.pack(f">{len(symbols) + 1}I", len(symbols), *(offsets[home] for _, home in symbols))
    table = places + b"".join(name.encode() + b"\0" for name, _ in symbols)
    return table + b"\0" * (len(table) % 2)


def _room(size: int) -> int:
    """Bytes that a member of this size takes; the next one begins at an even place."""
    return HEADER + size + size % 2


def _member(name: str, data: bytes, mode: str = "644") -> bytes:
    owner = "" if name == "//" else "0"
    fields = f"{name:<16}{owner:<12}{owner:<6}{owner:<6}{mode:<8}{len(data):<10}`\n"
    return fields.encode() + data + b"\n" * (len(data) % 2)
