"""The layouts that are remembered: a native table (`ir_builders.layout_table`) that native code and Python share.

A *layout* is what `ir_builders.layout_fields` describes, as bytes. Its prepared call is planned natively onto the
any-size kernel of its family, or Python puts a kernel of the layout's own there.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir_builders import planner_fields as fields
from ..ir_builders.layout_fields import CALL_BYTES, KERNEL, KERNEL_BYTES, LEFT, PARAMS, PREPARED_BYTES
from ..ir_builders.pool_layout import HELD_BYTES, SERIAL_BYTES
from ..lazy_dataclasses import NamedTuple
from ..operands.addresses import data_address
from ..runtime.once import once
from .family_kernels import FamilyKernels
from .layout_code import ROWS, SINGLE, entries, facts, functions

if TYPE_CHECKING:
    from ..operands.operand import Array
    from ..runtime.executable import Direct, Executable

CAPACITY = 1 << 15  # layouts remembered
MOST_BYTES = 40 << 20  # that they take at most: 20,000 of 64 axes; everyday ones take half a KiB
MOST_OWNED = 512  # layouts with a kernel of their own: some 70 KiB each
PAYBACK_BYTES = 32 << 20  # moved by any-size kernels before a layout gets its own: a third of what compiling takes

FOR_EVER = 1 << 62  # bytes that a layout with a kernel of its own may move

Reach = tuple[int, int]
_WORDS = struct.Struct(f"{CALL_BYTES // 8}q")
_COPIED = (PREPARED_BYTES + fields.PARAMS_BYTES) // 8


class Known(NamedTuple):
    """A prepared call when it was looked up: the words of `ir_builders.layout_fields`, and what keeps them.

    parts: 0 where only the executable can make the call; without one, too, it cannot be made as it is.
    """

    offset_a: int
    offset_b: int
    params: int
    odd_of: int
    odd_to: int
    left: int
    weight: int
    parts: int
    held: int
    owner: int
    low_of: int
    end_of: int
    low_to: int
    end_to: int
    places_a: int
    places_b: int
    whole_b: int
    kernel: int
    tasks: int
    scratch: int
    words: Array
    executable: Executable | None
    layout: bytes

    @property
    def serves(self) -> bool:
        """True where the call can be made, once addresses are even."""
        return self.parts != 0 or self.executable is not None


class Layouts:
    """The table of layouts. Safe in several threads.

    address: of the table, for native code; rests_until: before that time (`time.monotonic`) no layout that is known
    gets a kernel of its own, so that compiling takes a part of the time only; families: their kernels.
    """

    def __init__(self) -> None:
        self._native = functions()
        self.families = FamilyKernels()
        self._words = np.zeros(fields.TABLE_BYTES // 8, np.int64)
        self.address = data_address(self._words)
        row, past, cached = facts()
        self._set(fields.ITEM_BYTES, row)
        self._set(fields.FAMILIES, self.families.address)
        self._set(fields.COPY, *self._copies(past, cached))
        found = entries()
        self._set(fields.SHORT_ROWS, *(found[name] for name in (*ROWS, *fields.PICKED, *SINGLE)))
        python = ctypes.pythonapi
        used = (python.PyMem_RawMalloc, python.PyMem_RawFree, python.Py_IncRef, python.Py_DecRef)
        self._set(fields.ALLOCATE, *map(_address, used), id(None), id(False))
        self.reset()

    def __len__(self) -> int:
        return self._word(fields.COUNT)

    @property
    def nbytes(self) -> int:
        """Bytes that layouts take, and the lists through which they are found."""
        return self._word(fields.BYTES) + 16 * self._word(fields.ROOM)

    @property
    def copy_past(self) -> int:
        """The address of memcpy, where copies may be written past the caches; else 0."""
        return self._word(fields.COPY) if self._word(fields.COPY_BYTES_PAST) else 0

    @property
    def is_full_of_kernels(self) -> bool:
        """True where as many layouts as may have kernels of their own."""
        return self._word(fields.OWNED) >= self._word(fields.MOST_OWNED)

    @property
    def has_kernels(self) -> bool:
        """True where a layout has a kernel of its own."""
        return self._word(fields.OWNED) > 0

    @property
    def payback(self) -> int:
        """Bytes that a layout moves by any-size kernels before one of its own pays."""
        return self._word(fields.BUDGET)

    def reset(
        self,
        capacity: int = CAPACITY,
        most_bytes: int = MOST_BYTES,
        most_owned: int = MOST_OWNED,
        payback: int = PAYBACK_BYTES,
    ) -> None:
        """Forget every layout, and set the bounds: see the constants of this module."""
        self.clear()
        self._set(fields.MOST, capacity, most_bytes, most_owned)
        self._set(fields.BUDGET, payback)
        self._set(fields.SERIAL_BYTES, SERIAL_BYTES, HELD_BYTES)
        self.rests_until = 0.0

    def clear(self) -> None:
        """Forget every layout."""
        self._native["clear"](self.address)

    def recall(self, layout: bytes) -> Known | None:
        """Look a layout up, and count a call; None where it is not known."""
        words = np.empty(_COPIED, np.int64)
        owner = self._native["recall"](self.address, layout, data_address(words))
        return None if owner is False else Known._make((*_WORDS.unpack_from(words.data), words, owner, layout))

    def planned(self, layout: bytes, checked: bool) -> Known | int:
        """The call of the family's kernel, from now on known, or the planner's reason why there is none.

        checked: elements of the result are known to share no memory.
        """
        words = np.empty(_COPIED, np.int64)
        prepared = data_address(words)
        given = self.address, layout, prepared, prepared + PREPARED_BYTES, int(checked)
        while (status := self._native["plan"](*given)) > 0:
            self.families.provide(status - 1)
        if status != fields.PLANNED:
            return int(status)
        return self._kept(layout, words, None)

    def own(self, layout: bytes, executable: Executable | None, reaches: tuple[Reach, Reach], odd: Reach) -> Known:
        """Remember an executable of the layout's own, or by None that nothing serves it as it is; what is known now.

        reaches: lowest byte and end of each side, from element 0; odd: address bits of each that must be clear.
        """
        return self._kept(layout, _whole(prepared(executable, reaches, odd)), executable)

    def served(self, layout: bytes, call: Sequence[int], params: Sequence[int]) -> Known:
        """Remember the call of a kernel that lives for ever, whose first words are these; what is known now."""
        words = _whole(call)
        words[PREPARED_BYTES // 8 :][: len(params)] = params
        words[PARAMS // 8] = data_address(words) + PREPARED_BYTES
        return self._kept(layout, words, None)

    def note_call(self, known: Known, a: int, b: int) -> None:
        """Let native code make the call that a layout's own executable has made at these addresses, if it can."""
        if known.executable is None or (known.parts and not known.places_a | known.places_b | known.whole_b):
            return
        direct, odd = known.executable.direct_at(a, b), (known.odd_of, known.odd_to)
        if (b + direct.offset_b) & direct.places[2]:
            return
        words = _whole(_words(direct, odd, known.owner, known[10:14]))
        other = ((a + direct.offset_a) & direct.places[0] != 0) + 2 * ((b + direct.offset_b) & direct.places[1] != 0)
        kernels, size = slice(KERNEL // 8, PREPARED_BYTES // 8), KERNEL_BYTES // 8
        kernel = words[kernels][:size].copy()
        words[kernels] = known.words[kernels]
        words[kernels][other * size :][:size] = kernel
        self._kept(known.layout, words, known.executable)

    def renew(self, layout: bytes) -> None:
        """Look at a layout anew when it has moved `payback` bytes more."""
        self._native["renew"](self.address, layout, self.payback)

    def _kept(self, layout: bytes, words: Array, owner: Executable | None) -> Known:
        known = Known._make((*_WORDS.unpack_from(words.data), words, owner, layout))
        words[LEFT // 8] -= known.weight  # the call that is made of it
        self._native["put"](self.address, layout, data_address(words))  # without memory for it, it is planned each time
        return known

    def _copies(self, past: int, cached: int) -> tuple[int, ...]:
        """What the planner needs for copies that permute nothing, with two of the machine's facts."""
        try:
            copy = _address(ctypes.CDLL(None).memcpy)
        except (AttributeError, OSError, TypeError):  # on other systems
            return (0,) * 5
        found = entries()
        return copy, found["copy_bytes"], found["copy_bytes_past"] if past else 0, cached, past

    def _set(self, offset: int, *values: int) -> None:
        self._words[offset // 8 :][: len(values)] = values

    def _word(self, offset: int) -> int:
        return int(self._words[offset // 8])


def prepared(executable: Executable | None, reaches: tuple[Reach, Reach], odd: Reach) -> tuple[int, ...]:
    """The words of a prepared call, with the arguments of `Layouts.own`."""
    direct = None if executable is None else executable.direct()
    return _words(direct, odd, 0 if executable is None else id(executable), (*reaches[0], *reaches[1]))


def _words(direct: Direct | None, odd: Reach, owner: int, reaches: tuple[int, ...]) -> tuple[int, ...]:
    """The same of a call of an executable with this identity."""
    if direct is None:
        return (0, 0, 0, *odd, FOR_EVER, 1, 0, 0, owner, *reaches, *[0] * 6)
    call = (direct.kernel.address, direct.tasks, direct.kernel.scratch)
    how = (direct.parts, direct.held, owner)
    return (direct.offset_a, direct.offset_b, 0, *odd, FOR_EVER, 1, *how, *reaches, *direct.places, *call)


def _whole(call: Sequence[int]) -> Array:
    """A prepared call, whose first words these are, with room for its parameters."""
    words = np.zeros(_COPIED, np.int64)
    words[: len(call)] = call
    return words


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@once
def layouts() -> Layouts:
    """The table of this process."""
    return Layouts()
