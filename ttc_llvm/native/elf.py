"""ELF relocatable objects, as far as libraries need them: which symbols they define, and their visibility.

Source: System V ABI, "Object Files"; both classes and both byte orders.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import ArtifactError

MAGIC = b"\x7fELF"
SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM: stripped libraries have the second alone
GLOBAL, WEAK = 1, 2  # bindings that other objects see
UNDEFINED = 0  # section of a symbol that another object defines
VISIBILITY = 3  # bits of st_other: 0 = default


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where one class of ELF keeps what is read here. header: e_shoff, e_shentsize, e_shnum from `at`;
    section: sh_type, sh_offset, sh_size, sh_link; symbol: st_name, st_info, st_shndx (in the table's order); other:
    offset of a symbol's st_other."""

    header: str
    at: int
    section: str
    symbol: str
    other: int


_LAYOUTS = {
    1: _Layout("I10xHH", 32, "4xI8xIII", "I8xBxH", 13),  # ELFCLASS32
    2: _Layout("Q10xHH", 40, "4xI16xQQI", "IBxH16x", 5),  # ELFCLASS64
}
_ORDERS = {1: "<", 2: ">"}  # ELFDATA2LSB, ELFDATA2MSB


def is_elf(data: bytes) -> bool:
    """True for ELF files."""
    return data[:4] == MAGIC


def defined_symbols(data: bytes) -> tuple[str, ...]:
    """Names of the global and weak symbols that an object defines, in its order. ArtifactError if it is no ELF."""
    return tuple(name for name, _ in _visible(data))


def with_default_visibility(data: bytes) -> bytes:
    """The same object, its global and weak symbols of default visibility. ArtifactError if it is no ELF."""
    changed = bytearray(data)
    for _, other in _visible(data):
        changed[other] &= ~VISIBILITY
    return bytes(changed)


def _visible(data: bytes) -> list[tuple[str, int]]:
    """Name and place of st_other of each global and weak symbol that an object defines."""
    if not is_elf(data) or data[4] not in _LAYOUTS or data[5] not in _ORDERS:
        raise ArtifactError("a library needs ELF objects: these bytes are none")
    try:
        return list(_symbols(data, _LAYOUTS[data[4]], _ORDERS[data[5]]))
    except (struct.error, IndexError, ValueError, UnicodeDecodeError):
        raise ArtifactError("an ELF object ends early: its symbols cannot be read") from None


def _symbols(data: bytes, layout: _Layout, order: str) -> Iterator[tuple[str, int]]:
    start, size, count = struct.unpack_from(order + layout.header, data, layout.at)
    sections = [struct.unpack_from(order + layout.section, data, start + k * size) for k in range(count)]
    form = struct.Struct(order + layout.symbol)
    for kind, offset, length, link in sections:
        if kind not in SYMBOL_TABLES:
            continue
        names = sections[link][1]
        for place in range(offset, offset + length, form.size):
            name, info, section = form.unpack_from(data, place)
            if info >> 4 in (GLOBAL, WEAK) and section != UNDEFINED:
                label = data[names + name : data.index(b"\0", names + name)].decode()
                yield label, place + layout.other
