"""Task grids that are put around the loops of a plan, of B's outermost axes: panels make them."""

from __future__ import annotations

from collections.abc import Mapping

from ..lazy_dataclasses import replace
from ..problem.canonical import Canonical
from .plan import CpuPlan


def with_grid(canonical: Canonical, plan: CpuPlan, steps: Mapping[int, int]) -> CpuPlan:
    """The plan with a grid of these steps, by axis, outermost first, in place of its panels.

    A step spans its axis or is a multiple of the micro-tile's extent; tiles are shortened until they divide it.
    """
    extents, tile, *_, last = canonical.extents, list(plan.tile), *steps
    for k, step in steps.items():
        if step < extents[k]:
            tile[k] = _divisor(plan.tile[k], plan.block[k], step)
    front = [k for k in steps if k != last or steps[k] == tile[k]]
    return replace(
        plan,
        tile=tuple(tile),
        order=(*front, *(k for k in plan.order if k not in front)),
        panel=tuple(steps.get(k, extent) for k, extent in enumerate(extents)),
        parallel=max(1, sum(step < extents[k] for k, step in steps.items())),
        fallback=None,
    )


def grid_of_b(canonical: Canonical, plan: CpuPlan) -> dict[int, int]:
    """The steps of a plan's grid as `with_grid` takes them; none where the grid is of another kind."""
    grid = dict(plan.grid(canonical.extents))
    order = [k for k in canonical.along("b") if canonical.extents[k] > 1]
    axes = order[: max(map(order.index, grid), default=-1) + 1]
    steps = {k: grid.get(k, canonical.extents[k]) for k in axes}
    made = with_grid(canonical, plan, steps) if steps else plan
    return steps if made == plan.without_fallback and grid else {}


def _divisor(tile: int, unit: int, step: int) -> int:
    """The longest tile of whole units, up to this one, that divides a step."""
    units = step // unit
    return next((n * unit for n in range(min(tile // unit, units), 1, -1) if units % n == 0), unit)
