"""Streams of any library: the one on which an array's library works, and the driver's handle of one."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arguments import reason
from ..errors import ArrayError
from .operand import library_of

DEFAULT, LEGACY = 0, 1  # two handles of one stream


def stream_for(given: Any, *of: int | None) -> tuple[int, tuple[int, ...]]:
    """The stream to launch on, and those that it has to wait for: by default the one on which the arrays' libraries
    work, which need not wait. given: `stream=` of a call, None = that default; of: the streams of the arrays."""
    if given is None and len(of) == 2 and of[0] == of[1] and of[0] is not None:  # what most calls bring
        return DEFAULT if of[0] == LEGACY else of[0], ()
    known = tuple(DEFAULT if stream == LEGACY else stream for stream in of if stream is not None)
    chosen = stream_handle(given) if given is not None else known[-1] if known else DEFAULT
    return chosen, tuple(dict.fromkeys(stream for stream in known if stream != chosen))


def current(x: Any) -> int | None:
    """The stream on which the library of an array works at the moment; None where it does not say."""
    find = _CURRENT.get(library_of(x))
    return None if find is None else find(x)


def _cupy(x: Any) -> int:
    return int(sys.modules["cupy"].cuda.get_current_stream().ptr)


def of_torch(ordinal: int) -> int:
    """PyTorch's current stream on a device."""
    torch = sys.modules["torch"]
    handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # makes no object, as the other does in 5 us
    return int(torch.cuda.current_stream(ordinal).cuda_stream if handle is None else handle(ordinal))


_CURRENT: dict[str, Callable[[Any], int]] = {"cupy": _cupy}
_ATTRIBUTES = ("ptr", "cuda_stream", "handle")  # CuPy's, PyTorch's, and pycuda's and Numba's streams


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream of any library, or an integer as it is (0 and 1 = the legacy default stream,
    2 = that of the thread). ArrayError for anything else."""
    try:
        found = _integer(_handle(stream), stream)
        return DEFAULT if found == LEGACY else found
    except ArrayError:
        raise
    except Exception as error:  # whatever the stream itself raises
        raise ArrayError(f"stream is a {type(stream).__name__} that cannot be read: {reason(error)}") from None


def _handle(stream: Any) -> Any:
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return protocol()[1]
    found = (getattr(stream, name, None) for name in _ATTRIBUTES)
    return next((handle for handle in found if handle is not None), stream)


def _integer(found: Any, stream: Any) -> int:
    value = (found.value or 0) if isinstance(found, ctypes.c_void_p) else found
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ArrayError(
            f"stream is a {type(stream).__name__}: a stream of pycuda, CuPy, PyTorch or Numba, or a handle is expected"
        )
    return int(value)
