"""Options of a search on a GPU, checked."""

from __future__ import annotations

from dataclasses import dataclass

from .. import arguments
from ..errors import OptionError
from ..gpu import devices
from ..machine.gpu_target import GpuTarget
from ..tuning import gpu_candidates
from ..tuning.choices import FREE, Forced
from ..tuning.gpu_candidates import GpuForced
from .options import candidate_count, time_limit_of
from .trial import Mode


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """Options of a search on a GPU; the words are those of `ttc_llvm.compiling.options.Options`."""

    target: GpuTarget
    max_implementations: int
    time_limit: float | None = None
    mode: Mode = Mode.COLD
    verify: bool = True
    forced: GpuForced = gpu_candidates.FREE


def checked(
    max_implementations: int,
    target: GpuTarget | str,
    time_limit: float | None,
    mode: Mode,
    verify: bool,
    forced: Forced | GpuForced,
) -> GpuOptions:
    """The same of values that a user has given. Raises OptionError and TargetError."""
    return GpuOptions(
        devices.resolve(target),
        candidate_count(max_implementations),
        time_limit_of(time_limit),
        mode,
        arguments.flag("verify", verify),
        _checked_forced(forced),
    )


def _checked_forced(forced: Forced | GpuForced) -> GpuForced:
    """Decisions that a GPU's search takes from the user; OptionError for those of CPUs."""
    if isinstance(forced, GpuForced):
        return forced
    if arguments.instance(Forced)("forced", forced, OptionError) != FREE:
        raise OptionError(f"decisions {forced} are a CPU's: a GPU's are ttc_llvm.GpuForced(threads, order)")
    return gpu_candidates.FREE
