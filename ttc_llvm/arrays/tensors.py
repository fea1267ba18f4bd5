"""`transpose` of tensors of PyTorch whose memory is on the host: the arrays that share it are transposed."""

from __future__ import annotations

from typing import Any

from ..operands.torch_tensor import back, shared, written
from . import public
from .call import Call


def transposed(x: Any, call: Call) -> Any:
    """`transpose` of a tensor, into another tensor or as a new one; None for anything else."""
    array = shared(x)
    if array is None:
        return None
    to = None if call.out is None else shared(call.out)
    if (to is None) != (call.out is None):
        return None
    transpose: Any = public.transpose
    result = transpose(
        array, call.axes, out=to, alpha=call.alpha, beta=call.beta, conjugate=call.conjugate, order=call.order,
        threads=call.threads, effort=call.effort, stream=call.stream,
    )  # fmt: skip
    if to is None:
        return back(x.dtype)(result)
    written(call.out)
    return call.out
