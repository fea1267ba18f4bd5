"""From a GPU plan to code: lower, build, compile. Needs no GPU."""

from __future__ import annotations

from collections.abc import Callable

from .. import locks
from ..lowering.gpu import boxes
from ..lowering.gpu.launch import GpuImage, Launch, parameters
from ..lowering.gpu.lower import lower
from ..lowering.gpu.nest import GpuNest
from ..lowering.gpu.plan import VERSION, GpuPlan
from ..machine.gpu_target import GpuTarget
from ..problem.canonical import Canonical
from ..runtime import backend, kernel
from ..runtime.kernel import Objects


def build(
    canonical: Canonical,
    plan: GpuPlan,
    target: GpuTarget,
    entry: str = "kernel",
    mark: Callable[[str], str] = str,
) -> GpuImage:
    """The kernel `entry` of a plan, compiled for a GPU. mark: what is done to its IR before.

    Raises PlanError where the plan does not fit, CompileError where LLVM rejects the module.
    """
    with locks.IMPORTS:
        from ..ir_builders.gpu import module
    nest = lower(canonical, plan, target)
    text = mark(str(module.build(nest, target, entry)))
    return GpuImage(target, str(plan), launch(nest, entry), text, code(text, target))


def for_boxes(canonical: Canonical, axes: int, tasks: int, target: GpuTarget, entry: str = "boxes") -> GpuImage:
    """The kernel `entry` that moves boxes of many blocks, compiled for a GPU, and its launch for so many tasks.
    canonical: the types and kinds of scalars; axes: of a block, at most."""
    with locks.IMPORTS:
        from ..ir_builders.gpu import boxes as builder
    text = str(builder.build(canonical, axes, target, entry))
    return GpuImage(target, "", boxes.launch(canonical, axes, tasks, entry), text, code(text, target))


def stored(canonical: Canonical, plan: GpuPlan, target: GpuTarget, objects: Objects) -> GpuImage | None:
    """The kernel of a plan by its stored code, which is not compiled again; None where there is none.

    objects: code by the plan's text. PlanError where the plan does not fit.
    """
    found = objects.get(str(plan))
    if found is None:
        return None
    return GpuImage(target, str(plan), launch(lower(canonical, plan, target), kernel.NAME), "", found)


def versions() -> str:
    """The versions that stored code depends on."""
    return kernel.versions(VERSION)


def launch(nest: GpuNest, entry: str) -> Launch:
    """The launch of a nest's kernel."""
    c = nest.canonical
    shared = 0 if nest.shared is None else nest.shared.elements * c.a.itemsize
    align_a, align_b = (count * t.itemsize for count, t in zip(nest.align, (c.a, c.b), strict=True))
    return Launch(entry, nest.grid, nest.threads, shared, parameters(c), align_a, align_b)


def code(ir_text: str, target: GpuTarget) -> bytes:
    """PTX text for NVIDIA, a relocatable object for AMD."""
    if target.is_nvidia:
        return backend.assembly(ir_text, target).encode("ascii")
    return backend.compile_object(ir_text, target)
