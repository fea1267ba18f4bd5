"""Objects made into images: what depends on distances alone is resolved for good."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence

from ..lazy_dataclasses import NamedTuple
from . import elf, image
from .elf import Elf, Relocation, Section, Symbol
from .image import CODE, CONSTANTS, SLOT_BYTES, VARIABLES, Head, Slots, up
from .relocations import MACHINES, Rule, To

_IGNORED = (".eh_frame",)  # for debuggers
_PER_THREAD = 0x400  # SHF_TLS
_OF_PYTHON = ("Py", "_Py")


class _Unfit(Exception):
    """The object cannot be an image."""


def linked(code: bytes, names: Sequence[str], facts: tuple[int, ...] = ()) -> bytes | None:
    """The image of an object of this machine; None where it needs a linker at every load.

    names: the functions whose addresses will be asked for; facts: numbers that the image carries. Functions and
    variables of the process are reached through slots. An object whose data holds addresses has no image, nor has one
    that lacks a symbol.
    """
    try:
        return _Linking(Elf(code)).image(names, facts)
    except (_Unfit, *elf.Ended):
        return None


class _Use(NamedTuple):
    """A relocation: the section that it changes, and the rule of its type."""

    section: int
    entry: Relocation
    rule: Rule


class _Linking:
    """An object whose sections are placed in segments, which grow by the jumps and slots that it needs."""

    def __init__(self, given: Elf) -> None:
        if given.kind != elf.RELOCATABLE or given.machine not in MACHINES:
            raise _Unfit
        self.elf, self.machine, self.symbols = given, MACHINES[given.machine], given.symbols()
        self.segments, self.zeros = (bytearray(), bytearray(), bytearray()), 0
        self.places: dict[int, tuple[int, int]] = {}  # of sections: the segment, and where in it
        self.jumps: dict[int, int] = {}  # of symbols: where in the code
        self.slots: dict[int, int] = {}  # of symbols: where in the constants

    def image(self, names: Sequence[str], facts: tuple[int, ...]) -> bytes:
        for number in self._needed():
            self._place(number)
        uses = list(self._uses())
        for use in uses:
            self._make_room(use)
        starts = self._head().starts
        for use in uses:
            self._resolve(use, starts)
        for number, at in self.jumps.items():
            jump = self.machine.jump(at, starts[CONSTANTS] + self.slots[number])
            self.segments[CODE][at : at + len(jump)] = jump
        found = {symbol.name: symbol for symbol in self.symbols if symbol.section in self.places}
        if not found.keys() >= {*names}:
            raise _Unfit
        slots = tuple((starts[CONSTANTS] + at, self._content(number, starts)) for number, at in self.slots.items())
        head = self._head(facts, {name: self._address(found[name], starts) for name in names}, slots)
        return image.packed(head, b"".join(self.segments))

    def _head(self, facts: tuple[int, ...] = (), names: dict[str, int] | None = None, slots: Slots = ()) -> Head:
        code, constants, variables = map(len, self.segments)
        calls_python = any(str(to).startswith(_OF_PYTHON) for _, to in slots)
        python = image.interpreter() if calls_python else ""
        sizes = (code, constants, variables)
        return Head(self.elf.machine, mmap.PAGESIZE, python, facts, sizes, self.zeros, names or {}, slots)

    # --- where sections lie ---

    def _needed(self) -> Iterable[int]:
        """The sections that are mapped, those without content last."""
        every = enumerate(self.elf.sections)
        found = [k for k, one in every if one.flags & elf.ALLOCATED and one.size and one.name not in _IGNORED]
        return sorted(found, key=lambda number: self.elf.sections[number].kind == elf.EMPTY)

    def _place(self, number: int) -> None:
        section = self.elf.sections[number]
        if section.flags & _PER_THREAD or section.align > mmap.PAGESIZE:
            raise _Unfit
        which = _segment(section)
        if section.kind == elf.EMPTY and which == VARIABLES:
            start = up(len(self.segments[which]) + self.zeros, max(section.align, 1))
            self.zeros = start + section.size - len(self.segments[which])
        else:
            start = self._grown(which, section.size, max(section.align, 1))
            self.segments[which][start:] = self.elf.bytes_of(section)
        self.places[number] = which, start

    def _grown(self, which: int, size: int, align: int) -> int:
        """The place of so many more bytes of a segment."""
        segment = self.segments[which]
        start = up(len(segment), align)
        segment += bytes(start - len(segment) + size)
        return start

    # --- relocations ---

    def _uses(self) -> Iterator[_Use]:
        for table in self.elf.sections:
            if table.info not in self.places or table.kind not in (elf.RELOCATIONS, elf.SHORT_RELOCATIONS):
                continue
            for entry in self.elf.relocations(table):
                rule = self.machine.rules.get(entry.kind)
                if rule is None or table.kind == elf.SHORT_RELOCATIONS:
                    raise _Unfit
                yield _Use(table.info, entry, rule)

    def _make_room(self, use: _Use) -> None:
        """A slot and a jump where the relocation needs them."""
        number = use.entry.symbol
        away = use.rule.to is To.CALL and self.symbols[number].section == elf.UNDEFINED
        if (away or use.rule.to is To.SLOT) and number not in self.slots:
            self.slots[number] = self._grown(CONSTANTS, SLOT_BYTES, SLOT_BYTES)
        if away and number not in self.jumps:
            self.jumps[number] = self._grown(CODE, len(self.machine.jump(0, 0)), SLOT_BYTES)

    def _resolve(self, use: _Use, starts: tuple[int, int, int]) -> None:
        number, (which, start) = use.entry.symbol, self.places[use.section]
        if use.rule.to is To.SLOT:
            target = starts[CONSTANTS] + self.slots[number]
        else:
            target = self.jumps[number] if number in self.jumps else self._address(self.symbols[number], starts)
        at = start + use.entry.place
        use.rule.write(self.segments[which], at, starts[which] + at, target + use.entry.addend)

    def _address(self, symbol: Symbol, starts: tuple[int, int, int]) -> int:
        if symbol.section not in self.places:  # undefined, absolute, or left out
            raise _Unfit
        which, start = self.places[symbol.section]
        return starts[which] + start + symbol.value

    def _content(self, number: int, starts: tuple[int, int, int]) -> str | int:
        symbol = self.symbols[number]
        return symbol.name if symbol.section == elf.UNDEFINED else self._address(symbol, starts)


def _segment(section: Section) -> int:
    if section.flags & elf.EXECUTED:
        return CODE
    return VARIABLES if section.flags & elf.WRITE else CONSTANTS
