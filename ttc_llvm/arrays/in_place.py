"""Arrays whose axes are permuted in place: `out` is the array itself."""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np

from .. import locks
from ..errors import ArrayError, ProblemError
from ..lowering.items import as_items
from ..operands.addresses import data_address
from ..problem import dtypes
from ..problem.canonical import Axis
from ..problem.in_place import in_place
from ..problem.kinds import COPY, Kinds
from ..runtime import backend
from ..runtime.executable import Executable
from .pairs import ALIGNED, Array, Scaling

KEPT = 256  # layouts whose code is at hand


def permute(of: Array, to: Array, scale: Scaling, threads: int, effort: int) -> None:
    """`to <- alpha * of + beta * to`, where `is_permuted`. ArrayError where it cannot be done in place."""
    address = data_address(to)
    if backend.host_target().natural and address % min(ALIGNED, to.dtype.alignment):
        raise ArrayError(
            f"out begins at an odd address for its dtype {to.dtype}: in place, elements are aligned"
        )
    numbers = scale.kinds, scale.alpha, scale.beta, scale.conjugate
    known = _executable(to.shape, of.strides, to.strides, to.dtype, numbers, threads, effort)
    known.run(address, address, scale.address, threads)


@lru_cache(maxsize=KEPT)
def _executable(
    shape: tuple[int, ...], steps_of: tuple[int, ...], steps_to: tuple[int, ...], dtype: np.dtype[Any],
    scale: tuple[Kinds, complex, complex, bool], threads: int, effort: int,
) -> Executable:  # fmt: skip
    """The code of a layout, compiled by its first run. Items of other sizes than machines have are moved in units."""
    kinds, alpha, beta, conjugate = scale
    plain = kinds == COPY and not conjugate
    steps = [step for step, extent in zip(steps_to, shape, strict=True) if extent > 1]
    size, regular = dtype.itemsize, not any(step % dtype.itemsize for step in steps)
    if not regular and not plain:
        raise ArrayError(
            f"out has strides {steps_to}, which are no multiples of {size} bytes: its elements lie askew"
        )
    unit = size if not plain or (regular and size in dtypes.NATIVE) else gcd(ALIGNED, size, *steps)
    item = dtypes.carrier(unit) if plain else dtypes.from_numpy(dtype)
    axes = [Axis(n, s // unit, t // unit) for n, s, t in zip(shape, steps_of, steps_to, strict=True)]
    try:
        placed = in_place([Axis(size // unit, 1, 1), *axes], item, kinds, conjugate)
    except ProblemError as error:
        raise ArrayError(str(error)) from None
    own_kernels = locks.imported(".own_kernels", __package__)
    made: Executable = own_kernels.planned(
        as_items(placed, backend.host_target()),
        Scaling(0, kinds, None, alpha, beta, conjugate),
        threads,
        effort,
    )
    return made
