"""The fused plans of a contraction that are worth a thought."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...lazy_dataclasses import replace
from ...lowering.micro_kernel import MicroKernel, blocks
from ...problem.contraction import IndexClass
from ...runtime import backend
from ..merged import A, B, C, Merged
from .execution import micro_kernel
from .plan import Fused, FusedPlan


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
        past = kernel.streams(target) and _on_boundaries(merged, rows, kernel)
        for streams in (False, True)[: 1 + past]:
            made = blocks(kernel, target, sizes, streams)
            if made.terms >= sizes[2] or not streams:
                block = made.rows, made.columns, made.terms
                yield Fused(merged, FusedPlan(rows, columns, terms, batches, block, streams))


def _on_boundaries(merged: Merged, rows: tuple[int, ...], kernel: MicroKernel) -> bool:
    """True where rows follow each other in C, and begin at boundaries of vectors if C does."""
    others = [index.strides[C] for number, index in enumerate(merged.indices) if number != (rows or (-1,))[-1]]
    return bool(rows) and merged.indices[rows[-1]].strides[C] == 1 and all(x % kernel.group == 0 for x in others)


def _copy(fused: Fused, tensor: int) -> tuple[int, ...] | None:
    """The order in which a tensor is copied whose elements would be packed one by one, and lie far from each other:
    rows or columns behind the terms. None for others."""
    if tensor == C or fused.is_packed_by_vectors(tensor):
        return None
    plan = fused.plan
    return (*plan.batches, *plan.terms, *(plan.rows if tensor == fused.tensors[0] else plan.columns))
