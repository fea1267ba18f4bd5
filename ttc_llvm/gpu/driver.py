"""NVIDIA's driver through ctypes: devices, contexts, modules, and launches on any library's stream.

Handles (contexts, modules, functions, streams, events) are integers here, as other libraries hand them over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import ArrayError, GpuError
from ..runtime.once import obtain, once
from .driver_entries import entries, loaded

STUB, NO_DEVICE = 34, 100  # of CUresult
MAJOR, MINOR, L2_BYTES = 75, 76, 38  # of CUdevice_attribute
OWNER, KIND, MANAGED, ORDINAL = 1, 2, 8, 9  # of CUpointer_attribute: the context that allocated, ..., the device
HOST = 1  # of CUmemorytype
NAMED_STREAMS = 2  # handles up to here are the default streams of the context that is current
RETIRED = 64  # modules of a context, and others of its own, that wait to be freed
LOG_BYTES = 4096
LOG_BUFFER, LOG_SIZE = 5, 6  # of CUjit_option: where the assembler's complaints go
NO_TIMING = 2  # of CUevent_flags

Context = tuple[int, int]  # handle and number, 0 where the driver gives none


class Driver:
    """The driver's entries; each method raises GpuError with the driver's own words. Safe in several threads."""

    def __init__(self, library: Any) -> None:
        self._entries = entries(library)
        self._primary: dict[int, int] = {}
        self._retired: dict[Context, list[tuple[str, int]]] = {}

    def call(self, name: str, *arguments: Any) -> None:
        """One entry; GpuError where it does not succeed."""
        status = self._entries[name](*arguments)
        if status:
            raise GpuError(f"the CUDA driver refuses {name}: {self.words(status)}")

    def words(self, status: int) -> str:
        """A status in the driver's words."""
        parts = []
        for entry in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            if not self._entries[entry](status, ctypes.byref(text)) and text.value:
                parts.append(text.value.decode(errors="replace"))
        return ", ".join(parts) or f"status {status}"

    # --- devices ---

    @property
    def version(self) -> int:
        """The newest CUDA that the driver knows: 13000 for 13.0."""
        return self._integer("cuDriverGetVersion")

    @property
    def count(self) -> int:
        """Devices that this process sees."""
        return self._integer("cuDeviceGetCount")

    def name(self, ordinal: int) -> str:
        """A device's name, such as `NVIDIA H200`."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, len(text), self._device(ordinal))
        return text.value.decode(errors="replace")

    def attribute(self, ordinal: int, which: int) -> int:
        """One of the numbers that describe a device."""
        return self._integer("cuDeviceGetAttribute", which, self._device(ordinal))

    def memory(self, ordinal: int) -> int:
        """Bytes of a device's memory."""
        return self._integer("cuDeviceTotalMem_v2", self._device(ordinal), kind=ctypes.c_size_t)

    def _device(self, ordinal: int) -> int:
        return self._integer("cuDeviceGet", ordinal)

    def _integer(self, name: str, *arguments: Any, kind: Any = ctypes.c_int) -> int:
        """The value that an entry writes to its first argument."""
        found = kind()
        self.call(name, ctypes.byref(found), *arguments)
        return found.value or 0

    def _handle(self, name: str, *arguments: Any) -> int:
        return self._integer(name, *arguments, kind=ctypes.c_void_p)

    # --- contexts ---

    def primary(self, ordinal: int) -> int:
        """A device's primary context, which CUDA's run time, CuPy and PyTorch use; retained until the process ends."""
        return obtain(
            self._primary, ordinal, lambda: self._handle("cuDevicePrimaryCtxRetain", self._device(ordinal))
        )

    def current(self) -> int:
        """The calling thread's context, 0 for none."""
        found = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(found))
        return found.value or 0

    def current_ordinal(self) -> int | None:
        """The device of the calling thread's context."""
        return self._integer("cuCtxGetDevice") if self.current() else None

    def identified(self, context: int) -> Context:
        """A context, told from a later one of the same handle."""
        number = ctypes.c_uint64()
        if "cuCtxGetId" in self._entries:
            self.call("cuCtxGetId", context, ctypes.byref(number))
        return context, number.value

    @contextmanager
    def using(self, context: int) -> Iterator[None]:
        """The calling thread's context is this one inside; what it was before comes back."""
        if self.current() == context:
            yield
            return
        self.call("cuCtxPushCurrent_v2", context)
        try:
            yield
        except BaseException:
            with suppress(GpuError):  # of two errors the first counts
                self._handle("cuCtxPopCurrent_v2")
            raise
        self._handle("cuCtxPopCurrent_v2")

    # --- memory ---

    def owner(self, address: int) -> int:
        """The context to which memory at a device address belongs, or ~N where it is device N, as for a memory pool's;
        ArrayError for memory of the host."""
        found = ctypes.c_void_p()
        self._entries["cuPointerGetAttribute"](ctypes.byref(found), OWNER, address)
        return found.value or ~self.ordinal(address)

    def home(self, owner: int) -> int:
        """The context in which an owner's memory can be used."""
        return owner if owner > 0 else self.primary(~owner)

    def check_reach(self, a: int, b: int, owner: int) -> None:
        """ArrayError unless a kernel that runs where b is, which an owner has, can read at address a: a wrong address
        would cost the context and everything in it."""
        if self.owner(a) == owner:
            return
        of_a, of_b = self.ordinal(a), self.ordinal(b)
        if of_a == of_b or self._of_memory(MANAGED, a, ctypes.c_int) or self._of_memory(KIND, a, ctypes.c_int) == HOST:
            return
        raise ArrayError(f"A is on CUDA device {of_a} and B on device {of_b}: both have to be on the same")

    def ordinal(self, address: int) -> int:
        """The device that the memory at an address belongs to; ArrayError for memory of the host."""
        found: int | None = self._of_memory(ORDINAL, address, ctypes.c_int)
        if found is None:
            raise ArrayError(f"address {address:#x} is no address of a CUDA device's memory")
        return found

    def _of_memory(self, which: int, address: int, kind: Any) -> Any:
        """An attribute of the memory at an address; None for memory that the driver does not know."""
        found = kind()
        return None if self._entries["cuPointerGetAttribute"](ctypes.byref(found), which, address) else found.value

    # --- code ---

    def load(self, image: bytes) -> int:
        """A module from PTX text or a cubin, in the calling thread's context. Where many of it have been retired, they
        are unloaded, and all streams of the context are waited for."""
        self._unload_retired()
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 2)(LOG_BUFFER, LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG_BYTES)
        data = ctypes.create_string_buffer(image)  # with the zero that ends PTX
        status = self._entries["cuModuleLoadDataEx"](
            ctypes.byref(module), ctypes.addressof(data), 2, ctypes.addressof(options), ctypes.addressof(values)
        )
        if status:
            told = " ".join(log.value.decode(errors="replace").split())
            raise GpuError(f"the CUDA driver cannot load the kernel: {self.words(status)}{f': {told}' if told else ''}")
        return module.value or 0

    def function(self, module: int, name: str) -> int:
        """A kernel of a module."""
        return self._handle("cuModuleGetFunction", module, name.encode())

    def retire(self, context: Context, entry: str, handle: int) -> None:
        """Keep what nobody will use any more until the entry that frees it is called: kernels may run, and a stream may
        be captured, which no wait survives. Calls no entry, so that finalizers may call it anywhere."""
        self._retired.setdefault(context, []).append((entry, handle))

    def _unload_retired(self) -> None:
        context = self.identified(self.current())
        if len(self._retired.get(context, ())) < RETIRED:
            return
        unused = self._retired.pop(context, [])
        self.call("cuCtxSynchronize")
        for entry, handle in unused:
            self.call(entry, handle)

    def launch(self, function: int, grid: int, block: int, stream: int, parameters: Any) -> None:
        """Enqueue a kernel: grid blocks of `block` threads along x. parameters: their addresses, a ctypes array."""
        self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, stream, parameters, None)

    def order(self, before: int, after: int) -> None:
        """Make all that is enqueued on stream `after` from now on wait for what is on `before`, be it of another
        context than the current one."""
        if before == after:
            return
        own = self.current() if before <= NAMED_STREAMS else self._context_of(before)
        with self.using(own):
            event = self._handle("cuEventCreate", NO_TIMING)
        try:
            with self.using(own):
                self.call("cuEventRecord", event, before)
            self.call("cuStreamWaitEvent", after, event, 0)
        finally:
            self.call("cuEventDestroy_v2", event)

    def finish(self, stream: int, address: int) -> None:
        """Wait until all is done that is enqueued on a stream of the context that owns the memory at an address."""
        with self.using(self.home(self.owner(address))):
            self.call("cuStreamSynchronize", stream)

    def _context_of(self, stream: int) -> int:
        found = ctypes.c_void_p()
        self.call("cuStreamGetCtx", stream, ctypes.byref(found))
        return found.value or 0


@once
def driver() -> Driver:
    """The driver, started; one for all threads. GpuError where there is none, or no device."""
    library = loaded()
    try:
        found = Driver(library)
    except AttributeError as error:
        raise GpuError(f"NVIDIA's driver is too old: {error}") from None
    status = library.cuInit(0)
    if status == STUB:
        raise GpuError(
            "NVIDIA's driver cannot be started: the CUDA toolkit's stub of it is found first, by LD_LIBRARY_PATH or the"
            " loader's configuration"
        )
    if status not in (0, NO_DEVICE):
        raise GpuError(f"NVIDIA's driver cannot be started: {found.words(status)}")
    if status == NO_DEVICE or not found.count:
        raise GpuError("there is no CUDA device: NVIDIA's driver finds none that this process may use")
    return found
