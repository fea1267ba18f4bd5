"""One problem on the bench: its own buffers, compiled plans, cold or hot runs, and the check of every element."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from enum import Enum
from functools import partial

import numpy as np
import numpy.typing as npt

from ..errors import TargetError
from ..lazy_dataclasses import dataclass, field, replace
from ..logs import Log
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem import dtypes
from ..problem.canonical import Canonical
from ..problem.kinds import Beta
from ..runtime import backend, kernel, runtime
from ..runtime.kernel import Kernel
from ..runtime.pool import Call
from ..runtime.waiting import has_a_cpu_each, waited
from ..tuning.measurement import GIB
from ..tuning.search import available, buffers, verify
from ..tuning.search.search import Limits, Outcome
from ..tuning.search.speed import Run, Sampler
from ..tuning.search.verify import Added
from ..tuning.space import peak
from ..tuning.space.peak import Ceiling
from .cold_caches import flush
from .stored_plans import Circumstances
from .timed_fallbacks import decided

_log = Log(__name__)
HOT_SECONDS = 2e-4  # a hot measurement repeats the call natively for at least this long
PROXY_BYTES = 1 << 30  # of both tensors of a proxy: far beyond the caches, and a run ends soon
LEAST_PROXY_BYTES = 1 << 20  # where there is not even room for this, nothing can be timed


class Mode(Enum):
    """Contents of the caches when a run starts; the value is the database's and the report's word."""

    COLD = "cold"
    HOT_A = "hot-a"
    HOT_B = "hot-b"
    HOT = "hot-ab"

    @classmethod
    def of(cls, hot_a: bool, hot_b: bool) -> Mode:
        """The mode that `--hotA` and `--hotB` ask for."""
        return {(False, False): cls.COLD, (True, False): cls.HOT_A, (False, True): cls.HOT_B}.get(
            (hot_a, hot_b), cls.HOT
        )


@dataclass(slots=True)
class Trial:
    """A `task.Bench`: canonical problem (or its smaller proxy), threads, mode and scalars; sums have scalars of few
    digits."""

    canonical: Canonical
    target: Target
    threads: int
    mode: Mode
    alpha: complex
    beta: complex
    a: buffers.Tensor = field(init=False)
    b: buffers.Tensor = field(init=False)
    is_proxy: bool = field(init=False, default=False)
    loads: int = field(init=False, default=0)  # as for `lower`

    def __post_init__(self) -> None:
        if self.canonical.terms:
            self.alpha, self.beta = 2.0, 0.5 if self.beta else 0.0
        free = available.available_memory()
        if free is not None and 3 * buffers.footprint(self.canonical) > 2 * free:
            self.canonical, self.is_proxy = stand_in(self.canonical, free), True
        while True:
            try:
                self.a, self.b = self._tensors()
                return
            except MemoryError:  # less than the system said
                whole = buffers.footprint(self.canonical)
                if whole <= LEAST_PROXY_BYTES:
                    raise
                self.canonical, self.is_proxy = buffers.proxy(self.canonical, whole // 2), True

    def _tensors(self) -> tuple[buffers.Tensor, buffers.Tensor]:
        a = buffers.tensor(self.canonical, "a", 1, self.threads)
        return a, a if self.canonical.in_place else buffers.tensor(self.canonical, "b", 2, self.threads)

    @property
    def circumstances(self) -> Circumstances:
        """This machine, and what a run moves."""
        return Circumstances("", self.canonical.bytes_moved, self.is_proxy)

    def moved(self, by: int, loads: int) -> Trial:
        """The same bench, on which B begins so many bytes further (`buffers.SPARE` at most). loads: as for `lower`."""
        other = copy(self)
        other.b, other.loads = self.b.moved(by), loads
        return other

    # --- Subject ---

    def build(self, plan: CpuPlan) -> Kernel:
        """Compile a plan for the problem on the bench; the tuned kernels do not enter the process' cache."""
        return kernel.build(self.canonical, plan, self.target, None, self.loads)

    def seconds(self, built: Kernel) -> float:
        """One run on the bench's buffers; per call where both tensors are hot."""
        if self.mode is Mode.HOT:
            return self._hot_seconds(built)
        self._prepare()
        return self._timed(built, 1)

    @property
    def alone(self) -> Callable[[Kernel], float] | None:
        """The function that times a run on one thread; None where that would only tell the caches' speed."""
        return self.seconds_alone if self.threads > 1 and self.mode is not Mode.HOT else None

    def seconds_alone(self, built: Kernel) -> float:
        """The same on one thread, whose core then has the machine's memory for itself."""
        self._prepare()
        return self._timed(built, 1, threads=1)

    def verify(self, built: Kernel) -> tuple[int, ...] | None:
        """Run once on fresh data (B poisoned where it is not read) and compare every element."""
        self.b.fill(3, self.threads)
        view = buffers.strided(self.b, self.canonical, "b")
        before = view
        if self.canonical.kinds.beta is not Beta.ZERO:
            before = buffers.strided(replace(self.b, memory=self.b.memory.copy()), self.canonical, "b")
        elif view.dtype.kind in "fc" and not self.canonical.in_place:
            view[...] = np.nan
        a = buffers.strided(self.a, self.canonical, "a")
        a = a.copy() if self.canonical.in_place else a
        self._timed(built, 1)
        scalars = self.alpha, self.beta
        return verify.mismatch(self.canonical, a, before, view, scalars, self.threads, self._further())

    def _further(self) -> list[Added]:
        """The further terms of a sum, by their strides."""
        views = buffers.further(self.a, self.canonical)
        return [Added(a, alpha) for a, alpha in zip(views, self._alphas(), strict=True)]

    def _alphas(self) -> list[complex]:
        """Of the further terms."""
        return [self.alpha + number for number in range(1, len(self.canonical.terms) + 1)]

    def decided(self, outcome: Outcome[CpuPlan, Kernel], limits: Limits) -> Outcome[CpuPlan, Kernel]:
        """The outcome, whose winner also decides for a fallback."""
        return decided(outcome, self, limits)

    # --- ceilings ---

    def waited(self) -> float:
        """Seconds that our threads have waited for a CPU so far; 0 where they wait for each other."""
        return waited() if has_a_cpu_each(self.threads) else 0.0

    def samplers(self, which: Ceiling | None = None) -> list[Sampler]:
        """Samplers of a ceiling, compiled: our copy or SAXPY over the same bytes, in the same mode; none where buffers
        lack room for them without gaps. which: by default the one that results are compared with."""
        if self.canonical.in_place:
            return []
        found = which or peak.of(self.canonical, hot=self.mode is Mode.HOT)
        fitting = [sampler for sampler in peak.walks(self.canonical, found, self.target) if self._fits(sampler[0])]
        built = [(flat, kernel.build(flat, plan, self.target)) for flat, plan in fitting]
        return [partial(self._walk, flat, runnable) for flat, runnable in built]

    def _fits(self, flat: Canonical) -> bool:
        """True where both buffers hold as many elements without gaps (a broadcast A does not)."""
        return all(
            len(t.memory) >= flat.elements * t.dtype.itemsize and flat.elements > 0 for t in (self.a, self.b)
        )

    def _walk(self, flat: Canonical, built: Kernel) -> Run:
        starts = int(self.a.memory.ctypes.data), int(self.b.memory.ctypes.data)
        values, repeats = dtypes.scalars(flat.compute, 2.0, 0.5), 1
        if self.mode is Mode.HOT:
            repeats = repeats_of(_timed(built, starts, values, self.threads, 1))
        else:
            self._prepare()
        seconds = _timed(built, starts, values, self.threads, repeats)
        return Run(flat.bytes_moved * repeats / seconds / GIB, seconds / repeats)

    # --- runs ---

    def _timed(self, built: Kernel, repeats: int, threads: int | None = None) -> float:
        values = dtypes.scalars(self.canonical.compute, self.alpha, self.beta, *self._alphas())
        return _timed(built, (self.a.address, self.b.address), values, threads or self.threads, repeats)

    def _hot_seconds(self, built: Kernel) -> float:
        repeats = repeats_of(self._timed(built, 1))
        return self._timed(built, repeats) / repeats

    def _prepare(self) -> None:
        """Put the caches into the state that the mode asks for."""
        for hot, tensor in ((Mode.HOT_A, self.a), (Mode.HOT_B, self.b)):
            if self.mode is not hot:
                flush(tensor.memory, self.target, self.threads)
        for hot, tensor in ((Mode.HOT_A, self.a), (Mode.HOT_B, self.b)):
            if self.mode is hot:
                tensor.memory.max()


def repeats_of(seconds: float) -> int:
    """Hot calls that are timed as one, where one takes so long."""
    return max(1, round(HOT_SECONDS / max(seconds, 1e-7)))


def _timed(
    built: Kernel, tensors: tuple[int, int], values: npt.NDArray[np.generic] | None, threads: int, repeats: int
) -> float:
    """Seconds of all repeats on tensors at these addresses."""
    call = Call(built.address, *tensors, 0 if values is None else values.ctypes.data, 0, built.scratch, built.tasks)
    start = time.perf_counter()
    runtime.run(call, threads, repeats)
    return time.perf_counter() - start


def stand_in(canonical: Canonical, free: int) -> Canonical:
    """A smaller form with the same strides' low bits, for so many bytes of free memory."""
    return buffers.proxy(canonical, max(LEAST_PROXY_BYTES, min(free // 3, PROXY_BYTES)))


def check_runs_here(target: Target) -> None:
    """TargetError where kernels of this target cannot be executed on this machine."""
    if not backend.runs_here(target):
        raise TargetError(f"target {target} cannot be timed here: this machine lacks its instructions")
