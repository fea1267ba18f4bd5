"""The kernels behind the operator, by device: our own on CPUs and CUDA devices, PyTorch's own operators elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..arrays import assignment
from ..arrays.call import ALONE_BYTES, C_ORDER, MODEL, Call
from ..arrays.checks import scaled
from ..arrays.scalings import Scaling
from ..arrays.transposing import transposed
from ..errors import ArrayError, ProblemError
from ..operands.operand import described
from ..operands.torch_tensor import shared
from ..runtime import runtime

if TYPE_CHECKING:
    from torch import Tensor

ARITHMETIC = {torch.float32: "f4", torch.float64: "f8", torch.complex64: "c8", torch.complex128: "c16"}


def check(x: Tensor, axes: Sequence[int], real: float, imag: float, conjugate: bool) -> None:
    """ArrayError or ProblemError for what no kernel takes; looks at no element."""
    rank = x.dim()
    if len(axes) != rank or sorted(k % rank for k in axes if -rank <= k < rank) != [*range(rank)]:
        raise ArrayError(f"axes {tuple(axes)} do not permute the {rank} dimensions of x")
    if x.is_nested:
        raise ArrayError("x is nested: transpose its tensors one by one")
    if x.layout is not torch.strided:
        raise ArrayError(f"x has layout {x.layout}: pass x.to_dense()")
    if (real, imag) == (1, 0) and not (conjugate and x.is_complex()):
        return
    if x.dtype not in ARITHMETIC:
        raise ProblemError(f"{x.dtype} is moved only: alpha = {_shown(real, imag)} and conjugate are for {_ADMITTED}")
    if imag != 0 and not x.is_complex():
        raise ProblemError(f"alpha = {_shown(real, imag)} is complex, and {x.dtype} is real")


_ADMITTED = ", ".join(str(dtype).removeprefix("torch.") for dtype in ARITHMETIC)


def _shown(real: float, imag: float) -> str:
    return f"{complex(real, imag) if imag else real:g}"


def _scaling(x: Tensor, dtype: np.dtype[Any], real: float, imag: float, conjugate: bool) -> Scaling:
    """The checked scalars as kernels take them."""
    if not x.is_complex():
        return scaled(dtype, dtype, real, 0, False)
    return scaled(dtype, dtype, complex(real, imag) if imag else real, 0, conjugate)


# --- on the host --------------------------------------------------------------------------------------------


def on_host(x: Tensor, axes: Sequence[int], real: float = 1, imag: float = 0, conjugate: bool = False) -> Tensor:
    """The operator on CPUs."""
    if real == 1 and imag == 0 and not conjugate and len(axes) == x.dim():
        with suppress(IndexError):
            result = x.new_empty([x.shape[k] for k in axes])
            memory = x.data_ptr(), result.data_ptr(), x.itemsize, x.shape, x.stride(), axes, _threads(x.nbytes)
            if assignment.mover().memory_moved(*memory):
                return result
    return _moved(x, axes, real, imag, conjugate)


def _moved(x: Tensor, axes: Sequence[int], real: float, imag: float, conjugate: bool) -> Tensor:
    """The long way, by arrays."""
    check(x, axes, real, imag, conjugate)
    result = x.new_empty([x.shape[k] for k in axes])
    scale = _scaling(x, np.dtype(ARITHMETIC.get(x.dtype, f"V{x.dtype.itemsize}")), real, imag, conjugate)
    of, to = _array(x).transpose(axes), _array(result)
    assignment.mover().assign(of, to, scale, _threads(to.nbytes), 1, fresh=True)
    return result


def _array(x: Tensor) -> Any:
    """The tensor's memory as an array, whatever its dtype is called."""
    array = shared(x.detach())
    if array is not None:
        return array
    dtype = np.dtype(ARITHMETIC.get(x.dtype, f"V{x.dtype.itemsize}"))
    return described(x.data_ptr(), tuple(x.shape), tuple(step * dtype.itemsize for step in x.stride()), dtype)


def _threads(size: int) -> int:
    """No more than PyTorch uses: workers of its data loaders have one each."""
    return 1 if size < ALONE_BYTES else min(runtime.num_threads(), torch.get_num_threads())


# --- elsewhere ----------------------------------------------------------------------------------------------


def on_cuda(x: Tensor, axes: Sequence[int], real: float = 1, imag: float = 0, conjugate: bool = False) -> Tensor:
    """The operator on CUDA devices, on PyTorch's current stream; it returns before the device has finished."""
    check(x, axes, real, imag, conjugate)
    alpha = complex(real, imag) if imag else real
    call = Call(tuple(axes), None, alpha, 0, conjugate and x.is_complex(), C_ORDER, None, MODEL, None)
    result: Tensor = transposed(x.detach(), call)
    return result


def elsewhere(x: Tensor, axes: Sequence[int], real: float = 1, imag: float = 0, conjugate: bool = False) -> Tensor:
    """The operator on other devices, by PyTorch's own."""
    check(x, axes, real, imag, conjugate)
    view = x.permute(tuple(axes))
    if conjugate and x.is_complex():
        view = view.conj()
    if (real, imag) != (1, 0):
        view = view * (complex(real, imag) if imag else real)
    return view.clone(memory_format=torch.contiguous_format)
