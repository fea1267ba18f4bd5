"""The naive loop nest on a GPU: one thread an element, numbered in the order in which the nest would reach them."""

from __future__ import annotations

from ...problem.naive import Naive
from .launch import Launch, Parameter, arguments

BLOCK = 256  # threads of a block


def blocks(nest: Naive) -> int:
    """The grid: so many blocks of BLOCK threads."""
    return -(-nest.elements // BLOCK)


def parameters(nest: Naive) -> tuple[Parameter, ...]:
    """A kernel's parameters: both tensors, and the parts of those scalars that take part."""
    return arguments(nest.scales, nest.reads_b, nest.compute)


def launch(nest: Naive, entry: str) -> Launch:
    """The launch of a nest's kernel."""
    return Launch(entry, blocks(nest), BLOCK, 0, parameters(nest), nest.a.itemsize, nest.b.itemsize)
