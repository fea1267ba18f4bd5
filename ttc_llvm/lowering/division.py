"""The division of a task grid among threads, computed from the plan alone.

A part is a range of tasks, and a task is a box of elements: what each thread reads and writes is known without running
anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..problem.canonical import Canonical
from .plan import Loops

Box = tuple[tuple[int, int], ...]  # by axis, the interval [begin, end)


def edge(tasks: int, number: int, parts: int) -> int:
    """The first task of part `number`, of so many: parts are balanced and contiguous.

    `tasks * number // parts`, split so that no product overflows: `integer_code` compiles it, too.
    """
    return tasks // parts * number + tasks % parts * number // parts


def boxes(counts: Sequence[int], begin: int, end: int) -> Iterator[Box]:
    """The positions [begin, end) of a row-major grid as boxes of it: at most two for each of its axes."""
    if begin >= end:
        return
    if not counts:
        yield ()
        return
    each, rest = prod(counts[1:]), counts[1:]
    first, last = -(-begin // each), end // each
    if first > last:  # within one row
        rows = [(last, begin - last * each, end - last * each)]
    else:
        rows = [(first - 1, begin - (first - 1) * each, each), (last, 0, end - last * each)]
    for row, low, high in rows:
        if low < each:
            yield from (((row, row + 1), *inside) for inside in boxes(rest, low, high))
    if first < last:
        yield ((first, last), *((0, count) for count in rest))


@dataclass(frozen=True)
class Division:
    """A task grid and the threads that share it; threads beyond the number of tasks have nothing to do."""

    canonical: Canonical
    grid: Loops
    threads: int

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Steps of each loop of the grid."""
        return tuple(-(-self.canonical.extents[k] // step) for k, step in self.grid)

    @cached_property
    def tasks(self) -> int:
        """The size of the grid."""
        return prod(self.counts)

    @cached_property
    def parts(self) -> int:
        """Threads that have something to do."""
        return min(self.threads, self.tasks)

    @property
    def edges(self) -> list[int]:
        """The first task of each part, and the end of the last."""
        return [edge(self.tasks, part, self.parts) for part in range(self.parts + 1)]

    def part_of(self, task: int) -> int:
        """The part that runs a task."""
        return ((task + 1) * self.parts - 1) // self.tasks

    def boxes(self, begin: int, end: int) -> Iterator[Box]:
        """The elements of the tasks [begin, end), in canonical axes."""
        extents = self.canonical.extents
        for digits in boxes(self.counts, begin, end):
            box = [(0, extent) for extent in extents]
            for (k, step), (low, high) in zip(self.grid, digits, strict=True):
                box[k] = (low * step, min(high * step, extents[k]))
            yield tuple(box)

    def before(self, task: int) -> int:
        """Elements of all tasks before this one."""
        extents, each, inside = self.canonical.extents, self.tasks, self.canonical.elements
        found, around = 0 if self.grid else task * inside, 1
        for (k, step), count in zip(self.grid, self.counts, strict=True):
            each, inside = each // count, inside // extents[k]
            number, task = divmod(task, each)
            low = min(number * step, extents[k])
            found += around * low * inside
            around *= min(step, extents[k] - low)
        return found

    @cached_property
    def imbalance(self) -> float:
        """Elements of the largest part per even share of all threads; 1 = balanced."""
        largest = max(end - begin for begin, end in pairwise(map(self.before, self.edges)))
        return largest * self.threads / self.canonical.elements

    @property
    def least(self) -> float:
        """A bound below the imbalance of every assignment of whole tasks to these threads, contiguous or not: some
        thread has an even share, and one as many of the largest tasks as come on each."""
        extents = self.canonical.extents
        steps = dict(self.grid)
        whole = prod(extents[k] // step for k, step in self.grid)
        largest = prod(steps.get(k, extent) for k, extent in enumerate(extents))
        return max(1.0, -(-whole // self.threads) * largest * self.threads / self.canonical.elements)


def volume(box: Box) -> int:
    """Elements of a box."""
    return prod([max(0, end - begin) for begin, end in box])
