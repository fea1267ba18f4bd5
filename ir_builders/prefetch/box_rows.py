"""The rows of a box of elements in one tensor and the cache lines in them, which all kinds of prefetch iterate over."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from math import prod

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.layout import run_axes
from ttc_llvm.problem.canonical import Size, static

Index = tuple[int, ...]  # of an element, per axis


@dataclass(frozen=True, slots=True)
class BoxRows:
    """The rows of a box: runs of memory along the axes `run`, innermost first.

    extents: of the box; strides: of the tensor, in elements; size: bytes of an element; step: elements from one of a
    row to the next.
    """

    extents: Index
    strides: tuple[Size, ...]
    size: int
    run: Index
    step: int = 1

    @classmethod
    def of(cls, extents: Index, strides: tuple[Size, ...], size: int, line: int) -> BoxRows:
        """The longest rows that the box has: where no elements follow each other, along the axis of the smallest
        stride, if lines of so many bytes hold several of its elements."""
        run = run_axes(extents, strides)
        steps = {k: abs(s) for k, s in enumerate(strides) if isinstance(s, int) and s and extents[k] > 1}
        if run or not steps or min(steps.values()) * size >= line:
            return cls(extents, strides, size, run)
        axis = min(steps, key=steps.__getitem__)
        return cls(extents, strides, size, (axis,), steps[axis])

    @property
    def length(self) -> int:
        """Bytes of a row, from the first of its elements to the end of the last."""
        return self.size * (self.step * (prod(self.extents[k] for k in self.run) - 1) + 1)

    @property
    def low(self) -> int:
        """Bytes from element 0 of a row to its lowest address: not 0 where the row runs backwards."""
        return self.size * sum(min(0, (self.extents[k] - 1) * static(self.strides[k])) for k in self.run)

    def starts(self, elements: Iterable[Index] | None = None) -> Iterable[Index]:
        """The first element of every row, each once: of the rows of these elements, in their order, or of all rows of
        the box, in the order of memory."""
        elements = self._in_memory() if elements is None else elements
        return dict.fromkeys(tuple(0 if k in self.run else i for k, i in enumerate(one)) for one in elements)

    def _in_memory(self) -> Iterator[Index]:
        """One element of every row, the longest stride outermost."""
        outer = [k for k in range(len(self.extents)) if k not in self.run]
        axes = sorted(outer, key=lambda k: -abs(static(self.strides[k])))
        for place in itertools.product(*(range(self.extents[k]) for k in axes)):
            by_axis = dict(zip(axes, place, strict=True))
            yield tuple(by_axis.get(k, 0) for k in range(len(self.extents)))

    def element(self, start: Index, position: int) -> Index:
        """The element of a row at this position, counted in the order of memory."""
        index = list(start)
        for k in self.run:
            position, i = divmod(position, self.extents[k])
            index[k] = i if static(self.strides[k]) > 0 else self.extents[k] - 1 - i
        return tuple(index)

    def whole_lines(self, line: int) -> bool:
        """True where every row is a number of whole lines, and starts with one if the tensor does."""
        steps = [s * self.size for k, s in enumerate(self.strides) if k not in self.run and isinstance(s, int)]
        return self.length % line == 0 and all(step % line == 0 for step in steps)

    def lines(self, line: int, closing: bool) -> list[int]:
        """Offsets in bytes, one in every line of a row; closing: the last byte, too, for rows that begin anywhere."""
        return [*range(0, self.length, line), *([self.length - 1] if closing else [])]
