"""What arrays are to a problem: read by their strides, taken for its storage, or refused; against the rules, spelled
out independently, for every small shape."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ttc_llvm import ArrayError, Problem
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.readings import Reading, Tensor

Array = npt.NDArray[Any]
STRIDES, STORAGE = "by strides", "storage"


def rule(problem: Problem, x: Array) -> str | None:
    """How A's array is read, in the words of docs/row_major.md; None where it is refused."""
    shape = np.empty(problem.size).transpose(np.argsort(problem.axes_a or range(len(problem.size)))).shape
    whole = x.flags.c_contiguous or x.flags.f_contiguous
    if x.shape == shape:
        return STRIDES
    if x.ndim == 1:
        return STORAGE if whole and x.size >= problem.storage("a") else None
    if x.shape == problem.outer_a and x.flags.f_contiguous:
        return STORAGE
    if x.shape == problem.outer_a[::-1] and x.flags.c_contiguous:
        return STORAGE
    return None


def element(problem: Problem, x: Array, index: tuple[int, ...], how: str) -> Any:
    """The element of A at an index of the problem, of an array that is read so."""
    if how == STRIDES:
        axes = problem.axes_a or range(len(index))
        return x[tuple(index[[*axes].index(axis)] for axis in range(x.ndim))] if index else x[()]
    flat = x.reshape(-1, order="A")
    return flat[sum(i * step for i, step in zip(index, column_major(problem.outer_a), strict=True))]


def arrays(problem: Problem) -> Iterator[Array]:
    """Arrays that could be meant, and others like them. Their elements are their places in their memory."""

    def filled(shape: tuple[int, ...], order: Any = "C") -> Array:
        made = np.empty(shape, np.float32, order=order)
        made.reshape(-1, order="A")[...] = np.arange(made.size)
        return made

    shapes = {problem.size, problem.size[::-1], problem.outer_a, problem.outer_a[::-1], (1, *problem.size)}
    for shape in sorted(shapes):
        for order in "CF":
            x = filled(shape, order)
            yield x
            yield x[tuple(slice(None, None, -1) for _ in shape)]
            larger = filled(tuple(2 * extent + 1 for extent in shape), order)
            for step in (1, 2):
                part: tuple[Any, ...] = (..., *(slice(1, 1 + step * extent, step) for extent in shape))
                yield larger[part]
    for count in {problem.storage("a") + more for more in (-1, 0, 5)} - {-1}:
        yield filled((count,))
        yield filled((2 * count,))[::2]


def problems(rank: int) -> Iterator[Problem]:
    """Problems of a rank: every small shape, whole and padded, in column-major and other orders of axes."""
    draw = random.Random(rank)
    sizes = [*itertools.product(range(4), repeat=rank)]
    for size in sizes if rank < 4 else draw.sample(sizes, 60):
        backwards = tuple(range(rank))[::-1]
        mixed = tuple(draw.sample(range(rank), rank))
        padded = tuple(extent + draw.randint(0, 2) for extent in size)
        for lda, axes in itertools.product((None, padded, (3,) * rank), (None, backwards, mixed)):
            yield Problem(backwards, size, "s", lda, axes_a=axes, axes_b=axes)


@pytest.mark.parametrize("rank", range(5))
def test_every_array_is_read_by_the_rules(rank: int) -> None:
    seen = dict.fromkeys((STRIDES, STORAGE, None), 0)
    for problem in problems(rank):
        tensor = Tensor.of(problem, "A")
        places = column_major(problem.outer_a)
        for x in arrays(problem):
            wanted = rule(problem, x)
            seen[wanted] += 1
            if wanted is None:
                with pytest.raises(ArrayError) as refusal:
                    tensor.reading(x.shape, x.strides, x.itemsize)
                assert str(refusal.value).startswith(("A has shape", "A holds")) and "\n" not in str(refusal.value)
                continue
            found = tensor.reading(x.shape, x.strides, x.itemsize)
            assert found is Reading.IN_PLACE or wanted == STRIDES, (problem, x.shape, x.strides)
            if found is not Reading.IN_PLACE:
                continue
            first = element(problem, x, (0,) * rank, wanted) if x.size and problem.elements else 0
            for index in np.ndindex(problem.size):
                step = sum(i * place for i, place in zip(index, places, strict=True))
                assert element(problem, x, index, wanted) == first + step
    assert seen[STRIDES] and seen[STORAGE] and (seen[None] or rank == 0)


def test_what_lies_as_the_problem_does_is_used_in_place() -> None:
    """Else the search would have been in vain."""
    for problem in (Problem((2, 1, 0), (8, 16, 12)), Problem((2, 1, 0), (8, 16, 12), lda=(9, 16, 20))):
        tensor = Tensor.of(problem, "A")
        whole = np.empty(problem.outer_a, np.float32, order="F")
        for x in (whole, whole[:8, :16, :12], whole.T, whole.reshape(-1, order="A")):
            assert tensor.reading(x.shape, x.strides, 4) is Reading.IN_PLACE
    image = np.empty((720, 1280, 4), np.float32)[:, :, :3]
    tensor = Tensor.of(Problem.from_arrays(image, (2, 0, 1)), "A")
    assert tensor.reading(image.shape, image.strides, 4) is Reading.IN_PLACE


def test_cubes_are_those_that_both_readings_fit() -> None:
    cube, box = Problem((1, 2, 0), (4, 4, 4)), Problem((1, 2, 0), (4, 5, 6))
    c_ordered, f_ordered = np.empty((4, 4, 4), np.float32), np.empty((4, 4, 4), np.float32, order="F")
    reading = Tensor.of(cube, "A").reading
    assert reading(c_ordered.shape, c_ordered.strides, 4) is Reading.CUBE
    assert reading(f_ordered.shape, f_ordered.strides, 4) is Reading.IN_PLACE
    assert reading(c_ordered[::-1].shape, c_ordered[::-1].strides, 4) is Reading.STRIDED
    x = np.empty((4, 5, 6), np.float32)
    assert Tensor.of(box, "A").reading(x.shape, x.strides, 4) is Reading.STRIDED
    of_arrays = Tensor.of(Problem.from_arrays(c_ordered, (2, 0, 1)), "A")
    assert of_arrays.reading(c_ordered.shape, c_ordered.strides, 4) is Reading.IN_PLACE
    assert of_arrays.reading(f_ordered.shape, f_ordered.strides, 4) is Reading.STRIDED


def test_refusals_say_what_fits() -> None:
    tensor = Tensor.of(Problem((1, 0), (8, 16), lda=(9, 16)), "A")
    for shape, strides, sentence in (
        ((16, 8), (32, 4), "A has shape (16, 8) in C order: the problem's has (8, 16), with any strides; its storage is"
         " (9, 16) in F order, (16, 9) in C order, or 143 elements in one dimension"),
        ((9, 16), (64, 4), "A has shape (9, 16) in C order: "),
        ((9, 16), (128, 4), "A has shape (9, 16) and strides (128, 4): "),
        ((142,), (4,), "A holds 142 elements: the problem needs 143"),
        ((143,), (8,), "A has shape (143,) and strides (8,): "),
    ):  # fmt: skip
        with pytest.raises(ArrayError) as refusal:
            tensor.reading(shape, strides, 4)
        assert str(refusal.value).startswith(sentence)
