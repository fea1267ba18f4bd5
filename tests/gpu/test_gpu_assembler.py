"""Every kernel of a broad matrix assembled: by ptxas for NVIDIA's GPUs, by LLVM for AMD's. Nothing spills.

`PYTHONPATH=. pytest -m full tests/gpu/test_gpu_assembler.py -k sm_50` with TTC_FULL=1 takes one GPU's whole matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest
from gpu_matrix import matrix
from toolchain import assemble, assemblers_for

from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.lowering.gpu import lower as gpu_lower
from ttc_llvm.lowering.gpu.launch import GpuImage
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Canonical, from_axes
from ttc_llvm.problem.kinds import COPY, UPDATE
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.gpu import candidates as gpu_candidates

MATRIX = matrix()
NVIDIA = tuple(name for name in gpu_target.names() if gpu_target.find(name).is_nvidia)
AMD = tuple(name for name in gpu_target.names() if not gpu_target.find(name).is_nvidia)
STRIDE = 47  # every so manieth problem in short runs; each GPU starts at another one


def chosen(number: int, stride: int) -> tuple[tuple[str, Canonical], ...]:
    """A GPU's share of the matrix."""
    return MATRIX[number % stride :: stride]


def first_plans(c: Canonical, target: GpuTarget, count: int) -> list[GpuPlan]:
    """The cost model's first plans, and the first one for unaligned tensors."""
    found = list(islice(gpu_candidates.plans(c, target), count))
    return [*found, gpu_lower.unaligned(c, found[0])]


def kernels(problem: tuple[str, Canonical], target: GpuTarget, count: int) -> Iterator[tuple[str, GpuImage]]:
    """A problem's kernels with words for what each is."""
    name, c = problem
    for plan in first_plans(c, target, count):
        yield f"{name} for {target} with {plan}", gpu_kernel.build(c, plan, target)


def spilt_nvidia(image: GpuImage, assembler: str, folder: Path) -> str:
    """What ptxas puts into memory of this kernel; nothing where all stays in registers."""
    report = assemble(image.code, image.target, assembler, folder)
    return f"{report} of {assembler}" if report.stack or report.spilled else ""


def spilt_amd(image: GpuImage) -> str:
    """The same for AMD: private memory and spilled registers."""
    assert image.code.startswith(b"\x7fELF")
    facts = dict(re.findall(r"\.(\w+):\s+(\d+)", backend.assembly(image.llvm_ir, image.target)))
    assert int(facts["group_segment_fixed_size"]) == image.launch.shared
    held = {key: facts.get(key, "0") for key in ("private_segment_fixed_size", "vgpr_spill_count")}
    return "" if set(held.values()) == {"0"} else str(held)


def check(found: Iterable[tuple[str, str]]) -> None:
    """Every kernel that spills, in one go."""
    bad = [f"{words}: {spilt}" for words, spilt in found if spilt]
    assert not bad, "\n".join([f"{len(bad)} kernels spill", *bad])


def check_amd(name: str, problems: Iterable[tuple[str, Canonical]], count: int) -> None:
    """The kernels of these problems for one of AMD's GPUs."""
    target = gpu_target.find(name)
    check((words, spilt_amd(image)) for problem in problems for words, image in kernels(problem, target, count))


@pytest.mark.parametrize("name", NVIDIA)
def test_ptxas_takes_a_share_of_the_matrix(name: str, tmp_path: Path) -> None:
    """One assembler takes a problem's kernels, all of them in turns."""
    target = gpu_target.find(name)
    turns = zip(chosen(NVIDIA.index(name) * 2, STRIDE), cycle(assemblers_for(target)), strict=False)
    check(
        (words, spilt_nvidia(image, one, tmp_path))
        for problem, one in turns
        for words, image in kernels(problem, target, 1)
    )


def of_groups(number: int) -> tuple[Canonical, int]:
    """The types, and most axes, of a launch for many blocks: one of some."""
    kinds = (("v16", COPY), ("i8", COPY), ("s", UPDATE), ("z", UPDATE), ("i64", COPY))
    name, scalars = kinds[number % len(kinds)]
    return from_axes((), dtypes.dtype(name), dtypes.dtype(name), scalars).canonical, (1, 4, 8)[number % 3]


@pytest.mark.parametrize("name", NVIDIA)
def test_ptxas_takes_launches_for_many_blocks(name: str, tmp_path: Path) -> None:
    target, first = gpu_target.find(name), NVIDIA.index(name)
    every = assemblers_for(target)
    images = [gpu_kernel.for_boxes(*of_groups(first + k), 1, target) for k in range(3)]
    check((f"{image.launch}", spilt_nvidia(image, every[k % len(every)], tmp_path)) for k, image in enumerate(images))


@pytest.mark.full
@pytest.mark.parametrize("name", NVIDIA)
def test_ptxas_takes_the_whole_matrix(name: str, tmp_path: Path) -> None:
    """Every assembler that knows the GPU takes each kernel."""
    target = gpu_target.find(name)
    every = assemblers_for(target)
    check(
        (words, spilt_nvidia(image, one, tmp_path))
        for problem in MATRIX
        for words, image in kernels(problem, target, 3)
        for one in every
    )


@pytest.mark.parametrize("name", AMD)
def test_amd_objects_of_a_share_of_the_matrix(name: str) -> None:
    check_amd(name, chosen(AMD.index(name) * 5, STRIDE), 1)


@pytest.mark.parametrize("name", AMD)
def test_amd_objects_of_launches_for_many_blocks(name: str) -> None:
    images = [gpu_kernel.for_boxes(*of_groups(AMD.index(name) + k), 1, gpu_target.find(name)) for k in range(2)]
    check((str(image.launch), spilt_amd(image)) for image in images)


@pytest.mark.full
@pytest.mark.parametrize("name", AMD)
def test_amd_objects_of_the_whole_matrix(name: str) -> None:
    check_amd(name, MATRIX, 2)
