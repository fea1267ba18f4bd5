"""Runs of fused plans: what they read is worked out once, and has a text, by which the database keeps it. Whoever finds
that loads no planner."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import locks
from ...ir_builders.fused import fields as f
from ...ir_builders.fused.calls import ADD, SET, TURNED
from ...lazy_dataclasses import NamedTuple
from ...operands.addresses import data_address
from ...runtime import runtime, stored_code
from ...runtime.once import once
from ...runtime.pool import Call
from ..copies import Copy, reversing, scale_result, scratch, scratch_bytes

if TYPE_CHECKING:
    from ...operands.operand import Array

KEPT_SCALARS = 16
SYMBOL = "multiply"
PRODUCTS_OF_AN_ITEM = 4  # that take as long as moving one: so much, at most, is worth waking threads
WHOLE = 1 << 30  # bytes moved: a hundredth of a second, beside which it takes longer to pack again for each part


class Prepared(NamedTuple):
    """A fused plan as its runs read it.

    spec, dtype: of the contraction, NumPy's letter; revision: of the machine's code; backwards: indices that are walked
    from their end; conjugate: A and B; swapped: rows are B's; alone: one thread does it all; nothing: C has no
    elements; no_sum: sums have no terms; job, cached: the words for C where it is written past the caches, and where it
    is not; copies: of A and B, before the products.
    """

    spec: str
    dtype: str
    revision: str
    backwards: str
    conjugate: tuple[bool, bool]
    swapped: bool
    alone: bool
    nothing: bool
    no_sum: bool
    job: tuple[int, ...]
    cached: tuple[int, ...]
    copies: tuple[Copy, ...]

    def __str__(self) -> str:
        flags = *self.conjugate, self.swapped, self.alone, self.nothing, self.no_sum
        copies = ((*copy[:3], *copy.axes, *copy.shape) for copy in self.copies)
        lines = (" ".join(map(str, map(int, numbers))) for numbers in (flags, self.job, self.cached, *copies))
        return "\n".join((f"{self.spec} {self.dtype}", self.revision, self.backwards, *lines))


def parse(text: str) -> Prepared:
    """The inverse of `str(prepared)`. ValueError for other texts."""
    stated, revision, backwards, *lines = text.split("\n")
    spec, dtype = stated.split(" ")
    flags, job, cached, *copies = (tuple(map(int, line.split())) for line in lines)
    a, b, swapped, alone, nothing, no_sum = map(bool, flags)
    return Prepared(
        spec, dtype, revision, backwards, (a, b), swapped, alone, nothing, no_sum, job, cached,
        tuple(map(_copy, copies)),
    )  # fmt: skip


def _copy(numbers: tuple[int, ...]) -> Copy:
    tensor, offset, size, *rest = numbers
    rank = len(rest) // 2
    return Copy(tensor, offset, size, tuple(rest[:rank]), tuple(rest[rank:]))


class Job(NamedTuple):
    """The words, and their address; bytes of scratch of a thread; and the number of tasks."""

    words: Array
    address: int
    scratch: int
    tasks: int


def job_of(words: Any) -> Job:
    """The job of these words."""
    made: Array = np.array(words, np.int64)
    return Job(made, data_address(made), int(made[f.SCRATCH // 8]), int(made[f.TASKS // 8]))


class FusedRun:
    """Runs one fused plan on arrays that lie as its contraction says. Safe in several threads.

    threads: None = those of `set_num_threads` at each call; waits: for code that nobody has compiled yet, even if NumPy
    has the result before; scratch: bytes of copies; packed: bytes of a thread's packed blocks."""

    def __init__(self, prepared: Prepared, threads: int | None = None, waits: bool = True) -> None:
        self.prepared, self._threads = prepared, threads
        self._native, self._dtype = code(prepared.dtype, prepared.revision), np.dtype(prepared.dtype)
        self._code = self._native.loaded().address(SYMBOL) if waits or self._native.is_ready() else 0
        self._calls = 0  # before there was code
        self._job, self._cached = job_of(prepared.job), job_of(prepared.cached)
        self.scratch, self.packed = scratch_bytes(prepared.copies), self._job.scratch
        operands = prepared.spec.replace("->", ",").split(",")
        self._reversed = [reversing(indices, prepared.backwards) for indices in operands]
        self._backwards = any(self._reversed)
        self._scalars: dict[tuple[complex, complex], Array] = {}

    def run(self, a: Array, b: Array, c: Array, alpha: complex = 1, beta: complex = 0) -> None:
        """`c <- alpha * a b + beta * c`. The arrays have the contraction's shapes, strides and type."""
        plan = self.prepared
        if plan.nothing:
            return
        if not self._code:
            self._calls += 1
            waits = self._calls > stored_code.FIRST_CALLS or self._native.is_ready()
            if not waits and _first_products().made(plan, a, b, c, alpha, beta):
                return
            self._code = self._native.loaded().address(SYMBOL)
        if self._backwards:
            a, b, c = (x if cut is None else x[cut] for x, cut in zip((a, b, c), self._reversed, strict=True))
        if plan.no_sum or alpha == 0:
            scale_result(c, beta)
            return
        places = [a, b]
        if plan.copies:
            try:
                memory = scratch(self.scratch)
            except MemoryError:
                _others().run_in_place(plan.spec, plan.conjugate, (a, b, c), alpha, beta, self._threads)
                return
            for copy in plan.copies:
                of = places[copy.tensor].transpose(copy.axes)
                places[copy.tensor] = np.ndarray(copy.shape, self._dtype, memory, copy.offset)
                _others().move(of, places[copy.tensor], threads=self._threads)
        self._multiply(places[plan.swapped], places[not plan.swapped], c, alpha, beta)

    def _multiply(self, left: Array, right: Array, c: Array, alpha: complex, beta: complex) -> None:
        known = self._scalars.get((alpha, beta))
        words = (self._made(alpha, beta) if known is None else known).copy()
        words[0] = data_address(c)
        made = self._cached if beta != 0 else self._job
        call = Call(
            self._code, data_address(left), data_address(right), data_address(words), made.address, made.scratch,
            made.tasks,
        )  # fmt: skip
        threads = 1 if self.prepared.alone else runtime.num_threads() if self._threads is None else self._threads
        products = math.isqrt(left.size * right.size * c.size)
        moved = products * c.itemsize // PRODUCTS_OF_AN_ITEM
        runtime.run(call, threads, moved=moved, whole=moved >= WHOLE)

    def _made(self, alpha: complex, beta: complex) -> Array:
        if len(self._scalars) >= KEPT_SCALARS:
            self._scalars = {}
        made = scalars(self.prepared, alpha, beta)
        self._scalars[alpha, beta] = made
        return made


def scalars(prepared: Prepared, alpha: complex, beta: complex) -> Array:
    """The words of a call: no address of C yet, the way to write it, and the factors of registers."""
    turned = complex(alpha).imag != 0 or complex(beta).imag != 0
    way = (SET if beta == 0 else ADD) + turned * TURNED
    flags = prepared.conjugate
    a, b = (-1 if is_set else 1 for is_set in (flags[::-1] if prepared.swapped else flags))
    p, q = complex(alpha).real, complex(alpha).imag
    product = [(p, p * a), (-p * a * b, p * b)]
    other = [(-q * a, q), (-q * b, -q * a * b)]
    block = np.zeros(f.CALL_LATER + 96, np.uint8)
    block[:16].view(np.int64)[1] = way
    for start, factor in ((f.CALL_FIRST, complex(beta)), (f.CALL_LATER, 1 + 0j)):
        x, y = factor.real, factor.imag
        if prepared.dtype in "fd":
            pairs = [(p, p), (0, 0), (x, x), (0, 0), (0, 0), (0, 0)]
        else:
            pairs = [*product, (x, x), *other, (-y, y)]
        block[start : start + 96].view(prepared.dtype.lower())[:12] = np.ravel(pairs)
    return block.view(np.int64)


@once
def code(dtype: str, revision: str) -> stored_code.Native:
    """The function `SYMBOL` for a data type, NumPy's letter. revision: `execution.revision`."""
    what = f"fused contractions of {dtype}"
    return stored_code.Native(what, revision, (SYMBOL,), lambda: _compiled(dtype))


def _compiled(dtype: str) -> bytes:
    made: bytes = locks.imported(".execution", __package__).compiled(dtype)
    return made


@cache
def _others() -> Any:
    """What only runs with copies need."""
    return locks.imported("..execution", __package__)


def _first_products() -> Any:
    """What only calls need that come before the code."""
    return locks.imported("..first_products", __package__)
