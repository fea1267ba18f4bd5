"""pycuda at work for the tuner: memory, copies and events in the primary context of one device."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import GpuError
from ..locks import imported
from .devices import Device
from .driver import Driver, driver

Bytes = npt.NDArray[np.uint8]
MIB = 1 << 20
FILLER_BYTES, MOST_FILLS = 256 * MIB, 100  # of work that keeps the device busy


_contexts = threading.local()


def _retained(cuda: Any, ordinal: int) -> Any:
    """pycuda's object for a device's primary context, one per thread: pycuda frees memory, streams and events only in
    the thread that made their context object. It lives until the process ends, for pycuda mistakes a primary context
    that is merely dropped for one that it owns, and complains."""
    known = _contexts.__dict__.setdefault("known", {})
    if ordinal not in known:
        known[ordinal] = cuda.Device(ordinal).retain_primary_context()
        atexit.register(known[ordinal].detach)
    return known[ordinal]


class Session:
    """A device, its primary context (shared with CuPy and PyTorch), and a stream of our own.

    Raises GpuError where there is no driver, no device or no pycuda. All methods are called inside `active`.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.driver: Driver = driver()
        if find_spec("pycuda") is None:
            raise GpuError("kernels cannot be timed without pycuda: pip install ttc_llvm[cuda]")
        try:
            self._cuda: Any = imported("pycuda.driver")
        except ImportError as error:
            raise GpuError(f"pycuda cannot be used: {error}") from None
        self._cuda.init()
        self._context = _retained(self._cuda, device.ordinal)
        with self.active():
            self._stream = self._cuda.Stream()
        self._fill: Callable[[], None] | None = None  # of memory of ours, in so many seconds
        self._fill_seconds = 0.0

    @contextmanager
    def active(self) -> Iterator[None]:
        """The calling thread works on this device inside. What pycuda reports becomes GpuError."""
        self._context.push()
        try:
            yield
        except self._cuda.Error as error:
            raise GpuError(f"the CUDA driver refuses: {error}") from error
        finally:
            self._context.pop()

    @property
    def context(self) -> int:
        """The handle of the primary context."""
        return self.driver.primary(self.device.ordinal)

    @property
    def stream(self) -> int:
        """The handle of the stream on which everything runs."""
        return int(self._stream.handle)

    # --- memory ---

    @property
    def free(self) -> int:
        """Bytes of the device's memory that nobody has taken."""
        return int(self._cuda.mem_get_info()[0])

    def allocate(self, size: int) -> Any:
        """Memory of so many bytes; `int()` of it is its address, and it is freed with the object.

        GpuError says what is missing.
        """
        try:
            return self._cuda.mem_alloc(max(size, 1))
        except self._cuda.MemoryError:
            raise GpuError(
                f"{self.device} has too little memory: {-(-size // MIB)} MiB are needed,"
                f" {self.free // MIB} MiB are free"
            ) from None

    def write(self, address: int, content: Bytes) -> None:
        """Copy bytes to the device, and wait."""
        self._cuda.memcpy_htod(address, content)

    def read(self, address: int, size: int) -> Bytes:
        """Copy bytes from the device, once everything enqueued has finished."""
        self.finish()
        content = np.empty(size, np.uint8)
        if size:
            self._cuda.memcpy_dtoh(content, address)
        return content

    def copy(self, target: int, source: int, size: int) -> None:
        """Enqueue a copy on the device, by the driver."""
        self._cuda.memcpy_dtod_async(target, source, size, self._stream)

    def poison(self, address: int, size: int) -> None:
        """Set every byte to 255: floats become NaN."""
        self.finish()
        self._cuda.memset_d8(address, 255, size)

    def repeat(self, address: int, size: int, block: Bytes) -> None:
        """Fill memory with a block of bytes, again and again."""
        first = min(size, len(block))
        self.write(address, block[:first])
        done = first
        while done < size:  # whole blocks double, so that the period stays
            step = min(done, size - done)
            self.copy(address + done, address, step)
            done += step
        self.finish()

    # --- time ---

    def occupy(self, seconds: float) -> None:
        """Enqueue work of about so many seconds, so that what is enqueued next is there before the device gets to it:
        between short kernels it would wait for us."""
        if self._fill is None:
            size = max(MIB, min(FILLER_BYTES, self.free // 8))
            self._fill = partial(self._cuda.memset_d8_async, self.allocate(size), 0, size, self._stream)
            self._fill_seconds = self.seconds([self._fill] * 2, self.events(4))[-1]  # the first sets things up
        for _ in range(min(MOST_FILLS, ceil(seconds / max(self._fill_seconds, 1e-6)))):
            self._fill()

    def finish(self) -> None:
        """Wait for everything that was enqueued."""
        self._stream.synchronize()

    def events(self, count: int) -> list[Any]:
        """Events for `seconds`, to be used again and again."""
        return [self._cuda.Event() for _ in range(count)]

    def seconds(self, works: list[Callable[[], None]], events: list[Any]) -> tuple[float, ...]:
        """Seconds of each work that is enqueued on our stream, one after the other without a pause in between.

        events: at least two a work.
        """
        marks = [(events[2 * k], events[2 * k + 1]) for k in range(len(works))]
        for work, (start, end) in zip(works, marks, strict=True):
            start.record(self._stream)
            work()
            end.record(self._stream)
        self.finish()
        return tuple(float(start.time_till(end)) * 1e-3 for start, end in marks)
