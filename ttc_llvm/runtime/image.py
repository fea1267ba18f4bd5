"""Linked images: machine code that needs no linker any more, as bytes that can be stored.

An image begins with lines of text, which say what follows: code, constants and variables, each to be mapped at the next
page boundary. Its relocations are resolved (`image_linker`); what is left are slots, eight bytes each, that take
addresses: of functions and variables of the process, or of its own.
"""

from __future__ import annotations

import sys

from ..errors import CompileError
from ..lazy_dataclasses import dataclass
from ..tuning.database.packing import IMAGE

SLOT_BYTES = 8
KERNEL = "kernel"  # the function of an image that is a kernel
# Revision of what kernels compute and expect of a caller: stored code of another is not run. Also of GPU kernels.
REVISION = 3  # a complex 1 does not multiply
CODE, CONSTANTS, VARIABLES = range(3)  # the segments, in the order in which they are mapped

Slots = tuple[tuple[int, "str | int"], ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The lines of text that an image begins with.

    machine: ELF's number of it; page: bytes of the pages that its segments begin at; python: the interpreter whose
    functions it calls, "" where it calls none; facts: numbers for whoever runs it; sizes: bytes of each segment;
    zeros: bytes behind the last one that are zero at first; symbols: places by name; slots: places, and the symbols
    whose addresses belong there, or places of its own.
    """

    machine: int
    page: int
    python: str
    facts: tuple[int, ...]
    sizes: tuple[int, int, int]
    zeros: int
    symbols: dict[str, int]
    slots: Slots

    @property
    def starts(self) -> tuple[int, int, int]:
        """The places where the segments begin."""
        constants = up(self.sizes[CODE], self.page)
        return 0, constants, constants + up(self.sizes[CONSTANTS], self.page)

    @property
    def total(self) -> int:
        """Bytes that it takes in memory."""
        return self.starts[VARIABLES] + up(self.sizes[VARIABLES] + self.zeros, self.page)


def up(size: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-size // step) * step


def interpreter() -> str:
    """The interpreter that runs this, as far as its functions and objects differ from others'."""
    return f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"


def packed(head: Head, body: bytes) -> bytes:
    """The bytes of an image. body: its segments, one behind the other."""
    slots = (f"slot {place} {'at' if isinstance(to, int) else 'to'} {to}" for place, to in head.slots)
    lines = (
        f"machine {head.machine}",
        f"page {head.page}",
        f"python {head.python}",
        f"facts {' '.join(map(str, head.facts))}",
        f"sizes {' '.join(map(str, (*head.sizes, head.zeros)))}",
        *(f"symbol {place} {name}" for name, place in head.symbols.items()),
        *slots,
    )
    return IMAGE + "\n".join(lines).encode() + b"\n\n" + body


def parsed(code: bytes) -> tuple[Head, bytes]:
    """The inverse of `packed`; CompileError for bytes that are no image, or end early."""
    text, found, body = code.partition(b"\n\n")
    try:
        head = _head(text.decode().split("\n")[1:])
    except (ValueError, KeyError) as error:
        raise CompileError(f"a stored image is damaged: {error}") from None
    if not found or len(body) != sum(head.sizes) or not _fits(head):
        raise CompileError("a stored image is damaged: it does not have the size that it says")
    return head, body


def _head(lines: list[str]) -> Head:
    words = {}
    symbols: dict[str, int] = {}
    slots: list[tuple[int, str | int]] = []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "symbol":
            place, _, name = rest.partition(" ")
            symbols[name] = int(place)
        elif word == "slot":
            place, kind, to = rest.split(" ")
            slots.append((int(place), int(to) if kind == "at" else to))
        else:
            words[word] = rest
    code, constants, variables, zeros = map(int, words["sizes"].split())
    facts = tuple(map(int, words["facts"].split()))
    machine, page = int(words["machine"]), int(words["page"])
    return Head(machine, page, words["python"], facts, (code, constants, variables), zeros, symbols, tuple(slots))


def _fits(head: Head) -> bool:
    """True where nothing lies outside."""
    places = (*head.symbols.values(), *(to for _, to in head.slots if isinstance(to, int)))
    room = head.total - SLOT_BYTES
    sound = head.page > 0 and min((*head.sizes, head.zeros)) >= 0
    return sound and all(0 <= place < head.total for place in places) and all(0 <= at <= room for at, _ in head.slots)
