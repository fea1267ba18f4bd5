"""The best plan of a contraction: by the machine's speeds, or timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from ..problem import dtypes
from ..problem.contraction import Contraction
from ..runtime import runtime
from . import measuring
from .blocks import Pieces, blocked, executed
from .execution import Execution
from .merged import merge
from .plan import Products
from .space import plans

ROUNDS = 3


def planned(stated: Contraction, threads: int | None, effort: int) -> Execution | Pieces:
    """The execution of the best plan. effort: plans that are timed, -1 = all; 1 = none."""
    many = runtime.num_threads() if threads is None else threads
    speeds = measuring.measured(str(stated.dtype), many)
    ranked = sorted(_every(stated), key=speeds.seconds)
    if effort == 1:
        return executed(stated, ranked[0], threads)
    return _fastest(stated, ranked, threads, len(ranked) if effort < 0 else effort)


def _every(stated: Contraction) -> Iterator[Products]:
    """All plans, and those with blocks."""
    for products in plans(merge(stated)):
        yield products
        pieces = blocked(stated, products)
        if pieces is not None:
            yield pieces


def _fastest(stated: Contraction, ranked: list[Products], threads: int | None, effort: int) -> Execution | Pieces:
    """The fastest of the first plans, timed in turns on tensors of its own that lie as stated."""
    a, b, c = (_like(stated, name) for name in "abc")
    candidates = [executed(stated, products, threads) for products in islice(ranked, effort)]
    best = [float("inf")] * len(candidates)
    for turn in range(ROUNDS + 1):  # the first one brings memory and code
        for k, candidate in enumerate(candidates):
            start = time.perf_counter()
            candidate.run(a, b, c, stated.alpha, stated.beta)
            if turn:
                best[k] = min(best[k], time.perf_counter() - start)
    return candidates[min(range(len(best)), key=best.__getitem__)]


def _like(stated: Contraction, operand: str) -> npt.NDArray[np.generic]:
    """An array that lies as an operand does."""
    shape, strides, kind = stated.shape(operand), stated.strides(operand), dtypes.to_numpy(stated.element)
    spans = [(extent - 1) * step for extent, step in zip(shape, strides, strict=True)]
    if 0 in shape:
        return np.empty(shape, kind)
    before = -sum(min(span, 0) for span in spans)
    memory = np.ones(before + sum(max(span, 0) for span in spans) + 1, kind)
    steps = [step * kind.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(memory[before:], shape, steps)
