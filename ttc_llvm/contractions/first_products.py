"""Contractions until the code of fused plans is there, which another thread compiles: NumPy makes them, if they are
plain and small."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import originals
from ..operands.operand import Array
from .fused.run import Prepared

MOST, MOST_OF_BATCHES = 1 << 30, 1 << 25
"""Multiplications that NumPy does in less time than the code takes to compile: by its BLAS, and in loops of its own,
where an index stands in all three."""
AXES = 32  # that every NumPy has


def made(plan: Prepared, a: Array, b: Array, c: Array, alpha: complex, beta: complex) -> bool:
    """`c <- a b`; False, and nothing is done, where there is more to do than that, or for long."""
    if alpha != 1 or beta != 0 or any(plan.conjugate):
        return False
    of_a, of_b, of_c = map(set, plan.spec.replace("->", ",").split(","))
    sizes = dict(zip(plan.spec.replace("->", ",").replace(",", ""), (*a.shape, *b.shape, *c.shape), strict=True))
    if len(sizes) > AXES or math.prod(sizes.values()) > (MOST_OF_BATCHES if of_a & of_b & of_c else MOST):
        return False
    with np.errstate(all="ignore"):
        c[...] = originals.EINSUM(plan.spec, a, b, optimize=True)
    return True
