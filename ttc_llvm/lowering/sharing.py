"""Lines and pages of B that several threads write, and elements that they move from or to other memory nodes.

Exact where the axes of a tensor are nested in memory, each stride at least what the smaller ones span, as those of all
column-major tensors and their sub-tensors are; else an estimate. Tensors begin on a boundary of pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from ..lazy_dataclasses import NamedTuple
from ..problem.canonical import static
from ..problem.kinds import Alpha
from .division import Box, Division, boxes, volume

PAGE = 4096  # bytes
MOST_CUTS = 1 << 17  # that are looked at one by one; each of more is taken to be in a line or page of its own
Steps = tuple[tuple[int, int], ...]  # counts and strides, in elements


class _Cuts(NamedTuple):
    """Places where elements that follow each other in B have different writers, repeated along some axes. last, first:
    the elements before and after the first of them."""

    last: int
    first: int
    steps: Steps


def units(division: Division, unit: int) -> int:
    """Lines or pages of `unit` bytes that the elements of B fill."""
    return -(-division.canonical.elements * division.canonical.b.itemsize // unit)


def shared(division: Division, unit: int) -> int:
    """Lines or pages of `unit` bytes of B that more than one thread writes."""
    found: set[int] = set()
    more, size = 0, division.canonical.b.itemsize
    for cuts in _cuts(division):
        count = prod(count for count, _ in cuts.steps)
        if _unit_at(cuts, 0, size, unit) is None and not any(stride * size % unit for _, stride in cuts.steps):
            continue
        if len(found) + more + count > MOST_CUTS:
            more += count
            continue
        offsets = product(*(range(0, n * stride, stride) for n, stride in cuts.steps))
        found.update(at for at in (_unit_at(cuts, sum(offset), size, unit) for offset in offsets) if at is not None)
    return min(units(division, unit), len(found) + more)


def _unit_at(cuts: _Cuts, offset: int, size: int, unit: int) -> int | None:
    """The number of the unit that is cut; None where the cut is between two."""
    last, first = ((cuts.last + offset + 1) * size - 1) // unit, (cuts.first + offset) * size // unit
    return first if last == first else None


class _Level(NamedTuple):
    """An axis of B. step: of the grid, or the extent; weight: tasks per step; span: tasks between the first and the
    last one of the axes inside; size: elements of B between their first and their last one."""

    extent: int
    stride: int
    step: int
    weight: int
    span: int
    size: int


def _levels(division: Division) -> list[_Level]:
    """B's axes, outermost first."""
    canonical, steps = division.canonical, dict(division.grid)
    weights = {k: prod(division.counts[place + 1 :]) for place, (k, _) in enumerate(division.grid)}
    found: list[_Level] = []
    span = size = 0
    for k in reversed(canonical.along("b")):
        extent, stride = canonical.extents[k], static(canonical.strides("b")[k])
        step, weight = steps.get(k, extent), weights.get(k, 0)
        found.append(_Level(extent, stride, step, weight, span, size))
        span += (-(-extent // step) - 1) * weight
        size += (extent - 1) * stride
    return found[::-1]


def _cuts(division: Division) -> Iterator[_Cuts]:
    levels, part_of = _levels(division), division.part_of

    def inside(place: int, task: int, at: int, around: Steps) -> Iterator[_Cuts]:
        """Cuts among the axes from `place` on. task: of their first element, which is at `at`; around: the axes
        outside, along which these cuts repeat."""
        level = levels[place]
        for low in range(0, level.extent, level.step):
            length, base = min(level.step, level.extent - low), at + low * level.stride
            end, last = base + length * level.stride, task + level.span
            if part_of(task) != part_of(last):  # the tasks of all elements inside have numbers between these two
                if length > 1:
                    yield _Cuts(base + level.size, base + level.stride, (*around, (length - 1, level.stride)))
                yield from inside(place + 1, task, base, (*around, (length, level.stride)))
            task += level.weight
            if low + length < level.extent and part_of(last) != part_of(task):
                yield _Cuts(end - level.stride + level.size, end, around)

    yield from inside(0, 0, 0, ())


# --- memory nodes -------------------------------------------------------------------------------------------------


def remote(division: Division, side: str, nodes: int, page: int = PAGE) -> int:
    """Elements of A (`"a"`) or B (`"b"`) that lie on another node than the thread that moves them.

    Threads 0, 1, .. are distributed over the nodes in equal groups; each touched an equal part of the tensor first, in
    the order of memory, and a page lies where its first byte was touched.
    """
    canonical, threads = division.canonical, division.threads
    if side == "a" and canonical.kinds.alpha is Alpha.ZERO:
        return 0
    edges, local = division.edges, 0
    for node in range(nodes):
        first, end = (-(-number * threads // nodes) for number in (node, node + 1))
        tasks = (edges[min(thread, division.parts)] for thread in (first, end))
        touched = list(_touched(division, side, first, end, page))
        local += sum(volume(_common(*pair)) for pair in product(division.boxes(*tasks), touched))
    return canonical.elements - local


def _common(one: Box, other: Box) -> Box:
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))


def _touched(division: Division, side: str, first: int, end: int, page: int) -> Iterator[Box]:
    """The elements on pages that the threads [first, end) touch first."""
    canonical = division.canonical
    extents, size = canonical.extents, (canonical.a if side == "a" else canonical.b).itemsize
    strides = [static(stride) for stride in canonical.strides(side)]
    axes = [k for k in canonical.along(side) if strides[k]]
    nested = [(extents[k], abs(strides[k])) for k in axes]
    span = (sum((extent - 1) * stride for extent, stride in nested) + 1) * size
    edges = (-(-span * thread // division.threads) for thread in (first, end))
    numbers = (_first_from(-(-edge // page) * page // size, nested) for edge in edges)
    for digits in boxes([extent for extent, _ in nested], *numbers):
        box = [(0, extent) for extent in extents]
        for k, (low, high) in zip(axes, digits, strict=True):
            box[k] = (low, high) if strides[k] > 0 else (extents[k] - high, extents[k] - low)
        yield tuple(box)


def _first_from(at: int, nested: list[tuple[int, int]]) -> int:
    """The number, in the order of memory, of the first element at this offset or behind. nested: extents and strides,
    outermost first."""
    number = 0
    for place, (extent, stride) in enumerate(nested):
        index, at = divmod(at, stride)
        if index >= extent:
            return (number + 1) * prod(count for count, _ in nested[place:])
        number = number * extent + index
    return number + (at > 0)
