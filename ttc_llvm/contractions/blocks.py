"""Contractions done piece by piece, so that what is copied stays in the caches between its copy and its use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import locks
from ..lazy_dataclasses import replace
from ..operands.operand import Array
from ..problem.contraction import OPERANDS, Contraction
from .blocking import inner
from .copies import copy_of, reversing, scale_result, scratch
from .execution import Execution
from .fused.plan import Fused
from .gemm import conjugated
from .merged import A, B, C
from .plan import Products
from .splitting import NO_GAINS, Gains

if TYPE_CHECKING:
    from .fused.execution import FusedExecution


class Pieces:
    """Runs a plan with blocks: the first of them here, others in pieces of pieces. As `Execution`."""

    def __init__(
        self, contraction: Contraction, products: Products, threads: int | None = None, gains: Gains = NO_GAINS
    ) -> None:
        self.products, self._gains = products, gains
        number, size = products.plan.blocks[0]
        self._depth = len(products.plan.blocks)
        self._reversing = [reversing(contraction.indices(name), products.merged.reversed) for name in OPERANDS]
        contraction, products = _forwards(contraction, products)
        letter = products.merged.letters[number][0]
        self._axes = [contraction.indices(name).find(letter) for name in OPERANDS]
        copied = [t for t in (A, B) if products.plan.copies[t] is not None and self._axes[t] < 0]
        self._copies = [copy_of(contraction, products, tensor) for tensor in copied]
        self._mover = Execution(contraction, replace(products, plan=replace(products.plan, blocks=())), threads)
        contraction, products = _copied(contraction, products, copied)
        self._extent, step = contraction.extents[letter], size // inner(contraction, products.merged, number)
        self._step = max(1, min(step, self._extent))
        extents = {self._step, self._extent % self._step} - {0}
        self._inner = {extent: self._piece(contraction, products, letter, extent, threads) for extent in extents}
        self.scratch: int = sum(copy.bytes for copy in self._copies) + max(x.scratch for x in self._inner.values())

    def _piece(
        self, contraction: Contraction, products: Products, letter: str, extent: int, threads: int | None
    ) -> Execution | Pieces:
        """What runs so many values of the letter."""
        number, plan = products.plan.blocks[0][0], products.plan
        merged = products.merged
        indices = list(merged.indices)
        length = extent * inner(contraction, merged, number)
        indices[number] = replace(indices[number], extent=length)
        size = tuple((x, extent if x == letter else n) for x, n in contraction.size)
        small = Products(replace(merged, indices=tuple(indices)), replace(plan, blocks=plan.blocks[1:]))
        made = replace(contraction, size=size)
        return _by_blas(made, small, threads, self._gains)

    def run(self, a: Array, b: Array, c: Array, alpha: complex = 1, beta: complex = 0) -> None:
        """As `Execution.run`."""
        if not alpha:
            scale_result(c, beta)
            return
        arrays = [x if cut is None else x[cut] for x, cut in zip((a, b, c), self._reversing, strict=True)]
        whole = arrays[A], arrays[B], arrays[C]
        for copy in self._copies:
            tensor = copy.tensor
            try:
                memory = scratch(copy.bytes, len(OPERANDS) * self._depth + tensor)
            except MemoryError:
                self._mover.in_place().run(*whole, alpha, beta)
                return
            made: Array = np.ndarray(copy.shape, arrays[tensor].dtype, memory)
            self._mover.copy(arrays[tensor], made, copy)
            arrays[tensor] = made.transpose(np.argsort(copy.axes))
        for first in range(0, self._extent, self._step):
            last = min(first + self._step, self._extent)
            parts = [_part(x, axis, first, last) for x, axis in zip(arrays, self._axes, strict=True)]
            self._inner[last - first].run(parts[A], parts[B], parts[C], alpha, beta)


Runs: TypeAlias = "Execution | Pieces | FusedExecution"


def _part(x: Array, axis: int, first: int, last: int) -> Array:
    if axis < 0:
        return x
    at = *[slice(None)] * axis, slice(first, last)
    return x[at]


def executed(
    contraction: Contraction, products: Products | Fused, threads: int | None = None, gains: Gains = NO_GAINS
) -> Runs:
    """Make what runs a plan of any kind. gains: of long products that are cut."""
    if isinstance(products, Fused):
        execution = locks.imported(".fused.execution", __package__)
        made: FusedExecution = execution.FusedExecution(contraction, products, threads)
        return made
    return _by_blas(contraction, products, threads, gains)


def _by_blas(contraction: Contraction, products: Products, threads: int | None, gains: Gains) -> Execution | Pieces:
    return (Pieces if products.plan.blocks else Execution)(contraction, products, threads, gains)


def _forwards(contraction: Contraction, products: Products) -> tuple[Contraction, Products]:
    """The same for arrays whose reversed indices have been turned around."""
    turned = products.merged.reversed
    strides = {
        f"strides_{name}": tuple(
            -step if letter in turned else step
            for letter, step in zip(contraction.indices(name), contraction.strides(name), strict=True)
        )
        for name in OPERANDS
    }
    made = replace(contraction, **strides)  # type: ignore[arg-type]
    return made, replace(products, merged=replace(products.merged, reversed=""))


def _copied(contraction: Contraction, products: Products, tensors: list[int]) -> tuple[Contraction, Products]:
    """The same where these tensors, of A and B, have been copied: they lie as their copies, conjugated where these are.
    """
    turned = conjugated(products)[C]
    merged, copies, changes = products.merged, list(products.plan.copies), dict[str, Any]()
    indices = list(merged.indices)
    for tensor in tensors:
        name = OPERANDS[tensor]
        copy = copy_of(contraction, products, tensor)
        steps = np.empty(copy.shape, np.int8).strides
        changes[f"strides_{name}"] = tuple(steps[copy.axes.index(k)] for k in range(len(steps)))
        changes[f"conjugate_{name}"] = turned
        for number, step in enumerate(products.strides(tensor)):
            strides = list(indices[number].strides)
            strides[tensor] = step
            indices[number] = replace(indices[number], strides=(strides[A], strides[B], strides[C]))
        copies[tensor] = None
    flags = [turned if tensor in tensors else flag for tensor, flag in enumerate(merged.conjugate)]
    made = replace(merged, indices=tuple(indices), conjugate=(flags[A], flags[B]))
    return replace(contraction, **changes), Products(made, replace(products.plan, copies=tuple(copies)))
