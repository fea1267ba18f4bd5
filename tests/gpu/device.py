"""A GPU made of fibres: the kernels that GPUs get, run on this CPU on guarded memory, against the oracle."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import threading
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from case import Case
from guarded_case import GuardedCase, Place
from guards import Guarded
from native_build import compiler

from ttc_llvm.errors import TargetError
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.ir_builders.gpu import boxes as boxes_module
from ttc_llvm.ir_builders.gpu import module
from ttc_llvm.ir_builders.gpu.intrinsics import ROWS
from ttc_llvm.lowering.gpu import boxes
from ttc_llvm.lowering.gpu import lower as gpu_lower
from ttc_llvm.lowering.gpu.launch import Launch, Slot
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.runtime import backend, linking

SOURCE = Path(__file__).parent / "harness.c"
OUTCOMES = {1: "some threads never reach the barrier", 2: "no memory for fibres"}


@lru_cache(maxsize=1)
def harness() -> ctypes.CDLL:
    """The harness, compiled once; its symbols are visible to kernels. Skips where it cannot be had."""
    driver = compiler("cc")
    try:
        backend.host_target()
    except TargetError as error:
        pytest.skip(f"this machine cannot run kernels: {error}")
    folder = Path(tempfile.mkdtemp(prefix="ttc_gpu_harness"))
    library = folder / "harness.so"
    subprocess.run([driver, "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    shutil.rmtree(folder)
    loaded.ttc_gpu_run.argtypes = [
        *[ctypes.c_void_p] * 4, ctypes.c_int, *[ctypes.c_uint] * 3,
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64,
    ]  # fmt: skip
    return loaded


ONE_AT_A_TIME = threading.Lock()  # the harness keeps the state of the launch that it runs in variables of its own


class HostedTarget(GpuTarget):
    """A GPU whose kernels this CPU runs. Its fields are not checked: a GPU has no such triple."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Take the fields as they are."""


ROWS["host_permuting"] = replace(ROWS["host"], permute="ttc_gpu_permute")  # as of AMD


def hosted(target: GpuTarget) -> GpuTarget:
    """The same machine in every decision, whose intrinsics are the harness's."""
    own = {field.name: getattr(target, field.name) for field in fields(target)}
    row = "host_permuting" if ROWS[target.intrinsics].permute else "host"
    return HostedTarget(**own | {"intrinsics": row, "triple": backend.host_target().triple})


def host_kernel(c: Canonical, plan: GpuPlan, target: GpuTarget) -> tuple[linking.Loaded, Launch]:
    """The kernel that the GPU gets, compiled for this CPU, and how it is launched."""
    nest = gpu_lower.lower(c, plan, target)
    text = str(module.build(nest, hosted(target), "kernel"))
    return linking.load(backend.compile_object(text, backend.host_target()), ("kernel",)), gpu_kernel.launch(
        nest, "kernel"
    )


def host_boxes(c: Canonical, axes: int, target: GpuTarget) -> tuple[linking.Loaded, Launch]:
    """The kernel of a launch for many blocks, compiled for this CPU; its launch has no grid, which tables decide."""
    text = str(boxes_module.build(c, axes, hosted(target), "kernel"))
    return linking.load(backend.compile_object(text, backend.host_target()), ("kernel",)), boxes.launch(
        c, axes, 0, "kernel"
    )


def run(kernel: linking.Loaded, launch: Launch, a: int, b: int, scalars: list[float], seed: int = 1) -> None:
    """Launch it on addresses of memory of this machine; AssertionError where threads diverge at a barrier."""
    wide = any(parameter.slot is Slot.F64 for parameter in launch.parameters)
    numbers = np.array([*scalars, 0, 0, 0, 0], np.float64)
    size = -(-launch.shared // 16) * 16
    shared = Guarded(size, "end")
    with ONE_AT_A_TIME:
        outcome = harness().ttc_gpu_run(
            kernel.address("kernel"), a, b, numbers.ctypes.data, int(wide), 0, launch.grid, launch.block,
            shared.address, size, seed,
        )  # fmt: skip
    assert outcome == 0, OUTCOMES[outcome]


def scalars_of(case: Case, launch: Launch) -> list[float]:
    """The values of the kernel's scalar parameters."""
    found = {"alpha": complex(case.alpha), "beta": complex(case.beta)}
    return [
        found[p.name.removesuffix("_imag")].imag if p.name.endswith("_imag") else found[p.name].real
        for p in launch.parameters[2:]
    ]


def check(case: Case, plan: GpuPlan, target: GpuTarget, flush: tuple[str, str] = ("end", "end")) -> None:
    """Run a case and compare every byte of B's storage; where addresses do not fit, the plan's unaligned form runs."""
    harness()
    c = case.placed.canonical
    made = GuardedCase.of(case, *map(Place, flush))
    kernel, launch = host_kernel(c, plan, target)
    if not launch.fits(*made.bases):
        plan = gpu_lower.unaligned(c, plan)
        kernel, launch = host_kernel(c, plan, target)
    run(kernel, launch, *made.bases, scalars_of(case, launch), case.seed + 1)
    made.check(f"\n{case}\n{c}\n{plan}\n{gpu_lower.lower(c, plan, target)}")
