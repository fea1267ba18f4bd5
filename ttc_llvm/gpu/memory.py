"""Words in a device's memory, for kernels that read tables: filled on a stream, and freed with their object."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np
import numpy.typing as npt

from ..operands.addresses import data_address
from .driver import NO_TIMING, Driver


class DeviceWords:
    """Words of the context that is current when they are made. GpuError where it has no memory for them."""

    __slots__ = ("__weakref__", "_event", "_found", "address")

    def __init__(self, found: Driver, count: int) -> None:
        self._found = found
        context, place, event = found.identified(found.current()), ctypes.c_uint64(), ctypes.c_void_p()
        found.call("cuMemAlloc_v2", ctypes.byref(place), 8 * max(1, count))
        weakref.finalize(self, found.retire, context, "cuMemFree_v2", place.value).atexit = False
        found.call("cuEventCreate", ctypes.byref(event), NO_TIMING)
        weakref.finalize(self, found.retire, context, "cuEventDestroy_v2", event.value or 0).atexit = False
        self.address, self._event = place.value, event.value

    def fill(self, words: npt.NDArray[np.int64], stream: int) -> None:
        """Copy words of the host in the order of a stream; they may change when this returns."""
        if words.size:
            self._found.call("cuMemcpyHtoDAsync_v2", self.address, data_address(words), words.nbytes, stream)

    def await_use(self, stream: int) -> None:
        """Have a stream wait, on the device, until all has come to an end that `used` was told of."""
        self._found.call("cuStreamWaitEvent", stream, self._event, 0)

    def used(self, stream: int) -> None:
        """Note that what has been enqueued on a stream so far may use them."""
        self._found.call("cuEventRecord", self._event, stream)
