"""ELF object files as values: sections, symbols and relocations, of both classes and both byte orders.

Source: System V ABI, "Object Files". What the bytes promise and do not hold ends in an `Ended`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ..lazy_dataclasses import NamedTuple

MAGIC = b"\x7fELF"
RELOCATABLE = 1  # e_type of an object that is still to be linked
UNDEFINED = 0  # section of a symbol that another object defines
TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM: stripped libraries have the second alone
RELOCATIONS, SHORT_RELOCATIONS = 4, 9  # SHT_RELA, SHT_REL
EMPTY = 8  # SHT_NOBITS, which takes no bytes of the file
WRITE, ALLOCATED, EXECUTED = 1, 2, 4  # bits of sh_flags

Ended = (struct.error, IndexError, ValueError, UnicodeDecodeError)  # what reading a damaged file raises


class Section(NamedTuple):
    """A section. link, info: sections that it refers to; align: of its address, in bytes."""

    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class Symbol(NamedTuple):
    """A symbol. binding: 0 = local; section: that defines it; value: its place there; other: place of its st_other in
    the file."""

    name: str
    binding: int
    section: int
    value: int
    other: int


class Relocation(NamedTuple):
    """A place in the code that depends on where a symbol comes to lie. symbol: its number in the symbol table."""

    place: int
    kind: int
    symbol: int
    addend: int


class _Layout(NamedTuple):
    """Where one class of ELF keeps what is read here. header: e_shoff, e_shentsize, e_shnum, e_shstrndx from `at`;
    section: the fields of `Section`, sh_addr left out; symbol: st_name, st_info, st_shndx, st_value as `order` has
    them; other: offset of a symbol's st_other; relocation: r_offset, r_info, r_addend; shift: bits of a type."""

    header: str
    at: int
    section: str
    symbol: str
    order: tuple[int, int, int, int]
    other: int
    relocation: str
    shift: int


_LAYOUTS = {
    1: _Layout("I10xHHH", 32, "III4xIIIII", "II4xBxH", (0, 2, 3, 1), 13, "IIi", 8),  # ELFCLASS32
    2: _Layout("Q10xHHH", 40, "IIQ8xQQIIQ", "IBxHQ8x", (0, 1, 2, 3), 5, "QQq", 32),  # ELFCLASS64
}
_ORDERS = {1: "<", 2: ">"}  # ELFDATA2LSB, ELFDATA2MSB


def is_readable(data: bytes) -> bool:
    """True for ELF files of a known class and byte order."""
    return data[:4] == MAGIC and len(data) > 5 and data[4] in _LAYOUTS and data[5] in _ORDERS


class Elf:
    """The file in these bytes; `Ended` where they hold no sections."""

    def __init__(self, data: bytes) -> None:
        if not is_readable(data):
            raise ValueError("these bytes are no ELF file")
        self.data, self._layout, self._order = data, _LAYOUTS[data[4]], _ORDERS[data[5]]
        self.kind, self.machine = struct.unpack_from(self._order + "HH", data, 16)
        self.sections = tuple(self._sections())

    def _sections(self) -> Iterator[Section]:
        layout, order, data = self._layout, self._order, self.data
        start, size, count, names = struct.unpack_from(order + layout.header, data, layout.at)
        rows = [struct.unpack_from(order + layout.section, data, start + k * size) for k in range(count)]
        for name, *rest in rows:
            yield Section(self._text(rows[names][3] + name), *rest)

    def bytes_of(self, section: Section) -> bytes:
        """A section's content, zeros where the file has none."""
        if section.kind == EMPTY:
            return bytes(section.size)
        found = self.data[section.offset : section.offset + section.size]
        if len(found) != section.size:
            raise ValueError("a section ends behind the file")
        return found

    def symbols(self) -> list[Symbol]:
        """All symbols, of all symbol tables."""
        return [one for table in self.sections if table.kind in TABLES for one in self._symbols(table)]

    def _symbols(self, table: Section) -> Iterator[Symbol]:
        layout, names = self._layout, self.sections[table.link].offset
        form = struct.Struct(self._order + layout.symbol)
        for place in range(table.offset, table.offset + table.size, form.size):
            found = form.unpack_from(self.data, place)
            name, info, section, value = (found[k] for k in layout.order)
            yield Symbol(self._text(names + name), info >> 4, section, value, place + layout.other)

    def relocations(self, table: Section) -> Iterator[Relocation]:
        """The entries of a table of relocations."""
        layout = self._layout
        form = struct.Struct(self._order + layout.relocation)
        for place in range(table.offset, table.offset + table.size, form.size):
            where, info, addend = form.unpack_from(self.data, place)
            yield Relocation(where, info & ((1 << layout.shift) - 1), info >> layout.shift, addend)

    def _text(self, start: int) -> str:
        return self.data[start : self.data.index(b"\0", start)].decode()
