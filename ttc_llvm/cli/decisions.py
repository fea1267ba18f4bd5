"""Decisions that a command line takes for the search, in the words of the canonical form; loop orders as the paper
states them, over the indices of A."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from ..errors import OptionError
from ..machine.target import Target
from ..problem.canonical import Canonical, static
from ..problem.layouts import column_major
from ..problem.problem import Problem
from ..problem.wording import number
from ..tuning.space import blocks
from ..tuning.space.choices import Forced, can_stream
from .reading import Command


def forced(command: Command, problem: Problem, canonical: Canonical, machine: Target) -> Forced:
    """The decisions that a command takes for the search. OptionError for what cannot be had."""
    return Forced(
        streaming=_streaming(command, problem, canonical, machine),
        prefetch=command.prefetch_distances,
        blockings=_blockings(command, canonical, machine),
        orders=_orders(command, problem, canonical),
    )


def _streaming(command: Command, problem: Problem, canonical: Canonical, machine: Target) -> bool | None:
    if not command.streaming_stores:
        return False if command.no_align else None
    flag = command.flag("--streamingStores")
    if command.no_align:
        raise OptionError(f"{flag} contradicts --no-align: streaming stores need an aligned B")
    if problem.beta != 0:
        raise OptionError(f"{flag} cannot be had with beta = {number(problem.beta)}: B is read, so beta must be 0")
    if not machine.streams:
        raise OptionError(f"{flag} cannot be had: {machine} has no non-temporal stores")
    if not can_stream(canonical):
        raise OptionError(
            f"{flag} cannot be had: no two elements of B are neighbours in {canonical}"
        )
    return True


def _blockings(command: Command, canonical: Canonical, machine: Target) -> tuple[tuple[int, int], ...] | None:
    """Tile sides as asked for: whole registers, or the whole axis."""
    width = blocks.width(canonical, machine)
    extents = [canonical.extents[k] for k in blocks.unit_axes(canonical)]
    for sides in command.blockings or ():
        for side, extent in zip(sides, extents, strict=True):
            if side % width and side < extent:
                wanted = "x".join(map(str, sides))
                raise OptionError(
                    f"--blockings={wanted}: {side} is no multiple of {width}, the elements of a register"
                )
    return command.blockings


def _orders(command: Command, problem: Problem, canonical: Canonical) -> tuple[tuple[int, ...], ...] | None:
    if command.loop_perm is None:
        return None
    return tuple(dict.fromkeys(to_axes(order, problem, canonical) for order in command.loop_perm))


# --- loop orders -------------------------------------------------------------------------------------------


def to_axes(order: tuple[int, ...], problem: Problem, canonical: Canonical) -> tuple[int, ...]:
    """The canonical axes of a loop order, outermost first.

    order: a permutation of A's indices as the problem was stated, outermost loop first. Indices of extent 1 have no
    loop, nor have those of rows that are moved as one item; indices that were merged share one, which runs them in
    storage order. Raises OptionError where the order asks for more.
    """
    if sorted(order) != list(range(len(problem.perm))):
        raise OptionError(
            f"loopPerm {_show(order)} is not a permutation of the {len(problem.perm)} indices of A"
        )
    homes = _homes(problem, canonical)
    if problem.elements == 0:
        return tuple(range(len(canonical.axes)))
    stated = problem.axes_a or range(len(order))
    looped = [index for index in map(stated.index, order) if index in homes]
    found = []
    for axis, group in groupby(looped, key=homes.__getitem__):
        _check_merged(tuple(group), axis, order, homes, problem)
        found.append(axis)
    unnamed = [
        axis for axis in range(len(canonical.axes)) if axis not in found
    ]  # parts of one item: innermost
    return (*found, *unnamed)


def _homes(problem: Problem, canonical: Canonical) -> dict[int, int]:
    """Index of A (of extent above 1) -> the canonical axis that its loop became part of; none for an index inside
    one item."""
    item = canonical.b.itemsize  # a wide item may be moved as several units, a short row as one item
    starts = [static(axis.stride_b) * item for axis in canonical.axes]
    strides = [stride * problem.b.itemsize for stride in column_major(problem.outer_b)]
    return {
        index: bisect_right(starts, strides[k]) - 1
        for k, index in enumerate(problem.perm)
        if problem.size[index] > 1 and strides[k] >= starts[0]
    }


def _check_merged(
    group: tuple[int, ...], axis: int, order: tuple[int, ...], homes: dict[int, int], problem: Problem
) -> None:
    """All indices of a merged loop stand side by side in the order, the one with the largest stride first."""
    stored = [index for index in reversed(problem.perm) if homes.get(index) == axis]
    if list(group) != stored:
        named = [problem.axes_a[index] for index in stored] if problem.axes_a else stored
        raise OptionError(
            f"loopPerm {_show(order)} cannot be had: indices {_show(named)} are contiguous in both tensors and"
            " merged into one loop, so they must stand side by side in this order"
        )


def _show(values: tuple[int, ...] | list[int]) -> str:
    return ",".join(map(str, values))
