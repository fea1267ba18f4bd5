"""The rules that a plan has to keep to fit a canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ..errors import PlanError
from ..problem.canonical import Canonical, Param
from ..problem.in_place import images
from .plan import DECISIONS, FALLBACKS, CpuPlan, Fetch, Plan, Store, spans
from .plan_text import shown

MAX_EXTENT = (1 << 63) - 1  # as sizes of tensors have
MAX_BLOCK = 1 << 13  # elements: 64 x 64 bytes and then some; a micro-tile's code grows with them
MAX_STACK = 256 << 10  # bytes of a tile that waits on the stack
MAX_ROWS = 1 << 24  # bytes of a tile whose rows are prefetched: more than caches keep until they are read


def check(plan: CpuPlan, canonical: Canonical) -> CpuPlan:
    """The plan itself if it fits this canonical form, else PlanError with the first rule broken."""
    rank = len(canonical.axes)
    check_shape(plan, plan.panel, {"order": plan.order, "inner": plan.inner}, rank)
    _check_multiples(plan, canonical, ("tile", "block"))
    _check_multiples(plan, canonical, ("panel", "tile"))
    if plan.block_elements > MAX_BLOCK:
        raise PlanError(
            f"plan block={shown(plan.block)} has {plan.block_elements} elements, more than {MAX_BLOCK}"
        )
    if not 0 <= plan.parallel <= rank:
        raise PlanError(f"plan parallel={plan.parallel} exceeds the {rank} loops")
    if plan.prefetch < 0:
        raise PlanError(f"plan prefetch={plan.prefetch} is negative")
    for name, value, choices in (("store", plan.store, DECISIONS), ("fallback", plan.fallback, (None, *FALLBACKS))):
        if value not in choices:
            words = ", ".join(choice.value for choice in choices if choice)
            raise PlanError(f"plan {name}={shown(value)} is not decided by plans: the choices are {words}")
    if canonical.in_place:
        _check_in_place(plan, canonical)
    if canonical.terms and plan.store is Store.ALIGNED:
        raise PlanError("the stores of plans of sums are cached, peeled or combined")
    if not lists_rows(plan, canonical):
        shape, size = shown(plan.tile), _fetched_bytes(plan, canonical)
        raise PlanError(f"plan tile={shape} has {size} bytes: fetch=rows takes tiles of {MAX_ROWS} at most")
    return plan


def lists_rows(plan: CpuPlan, canonical: Canonical) -> bool:
    """False where prefetched rows are more than tables in the code should list."""
    return plan.fetch is not Fetch.ROWS or not plan.prefetch or _fetched_bytes(plan, canonical) <= MAX_ROWS


def check_shape(plan: Plan, panel: tuple[int, ...], orders: Mapping[str, tuple[int, ...]], rank: int) -> None:
    """PlanError where extents and orders are not those of so many axes."""
    for name, values in (("tile", plan.tile), ("block", plan.block)):
        if len(values) != rank or min(values) < 1:
            raise PlanError(f"plan {name}={shown(values)} needs {rank} positive extents")
    for name, values in (("tile", plan.tile), ("panel", panel)):
        if max(values, default=0) > MAX_EXTENT:
            raise PlanError(f"plan {name}={shown(values)} has an extent above 2^63 - 1")
    for name, values in orders.items():
        if sorted(values) != list(range(rank)):
            raise PlanError(f"plan {name}={shown(values)} is not a permutation of {rank} axes")
    if len(panel) not in (0, rank):
        raise PlanError(f"plan panel={shown(panel)} needs {rank} extents, or none")


def _check_multiples(plan: CpuPlan, canonical: Canonical, names: tuple[str, str]) -> None:
    outer, inner = (getattr(plan, name) for name in names)
    for axis, whole, part in zip(canonical.axes, outer, inner, strict=False):
        if not spans(whole, axis.extent) and (whole < 1 or whole % part):
            raise PlanError(f"plan {names[0]} {whole} is not a multiple of its {names[1]} {part}")


def _check_in_place(plan: CpuPlan, canonical: Canonical) -> None:
    """PlanError where tiles do not fit into each other's places."""
    box = plan.box(canonical.bounds)
    if any(box[k] != box[image] for k, image in enumerate(images(canonical.axes) or ())):
        raise PlanError(f"plan tile={shown(plan.tile)} differs along axes that take each other's places")
    if (size := prod(box) * canonical.a.itemsize) > MAX_STACK:
        raise PlanError(f"plan tile={shown(plan.tile)} has {size} bytes: in place, tiles have at most {MAX_STACK}")
    if plan.non_temporal or plan.panel:
        raise PlanError("plans in place have ordinary stores and no panels")


def _fetched_bytes(plan: CpuPlan, canonical: Canonical) -> int:
    """The bytes of a tile on its wider side."""
    sizes = [t if isinstance(one.extent, Param) else min(t, one.extent)
             for t, one in zip(plan.tile, canonical.axes, strict=True)]  # fmt: skip
    return prod(sizes) * max(canonical.a.itemsize, canonical.b.itemsize)
