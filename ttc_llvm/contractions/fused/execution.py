"""A fused plan that runs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ... import locks
from ...arrays import assignment
from ...arrays.call import threads_for
from ...arrays.scalings import PLAIN
from ...lazy_dataclasses import replace
from ...lowering.micro_kernel import MicroKernel, blocks
from ...operands.addresses import data_address
from ...operands.operand import Array
from ...problem import dtypes
from ...problem.contraction import Contraction, IndexClass
from ...runtime import backend, runtime, stored_code
from ...runtime.once import once
from ...runtime.pool import Call
from ..execution import Copy, Execution, reversing, scale_result, scratch
from ..gemm import LINE
from ..merged import A, B, C
from ..space import without_copies
from .job import job, scalars
from .plan import Fused

SOURCES = (
    *(f"fused/{name}" for name in (
        "arithmetic", "axes", "build", "calls", "fields", "macro_kernel", "micro_kernel", "pack", "packing",
        "past_caches", "rows_of_c", "scatter", "streaming", "tiles",
    )),
    "memory", "micro_tile", "micro_tile_code",
)  # fmt: skip
KEPT_SCALARS = 16
SMALL = 1 << 17  # multiplications that one thread has done by the time that another is awake


class FusedExecution:
    """Runs one fused plan of a contraction on arrays that lie as the contraction says. Safe in several threads.

    threads: None = those of `set_num_threads` at each call; scratch: bytes of copies."""

    def __init__(self, contraction: Contraction, products: Fused, threads: int | None = None) -> None:
        merged = products.merged
        self.products, self._contraction, self._threads = products, contraction, threads
        self._kernel, self._dtype = micro_kernel(merged.dtype), dtypes.to_numpy(contraction.element)
        self._code = code(merged.dtype)
        self._job, self._cached = job(products, self._kernel), job(through_caches(products), self._kernel)
        self._copies, self.scratch = list[tuple[int, Copy]](), 0
        for tensor, order in enumerate(products.plan.copies):
            if order is not None:
                self._copies.append((tensor, Copy(contraction, products, tensor, self.scratch)))
                self.scratch += -(-self._copies[-1][1].bytes // LINE) * LINE
        self._reversed = [reversing(contraction, products.merged, tensor) for tensor in (A, B, C)]
        self._backwards = any(self._reversed)
        self._alone = prod(products.sizes) * products.batches < SMALL
        self._scalars: dict[tuple[complex, complex], Array] = {}
        self._no_sum = any(x.kind is IndexClass.K and x.extent == 0 for x in merged.indices)
        self._nothing = merged.elements(C) == 0

    def run(self, a: Array, b: Array, c: Array, alpha: complex = 1, beta: complex = 0) -> None:
        """`c <- alpha * a b + beta * c`. The arrays have the contraction's shapes, strides and type."""
        if self._nothing:
            return
        if self._backwards:
            a, b, c = (x if cut is None else x[cut] for x, cut in zip((a, b, c), self._reversed, strict=True))
        if self._no_sum or alpha == 0:
            scale_result(c, beta)
            return
        places = [a, b]
        if self._copies:
            try:
                memory = scratch(self.scratch)
            except MemoryError:
                forwards = replace(self.products.merged, reversed="")
                Execution(self._contraction, without_copies(forwards), self._threads).run(a, b, c, alpha, beta)
                return
            for tensor, copy in self._copies:
                of, places[tensor] = places[tensor], np.ndarray(copy.shape, self._dtype, memory, copy.offset)
                threads = threads_for(self._threads, of)
                assignment.engine().assign(of.transpose(copy.axes), places[tensor], PLAIN, threads, 1, fresh=True)
        self._multiply(places[self.products.swapped], places[not self.products.swapped], c, alpha, beta)

    def _multiply(self, left: Array, right: Array, c: Array, alpha: complex, beta: complex) -> None:
        known = self._scalars.get((alpha, beta))
        words = (self._made(alpha, beta) if known is None else known).copy()
        words[0] = data_address(c)
        made = self._cached if beta != 0 else self._job
        call = Call(
            self._code, data_address(left), data_address(right), data_address(words), made.address, made.scratch,
            made.tasks,
        )  # fmt: skip
        runtime.run(call, 1 if self._alone else runtime.num_threads() if self._threads is None else self._threads)

    def _made(self, alpha: complex, beta: complex) -> Array:
        if len(self._scalars) >= KEPT_SCALARS:
            self._scalars = {}
        made = scalars(self.products, self._kernel, alpha, beta)
        self._scalars[alpha, beta] = made
        return made


def through_caches(products: Fused) -> Fused:
    """The same plan without non-temporal stores, for C where it is read, or on no boundary of vectors."""
    plan = products.plan
    if not plan.streams:
        return products
    made = blocks(micro_kernel(products.merged.dtype), backend.host_target(), products.sizes)
    block = made.rows, plan.block[1], plan.block[2]
    return replace(products, plan=replace(plan, block=block, streams=False))


@once
def micro_kernel(dtype: str) -> MicroKernel:
    """The micro-kernel of this machine."""
    return MicroKernel.of(dtype, backend.host_target())


def revision(dtype: str) -> str:
    """The revision of the code for a data type."""
    return f"{stored_code.revision(*SOURCES)} {micro_kernel(dtype)}"


@once
def code(dtype: str) -> int:
    """The address of `multiply` for a data type."""
    what = f"fused contractions of {dtype}"
    loaded = stored_code.native(what, revision(dtype), ("multiply",), lambda: _compiled(dtype))
    _held.append(loaded)
    return loaded.address("multiply")


_held: list[Any] = []  # code whose addresses are in use


def _compiled(dtype: str) -> bytes:
    with locks.LLVM:
        from ...ir_builders.fused import build
    target = backend.host_target()
    return backend.compile_scalar(str(build.build(MicroKernel.of(dtype, target), target)), target)
