"""Every kernel of a broad matrix assembled: by ptxas for NVIDIA's GPUs, by LLVM for AMD's. Nothing spills."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pytest
from gpu_matrix import matrix
from toolchain import assemble

from ttc_llvm import backend
from ttc_llvm.canonical import Canonical
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.gpu import lower as gpu_lower
from ttc_llvm.gpu import target as gpu_target
from ttc_llvm.gpu.plan import GpuPlan
from ttc_llvm.gpu.target import GpuTarget
from ttc_llvm.tuning import gpu_candidates

MATRIX = matrix()
NVIDIA = tuple(name for name in gpu_target.names() if gpu_target.find(name).is_nvidia)
AMD = tuple(name for name in gpu_target.names() if not gpu_target.find(name).is_nvidia)
STRIDE = 23  # every so manieth problem in short runs; each GPU starts at another one


def chosen(number: int, stride: int) -> tuple[tuple[str, Canonical], ...]:
    """A GPU's share of the matrix."""
    return MATRIX[number % stride :: stride]


def first_plans(c: Canonical, target: GpuTarget, count: int) -> list[GpuPlan]:
    """The cost model's first plans, and the first one for unaligned tensors."""
    found = list(islice(gpu_candidates.plans(c, target), count))
    return [*found, gpu_lower.unaligned(c, found[0])]


def check_nvidia(name: str, problems: tuple[tuple[str, Canonical], ...], count: int, folder: Path) -> None:
    """Assemble the kernels of these problems."""
    target = gpu_target.find(name)
    for problem, c in problems:
        for plan in first_plans(c, target, count):
            report = assemble(gpu_kernel.build(c, plan, target).code, target, folder)
            assert not report.stack and not report.spilled, f"{problem} for {name} with {plan}: {report}"


def check_amd(name: str, problems: tuple[tuple[str, Canonical], ...], count: int) -> None:
    """The same for AMD: no private memory, no spilled registers."""
    target = gpu_target.find(name)
    for problem, c in problems:
        for plan in first_plans(c, target, count):
            image = gpu_kernel.build(c, plan, target)
            assert image.code.startswith(b"\x7fELF")
            facts = dict(re.findall(r"\.(\w+):\s+(\d+)", backend.assembly(image.llvm_ir, target)))
            held = {key: facts.get(key, "0") for key in ("private_segment_fixed_size", "vgpr_spill_count")}
            assert set(held.values()) == {"0"}, f"{problem} for {name} with {plan}: {held}"
            assert int(facts["group_segment_fixed_size"]) == image.launch.shared


@pytest.mark.parametrize("name", NVIDIA)
def test_ptxas_takes_a_share_of_the_matrix(name: str, tmp_path: Path) -> None:
    check_nvidia(name, chosen(NVIDIA.index(name) * 2, STRIDE), 1, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("name", NVIDIA)
def test_ptxas_takes_the_whole_matrix(name: str, tmp_path: Path) -> None:
    check_nvidia(name, chosen(0, 1), 3, tmp_path)


@pytest.mark.parametrize("name", AMD)
def test_amd_objects_of_a_share_of_the_matrix(name: str) -> None:
    check_amd(name, chosen(AMD.index(name) * 5, STRIDE), 1)


@pytest.mark.full
@pytest.mark.parametrize("name", AMD)
def test_amd_objects_of_the_whole_matrix(name: str) -> None:
    check_amd(name, chosen(0, 1), 2)
