"""Plans for GPUs: from the database, from the cost model, or by timing candidates on the device."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from ..errors import PlanError
from ..gpu import devices
from ..gpu import kernel as gpu_kernel
from ..gpu.devices import Device
from ..gpu.executable import ENTRY
from ..gpu.session import Session
from ..lowering.gpu import lower as gpu_lower
from ..lowering.gpu import plan as gpu_plan
from ..lowering.gpu.launch import GpuImage
from ..lowering.gpu.plan import GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Canonical, canonicalise
from ..problem.problem import Problem
from ..runtime import kernel
from ..tuning import gpu_candidates
from ..tuning.choices import FREE, Forced
from ..tuning.database import Database
from ..tuning.gpu_candidates import GpuForced
from ..tuning.measurement import Measurement
from ..tuning.records import Answer, Record, Request, Timing
from ..tuning.search import Limits, Outcome, Report, search
from .gpu_options import GpuOptions, checked
from .gpu_solution import GpuSolution
from .gpu_trial import Built, Trial, ceiling_name
from .options import MAX_IMPLEMENTATIONS, candidate_count
from .stored_plans import STORED_TIMINGS, measurement, open_database, remembered
from .trial import Mode

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GpuPlanned:
    """The plan of a canonical form. measurement: None where nothing was timed; image: its compiled kernel."""

    plan: GpuPlan
    measurement: Measurement | None
    image: GpuImage


def compile(
    problem: Problem,
    max_implementations: int = MAX_IMPLEMENTATIONS,
    target: GpuTarget | str = "cuda",
    time_limit: float | None = None,
    mode: Mode = Mode.COLD,
    *,
    verify: bool = True,
    forced: Forced | GpuForced = FREE,
    database: str | Path | None = None,
    ignore_database: bool = False,
    progress: Report | None = None,
) -> GpuSolution:
    """`ttc_llvm.compile` for a GPU: the same search and database. Nothing but timing needs a device.

    Raises TtcError subclasses with one sentence: GpuError where there is no device to time on.
    """
    chosen = checked(max_implementations, target, time_limit, mode, verify, forced)
    store = open_database(database, ignore_database)
    canonical = canonicalise(problem).canonical
    found = plan_canonical(canonical, chosen, (problem.alpha, problem.beta), store, progress)
    return GpuSolution(problem, chosen.target, found.plan, found.measurement, found.image)


def plan(
    canonical: Canonical,
    target: GpuTarget,
    scalars: tuple[complex, complex],
    effort: int,
    device: Device,
) -> GpuPlanned:
    """The plan of a layout on a device; effort: plans to consider, 1 = the cost model alone."""
    chosen = GpuOptions(target, candidate_count(effort))
    return plan_canonical(canonical, chosen, scalars, open_database(None), None, device)


def plan_canonical(
    canonical: Canonical,
    chosen: GpuOptions,
    scalars: tuple[complex, complex],
    store: Database,
    progress: Report | None = None,
    device: Device | None = None,
) -> GpuPlanned:
    """The best plan of a canonical form; scalars: alpha and beta of the timed runs. What is found is stored."""
    request = _request(canonical, chosen)
    answer = store.find(request, chosen.max_implementations)
    if answer.sufficient and answer.record is not None:
        known = _known(canonical, chosen, answer.record)
        if known is not None:
            if not answer.record.objects and store.keeps_code:
                store.keep(replace(answer.record, objects=((ENTRY, known.image.code),)))
            return known
        store.refuse(answer.record)
    if chosen.max_implementations == 1 or canonical.elements == 0:
        found, record = _modelled(canonical, chosen, request, answer)
    else:
        here = devices.timing(chosen.target, None if device is None else device.ordinal)
        found, record = _tuned(canonical, chosen, scalars, request, answer, progress, here)
    store.store(record)
    return found


def versions() -> str:
    """The versions that stored code depends on."""
    return kernel.versions(gpu_plan.VERSION)


def _request(canonical: Canonical, chosen: GpuOptions) -> Request:
    words = "" if chosen.forced == gpu_candidates.FREE else str(chosen.forced)
    forced = " ".join(filter(None, (words, "" if chosen.verify else "unverified")))
    return Request(str(canonical), chosen.target.key, 1, chosen.mode.value, forced, versions())


# --- the three sources of a plan ------------------------------------------------------------------------


def _known(canonical: Canonical, chosen: GpuOptions, record: Record) -> GpuPlanned | None:
    """The stored plan and its code, which is not compiled again; None if the row is unusable."""
    try:
        found = gpu_plan.parse(record.plan)
        image = _stored_image(canonical, found, chosen.target, dict(record.objects).get(ENTRY))
    except PlanError as error:
        _log.warning("a stored plan is ignored: %s", error)
        return None
    measured = remembered(record, _ceiling_name(canonical, record.note), canonical.bytes_moved)
    return GpuPlanned(found, measured, image)


def _stored_image(canonical: Canonical, found: GpuPlan, target: GpuTarget, code: bytes | None) -> GpuImage:
    """A stored plan's kernel. What is not stored is read off the plan: it takes no compilation."""
    if code is None:
        return gpu_kernel.build(canonical, found, target, ENTRY)
    nest = gpu_lower.lower(canonical, found, target)
    return GpuImage(target, str(found), gpu_kernel.launch(nest, ENTRY), "", code)


def _modelled(
    canonical: Canonical, chosen: GpuOptions, request: Request, answer: Answer
) -> tuple[GpuPlanned, Record]:
    """A plan that was timed for the same problem under other options, or the cost model's first."""
    model = gpu_candidates.model_plan(canonical, chosen.target, chosen.forced)
    found = next(_hints(canonical, chosen, answer), model)
    image = gpu_kernel.build(canonical, found, chosen.target, ENTRY)
    return GpuPlanned(found, None, image), Record(request, 1, str(found), objects=((ENTRY, image.code),))


def _tuned(
    canonical: Canonical,
    chosen: GpuOptions,
    scalars: tuple[complex, complex],
    request: Request,
    answer: Answer,
    progress: Report | None,
    device: Device,
) -> tuple[GpuPlanned, Record]:
    session = Session(device)
    with session.active():
        trial = Trial(canonical, chosen.target, session, chosen.mode, *scalars)
        ceiling = trial.ceiling()
        outcome = search(
            chain(_hints(canonical, chosen, answer), gpu_candidates.plans(canonical, chosen.target, chosen.forced)),
            lambda found: gpu_candidates.neighbours(canonical, found, chosen.target, chosen.forced),
            trial,
            Limits(chosen.max_implementations, chosen.time_limit, chosen.verify),
            progress,
        )
        with suppress(KeyboardInterrupt):  # the search is over, and its result is kept
            ceiling = max(ceiling, trial.ceiling())
    return _finished(canonical, chosen, request, outcome, ceiling, device)


def _finished(
    canonical: Canonical,
    chosen: GpuOptions,
    request: Request,
    outcome: Outcome[GpuPlan, Built],
    ceiling: float,
    device: Device,
) -> tuple[GpuPlanned, Record]:
    best, seconds, image = outcome.best.plan, outcome.best.best, outcome.kernel.image
    timings = tuple((str(timed.plan), timed.seconds) for timed in outcome.timings)
    which = _ceiling_name(canonical, str(device))
    measured = replace(
        measurement(which, canonical.bytes_moved, seconds, ceiling or None, timings), interrupted=outcome.interrupted
    )
    effort = max(len(timings), 1) if outcome.interrupted else chosen.max_implementations
    record = Record(
        request,
        effort,
        str(best),
        seconds,
        tuple(Timing(*timing) for timing in timings[:STORED_TIMINGS]),
        ((ENTRY, image.code),),
        ceiling_gibs=ceiling or None,
        note=str(device),
    )
    return GpuPlanned(best, measured, image), record


def _ceiling_name(canonical: Canonical, device: str) -> str:
    name = ceiling_name(canonical)
    return f"{name} of {device}" if device else name


def _hints(canonical: Canonical, chosen: GpuOptions, answer: Answer) -> Iterator[GpuPlan]:
    if chosen.forced != gpu_candidates.FREE:
        return
    for text in answer.hints:
        try:
            found = gpu_plan.parse(text)
            gpu_lower.lower(canonical, found, chosen.target)
        except PlanError:
            continue
        yield found
