"""The layout of a micro-tile's block of elements in the registers of one tensor: a run of memory per register."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from ..lazy_dataclasses import dataclass
from ..problem.canonical import Size, static

HOLE = -1  # a lane that holds no element


@dataclass(frozen=True, slots=True)
class Register:
    """One register. start: block index of lane 0's element; elements: flat block index (axis 0
    fastest) per active lane, HOLE for what lies between two of them; every lane lies one element further in memory than
    the lane before."""

    start: tuple[int, ...]
    elements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RegisterLayout:
    """A block in the registers of one tensor. run: axes of the memory runs, innermost first; lanes: register width in
    elements (a power of two); registers: rows first, then the chunks of each row."""

    run: tuple[int, ...]
    lanes: int
    registers: tuple[Register, ...]


@dataclass(frozen=True, slots=True)
class RegisterCount:
    """The run, lanes and number of registers of a layout."""

    run: tuple[int, ...]
    lanes: int
    registers: int


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


@lru_cache(maxsize=1024)
def run_axes(block: tuple[int, ...], strides: tuple[Size, ...]) -> tuple[int, ...]:
    """Axes along which the block is contiguous in memory, innermost first: stride 1 or -1, then each next axis whose
    stride, forwards or backwards, continues the run. Empty where no axis has unit stride: every element is its own
    run."""
    run: list[int] = []
    length = 1
    while True:
        step = next(
            (
                k
                for k, s in enumerate(strides)
                if k not in run and block[k] > 1 and isinstance(s, int) and abs(s) == length
            ),
            None,
        )
        if step is None:
            return tuple(run)
        run.append(step)
        length *= block[step]


def register_layout(
    block: tuple[int, ...], strides: tuple[Size, ...], width: int, rows_apart: bool = False, gaps: bool = False
) -> RegisterLayout:
    """The registers, at most `width` elements wide, that hold the block as it lies in a tensor of these strides.
    rows_apart: no register holds elements of two rows, although they follow each other in memory; gaps: where no axis
    has unit stride, registers may hold what lies between elements, which is then loaded as well."""
    run = run_axes(block, strides)
    if rows_apart:
        run = run[:1]
    if gaps and not run:
        axis = _sparse_axis(block, strides, width)
        if axis is not None:
            return _sparse(block, axis, static(strides[axis]), tuple(stride == 0 for stride in strides), width)
    broadcast = tuple(k for k, stride in enumerate(strides) if stride == 0 and k not in run)
    backwards = tuple(k for k in run if static(strides[k]) < 0)
    return _side(block, run, broadcast, backwards, width)


@lru_cache(maxsize=1024)
def register_count(
    block: tuple[int, ...], strides: tuple[Size, ...], width: int, gaps: bool = False
) -> RegisterCount:
    """The size of what `register_layout` makes, which takes much longer."""
    run = run_axes(block, strides)
    length, rows = prod([block[k] for k in run]), prod([block[k] for k, s in enumerate(strides) if s and k not in run])
    axis = _sparse_axis(block, strides, width) if gaps and not run else None
    if axis is not None:
        step = abs(static(strides[axis]))
        length, rows = min(block[axis], (width - 1) // step + 1), rows // block[axis]
        rows *= -(-block[axis] // length)
        length = (length - 1) * step + 1
    lanes = min(width, 1 << (length - 1).bit_length())
    return RegisterCount(run, lanes, rows * -(-length // lanes))


def has_vectors(block: tuple[int, ...], strides: tuple[Size, ...], width: int) -> bool:
    """True where registers of so many elements that may have gaps hold several of the block."""
    return bool(run_axes(block, strides)) or _sparse_axis(block, strides, width) is not None


def _sparse_axis(block: tuple[int, ...], strides: tuple[Size, ...], width: int) -> int | None:
    """The axis of the smallest stride, if a register holds two elements along it, or more."""
    known = {k: abs(s) for k, s in enumerate(strides) if block[k] > 1 and isinstance(s, int) and s != 0}
    axis = min(known, key=known.__getitem__, default=None)
    return None if axis is None or 2 * known[axis] > width else axis


@lru_cache(maxsize=512)
def _sparse(block: tuple[int, ...], axis: int, stride: int, broadcast: tuple[bool, ...], width: int) -> RegisterLayout:
    """The layout of a block whose rows, along this axis, have gaps: registers begin and end with an element."""
    weights = [prod(block[:k]) for k in range(len(block))]
    step, each = abs(stride), (width - 1) // abs(stride) + 1
    order = range(block[axis])[:: 1 if stride > 0 else -1]
    rows = [0]
    for k in range(len(block)):
        if k != axis and not broadcast[k]:
            rows = [i * weights[k] + row for i in range(block[k]) for row in rows]
    registers = []
    for row in rows:
        for first in range(0, len(order), each):
            found = [row + i * weights[axis] for i in order[first : first + each]]
            lanes = [found[i // step] if i % step == 0 else HOLE for i in range((len(found) - 1) * step + 1)]
            registers.append(Register(unflatten(found[0], block), tuple(lanes)))
    longest = max(len(register.elements) for register in registers)
    return RegisterLayout((), min(width, 1 << (longest - 1).bit_length()), tuple(registers))


def sparse_axis(block: tuple[int, ...], layout: RegisterLayout) -> int | None:
    """The axis along which registers have gaps; None where they have none."""
    if layout.run or layout.lanes == 1:
        return None
    first, last = (layout.registers[0].elements[k] for k in (0, -1))
    pairs = zip(unflatten(first, block), unflatten(last, block), strict=True)
    return next((k for k, (i, j) in enumerate(pairs) if i != j), None)


def rows_apart(block: tuple[int, ...], layout: RegisterLayout) -> RegisterLayout:
    """The layout of the same block where each row, along the innermost axis of its runs, begins in a register."""
    return _side(block, layout.run[:1], (), (), layout.lanes)


@lru_cache(maxsize=512)
def _side(
    block: tuple[int, ...], run: tuple[int, ...], broadcast: tuple[int, ...], backwards: tuple[int, ...], width: int
) -> RegisterLayout:
    """The layout of a block with these runs, cached: tensors differ in their strides, but hardly in runs.
    backwards: axes of the run along which memory is walked from the last index to the first."""
    weights = [prod(block[:k]) for k in range(len(block))]
    offsets, rows = [0], [0]
    for k in run:
        steps = [i * weights[k] for i in range(block[k])]
        offsets = [step + o for step in (steps[::-1] if k in backwards else steps) for o in offsets]
    for k in range(len(block)):
        if k not in run and k not in broadcast:  # one address serves a broadcast axis: index 0 stands for all
            rows = [i * weights[k] + row for i in range(block[k]) for row in rows]
    lanes = min(width, 1 << (len(offsets) - 1).bit_length())
    chunks = [offsets[first : first + lanes] for first in range(0, len(offsets), lanes)]
    elements = (tuple([row + o for o in chunk]) for row in rows for chunk in chunks)
    return RegisterLayout(run, lanes, tuple(Register(unflatten(found[0], block), found) for found in elements))


def sources(block: tuple[int, ...], strides: tuple[Size, ...]) -> tuple[int, ...]:
    """For every element of the block, the element at whose address it is read (broadcast axes share index 0)."""
    return _sources(block, tuple(stride == 0 for stride in strides))


@lru_cache(maxsize=512)
def _sources(block: tuple[int, ...], broadcast: tuple[bool, ...]) -> tuple[int, ...]:
    if not any(broadcast):
        return tuple(range(prod(block)))
    found = []
    for flat in range(prod(block)):
        index = unflatten(flat, block)
        kept = tuple(0 if shared else i for i, shared in zip(index, broadcast, strict=True))
        found.append(flatten(kept, block))
    return tuple(found)
