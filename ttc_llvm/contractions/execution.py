"""A planned contraction that runs: copies into scratch, products, and the copy of C to its place."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .. import locks
from ..arrays.scalings import PLAIN, Scaling
from ..lazy_dataclasses import replace
from ..operands.operand import Array
from ..problem import dtypes
from ..problem.contraction import OPERANDS, Contraction, IndexClass
from .copies import Copy, copies, reversing, scale_result, scratch, scratch_bytes
from .gemm import conjugated
from .merged import A, B, C, merge
from .plan import Products
from .products import products_of
from .space import without_copies
from .splitting import NO_GAINS, Gains


class Execution:
    """Runs one plan of a contraction on arrays that lie as the contraction says. Safe in several threads.

    gains: of long products that are cut; scratch: bytes that a call needs.
    """

    def __init__(
        self, contraction: Contraction, products: Products, threads: int | None = None, gains: Gains = NO_GAINS
    ) -> None:
        merged = products.merged
        self.conjugated = conjugated(products)
        self.products, self._contraction = products, contraction
        self._run = products_of(products, gains, threads)
        self._copies = copies(contraction, products)
        self.scratch = scratch_bytes(self._copies)
        self._dtype = dtypes.to_numpy(contraction.element)
        self._threads = threads
        self._reversed = [reversing(contraction.indices(name), merged.reversed) for name in OPERANDS]
        self._no_sum = any(x.kind is IndexClass.K and x.extent == 0 for x in merged.indices)
        self._nothing = merged.elements(C) == 0
        self._no_sum = self._no_sum and not self._nothing
        changed = self._nothing or self._no_sum or self._copies or self.conjugated[C]
        self._backwards = any(self._reversed)
        self._plain = not (changed or self._backwards)

    def run(self, a: Array, b: Array, c: Array, alpha: complex = 1, beta: complex = 0) -> None:
        """`c <- alpha * a b + beta * c`. The arrays have the contraction's shapes, strides and type. Where alpha is 0,
        a and b are not read: OpenBLAS's kernels of small matrices would."""
        if self._plain and alpha:
            self._run(a, b, c, alpha, beta)
        elif self._no_sum or not alpha:
            scale_result(c, beta)
        elif not self._nothing:
            arrays = [a, b, c]
            if self._backwards:
                arrays = [x if cut is None else x[cut] for x, cut in zip(arrays, self._reversed, strict=True)]
            self._around(arrays, alpha, beta)

    def _around(self, arrays: list[Array], alpha: complex, beta: complex) -> None:
        """The products with copies before and behind."""
        try:
            memory = scratch(self.scratch) if self.scratch else None
        except MemoryError:
            self.in_place().run(arrays[A], arrays[B], arrays[C], alpha, beta)
            return
        places = arrays.copy()
        for copy in self._copies:
            places[copy.tensor] = np.ndarray(copy.shape, self._dtype, memory, copy.offset)
            if copy.tensor != C:
                self.copy(arrays[copy.tensor], places[copy.tensor], copy)
        alpha = alpha.conjugate() if self.conjugated[C] else alpha
        if places[C] is arrays[C]:
            self._in_place(places, alpha, beta)
            return
        self._run(places[A], places[B], places[C], alpha, 0)
        axes = self._copies[-1].axes
        scale = self._scaling(beta, self.conjugated[C])
        self._move(places[C], arrays[C].transpose(axes), scale)

    def _in_place(self, places: list[Array], alpha: complex, beta: complex) -> None:
        """The products on C as it lies, which is conjugated before and behind them, where it has to be."""
        a, b, c = places
        turned = self.conjugated[C]
        if turned and beta != 0:
            np.conjugate(c, out=c)
        self._run(a, b, c, alpha, beta.conjugate() if turned else beta)
        if turned:
            np.conjugate(c, out=c)

    def in_place(self) -> Execution:
        """The execution, of arrays that are walked forwards, of a plan that needs no memory."""
        forwards = replace(self.products.merged, reversed="")
        return Execution(self._contraction, without_copies(forwards), self._threads)

    def copy(self, of: Array, to: Array, copy: Copy) -> None:
        """Copy A or B, conjugated where that is asked for."""
        self._move(of.transpose(copy.axes), to, self._scaling(0, self.conjugated[copy.tensor]))

    def _scaling(self, beta: complex, conjugate: bool) -> Scaling:
        if beta == 0 and not conjugate:
            return PLAIN
        made: Scaling = _pairs().scaling(self._dtype, self._dtype, 1, beta, conjugate)
        return made

    def _move(self, of: Array, to: Array, scale: Scaling) -> None:
        move(of, to, scale, self._threads)


@cache
def _copying() -> tuple[Any, ...]:
    """What only copies need; each call would take a microsecond to look it up."""
    return tuple(locks.imported(f"..arrays.{name}", __package__) for name in ("assignment", "call"))


@cache
def _pairs() -> Any:
    return locks.imported("..arrays.pairs", __package__)


def move(of: Array, to: Array, scale: Scaling = PLAIN, threads: int | None = None) -> None:
    """Copy an array, whose axes stand as the copy's. threads: None = as many as it is worth."""
    assignment, call = _copying()
    assignment.mover().assign(of, to, scale, call.threads_for(threads, to), 1, fresh=True)


def run_in_place(
    spec: str, conjugate: tuple[bool, bool], arrays: tuple[Array, Array, Array], alpha: complex, beta: complex,
    threads: int | None,
) -> None:  # fmt: skip
    """The contraction of these arrays by a plan that needs no memory."""
    pairs = zip(spec.replace("->", ",").split(","), arrays, strict=True)
    size = {index: extent for indices, x in pairs for index, extent in zip(indices, x.shape, strict=True)}
    of_a, of_b, of_c = ([step // x.itemsize for step in x.strides] for x in arrays)
    stated = Contraction(spec, size, arrays[C].dtype, of_a, of_b, of_c, 1, 0, *conjugate)
    Execution(stated, without_copies(merge(stated)), threads).run(*arrays, alpha, beta)
