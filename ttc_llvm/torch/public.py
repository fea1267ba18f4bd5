"""The interface for PyTorch: a function in front of the operator, for what an operator cannot take or would not say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from .. import arguments
from ..errors import ArrayError, ProblemError, TtcError
from . import kernels
from .derivatives import call

if TYPE_CHECKING:
    from torch import Tensor


def transpose(
    x: Tensor, axes: Sequence[int] | None = None, *, alpha: complex = 1, conjugate: bool = False
) -> Tensor:
    """`alpha * x.permute(axes)` as a new contiguous tensor: `x.permute(axes).contiguous()`, always copied, at speed.

    x: a tensor of any strides and dtype. axes: as in `torch.permute`: dimension axes[k] of x becomes dimension k; None
    reverses them all. alpha: a number; conjugate: of complex tensors, otherwise nothing. Other values than 1 and False
    are for float32, float64, complex64 and complex128; all other dtypes are moved bit for bit.

    x has derivatives of any order, forwards and backwards, also by `torch.func`. On CPUs it runs on at most
    `torch.get_num_threads()` threads, on CUDA devices on the current stream, elsewhere as PyTorch's own operators.
    Raises ArrayError (a ValueError) for axes and layouts that do not fit, ProblemError for scalars.
    """
    try:
        order = axes if type(axes) is tuple else _order(x, axes)
        if type(alpha) is int and alpha == 1 and conjugate is False:
            return call(x, order)
        return call(x, order, *_scalars(alpha, conjugate))
    except TtcError:
        raise
    except Exception:
        _check(x, axes)
        raise


def _order(x: Tensor, axes: Any) -> Any:
    """The axes as the operator takes them."""
    return tuple(range(x.dim() - 1, -1, -1) if axes is None else axes)


def _scalars(alpha: Any, conjugate: Any) -> tuple[float, float, bool]:
    """alpha's parts, and whether to conjugate, as the operator takes them."""
    if isinstance(alpha, torch.Tensor):
        raise ProblemError("alpha is a tensor: pass a number, or multiply the result, which gives alpha a gradient")
    value = complex(alpha) if type(alpha) in (int, float, complex) else arguments.number("alpha", alpha)
    flag = conjugate if type(conjugate) is bool else arguments.flag("conjugate", conjugate, ProblemError)
    return value.real, value.imag, flag


def _check(x: Any, axes: Any) -> None:
    """An error of ours, in one sentence, for what PyTorch has refused in words of its own."""
    if not isinstance(x, torch.Tensor):
        raise ArrayError(f"x is a {type(x).__name__}: it must be a torch.Tensor; ttc_llvm.transpose takes other arrays")
    if isinstance(axes, int):
        raise ArrayError(f"axes = {axes} is not a sequence: write transpose(x, (1, 0)), as for torch.permute")
    given = range(x.dim()) if axes is None else axes
    kernels.check(x, arguments.each(arguments.integer, "integers")("axes", given, ArrayError), 1, 0, False)
