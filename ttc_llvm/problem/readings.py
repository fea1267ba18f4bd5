"""The ways in which a caller's array stands for A or B of a problem: as its memory, or by strides of its own."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from ..errors import ArrayError
from ..lazy_dataclasses import dataclass
from .layouts import column_major
from .problem import Problem

Shape = tuple[int, ...]


class Reading(Enum):
    """The relation of an array to a tensor of a problem."""

    IN_PLACE = "in place"  # its first element is the tensor's, whose strides it has, or whose storage it is
    STRIDED = "strided"  # its shape is the tensor's, its strides are others
    CUBE = "cube"  # the same, and in C order it is the shape of the storage, too


@dataclass(frozen=True, slots=True)
class Tensor:
    """A or B of a problem, as arrays are compared with it.

    shape, strides (bytes): of an array that has the tensor's elements where the problem has them; outer: its storage's
    shape in F order; elements: the least number of the storage's; axes: the array's axis that is each index, None for
    the index's own number.
    """

    name: Literal["A", "B"]
    shape: Shape
    strides: Shape
    outer: Shape
    elements: int
    axes: Shape | None

    @classmethod
    def of(cls, problem: Problem, name: Literal["A", "B"]) -> Tensor:
        """A or B of a problem."""
        if name == "A":
            size, outer, axes, itemsize = problem.size, problem.outer_a, problem.axes_a, problem.a.itemsize
        else:
            size, outer, axes, itemsize = problem.size_b, problem.outer_b, problem.axes_b, problem.b.itemsize
        steps = tuple(step * itemsize for step in column_major(outer))
        elements = problem.storage("a" if name == "A" else "b")
        if axes is None:
            return cls(name, size, steps, outer, elements, None)
        index = [axes.index(k) for k in range(len(axes))]
        shape, strides = (tuple(values[k] for k in index) for values in (size, steps))
        return cls(name, shape, strides, outer, elements, axes)

    def reading(self, shape: Shape, strides: Shape, itemsize: int) -> Reading:
        """The relation of an array of this shape and these strides (bytes) to the tensor; ArrayError for an array that
        is neither the tensor nor its storage."""
        in_c = contiguous(shape[::-1], strides[::-1], itemsize)
        if len(shape) == 1 and in_c and shape != self.shape:
            self._check_elements(shape[0])
            return Reading.IN_PLACE
        if shape == self.shape:
            if _equal(shape, strides, self.strides):
                return Reading.IN_PLACE
            cube = self.axes is None and in_c and shape == self.outer[::-1]
            return Reading.CUBE if cube else Reading.STRIDED
        in_f = contiguous(shape, strides, itemsize)
        if (in_f and shape == self.outer) or (in_c and shape == self.outer[::-1]):
            return Reading.IN_PLACE
        raise ArrayError(f"{self.name} has shape {shape}{_described(in_c, in_f, strides)}: {self._expected}")

    def _check_elements(self, count: int) -> None:
        if count < self.elements:
            raise ArrayError(f"{self.name} holds {count} elements: the problem needs {self.elements}")

    @property
    def _expected(self) -> str:
        return (
            f"the problem's has {self.shape}, with any strides; its storage is {self.outer} in F order,"
            f" {self.outer[::-1]} in C order, or {self.elements} elements in one dimension"
        )


def contiguous(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """True for an array without gaps whose first axis has the smallest stride."""
    return 0 in shape or _equal(shape, strides, tuple(step * itemsize for step in column_major(shape)))


def _equal(shape: Shape, strides: Shape, others: Shape) -> bool:
    """Whether strides lead to the same elements: those of an extent of 1 are never taken."""
    if 0 in shape:
        return True
    return all(n == 1 or one == other for n, one, other in zip(shape, strides, others, strict=True))


def _described(in_c: bool, in_f: bool, strides: Shape) -> str:
    if in_c and in_f:
        return ""
    return " in C order" if in_c else " in F order" if in_f else f" and strides {strides}"


