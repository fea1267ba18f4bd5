"""Decisions that a command line takes for the search, in the words of the canonical form."""

from __future__ import annotations

from ..errors import OptionError
from ..machine.target import Target
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..tuning import blocks
from ..tuning.choices import Forced, can_stream
from . import loop_order
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
    if command.no_align:
        raise OptionError("--streamingStores contradicts --no-align: streaming stores need an aligned B")
    if problem.beta != 0:
        raise OptionError(
            f"--streamingStores cannot be had with beta = {problem.beta}: B is read, so beta must be 0"
        )
    if not machine.streams:
        raise OptionError(f"--streamingStores cannot be had: {machine} has no stores past the caches")
    if not can_stream(canonical):
        raise OptionError(
            f"--streamingStores cannot be had: no two elements of B are neighbours in {canonical}"
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
    return tuple(dict.fromkeys(loop_order.to_axes(order, problem, canonical) for order in command.loop_perm))
