"""The thread runtime: every task once, whatever threads, forks, masks and exits do."""

from __future__ import annotations

import ctypes
import itertools
import logging
import multiprocessing
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from forks import forked
from machine import part_range
from processes import PATIENCE, together

from ttc_llvm import locks
from ttc_llvm.errors import OptionError
from ttc_llvm.ir_builders import pool_layout
from ttc_llvm.runtime import affinity, backend, linking, pool, runtime, waiting
from ttc_llvm.runtime.once import once
from ttc_llvm.runtime.runtime import Call

# count: adds 1 to b[t] of every task t. note: writes a part's begin, end, scratch and arguments to b.
# meet: counts once s parts are running at the same time, never if that does not happen within seconds.
# linger: loops a times, then counts.
KERNELS = """
define void @count(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {
entry:
  %any = icmp slt i64 %begin, %end
  br i1 %any, label %loop, label %leave
loop:
  %t = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %at = getelementptr i64, ptr %b, i64 %t
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  %next = add i64 %t, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %leave
leave:
  ret void
}
define void @note(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {
  %slot = mul i64 %begin, 8
  %at0 = getelementptr i64, ptr %b, i64 %slot
  %at1 = getelementptr i64, ptr %at0, i64 1
  %at2 = getelementptr i64, ptr %at0, i64 2
  %at3 = getelementptr i64, ptr %at0, i64 3
  %sum = ptrtoint ptr %a to i64
  %sp = ptrtoint ptr %s to i64
  %pp = ptrtoint ptr %p to i64
  %xp = ptrtoint ptr %x to i64
  %m1 = mul i64 %sp, 10
  %m2 = mul i64 %pp, 100
  %s1 = add i64 %sum, %m1
  %s2 = add i64 %s1, %m2
  store i64 %begin, ptr %at0
  store i64 %end, ptr %at1
  store i64 %xp, ptr %at2
  store i64 %s2, ptr %at3
  %any = icmp ne i64 %xp, 0
  br i1 %any, label %mark, label %leave
mark:
  store i64 %begin, ptr %x
  br label %leave
leave:
  ret void
}
define void @meet(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {
entry:
  %before = atomicrmw add ptr %a, i64 1 seq_cst
  %all = ptrtoint ptr %s to i64
  br label %loop
loop:
  %t = phi i64 [ 0, %entry ], [ %next, %wait ]
  %here = load atomic i64, ptr %a seq_cst, align 8
  %met = icmp sge i64 %here, %all
  br i1 %met, label %leave, label %wait
wait:
  %next = add i64 %t, 1
  %again = icmp slt i64 %next, 3000000000
  br i1 %again, label %loop, label %fail
leave:
  call void @count(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end)
  ret void
fail:
  ret void
}
define void @linger(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {
entry:
  %n = ptrtoint ptr %a to i64
  br label %loop
loop:
  %t = phi i64 [ 0, %entry ], [ %next, %loop ]
  %more = add i64 %t, 1
  %next = call i64 asm sideeffect "", "=r,0"(i64 %more)
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %leave
leave:
  call void @count(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end)
  ret void
}
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_masks = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs sched_setaffinity")
quiet_fork = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")


@once
def loaded() -> linking.Loaded:
    return linking.load(
        backend.compile_object(KERNELS, backend.host_target()), ["count", "note", "meet", "linger"]
    )


def count(b: np.ndarray, tasks: int, kernel: str = "count", a: int = 0) -> Call:
    return Call(loaded().address(kernel), a, b.ctypes.data, 0, 0, 0, tasks)


@pytest.fixture
def fresh() -> Iterator[None]:
    """No pool before and none after, so that a test sees its workers start."""
    runtime.set_affinity(affinity.NONE)
    yield
    runtime.set_affinity(affinity.NONE)


def test_every_task_runs_exactly_once() -> None:
    choose = random.Random(1)
    for _ in range(4000):
        threads, tasks = choose.randint(1, 5), choose.randint(0, 100)
        b = np.zeros(tasks + 1, np.int64)
        runtime.run(count(b, tasks), threads)
        assert (b[:tasks] == 1).all() and b[tasks] == 0, (threads, tasks)


def test_repeats_run_every_task_as_often() -> None:
    for threads in (1, 2, 3):
        b = np.zeros(10, np.int64)
        runtime.run(count(b, 10), threads, repeats=2000)
        assert (b == 2000).all()


def test_fast_dispatches_lose_nothing() -> None:
    b = np.zeros(7, np.int64)
    for _ in range(30_000):
        runtime.run(count(b, 7), 3)
    assert (b == 30_000).all()


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_parts_run_at_the_same_time(fresh: None, threads: int) -> None:
    for job in range(5):
        b, arrived = np.zeros(threads, np.int64), np.zeros(1, np.int64)
        call = Call(loaded().address("meet"), arrived.ctypes.data, b.ctypes.data, threads, 0, 0, threads)
        runtime.run(call, threads)
        assert (b == 1).all()
        time.sleep(0.002 * (job % 2))


def test_small_calls_wake_workers_only_where_they_follow_each_other(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = np.zeros(4, np.int64)
    runtime.run(count(b, 4), 2)
    found = runtime._shared.pool
    assert found is not None
    woken: list[int] = []
    monkeypatch.setattr(found, "_keep_off", woken.append)
    later = time.perf_counter_ns() + 10**10
    for called, begun, moved, wakes in (
        (0, 0, 1000, 0), (later, later, 1000, 0), (later, 0, 1000, 1), (0, 0, pool.NEVER, 2), (0, 0, 8 << 20, 2),
        (later, later, 8 << 20, 3),
    ):  # fmt: skip
        wait_until_parked(1)
        found.called.value, found.begun.value = called, begun
        runtime.run(count(b, 4), 2, moved=moved)
        assert len(woken) == wakes
    assert (b == 7).all()


def test_workers_take_part_and_wake_up_again(fresh: None) -> None:
    """Jobs of a millisecond, with pauses in which workers park: each job still runs every task once."""
    b = np.zeros(4, np.int64)
    for job in range(60):
        runtime.run(count(b, 4, "linger", 300_000), 2)
        time.sleep(0.001 * (job % 3))
    assert (b == 60).all()


def test_parts_are_those_of_the_nest_and_get_the_arguments() -> None:
    for threads, tasks in ((1, 9), (2, 9), (3, 10), (4, 4), (5, 3)):
        b = np.full(8 * tasks, -1, np.int64)
        runtime.run(Call(loaded().address("note"), 7, b.ctypes.data, 5, 3, 0, tasks), threads)
        found = [(begin, end) for begin, end, *_ in b.reshape(-1, 8).tolist() if begin >= 0]
        parts = min(threads, tasks)
        if len(found) > parts:  # a worker slept
            parts <<= pool_layout.SHARES
        wanted = [part_range(tasks, part, parts) for part in range(parts)]
        assert found == wanted
        assert all(tuple(b[8 * begin : 8 * begin + 4]) == (begin, end, 0, 357) for begin, end in wanted)


@pytest.mark.parametrize("size", [1, 64, 5000, 1 << 20])
def test_every_thread_has_scratch_of_its_own(size: int) -> None:
    for threads in (1, 2, 4):
        b = np.full(8 * 4, -1, np.int64)
        runtime.run(Call(loaded().address("note"), 0, b.ctypes.data, 0, 0, max(size, 8), 4), threads)
        blocks = sorted({at for begin, _, at, *_ in b.reshape(-1, 8).tolist() if begin >= 0})
        assert 1 <= len(blocks) <= threads and all(at % pool_layout.PAGE == 0 and at for at in blocks)
        assert all(after - before >= size + pool_layout.GAP for before, after in itertools.pairwise(blocks))


@pytest.mark.parametrize(("tasks", "parts", "whole", "runs"), [
    (8, 8, False, 1), (9, 8, False, 1), (7, 2, False, 1), (9, 2, True, 1), (9, 8, True, 3),
])  # fmt: skip
def test_a_thread_has_several_parts_where_another_sleeps(
    fresh: None, tasks: int, parts: int, whole: bool, runs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """But where it asks for one, and nothing else runs."""
    (loads := tmp_path / "loadavg").write_text(f"0.11 0.07 0.05 {runs}/159 5657\n")
    others_run = waiting.others_run
    assert not others_run(tmp_path)
    monkeypatch.setattr(waiting, "others_run", lambda: others_run(loads))
    runtime.run(count(np.zeros(3, np.int64), 3), 3)  # of this pool's workers the call below wakes one
    for _ in range(3):
        wait_until_parked(2)
        b = np.full(8 * tasks, -1, np.int64)
        runtime.run(count(b, tasks, "note"), 2, whole=whole)
        found = [(begin, end) for begin, end, *_ in b.reshape(-1, 8).tolist() if begin >= 0]
        assert found == [part_range(tasks, part, parts) for part in range(parts)]


def repeats(most: int) -> Iterator[int]:
    """1, 2, ... as many as asked for, but fewer where others keep the CPUs busy for more than 20 seconds."""
    deadline = time.monotonic() + 20
    for number in range(1, most + 1):
        yield number
        if number > 9 and time.monotonic() > deadline:
            return


def test_several_python_threads_share_the_runtime() -> None:
    """Whoever finds the pool busy runs alone; four callers on few CPUs neither stall nor lose a task."""
    counts = [np.zeros(20, np.int64) for _ in range(4)]
    calls = [0] * 4

    def dispatch(number: int) -> None:
        for calls[number] in repeats(3000):
            runtime.run(count(counts[number], 20), 2)

    together(dispatch, range(4))
    assert all((b == n).all() for b, n in zip(counts, calls, strict=True)) and min(calls) > 9


def test_many_more_threads_than_cpus() -> None:
    b = np.zeros(200, np.int64)
    for calls in repeats(300):
        runtime.run(count(b, 200), 24)
        assert (b == calls).all()


def test_one_thread_starts_no_workers(fresh: None) -> None:
    runtime.run(count(np.zeros(5, np.int64), 5), 1)
    runtime.run(count(np.zeros(5, np.int64), 1), 4)
    assert not workers()
    runtime.run(count(np.zeros(5, np.int64), 5), 3)
    assert len(workers()) == 2


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("ttc-worker")]


def test_callers_go_on_when_threads_cannot_be_started(
    fresh: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    b = np.zeros(9, np.int64)
    with caplog.at_level(logging.WARNING):
        runtime.run(count(b, 9), 3)
        runtime.run(count(b, 9), 3)
    assert (b == 2).all()
    assert "cannot be started" in caplog.text and len(caplog.records) == 2
    monkeypatch.undo()


def wait_until_parked(workers: int) -> None:
    """Until so many workers sleep, however busy the machine is."""
    found = runtime._shared.pool
    assert found is not None
    deadline = time.monotonic() + PATIENCE
    while found.states[1 : workers + 1].tobytes() != bytes([pool_layout.PARKED]) * workers:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_idle_workers_park(fresh: None) -> None:
    runtime.run(count(np.zeros(2, np.int64), 2), 2)
    wait_until_parked(1)
    usage = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - usage < 0.1


def test_an_interrupt_leaves_no_job_behind(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before sleeping workers get a job: none may write after the call has ended."""
    b = np.zeros(9, np.int64)
    runtime.run(count(b, 9), 3)
    wait_until_parked(2)

    def interrupt(self: pool.Pool, parts: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pool.Pool, "_keep_off", interrupt)
        runtime.run(count(b, 9), 3)
    assert (b == 1).all()
    runtime.run(count(b, 9), 3)
    assert (b == 2).all()


def test_an_interrupt_where_a_call_takes_the_pool_leaves_it_to_the_next(fresh: None) -> None:
    """An exception right behind what takes the lock: it stayed closed, and every later call ran on one thread."""

    def strike(frame: FrameType, event: str, _: object) -> None:
        if event == "c_return" and frame.f_code.co_name == "_run_shared":
            raise KeyboardInterrupt

    b = np.zeros(9, np.int64)
    runtime.run(count(b, 9), 3)
    sys.setprofile(strike)
    try:
        with pytest.raises(KeyboardInterrupt):
            runtime.run(count(b, 9), 3)
    finally:
        sys.setprofile(None)
    assert not runtime._shared.lock.locked()


@needs_fork
@quiet_fork
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    b = np.zeros(50, np.int64)
    runtime.run(count(b, 50), 3)
    for _ in range(5):
        assert forked(lambda: bool(once_more(b) and workers())) == 0
        runtime.run(count(b, 50), 3)
    assert (b == 6).all()


@needs_fork
@quiet_fork
def test_a_child_forked_while_the_pool_is_busy_is_free(fresh: None) -> None:
    stop = threading.Event()
    b = np.zeros(50, np.int64)

    def dispatch() -> None:
        while not stop.is_set():
            runtime.run(count(np.zeros(50, np.int64), 50), 2)

    caller = threading.Thread(target=dispatch)
    caller.start()
    try:
        codes = [forked(lambda: once_more(b)) for _ in range(10)]
    finally:
        stop.set()
        caller.join()
    assert codes == [0] * 10


@needs_fork
@quiet_fork
def test_a_child_forked_while_another_thread_makes_a_property_can_make_it() -> None:
    """`functools.cached_property` holds a lock meanwhile, before Python 3.12."""
    begun, forks_done = threading.Event(), threading.Event()

    class Made:
        @locks.cached_property
        def value(self) -> int:
            begun.set()
            assert forks_done.wait(PATIENCE)
            return 3

    def made_in_the_child() -> bool:
        forks_done.set()
        return Made().value == 3

    one = Made()
    maker = threading.Thread(target=lambda: one.value)
    maker.start()
    try:
        assert begun.wait(PATIENCE)
        assert forked(made_in_the_child) == 0
    finally:
        forks_done.set()
        maker.join()
    assert one.value == 3 and vars(one) == {"value": 3}


def once_more(b: np.ndarray) -> bool:
    before = b.copy()
    for _ in range(100):
        runtime.run(count(b, 50), 3)
    return bool((b == before + 100).all())


def in_process(seed: int) -> int:
    b = np.zeros(30, np.int64)
    for _ in range(seed):
        runtime.run(count(b, 30), 2)
    return int(b.sum())


@quiet_fork
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_multiprocessing_by_fork_works_after_use() -> None:
    in_process(3)
    with multiprocessing.get_context("fork").Pool(2) as processes:
        assert processes.map(in_process, [1, 2, 3]) == [30, 60, 90]


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program that can import this module; it must succeed."""
    root = Path(__file__).parent
    paths = os.pathsep.join([str(root.parent), str(root), os.environ.get("PYTHONPATH", "")])
    values = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=values | {"PYTHONPATH": paths} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )


@pytest.mark.parametrize("state", ["polling", "parked"])
def test_the_interpreter_ends_quickly_with_workers(state: str) -> None:
    """It waits a tenth of a second for them, whatever the machine does meanwhile."""
    done = python(
        f"""
        import time, numpy as np, test_runtime as t
        from ttc_llvm.runtime import pool, runtime
        b = np.zeros(9, np.int64)
        for _ in range(50):
            runtime.run(t.count(b, 9), 3)
        if {state == "parked"}:
            t.wait_until_parked(2)
        stop = pool.Pool.stop
        pool.Pool.stop = lambda self, patience: print(patience) or stop(self, patience)
        print((b == 50).all())
        """
    )
    verdict, patience = done.stdout.split()
    assert verdict == "True" and done.stderr == ""
    assert float(patience) <= 0.1


def test_calls_still_work_while_the_interpreter_ends() -> None:
    done = python(
        """
        import atexit, numpy as np
        b = np.zeros(9, np.int64)
        @atexit.register
        def late():
            runtime.run(t.count(b, 9), 3)
            print(b.tolist())
        import test_runtime as t
        from ttc_llvm.runtime import runtime
        runtime.run(t.count(b, 9), 3)
        """
    )
    assert done.stdout.split() == str([2] * 9).split() and done.stderr == ""


def test_the_process_ends_when_nobody_makes_code() -> None:
    done = python(
        """
        import os, threading, time
        from ttc_llvm import locks
        begun = threading.Event()
        def make():
            while True:
                with locks.LLVM:
                    os.write(1, b"begun ")
                    begun.set()
                    time.sleep(0.3)
                    os.write(1, b"made ")
                time.sleep(0.05)  # a lock is not fair: whoever takes it again at once may keep others out
        threading.Thread(target=make, daemon=True).start()
        begun.wait()
        """
    )
    words = done.stdout.split()
    assert words == ["begun", "made"] * (len(words) // 2) and words and done.stderr == ""


@pytest.mark.parametrize(("value", "threads"), [("3", 3), (" 4,2 ", 4), ("4, 2", 4), ("1", 1)])
def test_omp_num_threads_is_honoured(value: str, threads: int) -> None:
    program = "from ttc_llvm.runtime import runtime; print(runtime.num_threads())"
    assert int(python(program, OMP_NUM_THREADS=value).stdout) == threads


@pytest.mark.parametrize("value", ["", "many", "0", "-2", "2.5", ",3"])
def test_a_malformed_omp_num_threads_is_ignored(value: str) -> None:
    program = "import os; from ttc_llvm.runtime import runtime; print(runtime.num_threads(), runtime.cpu_count())"
    done = python(program, OMP_NUM_THREADS=value)
    used, cpus = done.stdout.split()
    assert used == cpus
    assert ("OMP_NUM_THREADS" in done.stderr) == bool(value)


def test_set_num_threads_comes_first() -> None:
    program = "from ttc_llvm.runtime import runtime; runtime.set_num_threads(7); print(runtime.num_threads())"
    assert int(python(program, OMP_NUM_THREADS="3").stdout) == 7


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", None])
def test_a_wrong_number_of_threads_is_refused(wrong: object) -> None:
    with pytest.raises(OptionError, match="threads"):
        runtime.set_num_threads(wrong)  # type: ignore[arg-type]


@needs_masks
def test_the_mask_limits_the_default_and_the_workers() -> None:
    done = python(
        """
        import os
        cpu = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpu})
        import numpy as np, test_runtime as t
        from ttc_llvm.runtime import runtime
        assert runtime.num_threads() == 1
        b = np.zeros(9, np.int64)
        runtime.run(t.count(b, 9), 3)
        assert (b == 1).all()
        print({tuple(os.sched_getaffinity(w.native_id)) for w in t.workers()} == {(cpu,)})
        """
    )
    assert done.stdout.strip() == "True"


@needs_masks
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_sleeping_workers_are_woken_off_the_callers_cpu() -> None:
    """Where the caller goes, and within what others make of their masks."""
    done = python(
        """
        import os, numpy as np, test_runtime as t
        from ttc_llvm.runtime import runtime, worker_masks
        mask = os.sched_getaffinity(0)
        first, last = min(mask), max(mask)

        def masks_after_a_call(cpu):
            b = np.zeros(9, np.int64)
            worker_masks._function = lambda: lambda: cpu
            runtime.run(t.count(b, 9), 2)
            assert (b == 1).all()
            t.wait_until_parked(1)
            return t.pins()

        runtime.run(t.count(np.zeros(9, np.int64), 9), 2)
        t.wait_until_parked(1)
        for cpu in (first, first, last, first, last):
            assert masks_after_a_call(cpu) == [mask - {cpu}]
        for worker in t.workers():
            os.sched_setaffinity(worker.native_id, {last})
        for cpu in (last, first, last):
            assert masks_after_a_call(cpu) == [{last}]
        print("all")
        """
    )
    assert done.stdout.strip() == "all"


@needs_masks
@pytest.mark.parametrize("text", ["compact", "scatter", "last"])
def test_workers_pin_themselves_and_leave_the_caller_alone(fresh: None, text: str) -> None:
    mask = os.sched_getaffinity(0)
    wanted = affinity.parse(str(max(mask)) if text == "last" else text)
    runtime.set_affinity(wanted)
    b = np.zeros(9, np.int64)
    runtime.run(count(b, 9), 3)
    places = affinity.places(wanted, 3, mask, affinity.read_topology())[1:]
    deadline = time.monotonic() + PATIENCE
    while pins() != [{cpu} for cpu in places] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert pins() == [{cpu} for cpu in places]
    assert os.sched_getaffinity(0) == mask and (b == 1).all()


def pins() -> list[set[int]]:
    by_name = sorted(workers(), key=lambda worker: worker.name)
    return [os.sched_getaffinity(worker.native_id) for worker in by_name if worker.native_id]


def test_affinities_parse() -> None:
    mask = range(8)
    for text in ("none", "compact", "scatter"):
        assert str(affinity.parse(text, mask)) == text
    assert affinity.parse(" Compact ", mask).policy is affinity.Policy.COMPACT
    assert affinity.parse("0,2,4-7", mask).cpus == (0, 2, 4, 5, 6, 7)
    assert affinity.parse("3-3, 1", mask).cpus == (3, 1)
    assert str(affinity.parse("5,1-2", mask)) == "5,1,2"


def test_affinities_of_openmps_variables_parse() -> None:
    mask = range(8)
    for text in ("compact,1", "scatter,0,3", "compact,1,2"):
        assert str(affinity.parse(text, mask)) == text
    for text in ("granularity=fine,compact,1,0", "Compact, 1", "nowarnings,granularity=thread,compact,1"):
        assert affinity.parse(text, mask) == affinity.Affinity(affinity.Policy.COMPACT, (), 1)
    assert affinity.parse("disabled", mask) == affinity.NONE
    assert affinity.parse("0 3 1-2 4-7:2", mask).cpus == (0, 3, 1, 2, 4, 6)
    assert affinity.parse("0-7:3", mask).cpus == (0, 3, 6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "malformed"),
        ("dense", "malformed"),
        ("1,,2", "malformed"),
        ("1-", "malformed"),
        ("-1", "malformed"),
        ("1-2-3", "malformed"),
        ("0x1", "malformed"),
        ("5-2", "reversed range 5-2"),
        ("0,8", "names CPU 8: the CPUs that this process may use are 0,1,2,3,4,5,6,7"),
        ("0-999999999", "names CPU 8"),
        ("99999999999999", "malformed"),
        ("0-7:0", "malformed"),
        ("none,1", "malformed"),
        ("compact,1,2,3", "malformed"),
        ("compact,-1", "malformed"),
        ("granularity=core,compact", "malformed"),
        ("granularity=fine", "malformed"),
    ],
)
def test_wrong_affinities_are_refused(text: str, said: str) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        affinity.parse(text, range(8))
    assert "\n" not in str(caught.value)


def test_only_none_is_accepted_where_threads_cannot_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affinity, "process_mask", lambda: None)
    assert affinity.parse("none") == affinity.NONE
    for text in ("compact", "0,1"):
        with pytest.raises(OptionError, match="cannot pin threads"):
            affinity.parse(text)
    with pytest.raises(OptionError, match="cannot pin threads"):
        runtime.set_affinity(affinity.Affinity(affinity.Policy.COMPACT))


def test_places_follow_the_topology() -> None:
    """Two packages of two cores with two CPUs each; siblings are c and c + 4, as Linux numbers them."""
    topology = {cpu: (cpu % 4 // 2, cpu % 2) for cpu in range(8)}
    every = range(8)

    def places(text: str, workers: int, mask: range | set[int] = every) -> tuple[int | None, ...]:
        return affinity.places(affinity.parse(text, mask), workers + 1, mask, topology)[1:]

    assert places("none", 3) == (None, None, None)
    assert places("compact", 8) == (4, 1, 5, 2, 6, 3, 7, 0)
    assert places("scatter", 8) == (2, 1, 3, 4, 6, 5, 7, 0)
    assert places("6,2,4", 4) == (2, 4, 6, 2)
    assert places("compact,1", 8) == (1, 2, 3, 4, 5, 6, 7, 0)  # a CPU of every core, package by package, then the rest
    assert places("compact,2", 8) == places("compact,9", 8) == places("scatter", 8)
    assert places("scatter,1", 8) == places("compact,1", 8)
    assert places("scatter,2", 8) == places("scatter,5", 8) == places("compact", 8)
    assert places("compact,0,2", 8) == (5, 2, 6, 3, 7, 0, 4, 1)
    assert places("compact,0,10", 8) == places("compact,0,2", 8)
    assert places("compact", 2, {3, 7}) == (7, 3)
    assert affinity.places(affinity.parse("compact", {1, 5}), 3, {1, 5}, {}) == (1, 5, 1)
    assert affinity.places(affinity.Affinity(affinity.Policy.EXPLICIT, (6,)), 2, {0, 1}, {}) == (None, None)


def test_topology_is_read(tmp_path: Path) -> None:
    for cpu, (package, core) in enumerate([(0, 0), (1, 0)]):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n")
        (folder / "core_id").write_text(f"{core}\n")
    (tmp_path / "cpu2" / "topology").mkdir(parents=True)
    (tmp_path / "cpufreq" / "topology").mkdir(parents=True)
    assert affinity.read_topology(tmp_path) == {0: (0, 0), 1: (1, 0)}


def test_torch_can_be_beside_us() -> None:
    torch = pytest.importorskip("torch")
    x = torch.rand(300, 300)
    b = np.zeros(20, np.int64)
    for _ in range(200):
        runtime.run(count(b, 20), 2)
        assert torch.allclose(x @ x, x.mm(x))
    assert (b == 200).all()


def test_calls_are_plain_values() -> None:
    call = Call(kernel=1, a=2, b=3, scalars=4, params=5, scratch=6, tasks=7)
    assert call == (1, 2, 3, 4, 5, 6, 7)
    with pytest.raises(AttributeError):
        call.tasks = 8  # type: ignore[misc]
    assert ctypes.sizeof(ctypes.c_void_p) == 8
