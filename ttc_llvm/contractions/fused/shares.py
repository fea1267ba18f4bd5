"""The parts of a fused plan's predicted time, and what its blocks take of the caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...runtime import backend
from ..merged import A, B
from .execution import micro_kernel
from .plan import Fused
from .rates import FusedRates


def shares(rates: FusedRates, fused: Fused, threads: int) -> dict[str, float]:
    """Seconds of each part of a predicted time, the longest first."""
    return dict(sorted(rates.parts(fused, threads).items(), key=lambda pair: -pair[1]))


def arithmetic(rates: FusedRates, fused: Fused) -> float:
    """Products of two elements a second, a sum's addition with each, that the micro-kernel reaches in the caches."""
    kernel = micro_kernel(fused.merged.dtype)
    return kernel.rows * kernel.columns / rates.term


def packed(fused: Fused) -> int:
    """Elements of A and B that are packed: rows anew for each block of columns, edges filled up to whole tiles."""
    kernel, block = micro_kernel(fused.merged.dtype), fused.plan.block
    m, n, k = fused.sizes
    rows, columns = -(-m // kernel.rows) * kernel.rows, -(-n // kernel.columns) * kernel.columns
    return fused.batches * k * (rows * -(-n // block[1]) + columns)


def caches(fused: Fused) -> Iterator[str]:
    """Each block, and what it takes of the cache that is meant to hold it."""
    target, kernel = backend.host_target(), micro_kernel(fused.merged.dtype)
    whole = (-(-n // tile) * tile for n, tile in zip(fused.sizes, (kernel.rows, kernel.columns, 1), strict=True))
    size, (rows, columns, terms) = kernel.dtype.itemsize, map(min, fused.plan.block, whole)
    tile = kernel.columns * terms * size
    yield f"L1: a tile's {kernel.columns} columns by {terms:,} terms, {_kib(tile)} of {_kib(target.l1)}"
    of_rows = rows * terms * size
    near = fused.plan.streams and of_rows + tile <= target.l1  # where stores past the caches want it
    name, room = ("L1", target.l1) if near else ("L2", target.l2)
    yield f"{name}: {rows:,} rows by {terms:,} terms, {_kib(of_rows)} of {_kib(room)}"
    yield f"the last cache: {columns:,} columns by {terms:,} terms, {_kib(columns * terms * size)}"


def ways(fused: Fused) -> Sequence[tuple[int, str]]:
    """Each operand, A or B, and the words on how it is packed."""
    sides = (fused.tensors[0], fused.plan.rows, "rows"), (fused.tensors[1], fused.plan.columns, "columns")
    found = []
    for tensor, group, name in sides:
        letters = ",".join(fused.merged.letters[number] for number in (*group, *fused.plan.terms)) or "nothing"
        how = "by vectors" if fused.is_packed_by_vectors(tensor) else f"not by vectors: neither {name} nor terms follow"
        rest = "" if fused.is_packed_by_vectors(tensor) else " each other"
        found.append((tensor, f"by {letters}, {how}{rest}"))
    return sorted(found, key=lambda pair: (A, B).index(pair[0]))


def _kib(size: int) -> str:
    return f"{size / 1024:,.4g} KiB"
