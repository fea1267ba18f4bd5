"""Relocations of object code that depend on distances alone, so that they hold wherever an image is mapped.

A machine is a row of `MACHINES`: what its relocations point to, and how they are written. Sources: System V ABI for
x86-64, "Relocation Types"; ELF for the Arm 64-bit Architecture, "Relocations".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from enum import Enum

from ..lazy_dataclasses import NamedTuple


class To(Enum):
    """The kinds of places that relocations point to."""

    SYMBOL = "symbol"  # code or data of the same object
    CALL = "call"  # a function, which may also be one of the process
    SLOT = "slot"  # eight bytes that hold the address of a symbol, which may be one of the process


Write = Callable[[bytearray, int, int, int], None]  # into these bytes, at this place of theirs, which lies at, that


class Rule(NamedTuple):
    """The meaning of a type of relocation. write: puts the distance there; ValueError or struct.error where it is too
    long."""

    to: To
    write: Write


class Machine(NamedTuple):
    """A machine's relocations by type, and the code that jumps to the address in a slot. call: bytes at this place,
    from the slot's."""

    rules: Mapping[int, Rule]
    jump: Callable[[int, int], bytes]


def _distance(form: str) -> Write:
    def write(code: bytearray, at: int, place: int, target: int) -> None:
        struct.pack_into(form, code, at, target - place)

    return write


def _x86_jump(place: int, slot: int) -> bytes:
    """`jmp *slot(%rip)`, whose distance counts from its end, and a trap behind it."""
    return struct.pack("<2sixx", b"\xff\x25", slot - place - 6)


_NEAR = _distance("<i")
_X86 = Machine(
    {
        2: Rule(To.SYMBOL, _NEAR),  # R_X86_64_PC32
        4: Rule(To.CALL, _NEAR),  # R_X86_64_PLT32
        9: Rule(To.SLOT, _NEAR),  # R_X86_64_GOTPCREL
        24: Rule(To.SYMBOL, _distance("<q")),  # R_X86_64_PC64
        41: Rule(To.SLOT, _NEAR),  # R_X86_64_GOTPCRELX
        42: Rule(To.SLOT, _NEAR),  # R_X86_64_REX_GOTPCRELX
    },
    _x86_jump,
)


# --- AArch64: immediates inside instructions ----------------------------------------------------------------


def _field(code: bytearray, at: int, value: int, low: int, bits: int) -> None:
    """Put a value into bits of the instruction at this place."""
    (word,) = struct.unpack_from("<I", code, at)
    mask = ((1 << bits) - 1) << low
    struct.pack_into("<I", code, at, word & ~mask | value << low & mask)


def _page(code: bytearray, at: int, place: int, target: int) -> None:
    pages = (target >> 12) - (place >> 12)
    if not -(1 << 20) <= pages < 1 << 20:
        raise ValueError("a page is too far away")
    _field(code, at, pages & 3, 29, 2)
    _field(code, at, pages >> 2, 5, 19)


def _low(scale: int) -> Write:
    def write(code: bytearray, at: int, place: int, target: int) -> None:
        if target & ((1 << scale) - 1):
            raise ValueError("an address is not aligned to what is loaded from it")
        _field(code, at, (target & 0xFFF) >> scale, 10, 12)

    return write


def _branch(code: bytearray, at: int, place: int, target: int) -> None:
    words = (target - place) >> 2
    if not -(1 << 25) <= words < 1 << 25:
        raise ValueError("a function is too far away")
    _field(code, at, words, 0, 26)


def _arm_jump(place: int, slot: int) -> bytes:
    """`adrp x16, slot; ldr x16, [x16, :lo12:slot]; br x16`."""
    code = bytearray(struct.pack("<4I", 0x90000010, 0xF9400210, 0xD61F0200, 0))
    _page(code, 0, place, slot)
    _low(3)(code, 4, place, slot)
    return bytes(code)


_ARM = Machine(
    {
        260: Rule(To.SYMBOL, _distance("<q")),  # R_AARCH64_PREL64
        261: Rule(To.SYMBOL, _NEAR),  # R_AARCH64_PREL32
        275: Rule(To.SYMBOL, _page),  # R_AARCH64_ADR_PREL_PG_HI21
        277: Rule(To.SYMBOL, _low(0)),  # R_AARCH64_ADD_ABS_LO12_NC
        278: Rule(To.SYMBOL, _low(0)),  # R_AARCH64_LDST8_ABS_LO12_NC, and so on up to 128 bits
        282: Rule(To.CALL, _branch),  # R_AARCH64_JUMP26
        283: Rule(To.CALL, _branch),  # R_AARCH64_CALL26
        284: Rule(To.SYMBOL, _low(1)),
        285: Rule(To.SYMBOL, _low(2)),
        286: Rule(To.SYMBOL, _low(3)),
        299: Rule(To.SYMBOL, _low(4)),
        311: Rule(To.SLOT, _page),  # R_AARCH64_ADR_GOT_PAGE
        312: Rule(To.SLOT, _low(3)),  # R_AARCH64_LD64_GOT_LO12_NC
    },
    _arm_jump,
)

MACHINES: Mapping[int, Machine] = {62: _X86, 183: _ARM}  # by e_machine
