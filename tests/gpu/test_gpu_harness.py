"""The harness itself: what is wrong in a kernel shows, and kernels run far out in large tensors."""

from __future__ import annotations

import faulthandler
import mmap
import re
import signal
from math import prod

import device
import numpy as np
import numpy.typing as npt
import pytest
from case import Case
from forks import forked

from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.ir_builders.gpu import module
from ttc_llvm.lowering.gpu import lower as gpu_lower
from ttc_llvm.lowering.gpu import plan as gpu_plan
from ttc_llvm.lowering.gpu.launch import Launch
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.gpu import candidates as gpu_candidates

H100 = gpu_target.find("sm_90")
PLAN = gpu_plan.parse(
    "gpu1 tile=32,32 block=4,4 order=1,0 threads=64 vector=4,4 shared=b padding=4 panel=none"
)
CASE = Case.of(Problem((1, 0), (64, 96), "s", alpha=2, beta=3), 7)


def spoilt(pattern: str, replacement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the harness run kernels in which the first such line of IR is another one."""
    build = module.build

    def changed(*arguments: object) -> str:
        text = str(build(*arguments))  # type: ignore[arg-type]
        found, count = re.subn(pattern, replacement, text, count=1)
        assert count == 1, f"{pattern} is not in the kernel"
        return found

    monkeypatch.setattr(module, "build", changed)


def test_a_good_kernel_passes() -> None:
    device.check(CASE, PLAN, H100)


def test_a_missing_barrier_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt(r"  call void @\"ttc_gpu_barrier\"\(\)\n", "", monkeypatch)
    with pytest.raises(AssertionError, match="B is wrong"):
        device.check(CASE, PLAN, H100)


def test_a_barrier_that_some_threads_miss_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = (
        '  %"odd" = trunc i32 %"thread" to i1\n  br i1 %"odd", label %"met", label %"on"\nmet:\n'
        '  call void @"ttc_gpu_barrier"()\n  br label %"on"\non:\n'
    )
    spoilt(r"  call void @\"ttc_gpu_barrier\"\(\)\n", missed, monkeypatch)
    with pytest.raises(AssertionError, match="never reach the barrier"):
        device.check(CASE, PLAN, H100)


def dies(case: Case) -> bool:
    """Run a case in a child that is expected to end here."""
    faulthandler.disable()
    device.check(case, PLAN, H100)
    return True


@pytest.mark.parametrize("side", ["A", "B"])
def test_a_stray_access_to_a_tensor_shows(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device.harness()
    spoilt(
        rf'(getelementptr inbounds i8, ptr %"{side}", i64 )(%"[^"]+")', rf"\g<1>{64 * 96 * 4}", monkeypatch
    )
    assert forked(lambda: dies(CASE)) in (-signal.SIGSEGV, -signal.SIGBUS)


def test_a_stray_access_to_shared_memory_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    device.harness()
    smaller = gpu_kernel.launch

    def launch(*arguments: object) -> Launch:
        found = smaller(*arguments)  # type: ignore[arg-type]
        return Launch(
            found.entry, found.grid, found.block, found.shared - 256, found.parameters, found.align_a, found.align_b
        )  # fmt: skip

    monkeypatch.setattr(gpu_kernel, "launch", launch)
    assert forked(lambda: dies(CASE)) in (-signal.SIGSEGV, -signal.SIGBUS)


def reserved(size: int) -> npt.NDArray[np.uint8]:
    """Zeros of which only those pages take memory that are touched."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        return np.frombuffer(mmap.mmap(-1, size, flags=flags), np.uint8)
    except OSError:
        pytest.skip(f"this machine cannot run a test that reserves {size} bytes")


def run_blocks(c: Canonical, plan: GpuPlan, a: int, b: int, blocks: range) -> None:
    """Launch these blocks and no others."""
    library = device.harness()
    kernel, launch = device.host_kernel(c, plan, H100)
    shared = np.zeros(launch.shared + 64, np.uint8)
    address = -(-shared.ctypes.data // 64) * 64
    scalars = np.zeros(4)
    assert blocks.stop <= launch.grid
    outcome = library.ttc_gpu_run(
        kernel.address("kernel"), a, b, scalars.ctypes.data, 0, blocks.start, blocks.stop, launch.block,
        address, launch.shared, 1,
    )  # fmt: skip
    assert outcome == 0


def last_block_of(c: Canonical, plan: GpuPlan) -> int:
    return gpu_lower.lower(c, plan, H100).grid - 1


def test_the_last_block_beyond_2_to_the_31_elements() -> None:
    rows, columns = 65_536, 40_000
    c = canonicalise(Problem((1, 0), (rows, columns), "i8")).canonical
    plan = gpu_candidates.model_plan(c, H100)
    a, b = reserved(rows * columns), reserved(rows * columns)
    rng = np.random.default_rng(1)
    tile_b, tile_a = plan.tile  # canonical axes go by B's strides
    first = (columns - (columns % tile_b or tile_b), rows - (rows % tile_a or tile_a))
    source = a.reshape(columns, rows)[first[0] :, first[1] :]
    source[...] = rng.integers(0, 256, source.shape, np.uint8)
    assert first[0] * rows + first[1] > 1 << 31
    last = last_block_of(c, plan)
    run_blocks(c, plan, a.ctypes.data, b.ctypes.data, range(last, last + 1))
    assert np.array_equal(b.reshape(rows, columns)[first[1] :, first[0] :], source.T)


def test_strides_beyond_2_to_the_31_bytes_inside_a_tile() -> None:
    size, far = (16, 3), 1 << 31
    problem = Problem((1, 0), size, "i8", (far, 3), None)
    c = canonicalise(problem).canonical
    plan = gpu_plan.parse(
        "gpu1 tile=3,16 block=1,1 order=1,0 threads=64 vector=1,1 shared=b padding=0 panel=none"
    )
    a, b = reserved(2 * far + 64), np.zeros(prod(size), np.uint8)
    for k in range(size[1]):
        a[k * far : k * far + size[0]] = np.arange(size[0]) + 20 * k
    run_blocks(c, plan, a.ctypes.data, b.ctypes.data, range(1))
    wanted = [i + 20 * k for i in range(size[0]) for k in range(size[1])]
    assert b.tolist() == wanted


def test_rank_26() -> None:
    c = canonicalise(Problem(tuple(range(25, -1, -1)), (2,) * 26, "i8")).canonical
    assert len(c.axes) == 26
    plan = gpu_candidates.model_plan(c, H100)
    a, b = reserved(1 << 26), reserved(1 << 26)
    a[...] = np.random.default_rng(2).integers(0, 256, a.shape, np.uint8)
    blocks = gpu_lower.lower(c, plan, H100).grid
    chosen = range(blocks // 2, blocks // 2 + 3)
    run_blocks(c, plan, a.ctypes.data, b.ctypes.data, chosen)
    wanted = a.reshape((2,) * 26).transpose(tuple(range(25, -1, -1))).ravel()
    changed = np.flatnonzero(b)
    assert prod(plan.tile) * len(chosen) * 0.98 < len(changed) <= prod(plan.tile) * len(chosen)
    assert np.array_equal(b[changed], wanted[changed])


def test_the_kernel_is_the_gpus_own_but_for_the_intrinsics() -> None:
    """The host's IR differs from the GPU's in names of intrinsics, address spaces and what is said of the kernel."""
    c = canonicalise(Problem((1, 0), (64, 96), "c", alpha=2, beta=1j, conjugate=True)).canonical
    plan = gpu_candidates.model_plan(c, H100)
    for name in ("sm_90", "gfx90a"):
        target = gpu_target.find(name)
        nest = gpu_lower.lower(c, plan, target)
        texts = [str(module.build(nest, row, "kernel")) for row in (target, device.hosted(target))]
        bodies = [
            [_kind(line) for line in text.splitlines() if re.match(r"  (%|store|br)", line)] for text in texts
        ]
        assert [k for k in bodies[0] if k != "call"] == [k for k in bodies[1] if k != "call"]
    assert backend.host_target().triple


def _kind(line: str) -> str:
    """The operation of a line of IR."""
    return re.sub(r"^%\"[^\"]+\" = ", "", line.strip()).split()[0]
