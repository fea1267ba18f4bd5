"""Lowering: a plan applied to a canonical form gives the loop nest. Pure; no LLVM."""

from __future__ import annotations

from dataclasses import replace

from .canonical import Alpha, Beta, Canonical, Param
from .carry import chain
from .nest import Bind, Fence, Keep, Loop, LoopNest, Node, Row, Stage
from .plan import CpuPlan, Staging, check
from .shift import shifted, shifts
from .staging import direct_leaf, has_masks, is_by_rows, joined, joins, operation, row_loops, stage, views
from .target import Target
from .tile_loops import Tile, loops


def lower(canonical: Canonical, plan: CpuPlan, target: Target) -> LoopNest:
    """The nest of this plan. Raises PlanError where the plan does not fit the canonical form.

    One plan serves every kind: without beta = 0 its streaming, with alpha = 0 its staging, without streaming its carry
    or its shift means nothing.
    """
    check(plan, canonical)
    if any(axis.extent == 0 for axis in canonical.axes):
        return LoopNest(canonical, (), _params(canonical), 0)
    plan = _meant(canonical, plan)
    handed = chain(canonical, plan, target)
    if handed and joins(canonical, plan, target):
        body = joined(canonical, plan, target, handed.carry)
    elif plan.staging.fills_scratch:
        body = stage(canonical, plan, target, handed)
    elif shifts(canonical, plan, target):
        body = shifted(canonical, plan, target)
    else:
        body = _direct(canonical, plan, target)
    sizes = tuple(axis.extent for axis in canonical.axes)
    tasks = len(plan.grid(sizes))
    around = list(enumerate(plan.loops(sizes)))
    for number, (k, step) in reversed(around):
        if handed and number == len(around) - handed.inside - 1:
            body = (Keep(handed.buffer, body),)
        body = (Loop(k, sizes[k], step, Bind.TASK if number < tasks else Bind.SERIAL, body),)
    if plan.streaming:
        body = (*body, Fence())
    return LoopNest(
        canonical, body, _params(canonical), _scratch_bytes(body), alignment(canonical, plan, target)
    )


def _meant(canonical: Canonical, plan: CpuPlan) -> CpuPlan:
    """The plan without the decisions that mean nothing here."""
    if canonical.kinds.beta is not Beta.ZERO:
        plan = plan.ordinary
    moot = plan.staging is Staging.CARRY and not plan.streaming
    return replace(plan, staging=Staging.NONE) if moot or canonical.kinds.alpha is Alpha.ZERO else plan


def alignment(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """Bytes that B's base must be a multiple of: a vector, or a longer element, for stores past the caches of whole
    blocks, an element where rows or micro-tiles find their own boundaries, 1 without such stores."""
    if not plan.streaming or canonical.kinds.beta is not Beta.ZERO:
        return 1
    vector = target.vector_bits // 8
    anywhere = is_by_rows(canonical, plan, vector) or shifts(canonical, plan, target)
    return canonical.b.itemsize if anywhere else max(vector, canonical.b.itemsize)


def _params(canonical: Canonical) -> tuple[Param, ...]:
    sizes = {s for axis in canonical.axes for s in (axis.extent, axis.stride_a, axis.stride_b)}
    return tuple(sorted((s for s in sizes if isinstance(s, Param)), key=lambda p: p.index))


def _scratch_bytes(nodes: tuple[Node, ...]) -> int:
    for node in nodes:
        if isinstance(node, Loop):
            return _scratch_bytes(node.body)
        if isinstance(node, Keep):
            return max(node.buffer.end, _scratch_bytes(node.body))
        if isinstance(node, Stage):
            return node.buffer.end
    return 0


def _direct(canonical: Canonical, plan: CpuPlan, target: Target) -> tuple[Node, ...]:
    if plan.streaming and is_by_rows(canonical, plan, target.vector_bits // 8):
        return row_loops(canonical, plan, Row(*views(canonical), operation(canonical), (0,), 1), plan.inner)
    leaf = direct_leaf(canonical, plan)
    return loops(Tile(canonical.axes, plan.tile, plan.inner, leaf, has_masks(leaf, target), target.vector_bits // 8))
