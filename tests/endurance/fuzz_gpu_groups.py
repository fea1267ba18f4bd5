"""Launches of groups for every GPU of the tables, run by the harness on this CPU: each block between guard pages."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import layouts
import numpy as np
from device import harness, host_boxes, run
from fuzz_arrays import DTYPES, NUMBERS
from fuzz_draw import Met, scalars
from fuzz_groups import CALLS, again, called, drawn, strides_of

from ttc_llvm.arrays.checks import scaled
from ttc_llvm.arrays.scalings import PLAIN
from ttc_llvm.errors import ArrayError
from ttc_llvm.groups.blocks import Blocks, read
from ttc_llvm.groups.boxes import MOST_UNIT, boxes_of, types_of
from ttc_llvm.lowering.gpu.boxes import launch as launch_of
from ttc_llvm.lowering.gpu.launch import Slot
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.operands.addresses import data_address
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.dtypes import compute_type

GOALS = ("moves", "parts", "wide", "arithmetic", "edges", "shared-layouts")
NEEDS = "arithmetic needs multiples"  # what refusals of parts of elements say


class Hosted:
    """A plan of a group for a GPU, whose launches run here. met: what was in them."""

    def __init__(self, blocks: Blocks, target: GpuTarget) -> None:
        self.blocks, self.target, self.met = blocks, target, set[str]()

    def __call__(self, list_a: list[Any], list_b: list[Any], **scale: Any) -> list[Any]:
        """From and into arrays."""
        self.run(*([x.ctypes.data for x in arrays] for arrays in (list_a, list_b)), **scale)
        return list_b

    def run(self, a: Any, b: Any, **given: Any) -> None:
        """From and into addresses. ArrayError for arithmetic on parts of elements."""
        scale = scaled(self.blocks.of, self.blocks.to, given["alpha"], given["beta"], given["conjugate"])
        pairs = np.stack([np.array(a, np.int64), np.array(b, np.int64)], axis=1)
        odd = int(np.bitwise_or.reduce(pairs[self.blocks.elements > 0], None, initial=0)) & (MOST_UNIT - 1)
        if scale is not PLAIN and odd & (max(self.blocks.of.itemsize, self.blocks.to.itemsize) - 1):
            raise ArrayError(NEEDS)
        boxes = boxes_of(self.blocks, scale is PLAIN, odd)
        if not boxes.tasks:
            return
        c = types_of(scale, boxes.unit)
        harness()
        kernel, launch = host_boxes(c, boxes.axes, self.target)
        launch = launch_of(c, boxes.axes, boxes.tasks, launch.entry)
        parts = {"alpha": complex(scale.alpha), "beta": complex(scale.beta)}
        values = [
            parts[p.name.removesuffix("_imag")].imag if p.name.endswith("_imag") else parts[p.name].real
            for p in launch.parameters if p.slot is not Slot.POINTER
        ]  # fmt: skip
        run(kernel, launch, data_address(boxes.table), data_address(pairs), values)
        self.met |= set(self._features(boxes.unit, boxes.tasks, boxes.layouts))

    def _features(self, unit: int, tasks: int, layouts_of: int) -> Iterator[str]:
        size, blocks = self.blocks.of.itemsize, int((self.blocks.elements > 0).sum())
        yield "moves" if unit else "arithmetic"
        yield from ("parts",) * (0 < unit < size)
        yield from ("wide",) * (unit > size)
        yield from ("edges",) * (tasks > blocks)
        yield from ("shared-layouts",) * (layouts_of < blocks)


def attack(rng: Random, goal: str, target: GpuTarget) -> Met:
    """Launch a group, twice, and compare everything that may have been written. goal: of `GOALS`, or ""."""
    arithmetic = goal == "arithmetic" or (goal in ("", "edges", "shared-layouts") and rng.random() < 0.4)
    packed = goal in ("wide", "arithmetic") or (goal != "parts" and rng.random() < 0.5)
    names = ("u1", "i2", "f4") if goal == "wide" else layouts.ARITHMETIC if arithmetic else DTYPES
    of = np.dtype(rng.choice(names))
    mixed = arithmetic and of in NUMBERS and rng.random() < 0.2
    to = np.dtype(layouts.PARTNER[of.str[1:]]) if mixed else of
    group = drawn(rng, of, to, "strides=odd" if goal == "parts" else "", packed)
    if goal == "wide":
        group.axes = [tuple(range(len(axes))) for axes in group.axes]
        group.b = [again(rng, x, True) for x in group.a]
    kinds = scalars(rng, compute_type(*map(dtypes.from_numpy, (of, to)))) if arithmetic else (1, 0, False)
    scale: dict[str, Any] = dict(zip(("alpha", "beta", "conjugate"), kinds, strict=True))
    strides = [None, None] if packed else map(strides_of, group.lists())
    plan = Hosted(read(group.shapes, group.axes, of, to, *strides), target)
    try:
        for _ in range(CALLS):
            called(rng, plan, group, scale)
            group.a, group.b = ([again(rng, x, side is group.b) for x in side] for side in (group.a, group.b))
    except ArrayError as error:
        if NEEDS not in str(error):
            raise
    return Met((*(f"group={found}" for found in plan.met), f"gpu={target}"), CALLS * len(group.a))
