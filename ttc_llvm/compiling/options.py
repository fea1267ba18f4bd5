"""Options of a compilation, checked once, by `ttc_llvm.compile`."""

from __future__ import annotations

from .. import arguments
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..lowering.plan import Plan
from ..machine.gpu_target import GpuTarget
from ..machine.target import Target
from ..runtime import runtime
from ..tuning import efforts
from ..tuning.gpu.forced import FREE as ANY
from ..tuning.gpu.forced import GpuForced
from ..tuning.space.choices import FREE, Forced
from . import machines
from .machines import Wanted
from .trial import Mode

MAX_IMPLEMENTATIONS = efforts.EFFORTS["patient"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a search, on CPUs and GPUs.

    threads: of a call, 1 where the word has no meaning; max_implementations: plans to consider; 1 = the cost model
    alone, nothing is timed; -1 = the whole space, the paper's on CPUs; time_limit: seconds of search; mode: what the
    caches hold when a run starts; verify: check the winner; forced: decisions taken by the user, "" = none; plan: the
    text of the only one that is considered.
    """

    target: Target | GpuTarget
    threads: int = 1
    max_implementations: int = MAX_IMPLEMENTATIONS
    time_limit: float | None = None
    mode: Mode = Mode.COLD
    verify: bool = True
    forced: Forced | GpuForced = FREE
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Options(Asked):
    """Everything that steers a compilation for CPUs. others: further machines that objects serve."""

    target: Target
    forced: Forced = FREE
    others: tuple[Target, ...] = ()


@dataclass(frozen=True, slots=True)
class GpuOptions(Asked):
    """Everything that steers a compilation for a GPU."""

    target: GpuTarget
    forced: GpuForced = ANY


def checked(
    max_implementations: int | str = MAX_IMPLEMENTATIONS,
    threads: int | None = None,
    target: Wanted = None,
    time_limit: float | None = None,
    mode: Mode = Mode.COLD,
    *,
    verify: bool = True,
    forced: Forced = FREE,
    plan: Plan | str | None = None,
) -> Options:
    """Options with defaults filled in. Raises OptionError or TargetError for what makes no sense."""
    arguments.instance(Forced)("forced", forced, OptionError)
    text = plan_text(plan, forced)
    own, *others = machines.chosen(target)
    count = runtime.num_threads() if threads is None else runtime.thread_count(threads)
    tried, limit = efforts.effort("max_implementations", max_implementations), time_limit_of(time_limit)
    return Options(own, count, tried, limit, mode, arguments.flag("verify", verify), forced, text, tuple(others))


def plan_text(plan: Plan | str | None, forced: Forced | GpuForced) -> str | None:
    """The text of a given plan. OptionError where it is none, or where decisions are given beside it."""
    if plan is None:
        return None
    if not isinstance(plan, (str, Plan)):
        raise OptionError(f"plan is a {type(plan).__name__}: it must be a CpuPlan, a GpuPlan or the text of one")
    if str(forced):
        raise OptionError(f"a plan takes every decision: leave out the plan, or {forced}")
    return str(plan)


def time_limit_of(seconds: float | None) -> float | None:
    """A given time limit in seconds, checked: OptionError if it is no positive number."""
    if seconds is None:
        return None
    limit = arguments.real("time_limit", seconds)
    if not limit > 0:
        raise OptionError(f"time_limit {arguments.shown(seconds)} s is not positive")
    return limit
