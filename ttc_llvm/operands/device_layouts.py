"""Arrays on a CUDA device by what tells their calls apart, asked for in a microsecond: no view of them is made."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

from ..lazy_dataclasses import NamedTuple
from . import streams
from .torch_tensor import is_tensor


class Seen(NamedTuple):
    """An array on a device. layout: all that decides how it is read, but its address, in bytes, and the stream on which
    its content becomes valid."""

    layout: Hashable
    address: int
    stream: int | None


def seen(x: Any) -> Seen | None:
    """An array of PyTorch's, or one with `__cuda_array_interface__`; None for others, and for what has to be looked at
    more closely: gradients, subclasses, masks, descriptions that are none."""
    try:
        if is_tensor(x):
            return _tensor(x) if type(x) is sys.modules["torch"].Tensor else None
        found = getattr(x, "__cuda_array_interface__", None)
        return None if found is None else _exporting(x, found)
    except Exception:  # the reader says what is wrong with it
        return None


def _tensor(x: Any) -> Seen | None:
    if not x.is_cuda or x.requires_grad:
        return None
    ordinal = x.get_device()
    layout = (x.dtype, x.shape, x.stride(), ordinal, x.layout, x.is_conj(), x.is_neg())
    return Seen(layout, x.data_ptr(), streams.of_torch(ordinal))


def _exporting(x: Any, found: dict[str, Any]) -> Seen | None:
    address, read_only = found["data"]
    if type(address) is not int or found.get("mask") is not None:
        return None
    stream = found.get("stream")
    layout = (type(x), found["typestr"], found["shape"], found.get("strides"), read_only)
    return Seen(layout, address, streams.current(x) if stream is None else int(stream))
