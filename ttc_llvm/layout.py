"""How a micro-tile's block of elements lies in the registers of one side: a run of memory per register."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from .canonical import Size

HOLE = -1  # a lane that holds no element


@dataclass(frozen=True, slots=True)
class Register:
    """One register of a side. start: block index of lane 0's element; elements: flat block index (axis 0
    fastest) per active lane; every active lane lies one element further in memory than the lane before."""

    start: tuple[int, ...]
    elements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A block seen from one tensor. run: axes that make memory runs, innermost first; lanes: register width in
    elements (a power of two); registers: rows first, then the chunks of each row."""

    run: tuple[int, ...]
    lanes: int
    registers: tuple[Register, ...]


def unflatten(flat: int, block: tuple[int, ...]) -> tuple[int, ...]:
    """Block index of a flat element number, axis 0 fastest."""
    index = []
    for extent in block:
        flat, i = divmod(flat, extent)
        index.append(i)
    return tuple(index)


def flatten(index: tuple[int, ...], block: tuple[int, ...]) -> int:
    """The inverse of `unflatten`."""
    flat = 0
    for i, extent in zip(reversed(index), reversed(block), strict=True):
        flat = flat * extent + i
    return flat


def run_axes(block: tuple[int, ...], strides: tuple[Size, ...]) -> tuple[int, ...]:
    """Axes along which the block is contiguous in memory, innermost first: stride +-1, then each next axis
    whose stride continues the run. Empty where no axis has unit stride: every element is its own run."""
    run: list[int] = []
    length = 1
    while True:
        step = next(
            (
                k
                for k, s in enumerate(strides)
                if k not in run and block[k] > 1 and _continues(s, length, run)
            ),
            None,
        )
        if step is None:
            return tuple(run)
        run.append(step)
        length *= block[step]


def _continues(stride: Size, length: int, run: list[int]) -> bool:
    return stride == length or (not run and stride == -1)


@lru_cache(maxsize=512)
def side(block: tuple[int, ...], strides: tuple[Size, ...], width: int) -> Side:
    """The registers, at most `width` elements wide, that hold the block as it lies in a tensor of these strides."""
    run = run_axes(block, strides)
    length = prod(block[k] for k in run)
    lanes = min(width, 1 << (length - 1).bit_length())
    rows = [k for k in range(len(block)) if k not in run]
    broadcast = {k for k in rows if strides[k] == 0}
    extents = tuple(block[k] for k in run)
    backwards = bool(run) and strides[run[0]] == -1
    registers = []
    for row in range(prod(block[k] for k in rows if k not in broadcast)):
        fixed = _row_index(row, block, rows, broadcast)
        for first in range(0, length, lanes):
            positions = range(first, min(first + lanes, length))
            elements = tuple(_element(p, run, extents, backwards, fixed, block) for p in positions)
            registers.append(Register(unflatten(elements[0], block), elements))
    return Side(run, lanes, tuple(registers))


def _row_index(row: int, block: tuple[int, ...], rows: list[int], broadcast: set[int]) -> dict[int, int]:
    fixed = {}
    for k in rows:
        if k in broadcast:  # one address serves the whole axis: index 0 stands for all
            fixed[k] = 0
        else:
            row, fixed[k] = divmod(row, block[k])
    return fixed


def _element(
    position: int,
    run: tuple[int, ...],
    extents: tuple[int, ...],
    backwards: bool,
    fixed: dict[int, int],
    block: tuple[int, ...],
) -> int:
    index = [0] * len(block)
    for k, i in zip(run, unflatten(position, extents), strict=True):
        index[k] = i
    if backwards:
        index[run[0]] = block[run[0]] - 1 - index[run[0]]
    for k, i in fixed.items():
        index[k] = i
    return flatten(tuple(index), block)


@lru_cache(maxsize=512)
def sources(block: tuple[int, ...], strides: tuple[Size, ...]) -> tuple[int, ...]:
    """For every element of the block, the element at whose address it is read (broadcast axes share index 0)."""
    found = []
    for flat in range(prod(block)):
        index = unflatten(flat, block)
        found.append(flatten(tuple(0 if s == 0 else i for i, s in zip(index, strides, strict=True)), block))
    return tuple(found)
