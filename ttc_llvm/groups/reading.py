"""Lists of arrays, from which the addresses of blocks are read: natively, as far as they are NumPy's own arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arguments import sequence
from ..arrays.results import is_masked
from ..errors import ArrayError
from ..ir_builders import group_fields as fields
from ..ir_builders.group_fields import Lists
from ..lazy_dataclasses import NamedTuple
from ..operands import object_fields, reading
from ..operands.addresses import data_address
from ..operands.operand import Array, Operand
from ..operands.types import spelled
from ..runtime.once import once
from . import code
from .blocks import Blocks, Shape
from .ragged import Words, addresses_of, block


class Side(NamedTuple):
    """The blocks of A or B in a list. addresses: of each; keep: what keeps their memory alive; given: the operands of
    those that are no arrays of NumPy's own class; note: tells libraries that their memory is written to."""

    addresses: Words
    keep: Any
    given: dict[int, Operand]

    def note(self) -> None:
        """Tell libraries that their memory is written to."""
        for one in self.given.values():
            if one.written is not None:
                one.written()


class Reader:
    """Reads lists of a group's blocks of A, or of B. on_device: where they have to be."""

    def __init__(self, blocks: Blocks, of_b: bool, on_device: bool = False) -> None:
        self._blocks, self._of_b, self._on_device = blocks, of_b, on_device
        self._dtype = blocks.to if of_b else blocks.of
        self._name = "list_b" if of_b else "list_a"
        self._kept = [ranked.forms(of_b) for ranked in blocks.ranked]
        self._forms = np.zeros(blocks.total, np.int64)
        for ranked, rows in zip(blocks.ranked, self._kept, strict=True):
            self._forms[ranked.numbers] = addresses_of(rows)

    def read(self, arrays: Any) -> Side:
        """The addresses of a list's arrays. ArrayError, which names the first that is not as the plan has it."""
        items = arrays if type(arrays) in (list, tuple) else sequence(self._name, arrays, ArrayError, "arrays")
        if len(items) != self._blocks.total:
            raise ArrayError(f"{self._name} has {len(items)} arrays: the plan has {self._blocks.total} blocks")
        items = tuple(items)  # which nobody changes meanwhile
        addresses, given = np.empty(len(items), np.int64), dict[int, Operand]()
        words = self._words(items, addresses)
        number = self._natively(words, 0)
        while number < len(items):
            given[number] = one = self._operand(items[number], f"{self._name}[{number}]")
            self._check(one.view, number)
            addresses[number] = one.address
            number = self._natively(words, number + 1)
        return Side(addresses, items, given)

    def _words(self, items: tuple[Any, ...], addresses: Words) -> Words:
        return block(fields.LISTS_BYTES, {
            Lists.ITEMS: id(items) + object_fields.TUPLE_ITEMS, Lists.COUNT: len(items), Lists.NDARRAY: id(np.ndarray),
            Lists.DTYPE: id(self._dtype), Lists.FLAGS: object_fields.WRITEABLE if self._of_b else 0,
            Lists.FORMS: data_address(self._forms), Lists.ADDRESSES: data_address(addresses),
        })  # fmt: skip

    def _natively(self, words: Words, number: int) -> int:
        """The first block from this one on that is not read natively."""
        read = None if self._on_device else _native()
        if read is None:
            return number
        words[Lists.NEXT // 8] = number
        return read(data_address(words))

    def _operand(self, x: Any, name: str) -> Operand:
        if is_masked(x):
            raise ArrayError(f"{name} is a masked array: transpose data and masks by plans of their own")
        found = reading.result_place(x, name) if self._of_b else reading.operand(x, name)
        if found.on_device != self._on_device:
            where = ("on the host", "on a CUDA device")
            raise ArrayError(
                f"{name} is a {type(x).__name__} {where[found.on_device]}: this plan is for blocks"
                f" {where[self._on_device]}, as `target` of `grouped` has it"
            )
        if found.conjugated:
            raise ArrayError(f"{name} is a lazily conjugated view: pass its resolve_conj()")
        return found

    def _check(self, view: Array, number: int) -> None:
        name, (shape, strides) = f"{self._name}[{number}]", self._blocks.side(number, self._of_b)
        if view.dtype != self._dtype:
            raise ArrayError(f"{name} has dtype {spelled(view.dtype)}: the plan is for {spelled(self._dtype)}")
        if view.shape != shape:
            raise ArrayError(f"{name} has shape {view.shape}: block {number} has {shape}")
        if not _same_steps(view, strides):
            argument = "out_strides" if self._of_b else "strides"
            raise ArrayError(
                f"{name} has strides {view.strides}: the plan is for {strides}; `{argument}` of `grouped` are others"
            )


def _same_steps(view: Array, strides: Shape) -> bool:
    """True where every element lies where these strides have it."""
    if not view.size:
        return True
    return all(s == t for n, s, t in zip(view.shape, view.strides, strides, strict=True) if n > 1)


@once
def _native() -> Callable[[int], int] | None:
    """The native reader; None where objects of this process are not laid out as it expects."""
    return code.functions()["read_arrays"] if object_fields.agree() else None
