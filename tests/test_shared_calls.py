"""Calls that several threads share, made by native code: with workers that are awake, and without any."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from known_layouts import NATIVE, forget
from test_runtime import wait_until_parked

import ttc_llvm
from ttc_llvm.arrays import native_entry, own_plans, result_memory, transposing
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.ir_builders import pool_layout
from ttc_llvm.ir_builders.array_entry_fields import State
from ttc_llvm.ir_builders.pool_layout import BURST_SECONDS, LANE, LANES, WAKING_BYTES, WORD, Shared
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.runtime import affinity, runtime, shared_words
from ttc_llvm.runtime.executable import Direct, Executable
from ttc_llvm.tuning.cost.model import model_plan
from ttc_llvm.tuning.space.choices import Forced

RNG = np.random.default_rng(3)
pytestmark = NATIVE
FAMILY, OWN = 1 << 40, 0  # bytes moved before a layout gets a kernel of its own


def python_serves_nothing(*_: object) -> None:
    pytest.fail("Python served a call")


@pytest.fixture
def sleepless(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Nobody is woken, so that native code makes every call; from its own call on, Python serves nothing."""
    ttc_llvm.set_num_threads(2)
    shared_words.address()
    shared_words._set(Shared.BURST, 0)
    shared_words._set(Shared.WAKING, 1 << 62)

    def begin() -> None:
        monkeypatch.setattr(transposing, "transposed", python_serves_nothing)

    yield begin
    shared_words._set(Shared.BURST, int(BURST_SECONDS * 1e9))
    shared_words._set(Shared.WAKING, WAKING_BYTES)
    runtime._chosen.clear()
    forget()


def pair(low: int, shape: tuple[int, ...] = (704, 896)) -> tuple[np.ndarray, np.ndarray]:
    """An array, and room for its transpose, so many bytes off a line."""
    blocks = [np.frombuffer(bytearray(RNG.bytes(8 * 630_784 + 256)), np.uint8) for _ in range(2)]
    of, to = (block[-block.ctypes.data % 64 + low :][: 8 * 630_784].view("f8") for block in blocks)
    of[:] = RNG.integers(-99, 99, of.size)
    return of.reshape(shape), to.reshape(shape[::-1])


@pytest.mark.parametrize("threads", [None, 1, 2])
@pytest.mark.parametrize("payback", [FAMILY, OWN])
@pytest.mark.parametrize("low", [0, 16])
def test_calls_are_native(sleepless: Callable[[], None], payback: int, low: int, threads: int | None) -> None:
    forget(payback)
    x, out = pair(low)
    for _ in range(3):
        ttc_llvm.transpose(x, out=out, threads=threads)
    sleepless()
    for turn in range(20):
        x[turn] += 1
        out[...] = np.nan
        assert ttc_llvm.transpose(x, out=out, threads=threads) is out
        assert (out == x.T).all()


def test_kernels_are_those_for_the_addresses(sleepless: Callable[[], None]) -> None:
    """A layout's own kernel may need a B on a boundary; native code knows the one for others beside it."""
    forget(OWN)
    pairs = [pair(low) for low in (0, 16, 0, 8, 40, 0, 4)]
    for count in (7, 6):  # at half an item Python finds the kernel
        for x, out in pairs[:count]:
            for _ in range(3):
                out[...] = np.nan
                ttc_llvm.transpose(x, out=out)
                assert (out == x.T).all()
        sleepless()


@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_have_their_scratch(
    sleepless: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, threads: int
) -> None:
    def buffered(canonical: Canonical, target: Target, parts: int, _: Forced) -> CpuPlan:
        return model_plan(canonical, target, parts, own_plans.STREAMED).changed(fallback=Store.BUFFERED)

    def told(executable: Executable, a: int, b: int) -> Direct:
        sizes.append((found := direct_at(executable, a, b)).kernel.scratch)
        return found

    sizes, direct_at = list[int](), Executable.direct_at
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))  # other tests' plans are not these
    monkeypatch.setattr(own_plans, "modelled", buffered)
    monkeypatch.setattr(Executable, "direct_at", told)
    forget(OWN)
    x, out = pair(16)
    for _ in range(3):
        ttc_llvm.transpose(x, out=out, threads=threads)
    assert sizes and min(sizes) > 0
    sleepless()
    for turn in range(20):
        x[turn] += 1
        out[...] = np.nan
        ttc_llvm.transpose(x, out=out, threads=threads)
        assert (out == x.T).all()


def test_the_number_of_threads_is_counted_anew_with_other_cpus(sleepless: Callable[[], None]) -> None:
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine cannot run two threads at a time, or has no masks")
    runtime._chosen.clear()
    forget(FAMILY)
    x, out = pair(0)
    ttc_llvm.transpose(x, out=out)
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        ttc_llvm.transpose(x, out=out)
        assert shared_words._words[Shared.THREADS // 8] == 1
    finally:
        os.sched_setaffinity(0, before)
    ttc_llvm.transpose(x, out=out)
    assert shared_words._words[Shared.THREADS // 8] == len(before)
    assert (out == x.T).all()


def test_no_pool_is_used_that_has_ended(sleepless: Callable[[], None]) -> None:
    forget(FAMILY)
    x, out = pair(0)
    for _ in range(3):
        runtime.set_affinity(affinity.NONE)  # ends it
        assert shared_words._words[Shared.POOL // 8] == 0
        out[...] = np.nan
        ttc_llvm.transpose(x, out=out)
        assert (out == x.T).all() and shared_words._words[Shared.POOL // 8] != 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this machine has no masks")
@pytest.mark.parametrize("is_fresh", [False, True])
def test_native_code_wakes_workers(
    sleepless: Callable[[], None], monkeypatch: pytest.MonkeyPatch, is_fresh: bool
) -> None:
    """From the second call on: Python has their masks set first."""
    before = os.sched_getaffinity(0)
    forget(FAMILY)
    x, out = pair(0)
    for place in (out, None):
        ttc_llvm.transpose(x, out=place, threads=3)
    pool = runtime._shared.pool
    assert pool is not None
    monkeypatch.setattr(pool_layout, "WAKING_BYTES", 0)  # for Python's calls; native ones read the word
    shared_words._set(Shared.WAKING, 0)
    monkeypatch.setattr(pool_layout, "WAKING_BYTES", 0)
    try:
        os.sched_setaffinity(0, {min(before)})  # whoever wakes stays where it is
        for turn in range(8):
            wait_until_parked(2)
            if turn == 1:
                sleepless()
            x[turn] = out[...] = turn
            made = ttc_llvm.transpose(x, out=None if is_fresh else out, threads=3)
            assert (made == x.T).all()
            wait_until_parked(2)
            job, *seen = (
                ctypes.c_int64.from_address(pool.start + at).value
                for at in (WORD, *(LANES + LANE * worker + 64 for worker in (1, 2)))
            )
            assert seen == [job, job]
    finally:
        os.sched_setaffinity(0, before)


def test_a_layout_that_is_forgotten_while_its_result_is_made_is_planned_anew(
    sleepless: Callable[[], None],
) -> None:
    """Other threads may change the table while the system fills the pages of a new result."""
    forget(FAMILY)
    x, _ = pair(0)
    assert (ttc_llvm.transpose(x) == x.T).all() and (ttc_llvm.transpose(x) == x.T).all()
    forgotten: list[bool] = []

    def populate(*_: int) -> None:
        if not forgotten:
            forgotten.append(True)
            layouts().clear()
            for extent in range(2, 12):  # their entries come where the other one was
                ttc_llvm.transpose(np.zeros((extent, 5)))

    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)(populate)
    word = ctypes.c_int64.from_address(native_entry.native_moves().state + State.POPULATE)
    before, kept = word.value, result_memory.result_pool()
    ttc_llvm.set_result_pool(0)  # the next result is of fresh memory
    try:
        word.value = ctypes.cast(function, ctypes.c_void_p).value or 0
        assert (ttc_llvm.transpose(x) == x.T).all() and forgotten
    finally:
        word.value = before
        ttc_llvm.set_result_pool(kept)
    assert (ttc_llvm.transpose(x) == x.T).all()


COLD = """
import os, sys, threading
import numpy as np, ttc_llvm
ttc_llvm.set_num_threads(3)
sys.setswitchinterval(1e-6)
start, wrong = threading.Barrier(4), []
def work(seed):
    arrays = [np.random.default_rng(seed + k).random((300 + k, 500)) for k in range(4)]
    places = [np.empty(x.T.shape) for x in arrays]
    start.wait()
    for turn in range(60):
        x, out = arrays[turn % 4], places[turn % 4]
        out[...] = -1
        ttc_llvm.transpose(x, out=out)
        if not np.array_equal(out, x.T) or not np.array_equal(ttc_llvm.transpose(x), x.T):
            wrong.append(turn)
        if seed == 0 and turn % 20 == 5 and hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                out[...] = -1
                good = [np.array_equal(ttc_llvm.transpose(x, out=out), x.T) for _ in range(5)]
                os._exit(0 if all(good) else 1)
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
                wrong.append("child")
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""


def test_threads_and_forks_from_cold() -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(COLD)], capture_output=True, text=True, timeout=300
        )
        assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
