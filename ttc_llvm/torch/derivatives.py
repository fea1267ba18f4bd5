"""The operator for `torch.func` and for forward mode, which want a function of autograd: operators of Python's have no
derivatives there, and in forward mode PyTorch takes them for constants without a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad

from . import op

if TYPE_CHECKING:
    from torch import Tensor

_transformed: Any = torch._C._are_functorch_transforms_active


def call(x: Tensor, axes: Sequence[int], *scalars: Any) -> Tensor:
    """The operator, whose derivatives any part of PyTorch may ask for. scalars: alpha's parts and whether to conjugate,
    none where nothing is scaled: each takes a while on its way."""
    if forward_ad._current_level >= 0 or _transformed():
        return _Differentiable.apply(x, axes, *(scalars or (1.0, 0.0, False)))
    return op.call(x, axes, *scalars)


class _Differentiable(torch.autograd.Function):  # type: ignore[misc]
    """Linear in x: tangents are transposed as x is, gradients back."""

    @staticmethod
    def forward(x: Tensor, *given: Any) -> Tensor:
        return (_Differentiable.apply if _transformed() else op.call)(x, *given)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.given = inputs[1:]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return call(gradient, *op.backwards(*ctx.given)), None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        return call(tangent, *ctx.given)

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], x: Tensor, *given: Any) -> tuple[Tensor, int]:
        return call(x, *op.batched(dims[0], x.dim() - 1, *given)), 0
