"""Requirements on arrays and scalars, on the host or on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import locks
from ..arguments import flag, is_fraction, number, reason, sequence, shown
from ..errors import ArrayError, ProblemError, pass_on
from ..operands.operand import Array
from ..operands.types import is_real
from .scalings import PLAIN, Scaling

NUMBERS = frozenset((int, float, complex))


def permuted(x: Array, axes: Any) -> Array:
    """The view with permuted axes; ArrayError where `axes` is no permutation of them."""
    items = axes
    try:
        if not (axes is None or type(axes) is tuple or hasattr(axes, "__index__")):
            items = sequence("axes", axes, ArrayError, "integers")  # NumPy would read past the end of a ctypes pointer
        view: Array = x.transpose(items)
    except ArrayError:
        raise
    except Exception as error:  # whatever the items of axes raise
        pass_on(error, items)
        given = shown(axes if isinstance(axes, list) else items)
        raise ArrayError(f"axes {given} do not permute the {x.ndim} axes of the array: {reason(error)}") from None
    return view


def check_result(shape: tuple[int, ...], view: Array) -> None:
    """ArrayError where an array of this shape cannot hold a copy of the view."""
    if shape != view.shape:
        raise ArrayError(f"out has shape {shape}: the transposed array has {view.shape}")


def check_beta(beta: Any, name: str = "out") -> None:
    """ArrayError where a result of its own, which holds nothing yet, would be scaled. name: of the place for one."""
    if beta != 0:
        raise ArrayError(f"beta = {shown(beta)} without {name}: there is nothing to be scaled")


def scaled(
    of: np.dtype[Any],
    to: np.dtype[Any],
    alpha: Any,
    beta: Any,
    conjugate: Any,
    conjugated: bool = False,
    saturate: bool | None = None,
) -> Scaling:
    """The checked scaling of elements of type `of` into elements of type `to`. conjugated: memory has conjugates;
    saturate: as `pairs.scaling` has it."""
    if type(alpha) not in NUMBERS or type(beta) not in NUMBERS:
        alpha, beta = (x if is_fraction(x) else number(n, x) for n, x in (("alpha", alpha), ("beta", beta)))
    conjugate = flag("conjugate", conjugate, ProblemError) != conjugated and not is_real(of)
    if alpha == 1 and beta == 0 and not conjugate and of == to:
        return PLAIN
    pairs = locks.imported(".pairs", __package__)
    return pairs.scaling(of, to, alpha, beta, conjugate, saturate)  # type: ignore[no-any-return]
