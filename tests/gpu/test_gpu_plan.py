"""GPU plans, targets and launches as values: texts, and every refusal in one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from case import Case
from gpu_strategies import gpu_executions
from hypothesis import given

import ttc_llvm
from ttc_llvm.compiling.gpu_solution import GpuSolution
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.errors import PlanError, TargetError
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.lowering.gpu import plan as gpu_plan
from ttc_llvm.lowering.gpu import residency
from ttc_llvm.lowering.gpu.launch import Slot
from ttc_llvm.lowering.gpu.lower import lower, unaligned
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem

H100 = gpu_target.find("sm_90")
GOOD = "gpu1 tile=64,64 block=4,4 order=1,0 threads=256 vector=4,4 shared=b padding=4 panel=none"


@given(gpu_executions(gpu_target.names(), 500))
def test_texts_and_plans_are_inverse(found: tuple[Case, GpuPlan, GpuTarget]) -> None:
    plan = found[1]
    assert gpu_plan.parse(str(plan)) == plan


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD.replace("gpu1", "cpu2"), "version"),
        (GOOD.replace("threads=256", "threads=many"), "malformed"),
        (GOOD.replace("vector=4,4", "vector=4"), "malformed"),
        (GOOD.replace("shared=b", "shared=c"), "malformed"),
        (GOOD + " threads=128", "twice"),
        (GOOD + " lanes=3", "unknown decision 'lanes'"),
        (GOOD.replace(" padding=4", ""), "lacks padding"),
        ("", "version"),
    ],
)
def test_texts_that_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        gpu_plan.parse(text)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("tile=64,64", "tile=64"), "needs 2 positive extents"),
        (("tile=64,64", "tile=64,0"), "needs 2 positive extents"),
        (("tile=64,64", "tile=64,4096"), "exceeds its axis of extent 1024"),
        (("tile=64,64", "tile=62,64"), "not a multiple of its block"),
        (("order=1,0", "order=1,1"), "not a permutation"),
        (("threads=256", "threads=0"), "not in 1..1024"),
        (("threads=256", "threads=2048"), "not in 1..1024"),
        (("threads=256", "threads=1"), "accesses to a tensor in each thread"),
        (("tile=64,64 block=4,4", "tile=64,64 block=32,4"), "more than 256 of a thread's registers"),
        (("vector=4,4", "vector=3,4"), "powers of two"),
        (("vector=4,4", "vector=8,4"), "not one vector of A"),
        (("block=4,4", "block=4,2"), "not one vector of A"),
        (
            ("block=4,4 order=1,0 threads=256 vector=4,4", "block=1,1 order=1,0 threads=256 vector=8,4"),
            "wider",
        ),
        (("padding=4", "padding=-1"), "negative"),
        (("panel=none", "panel=64"), "needs 2 extents"),
        (("panel=none", "panel=64,100"), "not a multiple of its tile"),
        (("shared=b", "shared=a"), "shared=b"),
        (("shared=b", "shared=none"), "needs shared memory"),
        (("padding=4", "padding=1000"), "bytes of shared memory"),
    ],
)
def test_plans_that_do_not_fit(change: tuple[str, str], why: str) -> None:
    c = canonicalise(Problem((1, 0), (1024, 1024), "s")).canonical
    lower(c, gpu_plan.parse(GOOD), H100)
    with pytest.raises(PlanError, match=why) as caught:
        lower(c, gpu_plan.parse(GOOD.replace(*change)), H100)
    assert "\n" not in str(caught.value)


def test_rows_off_the_vector_boundary_are_refused() -> None:
    c = canonicalise(Problem((1, 0), (1023, 1024), "s")).canonical
    with pytest.raises(PlanError, match="rows would not be aligned"):
        lower(c, gpu_plan.parse(GOOD), H100)


def test_more_blocks_than_a_grid_has_are_refused() -> None:
    c = canonicalise(Problem((1, 0), (1 << 20, 1 << 20), "i8")).canonical
    plan = "gpu1 tile=16,16 block=1,1 order=1,0 threads=32 vector=1,1 shared=b padding=0 panel=none"
    with pytest.raises(PlanError, match="blocks, more than"):
        lower(c, gpu_plan.parse(plan), H100)


def test_type_checkers_know_every_name() -> None:
    assert sorted(get_args(gpu_target.Name)) == sorted(gpu_target.spellings())

    problem = Problem((1, 0), (3, 4), "s")

    def cpu() -> Solution:  # mypy refuses Any and anything else here
        return ttc_llvm.compile(problem, 1)

    def gpu() -> GpuSolution:
        return ttc_llvm.compile(problem, 1, target="sm_90")

    def row() -> GpuSolution:
        return ttc_llvm.compile(problem, 1, target=H100)

    assert [type(found()) for found in (cpu, gpu, row)] == [Solution, GpuSolution, GpuSolution]


def test_every_name_is_known_and_others_are_refused() -> None:
    for name in gpu_target.spellings():
        assert gpu_target.is_gpu(name)
        assert gpu_target.find(name).name in gpu_target.names()
    assert gpu_target.find(" SM_90 ") is H100
    assert gpu_target.find("cuda").name == gpu_target.DEFAULT
    for wrong in ("sm_999", "gfx1", "sm_91"):
        assert gpu_target.is_gpu(wrong)
        with pytest.raises(TargetError, match="near matches"):
            gpu_target.find(wrong)
    assert not gpu_target.is_gpu("haswell")


@pytest.mark.parametrize(
    ("capability", "row"),
    [((3, 5), "sm_35"), ((3, 7), "sm_35"), ((6, 1), "sm_60"), ((8, 7), "sm_86"), ((9, 0), "sm_90"),
     ((10, 3), "sm_100"), ((12, 1), "sm_120"), ((99, 0), "sm_120")],
)  # fmt: skip
def test_devices_have_the_newest_row_that_they_run(capability: tuple[int, int], row: str) -> None:
    assert gpu_target.for_capability(*capability).name == row


def test_devices_that_are_too_old_are_refused() -> None:
    with pytest.raises(TargetError, match="the oldest GPU is sm_35"):
        gpu_target.for_capability(3, 0)


def test_launches_say_what_the_driver_needs() -> None:
    c = canonicalise(Problem((1, 0), (1024, 640), "zc", alpha=2, beta=1j)).canonical
    plan = "gpu1 tile=32,64 block=1,1 order=1,0 threads=256 vector=1,2 shared=b padding=2 panel=none"
    nest = lower(c, gpu_plan.parse(plan), H100)
    launch = gpu_kernel.launch(nest, "update")
    assert (launch.entry, launch.grid, launch.block) == ("update", 320, 256)
    assert (launch.align_a, launch.align_b) == (16, 16)
    names = [(p.name, p.slot) for p in launch.parameters]
    scalars = [(name, Slot.F64) for name in ("alpha", "alpha_imag", "beta", "beta_imag")]
    assert names == [("A", Slot.POINTER), ("B", Slot.POINTER), *scalars]
    assert nest.shared is not None
    assert launch.shared == nest.shared.elements * 16
    assert "blocks 320" in str(nest)


def test_warps_take_registers_as_a_whole() -> None:
    """Blocks of 16 threads take as much of a multiprocessor as blocks of 32."""
    c = canonicalise(Problem((1, 0), (1024, 1024), "z")).canonical
    plan = gpu_plan.parse("gpu1 tile=16,32 block=1,1 order=1,0 threads=16 vector=1,1 shared=none padding=0 panel=none")
    for target in (gpu_target.find("sm_50"), H100, gpu_target.find("gfx90a")):
        half = lower(c, plan, target)
        held = residency.resident(half, target)
        assert half.threads == 16
        assert held == residency.resident(replace(half, threads=target.warp), target)
        assert held * target.warp * residency.registers(half) <= target.registers


@pytest.mark.parametrize("threads", [16, 32, 64, 96, 160, 224, 512])
def test_assemblers_leave_the_registers_that_threads_need(threads: int) -> None:
    """As ptxas reckons: warps are dealt out to four parts, whose 16384 registers are given out in eights."""
    c = canonicalise(Problem((1, 0), (1152, 1024), "s")).canonical
    plan = gpu_plan.parse("gpu1 tile=64,96 block=1,1 order=1,0 threads=96 vector=1,1 shared=b padding=1 panel=none")
    for target in (gpu_target.find("sm_50"), gpu_target.find("sm_100")):
        nest = replace(lower(c, plan, target), threads=threads)
        warps = residency.blocks_for_assembler(nest, target) * -(-threads // 32)
        left = 16384 // (32 * -(-warps // 4)) // 8 * 8
        assert residency.registers(nest) == residency.FIXED + 64
        assert left >= residency.registers(nest) + residency.SPARE


@pytest.mark.parametrize(
    ("size", "tile", "panel", "wanted"),
    [
        ((7000, 5000), "250,128", "none", ((125, 128), ())),
        ((7000, 5000), "250,128", "500,384", ((125, 128), (250, 384))),
        ((7000, 5000), "300,120", "none", ((75, 120), ())),
        ((7000, 5000), "128,128", "none", ((128, 128), ())),
        ((1 << 19, 1 << 17), "256,128", "none", ((256, 128), ())),  # a grid of more than 2^22 blocks otherwise
    ],
)
def test_unaligned_plans_have_few_accesses_a_thread(
    size: tuple[int, int], tile: str, panel: str, wanted: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    c = canonicalise(Problem((1, 0), size, "i8")).canonical
    plan = gpu_plan.parse(
        f"gpu1 tile={tile} block=1,1 order=1,0 threads=512 vector=1,1 shared=a padding=1 panel={panel}"
    )
    found = unaligned(c, plan)
    assert (found.tile, found.panel) == wanted
    assert found.threads == 1024
    lower(c, found, gpu_target.find("gfx90a"))


def test_nothing_to_do_is_no_block() -> None:
    c = canonicalise(Problem((1, 0), (0, 5), "s")).canonical
    plan = gpu_plan.parse(
        "gpu1 tile=1 block=1 order=0 threads=32 vector=1,1 shared=none padding=0 panel=none"
    )
    assert gpu_kernel.build(c, plan, H100).launch.grid == 0
