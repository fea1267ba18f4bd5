"""Prepared calls, as functions of integers for `integer_code`: the words that planners write (`layout_fields`)."""

from __future__ import annotations

from . import canonical_axes as axes
from . import layout_fields as fields
from . import planner_fields as known
from .words import load64, store64

LEAST_BYTES = 16 << 10  # a call weighs so much at least: what surrounds a small one takes as long


def write_reach(layout: int, reach: int, side: int, size: int) -> None:
    """Write the lowest byte and the end of one side's elements."""
    low, end = 0, size
    for axis in range(layout + fields.AXES, axes.end(layout), fields.AXIS_BYTES):
        span = max(0, load64(axis + fields.EXTENT) - 1) * load64(axis + side)
        low, end = low + min(span, 0), end + max(span, 0)
    store64(reach, low)
    store64(reach + 8, end)


def write_call(
    planner: int, work: int, prepared: int, params: int, kernel: int, tasks: int, moved: int, weight: int
) -> None:
    """Write what is called. moved: bytes."""
    store64(prepared + fields.OFFSET_A, load64(work + axes.START_A) * load64(work + axes.UNIT_A))
    store64(prepared + fields.OFFSET_B, load64(work + axes.START_B) * load64(work + axes.UNIT_B))
    store64(prepared + fields.PARAMS, params)
    store64(prepared + fields.LEFT, load64(planner + known.BUDGET))
    store64(prepared + fields.WEIGHT, weight)
    store64(prepared + fields.PARTS, max(1, moved // load64(planner + known.SERIAL_BYTES)))
    store64(prepared + fields.HELD, moved < load64(planner + known.HELD_BYTES))
    store64(prepared + fields.OWNER, 0)
    for word in range(fields.PLACE_A, fields.CALL_BYTES, 8):
        store64(prepared + word, 0)
    store64(prepared + fields.KERNEL, kernel)
    store64(prepared + fields.TASKS, tasks)


def steps_of(n: int, size: int) -> int:
    """The number of steps of this size that an extent has."""
    return (n + size - 1) // size
