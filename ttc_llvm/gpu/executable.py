"""A planned transposition as code on the device: loaded once per context, launched on any stream."""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..lowering.gpu import lower as gpu_lower
from ..lowering.gpu.launch import GpuImage, Launch, Slot
from ..lowering.gpu.plan import GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Placed
from ..problem.kinds import Alpha
from ..runtime import kernel
from ..runtime.once import obtain
from . import kernel as gpu_kernel
from .devices import running
from .driver import Context, Driver, driver

ENTRY = kernel.NAME
_CODES = {Slot.POINTER: "Q", Slot.F32: "f4x", Slot.F64: "d"}  # of words of 8 bytes
_PARTS: dict[str, Callable[[complex, complex], float]] = {
    "alpha": lambda alpha, beta: alpha.real, "alpha_imag": lambda alpha, beta: alpha.imag,
    "beta": lambda alpha, beta: beta.real, "beta_imag": lambda alpha, beta: beta.imag,
}  # fmt: skip


class Parameters:
    """The parameters of a launch, and their addresses before them, in words of 8 bytes."""

    __slots__ = ("_pack", "_parts", "_size", "_words")

    def __init__(self, launch: Launch) -> None:
        slots = [p.slot for p in launch.parameters]
        self._parts = tuple(_PARTS[p.name] for p in launch.parameters[2:])
        self._size = 8 * len(slots)
        self._words = ctypes.c_uint64 * (2 * len(slots))
        self._pack = struct.Struct(f"<{len(slots)}Q{''.join(_CODES[slot] for slot in slots)}").pack_into

    def filled(self, a: int, b: int, alpha: complex, beta: complex) -> Any:
        """Those of one launch, as a ctypes array."""
        words = self._words()
        first = ctypes.addressof(words) + self._size
        scalars = [part(alpha, beta) for part in self._parts]
        self._pack(words, 0, *range(first, first + self._size, 8), a, b, *scalars)
        return words


class Loaded:
    """A kernel in one context: its module goes with it. image: its launch description and code."""

    __slots__ = ("__weakref__", "_parameters", "function", "launch")

    def __init__(self, found: Driver, context: int, image: GpuImage) -> None:
        with found.using(context):
            module = found.load(image.code)
            weakref.finalize(self, found.retire, found.identified(context), "cuModuleUnload", module).atexit = False
            self.function = found.function(module, image.launch.entry)
        self.launch, self._parameters = image.launch, Parameters(image.launch)

    def enqueue(self, found: Driver, stream: int, a: int, b: int, alpha: complex, beta: complex) -> None:
        """Launch it in its context, which is current; nothing where there is nothing to do."""
        launch = self.launch
        if launch.grid:
            parameters = self._parameters.filled(a, b, alpha, beta)
            found.launch(self.function, launch.grid, launch.block, stream, parameters)


class Executable:
    """Runs one plan on tensors of any context, at any addresses of whole elements. Safe in several threads.

    placed, plan, target: what runs; image: its compiled kernel where it is known already.
    """

    def __init__(self, placed: Placed, plan: GpuPlan, target: GpuTarget, image: GpuImage | None = None) -> None:
        canonical = placed.canonical
        self.placed, self.plan, self.target = placed, plan, target
        self._offsets = (placed.offset_a * canonical.a.itemsize, placed.offset_b * canonical.b.itemsize)
        self._reads_a = canonical.kinds.alpha is not Alpha.ZERO
        self._images = {True: image} if image is not None else {}
        self._loaded: dict[tuple[Context, bool], Loaded] = {}

    @property
    def launch(self) -> Launch:
        """The launch of the plan's own kernel."""
        return self.image(True).launch

    def image(self, aligned: bool) -> GpuImage:
        """The plan's kernel, or that of its form for addresses that are multiples of an element only."""
        return obtain(self._images, aligned, partial(self._built, aligned))

    def _built(self, aligned: bool) -> GpuImage:
        canonical = self.placed.canonical
        plan = self.plan if aligned else gpu_lower.unaligned(canonical, self.plan)
        return gpu_kernel.build(canonical, plan, self.target, ENTRY)

    def run(
        self, a: int, b: int, alpha: complex, beta: complex, stream: int, after: Sequence[int] = ()
    ) -> None:
        """Enqueue the transposition from device address a to device address b on a stream, and return at once.

        after: streams whose work it waits for, on the device. The caller keeps the memory until the stream has come so
        far. Raises ArrayError for memory of the host or of different devices, GpuError where the driver refuses,
        TargetError where the device is older than the target.
        """
        if not self.placed.canonical.elements:
            return
        found = driver()
        owner = found.owner(b + self._offsets[1])
        if self._reads_a:
            found.check_reach(a + self._offsets[0], b + self._offsets[1], owner)
        self.enqueue(found, owner, (a, b, alpha, beta), stream, after)

    def enqueue(
        self, found: Driver, owner: int, what: tuple[int, int, complex, complex], stream: int, after: Sequence[int]
    ) -> None:
        """The same for addresses of memory that a kernel is known to reach in the context of B's owner. what: both
        addresses, alpha and beta."""
        context = found.home(owner)
        if found.current() == context:
            self._enqueue(found, context, what, stream, after)
            return
        with found.using(context):
            self._enqueue(found, context, what, stream, after)

    def _enqueue(
        self, found: Driver, context: int, what: tuple[int, int, complex, complex], stream: int, after: Sequence[int]
    ) -> None:
        a, b, *scalars = what
        a += self._offsets[0]
        b += self._offsets[1]
        loaded = self._in(found, context, self.launch.fits(a, b))
        for other in after:
            found.order(other, stream)
        loaded.enqueue(found, stream, a, b, *scalars)

    def _in(self, found: Driver, context: int, aligned: bool) -> Loaded:
        key = found.identified(context), aligned
        known = self._loaded.get(key)
        if known is not None:
            return known
        return obtain(self._loaded, key, partial(self._load, found, context, aligned))

    def _load(self, found: Driver, context: int, aligned: bool) -> Loaded:
        running(self.target, found.current_ordinal())
        return Loaded(found, context, self.image(aligned))
