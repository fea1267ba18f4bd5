"""One problem on a device as the search sees it: plans are built, timed with cold caches, and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from statistics import median
from typing import Any

from ..gpu import kernel as gpu_kernel
from ..gpu.executable import ENTRY, Loaded
from ..gpu.session import Session
from ..lazy_dataclasses import dataclass, field
from ..lowering.gpu.launch import GpuImage
from ..lowering.gpu.plan import GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Canonical
from ..problem.dtypes import DType
from ..problem.kinds import COPY, Beta
from ..tuning.gpu import candidates as gpu_candidates
from ..tuning.measurement import GIB
from ..tuning.search.search import Limits, Outcome
from ..tuning.search.speed import Run, Sampler
from ..tuning.space import peak
from .gpu_tensors import DRAWN, WHOLE, Box, DeviceTensor, TensorSets, boxes
from .stored_plans import Circumstances
from .trial import Mode

LEAST_RUNS, MOST_RUNS = 5, 50
RUNS_SECONDS = 3e-3  # of one measurement, which is the median of its runs
ENQUEUED = 40e-6  # seconds in which a run is enqueued, at most: shorter ones the device would wait for
COPY_NAME, SAXPY_NAME = "device copy", "device SAXPY"
CEILING_PLANS = 3
CEILING_SCALARS = (2.0, 0.5)

Work = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Built:
    """A plan on the device. image: its code; loaded: that code in the session's context."""

    image: GpuImage
    loaded: Loaded


@dataclass(slots=True)
class Trial:
    """A `task.Bench`: a canonical form on the tuner's own tensors. Used inside `session.active`.

    prepared: images that were compiled beforehand, by the text of their plan, those of ceilings behind the form's text;
    filled: the types whose values fill the tensors; is_proxy: the form is a smaller stand-in of the problem's.
    """

    canonical: Canonical
    target: GpuTarget
    session: Session
    mode: Mode
    alpha: complex
    beta: complex
    prepared: Mapping[str, GpuImage] = field(default_factory=dict)
    filled: tuple[DType, DType] | None = None
    is_proxy: bool = False
    tensors: TensorSets = field(init=False)
    _events: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.tensors = TensorSets(self.session, self.canonical, self.mode, self.filled)
        self._events = self.session.events(2 * MOST_RUNS)

    # --- what the search asks for ---

    @property
    def circumstances(self) -> Circumstances:
        """The device, and what a run moves."""
        return Circumstances(str(self.session.device), self.canonical.bytes_moved, self.is_proxy)

    @property
    def alone(self) -> None:
        """A kernel has all of the device, or none of it."""

    def decided(self, outcome: Outcome[GpuPlan, Built], limits: Limits) -> Outcome[GpuPlan, Built]:
        """The outcome: a search decides everything."""
        return outcome

    def build(self, plan: GpuPlan) -> Built:
        """Compile a plan, unless that was done beforehand, and load it."""
        image = self.prepared.get(str(plan)) or gpu_kernel.build(self.canonical, plan, self.target, ENTRY)
        return self.load(image)

    def load(self, image: GpuImage) -> Built:
        """Code on the device."""
        return Built(image, Loaded(self.session.driver, self.session.context, image))

    def seconds(self, built: Built) -> float:
        """The median of some runs, each on tensors that have left the caches."""
        return median(self.runs(partial(self.launch, built)))

    def verify(self, built: Built) -> tuple[int, ...] | None:
        """Run once on fresh data, B poisoned where it is not read, and compare every element of results of up to 2^26,
        beyond that 48 boxes of 2^20."""
        everything = self.canonical.elements <= WHOLE
        return self.wrong(built, boxes(self.canonical, None if everything else DRAWN))

    def wrong(self, built: Built, among: list[Box]) -> tuple[int, ...] | None:
        """The same for some boxes of the result."""
        tensors = self.tensors.prepare()
        self.launch(built, tensors)
        return self.tensors.wrong((self.alpha, self.beta), among)

    # --- runs ---

    def launch(self, built: Built, tensors: tuple[DeviceTensor, DeviceTensor]) -> None:
        """Enqueue one run."""
        a, b = (side.address for side in tensors)
        self.enqueue(built, a, b, (self.alpha, self.beta))

    def enqueue(self, built: Built, a: int, b: int, scalars: tuple[complex, complex]) -> None:
        """Enqueue a kernel on addresses."""
        built.loaded.enqueue(self.session.driver, self.session.stream, a, b, *map(complex, scalars))

    def runs(self, run: Callable[[tuple[DeviceTensor, DeviceTensor]], None]) -> tuple[float, ...]:
        """Seconds of at least LEAST_RUNS runs, after one that sets things up."""
        self.session.seconds([self._on_next(run)], self._events)
        first = self._timed(run, LEAST_RUNS)
        more = round(RUNS_SECONDS / max(median(first), 1e-9)) - LEAST_RUNS
        if more < 1:
            return first
        if median(first) < ENQUEUED:
            self.session.occupy(MOST_RUNS * ENQUEUED)
            return self._timed(run, MOST_RUNS)
        return first + self._timed(run, min(more, MOST_RUNS - LEAST_RUNS))

    def _timed(self, run: Callable[[tuple[DeviceTensor, DeviceTensor]], None], count: int) -> tuple[float, ...]:
        return self.session.seconds([self._on_next(run) for _ in range(count)], self._events)

    def _on_next(self, run: Callable[[tuple[DeviceTensor, DeviceTensor]], None]) -> Work:
        return partial(run, self.tensors.next())

    # --- ceilings ---

    def waited(self) -> float:
        """0: the device's clock does not run while our threads wait."""
        return 0.0

    def samplers(self) -> list[Sampler]:
        """Samplers of the ceiling, the same bytes without permutation: SAXPY where B is read, else our copy and the
        driver's; none where the tensors do not hold them."""
        return [partial(self._timed_walk, size, run) for size, run in self.ceilings()]

    def _timed_walk(self, size: int, run: Callable[[tuple[DeviceTensor, DeviceTensor]], None]) -> Run:
        seconds = median(self.runs(run))
        return Run(size / seconds / GIB, seconds)

    def ceilings(self) -> list[tuple[int, Callable[[tuple[DeviceTensor, DeviceTensor]], None]]]:
        """The kernels of the ceiling: bytes moved, and one run of each."""
        flat = flattened(self.canonical)
        if not self._holds(flat):
            return []
        found: list[tuple[int, Callable[[tuple[DeviceTensor, DeviceTensor]], None]]] = []
        for plan in ceiling_plans(flat, self.target):
            image = self.prepared.get(f"{flat} {plan}") or gpu_kernel.build(flat, plan, self.target, ENTRY)
            built = self.load(image)
            found.append((flat.bytes_moved, partial(self._walk, built)))
        if flat.kinds == COPY and flat.a == flat.b:
            size = flat.elements * flat.a.itemsize
            found.append((2 * size, partial(self._copy, size)))
        return found

    def _holds(self, flat: Canonical) -> bool:
        sizes = zip(self.tensors.sets[0], (flat.a, flat.b), strict=True)
        return flat.elements > 0 and all(side.size >= flat.elements * t.itemsize for side, t in sizes)

    def _walk(self, built: Built, tensors: tuple[DeviceTensor, DeviceTensor]) -> None:
        a, b = (side.start for side in tensors)
        self.enqueue(built, a, b, CEILING_SCALARS)

    def _copy(self, size: int, tensors: tuple[DeviceTensor, DeviceTensor]) -> None:
        a, b = (side.start for side in tensors)
        self.session.copy(b, a, size)


def ceiling_name(canonical: Canonical) -> str:
    """The name of the ceiling that a problem is compared with."""
    return SAXPY_NAME if canonical.kinds.beta is Beta.ANY else COPY_NAME


def ceiling_plans(flat: Canonical, target: GpuTarget) -> list[GpuPlan]:
    """The plans of which the fastest is our own copy or SAXPY."""
    return list(islice(gpu_candidates.plans(flat, target), CEILING_PLANS))


def flattened(canonical: Canonical) -> Canonical:
    """As many elements of the same types without a permutation: SAXPY where B is read, else a copy."""
    return peak.flattened(canonical, update=canonical.kinds.beta is Beta.ANY)
