"""Kernels on this machine: compile a nest, call it on guarded memory, compare with the oracle."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np
import pytest
import reference
from case import Case
from guarded_case import LINE, GuardedCase, Place
from guards import Guarded

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Loop
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis, Canonical, Param, Size, static
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.runtime import backend, linking

ROWS = ("sse2", "avx", "avx2", "avx512", "knl")
SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, ctypes.c_int64, ctypes.c_int64)


def part_range(tasks: int, part: int, parts: int) -> tuple[int, int]:
    """The tasks [begin, end) of one part: balanced and contiguous."""
    return tasks * part // parts, tasks * (part + 1) // parts


@lru_cache(maxsize=1)
def runnable() -> tuple[Target, ...]:
    """The host and every row of the target table whose code may run here."""
    rows = [t for t in map(lookup.find, ROWS) if backend.runs_here(t)]
    return (backend.host_target(), *rows)


def found(name: str) -> Target:
    """The target of that name ("host" included); skips the test where its code cannot run."""
    wanted = backend.resolve(name)
    if not backend.runs_here(wanted):
        pytest.skip(f"this machine cannot run {name} code")
    return wanted


@dataclass(frozen=True, slots=True)
class Run:
    """How a case is executed. parts: task ranges it is split into; flush_a, flush_b: which guard page each
    tensor touches; parametric: extents and strides (but 1) are read at run time; shift: elements from a line to B,
    which then lies near that guard page; loads: as for `lower`."""

    plan: CpuPlan
    target: Target
    parts: int = 1
    flush_a: str = "end"
    flush_b: str = "end"
    parametric: bool = False
    shift: int = 0
    loads: int = 0


def parametrised(c: Canonical) -> tuple[Canonical, tuple[int, ...]]:
    """The same form with every extent and every stride above 1 as a run-time value, and those values."""
    values: list[int] = []

    def param(size: Size) -> Size:
        if static(size) in (0, 1, -1):
            return size
        values.append(static(size))
        return Param(len(values) - 1, f"p{len(values) - 1}")

    def extent(size: Size) -> Param:
        values.append(static(size))
        return Param(len(values) - 1, f"n{len(values) - 1}")

    axes = tuple(Axis(extent(x.extent), param(x.stride_a), param(x.stride_b)) for x in c.axes)
    return replace(c, axes=axes), tuple(values)


def tasks(nest: LoopNest, values: Sequence[int]) -> int:
    """Size of the task grid, with run-time extents looked up."""

    def trips(loop: Loop) -> int:
        extent = values[loop.extent.index] if isinstance(loop.extent, Param) else loop.extent
        return -(-(extent + max(0, loop.grain - 1)) // loop.step)

    return prod(trips(loop) for loop in nest.grid)


def scalars(compute: DType, alpha: complex, beta: complex) -> reference.Array:
    """alpha and beta as the kernel reads them."""
    if compute.kind is Kind.OPAQUE:
        return np.zeros(1)
    dtype = reference.numpy_type(compute)
    values = [alpha, beta] if compute.kind is Kind.COMPLEX else [complex(alpha).real, complex(beta).real]
    return np.array(values, dtype)


def check(case: Case, run: Run) -> None:
    """Run the case and compare every byte of B's storage; AssertionError shows what is needed to repeat it."""
    canonical, values = form(case, run)
    nest = nest_of(case, run)
    loaded = _loaded(nest, run.target)
    made = GuardedCase.of(case, Place(run.flush_a), _place_b(case, run))
    scratch = Guarded(-(-nest.scratch // 64) * 64, "end")
    numbers = np.array([*values, 0], np.int64)
    factors = scalars(canonical.compute, case.alpha, case.beta)
    arguments = (*made.bases, factors.ctypes.data, numbers.ctypes.data, scratch.address)
    count = tasks(nest, values)
    for part in reversed(range(run.parts)):
        SIGNATURE(loaded.address("kernel"))(*arguments, *part_range(count, part, run.parts))
    where = f"\n{case}\n{run}\n{nest}"
    made.check(where)
    assert scratch.intact(), f"memory around scratch was written{where}"


def form(case: Case, run: Run) -> tuple[Canonical, tuple[int, ...]]:
    """The canonical form that a kernel is made for, and the values of its parameters."""
    canonical = case.placed.canonical
    return parametrised(canonical) if run.parametric else (canonical, ())


def nest_of(case: Case, run: Run) -> LoopNest:
    """The nest that an entry would choose: without streaming stores where a row of B is off its boundary."""
    canonical, values = form(case, run)
    nest = lower(canonical, run.plan, run.target, run.loads)
    steps = [values[s.index] * canonical.b.itemsize for s in canonical.strides("b") if isinstance(s, Param)]
    if all(step % nest.alignment == 0 for step in steps):
        return nest
    return lower(canonical, run.plan.ordinary, run.target, run.loads)


def _place_b(case: Case, run: Run) -> Place:
    """Streaming wants B's first element on a vector boundary."""
    if run.shift or run.plan.non_temporal:
        return Place(run.flush_b, run.shift * case.b.itemsize % LINE)
    return Place(run.flush_b)


@lru_cache(maxsize=4)
def _loaded(nest: LoopNest, wanted: Target) -> linking.Loaded:
    """The kernel; remembered, for tests run some of them several times."""
    return linking.load(backend.compile_object(str(module.build(nest, wanted)), wanted), ("kernel",))
