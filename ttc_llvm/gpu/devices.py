"""The choice of a GPU: by name, or the one that is here."""

from __future__ import annotations

from functools import lru_cache

from ..errors import GpuError, TargetError
from ..lazy_dataclasses import dataclass
from ..machine import gpu_target as gpu_target
from ..machine.gpu_target import GpuTarget
from .driver import L2_BYTES, MAJOR, MINOR, Driver, driver

PRESENT = ("cuda", "nvptx")  # spellings that mean the device at hand


@dataclass(frozen=True, slots=True)
class Device:
    """A CUDA device. capability: (9, 0) for sm_90; memory, l2: bytes."""

    ordinal: int
    name: str
    capability: tuple[int, int]
    memory: int
    l2: int

    @property
    def target(self) -> GpuTarget:
        """The row whose code it runs; TargetError for one that is older than all rows."""
        return gpu_target.for_capability(*self.capability)

    def runs(self, target: GpuTarget) -> bool:
        """True where code of this target can be loaded: PTX runs on its own machine and on newer ones."""
        return target.is_nvidia and target.capability <= self.capability

    def __str__(self) -> str:
        return f"{self.name} (sm_{self.capability[0]}{self.capability[1]})"


def device(ordinal: int | None = None) -> Device:
    """A device by its number; by default that of the calling thread's context, else the first. GpuError for none."""
    found = driver()
    if ordinal is None:
        ordinal = found.current_ordinal() or 0
    return _described(found, ordinal)


def present() -> tuple[Device, ...]:
    """Every device that this process sees; GpuError for none."""
    found = driver()
    return tuple(_described(found, ordinal) for ordinal in range(found.count))


@lru_cache(maxsize=64)
def _described(found: Driver, ordinal: int) -> Device:
    capability = found.attribute(ordinal, MAJOR), found.attribute(ordinal, MINOR)
    l2 = found.attribute(ordinal, L2_BYTES)
    return Device(ordinal, found.name(ordinal), capability, found.memory(ordinal), l2)


def resolve(name: GpuTarget | str) -> GpuTarget:
    """The GPU of that name. `cuda` is the device at hand, or the table's default where there is none."""
    if isinstance(name, GpuTarget):
        return name
    if name.strip().lower() not in PRESENT:
        return gpu_target.find(name)
    try:
        return device().target
    except GpuError:
        return gpu_target.find(gpu_target.DEFAULT)


def running(target: GpuTarget, ordinal: int | None = None) -> Device:
    """The device that runs code of this target; GpuError or TargetError, in a sentence, where none does."""
    if not target.is_nvidia:
        raise TargetError(f"code for {target} cannot run here: only NVIDIA's driver is spoken")
    found = device(ordinal)
    if not found.runs(target):
        raise TargetError(f"code for {target} cannot run here: the device is {found}")
    return found


def timing(target: GpuTarget, ordinal: int | None = None) -> Device:
    """The same for the search; where there is none, the sentence says what goes without."""
    try:
        return running(target, ordinal)
    except (GpuError, TargetError) as error:
        raise type(error)(f"{error}; a search of 1 candidate takes the cost model's plan and times nothing") from None
