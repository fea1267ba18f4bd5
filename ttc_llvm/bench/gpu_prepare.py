"""Kernels made before the device is asked for anything: candidates and ceilings of every case, in worker processes."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing.process import BaseProcess

from ..compiling.gpu_trial import ceiling_plans, flattened
from ..errors import ArtifactError, GpuError
from ..gpu import kernel as gpu_kernel
from ..gpu.executable import ENTRY
from ..gpu.tools import cubin
from ..lazy_dataclasses import dataclass, replace
from ..lowering.gpu.launch import GpuImage
from ..lowering.gpu.plan import GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Canonical
from ..runtime import interrupts
from ..runtime.interrupts import Undo
from ..tuning.gpu import candidates as gpu_candidates
from .cases import Case

AHEAD = 4  # cases a worker that are under way or wait for the device


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case's plans, the model's best first, and their images by plan; those of ceilings behind the form's text."""

    plans: tuple[GpuPlan, ...]
    images: Mapping[str, GpuImage]


def prepare(canonical: Canonical, target: GpuTarget, count: int, assembled: bool) -> Prepared:
    """Compile the model's first `count` plans and the ceilings. assembled: to cubins, which the driver need not
    translate any more; where there is no ptxas, PTX serves."""
    plans = tuple(islice(gpu_candidates.plans(canonical, target), count))
    images = {str(plan): _image(canonical, plan, target, assembled) for plan in plans}
    flat = flattened(canonical)
    images |= {f"{flat} {plan}": _image(flat, plan, target, assembled) for plan in ceiling_plans(flat, target)}
    return Prepared(plans, images)


def _image(canonical: Canonical, plan: GpuPlan, target: GpuTarget, assembled: bool) -> GpuImage:
    image = gpu_kernel.build(canonical, plan, target, ENTRY)
    if not assembled:
        return replace(image, llvm_ir="")
    try:
        return replace(image, llvm_ir="", code=cubin(image.code, target))
    except ArtifactError:
        return replace(image, llvm_ir="")


def _started(
    pool: ProcessPoolExecutor, canonical: Canonical, target: GpuTarget, count: int, assembled: bool
) -> Future[Prepared]:
    try:
        return pool.submit(prepare, canonical, target, count, assembled)
    except (RuntimeError, OSError) as error:  # no more processes, threads or files; or one has died
        raise GpuError(f"no process can be started to make kernels ahead: {error}; --jobs=0 does without") from None


def prepared(
    cases: Sequence[Case], target: GpuTarget, count: int, jobs: int, assembled: bool
) -> Iterator[tuple[Case, Prepared]]:
    """The cases in their order, each with its kernels, which `jobs` processes make ahead; 0 = this process does.

    GpuError where such a process has died."""
    if jobs < 1:
        yield from ((case, prepare(case.canonical, target, count, assembled)) for case in cases)
        return
    context = multiprocessing.get_context("spawn")  # neither LLVM's nor the driver's threads survive a fork
    rest = iter(cases)
    waiting: deque[tuple[Case, Future[Prepared]]] = deque()
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(jobs, context)
    with Undo(partial(_end, pool, others)):
        while True:
            for case in islice(rest, AHEAD * jobs - len(waiting)):
                with interrupts.unheard():
                    waiting.append((case, _started(pool, case.canonical, target, count, assembled)))
            if not waiting:
                return
            case, future = waiting.popleft()
            try:
                made = future.result()
            except BrokenExecutor as error:
                raise GpuError(f"a process that makes kernels ahead has died: {error}; --jobs=0 does without") from None
            yield case, made


def _end(pool: ProcessPoolExecutor, others: Sequence[BaseProcess]) -> None:
    """End the pool's processes, which would wait for ever if we just died. others: processes of others."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        if process not in others:
            process.kill()
