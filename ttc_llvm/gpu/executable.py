"""A planned transposition as code on the device: loaded once per context, launched on any stream."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..lowering.gpu import lower as gpu_lower
from ..lowering.gpu.launch import GpuImage, Launch, Slot
from ..lowering.gpu.plan import GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Alpha, Placed
from ..runtime import kernel
from ..runtime.once import obtain
from . import kernel as gpu_kernel
from .devices import running
from .driver import Context, Driver, driver

ENTRY = kernel.NAME
_TYPES: dict[Slot, Callable[[float], Any]] = {Slot.F32: ctypes.c_float, Slot.F64: ctypes.c_double}


def values(launch: Launch, a: int, b: int, alpha: complex, beta: complex) -> tuple[Any, ...]:
    """The parameters of a launch as ctypes values, in order."""
    parts = {
        "alpha": alpha.real, "alpha_imag": alpha.imag, "beta": beta.real, "beta_imag": beta.imag,
    }  # fmt: skip
    scalars = (_TYPES[p.slot](parts[p.name]) for p in launch.parameters[2:])
    return (ctypes.c_uint64(a), ctypes.c_uint64(b), *scalars)


class Loaded:
    """A kernel in one context: its module goes with it. image: its launch description and code."""

    __slots__ = ("__weakref__", "function", "launch")

    def __init__(self, found: Driver, context: int, image: GpuImage) -> None:
        with found.using(context):
            module = found.load(image.code)
            weakref.finalize(self, found.retire, found.identified(context), module).atexit = False
            self.function = found.function(module, image.launch.entry)
        self.launch = image.launch

    def enqueue(self, found: Driver, stream: int, parameters: Sequence[Any]) -> None:
        """Launch it in its context, which is current; nothing where there is nothing to do."""
        if self.launch.grid:
            found.launch(self.function, self.launch.grid, self.launch.block, stream, parameters)


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
        found = driver()
        a += self._offsets[0]
        b += self._offsets[1]
        if not self.placed.canonical.elements:
            return
        context = found.home(b)
        if self._reads_a:
            found.check_reach(a, b)
        with found.using(context):
            loaded = self._in(found, context, self.launch.fits(a, b))
            for other in after:
                found.order(other, stream)
            loaded.enqueue(found, stream, values(loaded.launch, a, b, alpha, beta))

    def _in(self, found: Driver, context: int, aligned: bool) -> Loaded:
        key = found.identified(context), aligned
        return obtain(self._loaded, key, partial(self._load, found, context, aligned))

    def _load(self, found: Driver, context: int, aligned: bool) -> Loaded:
        running(self.target, found.current_ordinal())
        return Loaded(found, context, self.image(aligned))
