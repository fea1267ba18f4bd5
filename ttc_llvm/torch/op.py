"""The operator `ttc_llvm::transpose`: its kernels by device, what compilers know of its results, gradients, batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from . import kernels

if TYPE_CHECKING:
    from torch import Tensor

SCHEMA = "(Tensor x, int[] axes, float real=1, float imag=0, bool conjugate=False) -> Tensor"
_op = torch.library.custom_op("ttc_llvm::transpose", kernels.elsewhere, mutates_args=(), schema=SCHEMA)
# Not by `register_kernel`, whose wrapper looks for aliases of arguments in every result: 2 us.
_kernels = torch.library.Library("ttc_llvm", "FRAGMENT")
_kernels.impl("transpose", kernels.on_host, "CPU")
_kernels.impl("transpose", kernels.on_cuda, "CUDA")
call: Any = torch.ops.ttc_llvm.transpose.default


def _shape(x: Tensor, axes: Sequence[int], real: float = 1, imag: float = 0, conjugate: bool = False) -> Tensor:
    kernels.check(x, axes, real, imag, conjugate)
    return x.new_empty([x.shape[k] for k in axes])


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.given = inputs[1:]


def backwards(axes: Sequence[int], real: float, imag: float, conjugate: bool) -> tuple[Any, ...]:
    """The arguments that make a gradient: conj(alpha) * dy of alpha * x, alpha * conj(dy) of alpha * conj(x)."""
    back = sorted(range(len(axes)), key=lambda k: axes[k] % len(axes))
    return back, real, imag if conjugate else -imag, conjugate


def _gradient(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    return call(gradient, *backwards(*ctx.given)), None, None, None, None


def batched(batch: int, rank: int, axes: Sequence[int], *scalars: Any) -> tuple[Any, ...]:
    """The arguments for a batch along that axis, which comes first in the result. rank: of one of the batch."""
    others = (k % rank for k in axes)
    return [batch, *(k + (k >= batch) for k in others)], *scalars


def _batched(info: Any, dims: tuple[Any, ...], x: Tensor, *given: Any) -> tuple[Tensor, int]:
    return call(x, *batched(dims[0], x.dim() - 1, *given)), 0


_op.register_fake(_shape)
_op.register_autograd(_gradient, setup_context=_keep)
_op.register_vmap(_batched)
