"""Tuning's own memory: aligned, filled with honest numbers, and stand-ins for what does not fit."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.errors import OutOfMemoryError
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical, canonicalise, from_axes
from ttc_llvm.problem.kinds import COPY
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.search import buffers
from ttc_llvm.tuning.search.available import available_memory
from ttc_llvm.tuning.search.buffers import HUGE, LOW_BITS, Span

FLOAT, CARRIER = dtypes.dtype("s"), dtypes.carrier(4)


@pytest.mark.parametrize("size", [0, 1, 63, 4097, HUGE, HUGE + 1])
def test_allocations_are_zeroed_writable_and_on_huge_pages(size: int) -> None:
    memory = buffers.allocate(size)
    assert len(memory) == max(size, 1)
    assert memory.ctypes.data % HUGE == 0
    assert not memory.any()
    memory[-1] = 1


def test_allocations_can_be_flushed_to_the_end_of_a_block() -> None:
    from ttc_llvm.ir_builders.flush import BLOCK

    memory = buffers.allocate(HUGE - 1)
    whole = memory
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    behind = whole.ctypes.data + len(whole) - (memory.ctypes.data + len(memory))
    assert behind >= 0 or len(memory) % BLOCK == 0


@pytest.mark.parametrize("name", ["s", "d", "c", "z"])
@pytest.mark.parametrize("threads", [1, 3])
def test_numbers_are_neither_zero_nor_special(name: str, threads: int) -> None:
    problem = Problem((1, 0), (700, 900), name)
    form = canonicalise(problem, None).canonical
    made = buffers.Tensor(buffers.allocate(problem.elements * problem.a.itemsize), problem.a, 0)
    made.fill(1, threads)
    values = np.abs(made.memory.view(f"f{problem.a.real_bits // 8}"))
    assert values.min() >= 0.5
    assert values.max() < 1.5
    assert len(np.unique(values)) > values.size // 4
    assert form.elements == problem.elements


def test_fillings_depend_on_the_seed_alone() -> None:
    first, second, other = (buffers.Tensor(buffers.allocate(9 << 20), FLOAT, 0) for _ in range(3))
    first.fill(5, 1)
    second.fill(5, 4)
    other.fill(6, 1)
    assert (first.memory == second.memory).all()
    assert (first.memory != other.memory).any()


def test_a_tensor_moves_into_the_memory_behind_it() -> None:
    made = buffers.tensor(canonicalise(Problem((1, 0), (1024, 512))).canonical, "b", 1, 2)
    moved = made.moved(16)
    assert moved.address == made.address + 16
    assert len(moved.memory) == (1024 * 512 * 4) + buffers.SPARE - 16
    assert np.shares_memory(made.memory, moved.memory)


def test_opaque_items_are_random_bytes() -> None:
    made = buffers.Tensor(buffers.allocate(1001), dtypes.dtype("i8"), 0)
    made.fill(1, 2)
    assert len(np.unique(made.memory)) > 200


AXES = st.lists(st.tuples(st.integers(1, 9), st.sampled_from((1, -1))), min_size=1, max_size=4)


@examples(60)
@given(AXES, st.randoms(use_true_random=False))
def test_views_address_what_the_span_counts(axes: list[tuple[int, int]], random: object) -> None:
    """Row-major B, column-major A, some axes of A backwards."""
    extents = [n for n, _ in axes]
    made, step = [], 1
    for (extent, sign), inner in zip(axes, np.cumprod([1, *extents]), strict=False):
        made.append(Axis(extent, int(sign * inner), prod(extents) // step // extent))
        step *= extent
    form = from_axes(made, FLOAT, FLOAT, COPY).canonical
    for which in "ab":
        span = buffers.span(form, which)
        tensor = buffers.tensor(form, which, 1, 1)
        view = buffers.strided(tensor, form, which)
        start = view.ctypes.data
        assert span.elements == prod(extents)
        assert start == tensor.address == tensor.memory.ctypes.data + span.origin * 4
        assert sorted(view.ravel().tolist()) == sorted(tensor.memory[: -buffers.SPARE].view("i4").tolist())


def test_spans_of_broadcasts_and_nothing() -> None:
    broadcast = Canonical((Axis(5, 0, 1), Axis(4, -2, 5)), CARRIER, CARRIER, COPY)
    assert buffers.span(broadcast, "a") == Span(7, 6)
    assert buffers.span(broadcast, "b") == Span(20, 0)
    empty = canonicalise(Problem((1, 0), (0, 3))).canonical
    assert buffers.span(empty, "a").elements == 0
    assert buffers.footprint(broadcast) == 27 * 4


# --- stand-ins -------------------------------------------------------------------------------------------


@st.composite
def big(draw: st.DrawFn) -> Problem:
    """Problems of up to 64 MiB, padded here and there."""
    rank = draw(st.integers(1, 5))
    size = [draw(st.sampled_from((2, 3, 16, 31, 64, 100, 1000))) for _ in range(rank)]
    while prod(size) > 8 << 20:
        size[size.index(max(size))] = 2
    perm = tuple(draw(st.permutations(range(rank))))
    pads = [draw(st.sampled_from((0, 0, 1, 24))) for _ in range(rank)]
    lda = tuple(n + p for n, p in zip(size, pads, strict=True)) if prod(size) < 1 << 20 else None
    return Problem(perm, tuple(size), draw(st.sampled_from(("s", "d", "z", "sd"))), lda=lda)


@examples(150)
@given(big(), st.integers(10, 26))
def test_stand_ins_fit_and_keep_the_low_bits_of_strides(problem: Problem, bits: int) -> None:
    form = canonicalise(problem).canonical
    small = buffers.proxy(form, 1 << bits)
    assert buffers.footprint(small) <= 1 << bits or small.elements == 1
    if buffers.footprint(form) <= 1 << bits:
        assert small == form
    assert (small.a, small.b, small.kinds, len(small.axes)) == (form.a, form.b, form.kinds, len(form.axes))
    for which, t in (("a", form.a), ("b", form.b)):
        for old, new in zip(form.strides(which), small.strides(which), strict=True):
            assert (int(old) - int(new)) * t.itemsize % LOW_BITS == 0  # type: ignore[arg-type]
            assert abs(int(new)) <= abs(int(old))  # type: ignore[arg-type]
    assert all(new <= old for new, old in zip(small.extents, form.extents, strict=True))


@examples(60)
@given(big())
def test_elements_of_stand_ins_do_not_overlap(problem: Problem) -> None:
    small = buffers.proxy(canonicalise(problem).canonical, 1 << 14)
    if buffers.footprint(small) > 1 << 20:
        return
    for which in "ab":
        offsets = np.zeros((), np.int64)
        for extent, stride in zip(small.extents, small.strides(which), strict=True):
            offsets = np.add.outer(offsets, np.arange(extent) * int(stride))  # type: ignore[arg-type]
        assert len(np.unique(offsets)) == small.elements


def test_available_memory_is_what_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    free = available_memory()
    assert free is None or 1 << 20 < free < 1 << 50
    for text in ("", "MemAvailable: much kB", "MemTotal: 5 kB\n"):
        monkeypatch.setattr("ttc_llvm.tuning.search.available._read", lambda *file, text=text: text)
        assert available_memory() is None
    told = "MemTotal: 9 kB\nMemAvailable:  7 kB\n"
    monkeypatch.setattr("ttc_llvm.tuning.search.available._read", lambda *file: told)
    assert available_memory() == 7 << 10


GROUPS = {  # a machine with 8000 bytes available, and what else a file system may say
    "sys/fs/cgroup/a/b/memory.max": "5000\n",
    "sys/fs/cgroup/a/b/memory.current": "3000\n",
    "sys/fs/cgroup/a/b/memory.stat": "anon 1\ninactive_file 500\n",
    "sys/fs/cgroup/a/memory.max": "max\n",
    "sys/fs/cgroup/memory/c/memory.limit_in_bytes": "9000\n",
    "sys/fs/cgroup/memory/c/memory.usage_in_bytes": "2000\n",
    "sys/fs/cgroup/memory/c/memory.stat": "cache 7\ntotal_inactive_file 100\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
}


@pytest.mark.parametrize(
    ("own", "free"),
    [
        ("0::/a/b", 2500),
        ("0::/a", 8192),  # no limit
        ("0::/", 8192),
        ("5:cpu:/\n4:memory:/c\n0::/", 7100),
        ("5:cpu:/\n4:hugetlb,memory:/c\n0::/", 7100),
        ("4:memory:/", 8192),
        ("4:memory:/c\n0::/a/b", 2500),
        ("gibberish", 8192),
    ],
)
def test_control_groups_leave_less(tmp_path: Path, own: str, free: int) -> None:
    files = GROUPS | {"proc/meminfo": "MemAvailable:  8 kB\n", "proc/self/cgroup": own + "\n"}
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert available_memory(tmp_path) == free


@pytest.mark.parametrize("size", [1 << 56, 1 << 70])
def test_memory_that_there_is_not_is_refused_in_a_sentence(size: int) -> None:
    with pytest.raises(OutOfMemoryError, match=r"takes [0-9]+ MiB: there is no memory"):
        buffers.allocate(size)
