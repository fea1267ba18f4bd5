"""Copies of tensors before and behind products, the memory they are made in, and what else runs of all plans need: no
planner."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..lazy_dataclasses import NamedTuple
from ..operands.addresses import data_address

if TYPE_CHECKING:
    from ..operands.operand import Array
    from ..problem.contraction import Contraction
    from .fused.plan import Fused
    from .plan import Products

KEPT_BYTES = 256 << 20  # of scratch, by thread, between calls
LINE = 64  # bytes: scratch begins on a cache line


class Copy(NamedTuple):
    """The copy of one tensor, A, B or C: its place in scratch, its size, its axes in the copy's order, and the copy's
    shape, in C order."""

    tensor: int
    offset: int
    bytes: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]


def copies(contraction: Contraction, products: Products | Fused) -> tuple[Copy, ...]:
    """All copies of a plan, one behind the other."""
    found: list[Copy] = []
    for tensor, order in enumerate(products.plan.copies):
        if order is not None:
            found.append(copy_of(contraction, products, tensor, scratch_bytes(found)))
    return tuple(found)


def copy_of(contraction: Contraction, products: Products | Fused, tensor: int, offset: int = 0) -> Copy:
    """The copy of one tensor at this place."""
    letters = contraction.indices("abc"[tensor])
    order = "".join(products.merged.letters[number] for number in products.plan.copies[tensor] or ())
    order += "".join(letter for letter in letters if letter not in order)  # of extent 1
    axes = tuple(letters.index(letter) for letter in order)
    shape = tuple(contraction.extents[letter] for letter in order)
    return Copy(tensor, offset, products.merged.elements(tensor) * contraction.element.itemsize, axes, shape)


def scratch_bytes(made: Iterable[Copy]) -> int:
    """Bytes of scratch that these copies take."""
    return sum(-(-copy.bytes // LINE) * LINE for copy in made)


def reversing(indices: str, backwards: str) -> tuple[slice, ...] | None:
    """The view of a tensor with these indices that walks some from their end; None where it has none of them."""
    if not set(indices) & set(backwards):
        return None
    return tuple(slice(None, None, -1) if index in backwards else slice(None) for index in indices)


def scale_result(c: Array, beta: complex) -> None:
    """`c <- beta * c`, which is not read where beta is 0."""
    if beta == 0:
        c[...] = 0
    elif beta != 1:
        c *= beta


# --- scratch --------------------------------------------------------------------------------------------

_kept = threading.local()


def scratch(size: int, level: int = 0) -> Array:
    """So many bytes at least, on a cache line; what is not too much is kept for this thread's next call.

    level: of those that are in use at a time, each has its own."""
    blocks: dict[str, Array] = _kept.__dict__
    block = blocks.get(name := str(level))
    if block is not None and block.nbytes >= size:
        return block
    raw = np.empty(size + LINE, np.uint8)
    block = raw[-data_address(raw) % LINE :][:size]
    if size <= KEPT_BYTES:
        blocks[name] = block
    return block
