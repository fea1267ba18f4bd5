"""What arrays and scalars must be, wherever they are: on the host or on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArrayError
from ..handed import number
from .pairs import PLAIN, Array, Scaling, scaling

_NUMBERS = frozenset((int, float, complex))


def permuted(x: Array, axes: Any) -> Array:
    """The view with permuted axes; ArrayError where `axes` is no permutation of them."""
    try:
        view: Array = x.transpose(axes)
    except (TypeError, ValueError) as error:
        raise ArrayError(f"axes {axes!r} do not permute the {x.ndim} axes of the array: {error}") from None
    return view


def check_result(shape: tuple[int, ...], writeable: bool, view: Array) -> None:
    """ArrayError where an array of this shape, which may be read-only, cannot hold a copy of the view."""
    if shape != view.shape:
        raise ArrayError(f"out has shape {shape}: the transposed array has {view.shape}")
    if not writeable:
        raise ArrayError("out is read-only: the result is written to it")


def check_beta(beta: Any) -> None:
    """ArrayError where a result of its own, which holds nothing yet, would be scaled."""
    if beta != 0:
        raise ArrayError(f"beta = {beta} without out: there is nothing to be scaled")


def scaled(of: np.dtype[Any], to: np.dtype[Any], alpha: Any, beta: Any, conjugate: Any) -> Scaling:
    """The checked scaling of elements of type `of` into elements of type `to`."""
    if type(alpha) not in _NUMBERS or type(beta) not in _NUMBERS:
        alpha, beta = number("alpha", alpha), number("beta", beta)
    if alpha == 1 and beta == 0 and not conjugate and of == to:
        return PLAIN
    return scaling(of, to, alpha, beta, bool(conjugate))
