"""`ttc_llvm.grouped` on a device: one launch for all blocks, whose memory, in which order, and what is refused."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import fuzz_gpu_groups
import numpy as np
import pytest
import reference
from fake_gpu import FakeGpu, Interface
from fake_torch import Torch
from test_gpu_device import Memory, on
from test_gpu_device import real as real

import ttc_llvm
from ttc_llvm.errors import ArrayError, GpuError, OptionError, ProblemError, TargetError
from ttc_llvm.gpu.devices import Device, device
from ttc_llvm.gpu.driver import Driver
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem import dtypes

SHAPES = [(3, 4, 5), (1, 16, 2), (40, 33, 9), (7,) * 3, (3, 4, 5), (0, 4, 4)]
AXES = (2, 0, 1)


def arrays(gpu: FakeGpu, shapes: Any = SHAPES, dtype: Any = "f8", seed: int = 0) -> list[Any]:
    """Blocks of A on the device."""
    rng = np.random.default_rng(seed)
    return [gpu.on_device(rng.integers(0, 100, shape).astype(dtype)) for shape in shapes]


def results(gpu: FakeGpu, list_a: list[Any], axes: Any = AXES) -> list[Any]:
    """Blocks of B on the device."""
    return [gpu.on_device(np.full(x.transpose(axes).shape, 77, x.dtype)) for x in list_a]


def given(gpu: FakeGpu, blocks: list[Any]) -> list[Any]:
    """The same as arrays of another library."""
    return [Interface(gpu, x) for x in blocks]


def places(blocks: list[Any]) -> Any:
    """Their addresses."""
    return np.array([x.ctypes.data if x.size else 0 for x in blocks])


def check(list_a: list[Any], list_b: list[Any], axes: Any = AXES) -> None:
    for x, y in zip(list_a, list_b, strict=True):
        np.testing.assert_array_equal(x.transpose(axes), y)


def grouped(
    shapes: Any = SHAPES, axes: Any = AXES, dtype: Any = "f8", target: Any = "cuda", **options: Any
) -> ttc_llvm.GpuGroupedPlan:
    made: ttc_llvm.GpuGroupedPlan = ttc_llvm.grouped(shapes, axes, dtype, target=target, **options)
    return made


@pytest.mark.parametrize("goal", fuzz_gpu_groups.GOALS)
@pytest.mark.parametrize("name", ["sm_90", "gfx90a"])
def test_any_blocks(name: str, goal: str) -> None:
    """Every element, and everything around: blocks lie between guard pages."""
    for seed in range(4):
        fuzz_gpu_groups.attack(Random(f"{name} {goal} {seed}"), goal, gpu_target.find(name))


def test_lists_are_one_launch(gpu: FakeGpu) -> None:
    list_a = arrays(gpu)
    list_b, plan = results(gpu, list_a), grouped()
    into = given(gpu, list_b)
    assert plan(given(gpu, list_a), into) is into
    check(list_a, list_b)
    assert sum(line.startswith("launch") for line in gpu.journal) == 1
    again = pickle.loads(pickle.dumps(plan))
    again(given(gpu, list_a), into, alpha=-1, beta=2)
    check(list_a, list_b)
    assert "6 blocks of 4 layouts in 18 boxes, 2 axes of units of 8 bytes, by one launch for sm_90" in plan.explain()


def test_new_results_are_of_the_same_library(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, list_a = Torch(gpu, monkeypatch), arrays(gpu)
    made = grouped()([torch.tensor(x) for x in list_a])
    check(list_a, [tensor.array for tensor in made])
    into = [torch.tensor(y) for y in results(gpu, list_a)]
    grouped()([torch.tensor(x) for x in list_a], into)
    assert [tensor.version for tensor in into] == [1] * len(into)


def test_addresses_come_once(gpu: FakeGpu) -> None:
    """What is on the device is not brought again; other addresses wait for those who still read the old ones."""
    list_a, plan = arrays(gpu), grouped()
    list_b = results(gpu, list_a)
    for _ in range(2):
        plan.run(places(list_a), places(list_b), stream=0x70)
    assert [line.split()[0] for line in gpu.journal].count("bring") == 2  # the table, and addresses
    gpu.forget()
    others = arrays(gpu, seed=1)
    plan.run(places(others), places(list_b), stream=0x80)
    check(others, list_b)
    words = [line.split() for line in gpu.journal]
    assert [word[0] for word in words] == ["wait", "wait", "bring", "launch", "record"]
    assert {word[-1] for word in words} == {"0x80"}


def test_a_stream_waits_for_those_of_the_arrays(gpu: FakeGpu) -> None:
    list_a = arrays(gpu)
    list_b = results(gpu, list_a)
    read = [Interface(gpu, x, stream=0x70 + k % 2) for k, x in enumerate(list_a)]
    grouped()(read, [Interface(gpu, y, stream=0x90) for y in list_b])
    assert {"record stream 0x70", "record stream 0x71"} <= set(gpu.journal)
    assert any(line.startswith("launch boxes") and line.endswith("stream 0x90") for line in gpu.journal)


@pytest.mark.parametrize("odd", [1, 2, 8])
def test_odd_addresses_take_smaller_units(gpu: FakeGpu, odd: int) -> None:
    memory = [gpu.on_device(np.zeros(5000, np.uint8)) for _ in "ab"]
    a, b = (np.ndarray((20, 30), "f8", x, odd) for x in memory)
    a[...] = np.random.default_rng(odd).random((20, 30))
    grouped([(20, 30)], (1, 0)).run([a.ctypes.data], [b[:10].ctypes.data])
    np.testing.assert_array_equal(np.ndarray((30, 20), "f8", memory[1], odd), a.T)


def test_rows_that_are_copied_move_in_16_bytes(gpu: FakeGpu) -> None:
    plan = grouped([(6, 5, 32), (9, 3, 16)], (1, 0, 2), "u1")
    assert "3 axes of units of 16 bytes" in plan.explain()
    list_a = arrays(gpu, [(6, 5, 32), (9, 3, 16)], "u1")
    list_b = results(gpu, list_a, (1, 0, 2))
    plan.run(places(list_a), places(list_b))
    check(list_a, list_b, (1, 0, 2))


def test_nothing_is_launched_for_nothing(gpu: FakeGpu) -> None:
    assert grouped([], AXES)([], []) == []
    grouped([(0, 3)], (1, 0)).run([0], [0])
    assert not any(line.startswith("launch") for line in gpu.journal)


def test_tiles_of_one_matrix_interleave(gpu: FakeGpu) -> None:
    whole, tiles = gpu.on_device(np.zeros((64, 96))), list(itertools.product(range(0, 64, 16), range(0, 96, 24)))
    list_b = [whole[i : i + 16, k : k + 24] for i, k in tiles]
    plan = grouped([(24, 16)] * len(tiles), (1, 0), out_strides=[whole.strides] * len(tiles))
    list_a = arrays(gpu, [(24, 16)] * len(tiles))
    plan(given(gpu, list_a), given(gpu, list_b))
    check(list_a, list_b, (1, 0))
    with pytest.raises(ArrayError, match="blocks 0 and 1 of B share memory: which value wins"):
        plan.run(places(list_a), places([list_b[0], whole[8:24, :24], *list_b[2:]]))


def test_memory_of_plans_that_are_gone_is_freed(gpu: FakeGpu) -> None:
    list_a = arrays(gpu)
    list_b = results(gpu, list_a)
    for _ in range(30):
        grouped().run(places(list_a), places(list_b))
    assert 0 < gpu.journal.count("unload") < 30
    check(list_a, list_b)


# --- what is refused ------------------------------------------------------------------------------------------


def calls(gpu: FakeGpu) -> dict[str, tuple[type[Exception], Callable[[], Any]]]:
    """Wrong calls by what they say."""
    list_a = arrays(gpu)
    list_b, plan = results(gpu, list_a), grouped()
    a, b = given(gpu, list_a), given(gpu, list_b)
    elsewhere, host = gpu.on_device(np.zeros((3, 4, 5)), 1), np.zeros((3, 4, 5))
    return {
        r"list_a\[2\] is a ndarray on the host: this plan is for blocks on a CUDA device": (
            ArrayError, lambda: plan([*a[:2], list_a[2], *a[3:]], b)),
        r"list_a\[0\] is a Interface on a CUDA device: this plan is for blocks on the host": (
            ArrayError, lambda: ttc_llvm.grouped(SHAPES, AXES, "f8")(a, b)),
        "is no address of a CUDA device's memory": (
            ArrayError, lambda: plan.run([host.ctypes.data, *places(list_a)[1:]], places(list_b))),
        "both have to be on the same": (
            ArrayError, lambda: plan.run([elsewhere.ctypes.data, *places(list_a)[1:]], places(list_b))),
        "block 0 of A has elements, and the address 0": (
            ArrayError, lambda: plan.run([0] * len(SHAPES), places(list_b))),
        "blocks 0 and 4 of B share memory": (ArrayError, lambda: plan(a, [*b[:4], b[0], b[5]])),
        "block 0 of A shares memory with block 0 of B: groups move out of place": (
            ArrayError, lambda: grouped([(4, 4)], (1, 0)).run(places(list_a[:1]), places(list_a[:1]))),
        r"list_a\[1\] has shape \(3, 4, 5\): block 1 has \(1, 16, 2\)": (
            ArrayError, lambda: plan([a[0], a[0], *a[2:]], b)),
        "target 'gfx90a' is no NVIDIA GPU": (TargetError, lambda: grouped(target="gfx90a")),
        "unknown GPU 'zen4'": (TargetError, lambda: grouped(target="zen4")),
        "target 5 is no NVIDIA GPU": (TargetError, lambda: grouped(target=5)),
        "code for sm_120 cannot run here": (
            TargetError, lambda: grouped(target="sm_120").run(places(list_a), places(list_b))),
        "threads and effort are of groups on the host": (OptionError, lambda: grouped(threads=2)),
        "blocks of A have elements at odd distances: arithmetic needs multiples of 8": (
            ArrayError, lambda: grouped([(4, 5)], None, "f8", strides=[(44, 8)], alpha=2)),
        "blocks of B lie at odd addresses: arithmetic needs multiples of 8": (
            ArrayError, lambda: plan.run(places(list_a), places(list_b) + 4, alpha=2)),
        "groups do not convert int64 to float32": (ArrayError, lambda: grouped(dtype=("i8", "f4"))),
        "alpha": (ProblemError, lambda: grouped(alpha=1j)),
        "stream is a str": (ArrayError, lambda: plan(a, b, stream="first")),
    }  # fmt: skip


def test_what_is_wrong_is_told_in_a_sentence(gpu: FakeGpu) -> None:
    for told, (kind, call) in calls(gpu).items():
        with pytest.raises(kind, match=told):
            call()
    assert not any(line.startswith("launch") for line in gpu.journal)


def test_without_a_device_plans_are_made_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ttc_llvm.grouped(SHAPES, AXES, "f8", target="sm_80")
    assert "by one launch for sm_80" in plan.explain()
    with pytest.raises(GpuError):
        plan.run([4096] * len(SHAPES), [8192] * len(SHAPES))


# --- on a real device, and its rehearsal --------------------------------------------------------------------------


def check_group(here: Device, seed: int, most: int) -> None:
    """A random group on the device, and everything beside its blocks. most: elements of a block, about."""
    rng = np.random.default_rng(seed)
    of, to, alpha, beta = (
        ("f8", "f8", 1, 0), ("u1", "u1", 1, 0), ("f4", "f4", 2.5, -0.5), ("c16", "c8", 1 - 2j, 0), ("V6", "V6", 1, 0),
    )[seed % 5]  # fmt: skip
    ranks = rng.integers(1, 6, 40).tolist()
    shapes = [tuple(rng.integers(1, max(2, round(most ** (1 / rank))), rank).tolist()) for rank in ranks]
    axes = [tuple(rng.permutation(len(shape)).tolist()) for shape in shapes]
    sizes = np.array([int(np.prod(shape)) for shape in shapes])
    starts = np.cumsum(sizes) - sizes
    types = np.dtype(of), np.dtype(to)
    flat = [_numbers(rng, int(sizes.sum()), dtype) for dtype in types]
    wanted = flat[1].copy()
    for shape, order, start, size in zip(shapes, axes, starts, sizes, strict=True):
        x = flat[0][start : start + size].reshape(shape).transpose(order)
        y = flat[1][start : start + size].reshape(x.shape)
        both = dtypes.from_numpy(types[0]), dtypes.from_numpy(types[1])
        wanted[start : start + size] = np.array(reference.combine(x, y, both, alpha, beta, False), types[1]).ravel()
    plan = ttc_llvm.grouped(shapes, axes, types, alpha=alpha, beta=beta, target=here.target)
    with on(here) as found, Memory(found, flat[0]) as held_a, Memory(found, flat[1]) as held_b:
        plan.run(held_a.address + starts * types[0].itemsize, held_b.address + starts * types[1].itemsize)
        got = held_b.read(types[1])
    plain = seed % 5 != 2 and seed % 5 != 3
    assert reference.same(got, wanted, dtypes.from_numpy(types[1]), plain), f"{seed}: {plan.explain()}"


def _numbers(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "fc":
        return rng.integers(-99, 99, count).astype(dtype)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(30))
def test_random_groups_on_the_device(real: Device, seed: int) -> None:
    check_group(real, seed, (100, 5_000, 200_000)[seed % 3])


@pytest.mark.parametrize("seed", range(5))
def test_rehearsal_of_random_groups(gpu: FakeGpu, seed: int) -> None:
    check_group(device(), seed, 400)


def test_rehearsal_notices_a_wrong_result(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver, "launch", lambda *arguments: None)
    with pytest.raises(AssertionError):
        check_group(device(), 0, 400)
