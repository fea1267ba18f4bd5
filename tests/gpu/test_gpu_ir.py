"""The IR and PTX of GPU kernels as text: golden files, width of accesses, and what must not appear."""

from __future__ import annotations

import re

import pytest
from conftest import Golden

from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.lowering.gpu import lower as gpu_lower
from ttc_llvm.lowering.gpu import plan as gpu_plan
from ttc_llvm.lowering.gpu.launch import GpuImage
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.gpu import candidates as gpu_candidates

# One type of every element size: 1, 2, 4, 8 and 16 bytes.
SIZES = {"i8": 1, "bf16": 2, "s": 4, "d": 8, "z": 16}
MACHINES = ("sm_35", "sm_50", "sm_80", "sm_90", "sm_100", "sm_120")
ACCESS = re.compile(r"\b(ld|st)\.(global|shared)(\.nc)?(?:\.v(\d))?\.[bfsu](\d+)\s")
SQUARE = (4096, 4096)


def form(
    dtype: str, size: tuple[int, ...] = SQUARE, perm: tuple[int, ...] = (1, 0), **how: complex
) -> Canonical:
    """The canonical form of a problem."""
    return canonicalise(Problem(perm, size, dtype, **how)).canonical  # type: ignore[arg-type]


def image(c: Canonical, machine: str) -> GpuImage:
    """The kernel of the cost model's first plan."""
    target = gpu_target.find(machine)
    return gpu_kernel.build(c, gpu_candidates.model_plan(c, target), target)


def widths(ptx: str, kind: str, space: str) -> list[int]:
    """Bytes of every access of a kind to a space, in the order of the text."""
    found = ACCESS.findall(ptx)
    return [int(many or 1) * int(bits) // 8 for k, s, _, many, bits in found if (k, s) == (kind, space)]


@pytest.mark.parametrize("dtype", SIZES)
def test_golden_ir(dtype: str, golden: Golden) -> None:
    """One full tile of every element size, copied through registers and shared memory."""
    edge = {1: 128, 2: 64, 4: 64, 8: 32, 16: 32}[SIZES[dtype]]
    vector, rows = 16 // SIZES[dtype], max(1, 16 // SIZES[dtype] if SIZES[dtype] > 1 else 4)
    rows = rows if vector > 1 else 1
    plan = gpu_plan.parse(
        f"gpu1 tile={edge},{edge} block={rows},{vector} order=1,0 threads=256"
        f" vector={vector},{vector} shared=b padding={vector} panel=none"
    )
    target = gpu_target.find("sm_90")
    found = gpu_kernel.build(form(dtype, (2 * edge, 3 * edge)), plan, target, f"copy_{dtype}")
    golden.check(f"gpu_copy_{dtype}.ll", found.llvm_ir)


def test_golden_update(golden: Golden) -> None:
    """B <- alpha A + beta B of a complex type, ragged at both ends, on an AMD machine."""
    plan = gpu_plan.parse(
        "gpu1 tile=8,8 block=2,2 order=0,1 threads=64 vector=2,2 shared=b padding=2 panel=16,16"
    )
    c = form("c", (20, 26), alpha=2, beta=3, conjugate=True)
    golden.check("gpu_update_c.ll", gpu_kernel.build(c, plan, gpu_target.find("gfx90a")).llvm_ir)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("dtype", SIZES)
def test_every_access_to_memory_has_16_bytes(dtype: str, machine: str) -> None:
    ptx = image(form(dtype), machine).code.decode()
    assert set(widths(ptx, "ld", "global")) == {16}
    assert set(widths(ptx, "st", "global")) == {16}
    assert ptx.count("ld.global.nc.") == len(widths(ptx, "ld", "global"))
    assert ".local" not in ptx
    assert ptx.count("bar.sync") == 1


@pytest.mark.parametrize("dtype", SIZES)
def test_ragged_kernels_keep_vectors_in_full_tiles(dtype: str) -> None:
    vector = 16 // SIZES[dtype]
    size = (4096 + 3 * vector, 4096 + 5 * vector)  # rows are aligned, tiles do not fit
    ptx = image(form(dtype, size), "sm_90").code.decode()
    assert 16 in widths(ptx, "ld", "global")
    assert 16 in widths(ptx, "st", "global")
    assert ".local" not in ptx


@pytest.mark.parametrize("dtype", SIZES)
def test_unaligned_kernels_access_single_elements(dtype: str) -> None:
    c, target = form(dtype), gpu_target.find("sm_90")
    plan = gpu_lower.unaligned(c, gpu_candidates.model_plan(c, target))
    found = gpu_kernel.build(c, plan, target)
    ptx = found.code.decode()
    widest = min(
        SIZES[dtype], 8
    )  # two halves of 16 bytes: an address may be a multiple of 8 only... of the type
    assert max(widths(ptx, "ld", "global")) <= max(widest, SIZES[dtype])
    assert (found.launch.align_a, found.launch.align_b) == (SIZES[dtype], SIZES[dtype])
    assert found.launch.fits(SIZES[dtype], 3 * SIZES[dtype])
    assert not found.launch.fits(SIZES[dtype], 3 * SIZES[dtype] // 2) or SIZES[dtype] == 1


@pytest.mark.parametrize("dtype", ["s", "d", "c", "z"])
def test_b_is_loaded_before_the_barrier(dtype: str) -> None:
    ptx = image(form(dtype, alpha=2, beta=3), "sm_90").code.decode()
    before, after = ptx.split("bar.sync")
    assert re.findall(r"ld\.global\.[vb]", before), "B is read without .nc"
    assert not re.findall(r"ld\.global", after)
    assert widths(before, "ld", "global").count(16) == len(widths(before, "ld", "global"))


def test_arithmetic_is_not_contracted() -> None:
    for machine in ("sm_35", "sm_90"):
        ptx = image(form("d", alpha=2, beta=3), machine).code.decode()
        assert "fma" not in ptx
        assert "mul.rn.f64" in ptx
        assert "add.rn.f64" in ptx


def test_the_same_unit_axis_needs_no_shared_memory() -> None:
    found = image(form("s", (512, 384, 38), (0, 2, 1)), "sm_90")
    assert found.launch.shared == 0
    assert "bar.sync" not in found.code.decode()
    assert set(widths(found.code.decode(), "ld", "global")) == {16}


def test_alpha_zero_reads_no_a() -> None:
    ptx = image(form("s", alpha=0, beta=2), "sm_90").code.decode()
    assert "ld.global.nc" not in ptx
    assert [p.name for p in image(form("s", alpha=0, beta=2), "sm_90").launch.parameters] == [
        "A",
        "B",
        "beta",
    ]


def test_few_instructions_per_element() -> None:
    """16 elements of a float transposition in at most 64 instructions, indices of block and thread among them."""
    found = image(form("s"), "sm_90")
    body = found.code.decode().split("{", 1)[1]
    instructions = len(re.findall(r"^\t[a-z][\w.]+ .*;$", body, re.MULTILINE))
    tiles = gpu_plan.parse(found.plan).tile_elements
    assert instructions / (tiles / found.launch.block) <= 4


def kernel_of(c: Canonical, plan: str) -> str:
    """The PTX of a plan."""
    return gpu_kernel.build(c, gpu_plan.parse(plan), gpu_target.find("sm_90")).code.decode()


def test_ragged_ends_cost_one_comparison_a_store_and_no_addresses() -> None:
    """Positions to be loaded are clamped by a minimum, stores and shared memory have constant distances."""
    plan = "gpu1 tile=33,51 block=1,1 order=1,0 threads=64 vector=1,1 shared=a padding=4 panel=none"
    ptx = kernel_of(form("s", (355, 751)), plan)
    assert len(widths(ptx, "ld", "global")) == 2 * 33
    assert len(widths(ptx, "st", "global")) == 2 * 51
    assert len(re.findall(r"\bsetp\.", ptx)) <= 51 + 8
    assert len(re.findall(r"\bselp\.", ptx)) <= 8
    assert len(re.findall(r"\bmin\.", ptx)) <= 33 + 1
    assert len(set(re.findall(r"\.shared\.\S+ .*\[(%rd\d+)", ptx))) == 2 * 2


def test_vectors_across_short_axes_share_addresses() -> None:
    """Elements of an RGB image have three places to go, at constant distances: not one for each of 64."""
    plan = "gpu1 tile=1320,3 block=1,1 order=1,0 threads=64 vector=8,8 shared=b padding=8 panel=none"
    ptx = kernel_of(form("bf16", (3, 1320 * 200), (1, 0)), plan)
    stored = re.findall(r"st\.shared\.[bu]16 .*\[(%rd\d+)", ptx)
    assert len(stored) == 64
    assert len(set(stored)) == 3 + 3, "the last round's thread may be another one"


def test_in_tile_offsets_have_32_bits() -> None:
    ptx = image(form("s", (70_000, 70_000)), "sm_90").code.decode()
    assert len(re.findall(r"mul\.(lo|hi)\.[su]64", ptx)) == 0


@pytest.mark.parametrize(
    ("machine", "wide"), [("gfx906", "dwordx4"), ("gfx90a", "dwordx4"), ("gfx1100", "b128")]
)
def test_amd_kernels_use_wide_accesses(machine: str, wide: str) -> None:
    target = gpu_target.find(machine)
    found = image(form("s"), machine)
    assembly = backend.assembly(found.llvm_ir, target)
    assert f"global_load_{wide}" in assembly
    assert f"global_store_{wide}" in assembly
    assert ("s_barrier" in assembly) == (found.launch.block > target.warp)
    assert not re.findall(r"scratch_(load|store)|buffer_store_dword ", assembly)
    assert ".amdhsa_private_segment_fixed_size 0" in assembly
    assert found.code[18:20] == (224).to_bytes(2, "little"), "an ELF file for AMD GPUs"


AMD = [name for name in gpu_target.names() if not gpu_target.find(name).is_nvidia]
FOUR_WAVES = "gpu1 tile=64,64 block=4,4 order=1,0 threads=256 vector=4,4 shared=b padding=4 panel=none"
BARRIER = r"\ts_barrier(?:_signal -1)?\n"


def assembly_of(c: Canonical, machine: str, plan: str | None = None) -> str:
    """AMD's assembly of a plan, or of the model's first."""
    target = gpu_target.find(machine)
    found = gpu_candidates.model_plan(c, target) if plan is None else gpu_plan.parse(plan)
    return backend.assembly(gpu_kernel.build(c, found, target).llvm_ir, target)


@pytest.mark.parametrize("beta", [0, 2])
@pytest.mark.parametrize("machine", AMD)
def test_amd_barriers_order_shared_memory_alone(machine: str, beta: int) -> None:
    """All of a thread's writes to it are there before the barrier, reads come after it, and no cache of global memory
    is emptied or written back."""
    text = assembly_of(form("s", beta=beta), machine, FOUR_WAVES)
    before, after = re.split(BARRIER, text)
    written, _, waited = before.rpartition("\tds_")
    assert re.search(r"\tds_(write|store)", written) and re.match(r"(write|store)", waited)
    assert re.search(r"s_waitcnt .*lgkmcnt\(0\)|s_wait_(loadcnt_)?dscnt 0x0", waited)
    assert re.search(r"\tds_(read|load)", after) and not re.search(r"\tds_(read|load)", before)
    if int(backend.llvm_version().split(".")[0]) >= 22:  # older releases do not read what fences say of spaces
        assert not re.search(r"\t(buffer_(gl\d_inv|inv|wbl2)|global_(inv|wb))", text)


@pytest.mark.parametrize("machine", AMD)
@pytest.mark.parametrize(("dtype", "edge", "words"), [("i8", 16, 4), ("bf16", 8, 2)])
def test_amd_kernels_permute_bytes_in_one_instruction_a_step(dtype: str, edge: int, words: int, machine: str) -> None:
    """A block of a thread's: as many steps as its words take in a network of so many levels."""
    plan = f"gpu1 tile=128,128 block={edge},{edge} order=1,0 threads=64 vector={edge},{edge} shared=b padding={edge}"
    text = assembly_of(form(dtype), machine, f"{plan} panel=none")
    blocks, levels = 128 * 128 // 64 // edge**2, {4: 2, 2: 1}[words]
    assert text.count("v_perm_b32") == blocks * levels * edge * edge // words
    assert "sdwa" not in text


@pytest.mark.parametrize("machine", ["gfx906", "gfx90a", "gfx942", "gfx950"])
@pytest.mark.parametrize("way", ["shared=a padding=4", "shared=none padding=0"])
def test_bytes_that_come_one_by_one_are_joined_by_permutations(machine: str, way: str) -> None:
    """LLVM itself would take an instruction with parts of registers (SDWA) for each."""
    plan = f"gpu1 tile=64,64 block=1,1 order=1,0 threads=64 vector=1,16 {way} panel=none"
    text = assembly_of(form("i8"), machine, plan)
    assert "sdwa" not in text and text.count("v_perm_b32") == 3 * 64 * 64 // 64 // 4


UNEVEN = "gpu1 tile=24,40 block=1,1 order=1,0 threads=32 vector={} panel=none"
UNEVEN_PLANS = [UNEVEN.format(way) for way in ("4,4 shared=b padding=4", "1,4 shared=none padding=0")]


@pytest.mark.parametrize("plan", UNEVEN_PLANS)
def test_loads_of_rounds_that_some_threads_lack_are_under_way_together(plan: str) -> None:
    """Behind branches LLVM would load B's elements one by one, each when it is added to: up to three times as slow."""
    c, nvidia, amd = form("s", (4000, 4100), alpha=2, beta=4), *map(gpu_target.find, ("sm_90", "gfx90a"))
    ptx = gpu_kernel.build(c, gpu_plan.parse(plan), nvidia, "kernel").code.decode()
    stores = re.findall(r"(@%p\d+ )?st\.global", ptx)
    assert all(stores) and len(stores) > 4 and ptx.count("bra") <= 2, "one branch tells full tiles from ragged ones"
    text = backend.assembly(gpu_kernel.build(c, gpu_plan.parse(plan), amd, "kernel").llvm_ir, amd)
    for block in re.split(r"s_cbranch_execz", text)[1:]:
        guarded, _, _ = block.partition("\n.LBB")
        assert "global_load" not in guarded, guarded


def test_ir_is_deterministic() -> None:
    assert image(form("c", alpha=2), "sm_90").llvm_ir == image(form("c", alpha=2), "sm_90").llvm_ir
