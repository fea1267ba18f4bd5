"""The fused plans of a contraction that are worth a thought."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import lcm

from ...lazy_dataclasses import replace
from ...lowering.micro_kernel import MicroKernel, blocks
from ...problem.contraction import IndexClass
from ...runtime import backend
from ..merged import A, B, C, Merged
from .execution import micro_kernel
from .job import rows_turned
from .packing import run_in
from .plan import Fused, FusedPlan

MANY = 4  # tiles of rows that follow each other in C, which may begin anywhere


def plans(merged: Merged) -> Iterator[Fused]:
    """Vectors along m or n; terms in the order of A or of B; C written through the caches or past them; A and B packed
    from their places, or copied first."""
    for fused in _in_place(merged):
        yield fused
        copies = tuple(_copy(fused, tensor) for tensor in (A, B, C))
        if any(copies):
            yield replace(fused, plan=replace(fused.plan, copies=copies))


def _in_place(merged: Merged) -> Iterator[Fused]:
    target, kernel = backend.host_target(), micro_kernel(merged.dtype)
    m, n, batches = (merged.of_class[kind] for kind in (IndexClass.M, IndexClass.N, IndexClass.BATCH))
    known = merged.of_class[IndexClass.K]
    orders = dict.fromkeys(tuple(x for x in merged.of_tensor(tensor) if x in known) for tensor in (A, B))
    for (rows, columns), terms in product(dict.fromkeys([(m, n), (n, m)]), orders):
        sizes = merged.extent(rows), merged.extent(columns), merged.extent(terms)
        if 0 in sizes:
            continue
        past = kernel.streams(target) and _are_lines(merged, rows, columns, kernel)
        made = blocks(kernel, target, sizes)
        block = made.rows, made.columns, made.terms
        fused = Fused(merged, FusedPlan(rows, columns, terms, batches, block))
        turn = rows_turned(fused, kernel)
        if turn:
            block = blocks(kernel, target, sizes, share=2).rows, *block[1:]
            fused = replace(fused, plan=replace(fused.plan, block=block))
        yield fused
        if past and made.terms >= sizes[2]:
            near = blocks(kernel, target, sizes, True).rows
            if not turn:
                most = near if merged.indices[rows[-1]].extent <= near else block[0]
                block = _whole_runs(fused, most, kernel), *block[1:]
            yield replace(fused, plan=replace(fused.plan, block=block, streams=True))


def _whole_runs(fused: Fused, rows: int, kernel: MicroKernel) -> int:
    """So many rows of a block, or fewer, that it holds whole runs of rows that follow each other in C: the last lines
    of a run wait for the next block where that goes on."""
    step = lcm(run_in(fused, C, fused.plan.rows), kernel.rows)
    return rows // step * step if 0 < step <= rows < fused.sizes[0] else rows


def _are_lines(merged: Merged, rows: tuple[int, ...], columns: tuple[int, ...], kernel: MicroKernel) -> bool:
    """True where tiles of C are made of whole lines, but for the first and the last one, wherever C begins: rows follow
    each other, in long runs or such as begin where lines do, and columns are so apart; or columns of half as many rows
    as a tile has follow each other."""
    strides = [index.strides[C] for index in merged.indices]
    if not rows or strides[rows[-1]] != 1:
        return False
    even = [all(strides[number] % kernel.group == 0 for number in side) for side in (rows[:-1], columns)]
    run = merged.indices[rows[-1]].extent
    if columns and 2 * run == kernel.rows and strides[columns[-1]] == run:
        return even[0] and merged.indices[columns[-1]].extent > kernel.columns
    for number in reversed(rows[:-1]):
        run *= merged.indices[number].extent if strides[number] == run else 1
    return even[1] and (even[0] or run >= MANY * kernel.rows)


def _copy(fused: Fused, tensor: int) -> tuple[int, ...] | None:
    """The order in which a tensor is copied whose elements would be packed one by one, and lie far from each other:
    rows or columns behind the terms. None for others."""
    if tensor == C or fused.is_packed_by_vectors(tensor):
        return None
    plan = fused.plan
    return (*plan.batches, *plan.terms, *(plan.rows if tensor == fused.tensors[0] else plan.columns))
