"""What processes of `stress.py` do: threads that start together on what nothing was made for, forks, exits, signals.

`python stress_programs.py NAME SEED` ends with status 0 where every result was right.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.random  # here: a fork while a thread of ours imports it would not be the fault of what is tested

import ttc_llvm

Work = Callable[[], None]
THREADS = (2, 3, 4, 8, 16)
CALLS = 12  # of each thread
LAYOUTS = 9  # of threads that evict each other's
CHILD_SECONDS = 40  # of a forked child, on a busy machine


def _check(found: Any, wanted: Any, what: str) -> None:
    if not np.array_equal(found, wanted):
        raise AssertionError(f"{what}: wrong elements")


def _array(rng: random.Random) -> tuple[Any, tuple[int, ...]]:
    """An array of one to four axes and at most some ten thousand elements, and a permutation."""
    rank = rng.randint(1, 4)
    shape = [rng.choice((1, 2, 3, 5, 8, 17, 24, 64)) for _ in range(rank)]
    dtype = rng.choice(("f4", "f8", "c8", "c16", "u1", "i2", "V3"))
    while np.prod(shape) > 1 << 15:
        shape[shape.index(max(shape))] //= 2
    bits = np.random.default_rng(rng.getrandbits(32)).integers(1, 100, (*shape, np.dtype(dtype).itemsize), np.uint8)
    x = bits.view(dtype)[..., 0] if dtype.startswith(("u", "i", "V")) else (bits[..., 0] / 4).astype(dtype)
    return x, tuple(rng.sample(range(rank), rank))


# --- what a thread calls: made once, called by all threads -----------------------------------------------------------


def _transpose(rng: random.Random) -> Work:
    x, axes = _array(rng)
    wanted = np.transpose(x, axes).copy()
    return lambda: _check(ttc_llvm.transpose(x, axes), wanted, "transpose")


def _transpose_out(rng: random.Random) -> Work:
    x, axes = _array(rng)
    wanted = np.transpose(x, axes)

    def work() -> None:
        out = np.empty(wanted.shape, wanted.dtype)
        ttc_llvm.transpose(x, axes, out=out)
        _check(out, wanted, "transpose with out")

    return work


def _transpose_scaled(rng: random.Random) -> Work:
    x = np.random.default_rng(rng.getrandbits(32)).integers(1, 99, (rng.randint(2, 60), 33)).astype("f8")
    alphas = [rng.randint(2, 40) for _ in range(3)]

    def work() -> None:
        for alpha in alphas:
            _check(ttc_llvm.transpose(x, alpha=alpha), alpha * x.T, "transpose with alpha")

    return work


def _contiguous(rng: random.Random) -> Work:
    x, axes = _array(rng)
    view = np.transpose(x, axes)
    return lambda: _check(ttc_llvm.ascontiguousarray(view), view, "ascontiguousarray")


def _fortran(rng: random.Random) -> Work:
    x, axes = _array(rng)
    view = np.transpose(x, axes)
    count = rng.randint(1, 3)

    def work() -> None:
        ttc_llvm.set_num_threads(count)
        _check(ttc_llvm.asfortranarray(view), view, "asfortranarray")
        assert ttc_llvm.num_threads() in (1, 2, 3)

    return work


def _large(rng: random.Random) -> Work:
    """Several threads' worth of work in each call, off the vector boundary or on it."""
    x = np.random.default_rng(rng.getrandbits(32)).random((rng.choice((300, 512)), rng.choice((512, 777))))
    out = np.empty(x.size + 64)
    at = rng.randrange(8)

    def work() -> None:
        mine = out.copy()[at : at + x.size].reshape(x.T.shape)
        ttc_llvm.transpose(x, out=mine, threads=rng.choice((2, 3, 4)))
        _check(mine, x.T, "transpose on several threads")

    return work


def _problem(rng: random.Random) -> tuple[ttc_llvm.Problem, Any, Any]:
    size = tuple(rng.randint(2, 40) for _ in range(3))
    perm = tuple(rng.sample(range(3), 3))
    a = np.random.default_rng(rng.getrandbits(32)).random(size[::-1]).T
    return ttc_llvm.Problem(perm, size, "d"), a, np.asfortranarray(np.transpose(a, perm))


def _run(solution: Any, a: Any, wanted: Any) -> None:
    b = np.zeros(wanted.shape, order="F")
    solution(a, b)
    _check(b, wanted, "solution")


def _solution(rng: random.Random) -> Work:
    problem, a, wanted = _problem(rng)
    solution = ttc_llvm.compile(problem, 1)
    return lambda: _run(solution, a, wanted)


def _compile(rng: random.Random) -> Work:
    problem, a, wanted = _problem(rng)
    return lambda: _run(ttc_llvm.compile(problem, 1), a, wanted)


def _tune(rng: random.Random) -> Work:
    problem, a, wanted = _problem(rng)
    return lambda: _run(ttc_llvm.compile(problem, 3, time_limit=2.0), a, wanted)


def _unpickle(rng: random.Random) -> Work:
    problem, a, wanted = _problem(rng)
    text = pickle.dumps(ttc_llvm.compile(problem, 1))
    return lambda: _run(pickle.loads(text), a, wanted)


def _inspect(rng: random.Random) -> Work:
    problem, *_ = _problem(rng)
    solution = ttc_llvm.compile(problem, 1)

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            solution.write(folder, ("obj", "header", "asm"))
        assert "explain" and str(solution.explain(2)) and solution.assembly

    return work


ENTRIES: dict[str, Callable[[random.Random], Work]] = {
    "transpose": _transpose,
    "transpose-out": _transpose_out,
    "transpose-alpha": _transpose_scaled,
    "ascontiguousarray": _contiguous,
    "asfortranarray": _fortran,
    "transpose-threads": _large,
    "solution": _solution,
    "compile": _compile,
    "tune": _tune,
    "unpickle": _unpickle,
    "inspect": _inspect,
}


# --- what a process does ---------------------------------------------------------------------------------------------


def _together(works: list[Work], repeats: int) -> None:
    """Each work in a thread of its own, begun at one moment; raises what the first of them raised."""
    barrier, errors = threading.Barrier(len(works)), []

    def thread(work: Work) -> None:
        barrier.wait()
        try:
            for _ in range(repeats):
                work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=thread, args=(work,)) for work in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if errors:
        raise errors[0]


def _disturb(rng: random.Random) -> None:
    """Layouts get kernels of their own at once, late or never; memories are small; making code takes its time."""
    from ttc_llvm.arrays.layouts import layouts
    from ttc_llvm.runtime import kernel

    payback = rng.choice((0, 1 << 20, 32 << 20, 1 << 60))
    layouts().reset(payback=payback)
    if rng.random() < 0.5:
        most = rng.choice((2, 4, 16))
        layouts().reset(capacity=most, most_owned=max(1, most // 2), payback=payback)
        kernel.cache = kernel.KernelCache(rng.choice((2, 4)))
    if rng.random() < 0.5:
        build = kernel.build

        def slow(*given: Any) -> Any:
            time.sleep(rng.uniform(0, 0.02))
            made = build(*given)
            time.sleep(rng.uniform(0, 0.02))
            return made

        kernel.build = slow  # type: ignore[assignment]


def threads(rng: random.Random, entry: str) -> None:
    """All threads begin with the same call of one entry; or each with layouts of its own, which evict the others'."""
    _disturb(rng)
    count, make = rng.choice(THREADS), ENTRIES[entry]
    if rng.random() < 0.7:
        work = make(rng)
        _together([work] * count, 2 if entry in ("tune", "inspect") else CALLS)
    else:
        works = [make(rng) for _ in range(2 if entry in ("tune", "inspect") else LAYOUTS)]
        _together([random.Random(n).choice(works) for n in range(count)], 2)


def forks(rng: random.Random) -> None:
    """Children that are forked while another thread makes its first calls make theirs."""
    makers = rng.sample(sorted(set(ENTRIES) - {"tune"}), 2)
    seeds = [rng.getrandbits(32) for _ in makers]
    first = threading.Thread(
        target=lambda: [ENTRIES[name](random.Random(seed))() for name, seed in zip(makers, seeds, strict=True)]
    )
    first.start()
    statuses = []
    for _ in range(4):
        time.sleep(rng.choice((0.0, rng.uniform(0, 0.02), rng.uniform(0, 0.4))))
        child = os.fork()
        if child == 0:
            signal.alarm(CHILD_SECONDS)  # a child that waits for ever dies of it
            for name in ("transpose", "compile"):
                ENTRIES[name](rng)()
            os._exit(0)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    first.join()
    assert statuses == [0] * 4, f"children ended with {statuses}"


def exits(rng: random.Random) -> None:
    """The process ends while threads are in calls."""
    _disturb(rng)
    works = [ENTRIES[name](rng) for name in rng.sample(sorted(ENTRIES), 3)]

    def for_ever(work: Work) -> None:
        while True:
            work()

    for work in works:
        threading.Thread(target=for_ever, args=(work,), daemon=True).start()
    time.sleep(rng.uniform(0, 0.3))
    if rng.random() < 0.2:
        os.kill(os.getpid(), signal.SIGTERM)


def signals(rng: random.Random) -> None:
    """Ctrl-C strikes calls at random moments, also searches, which end with it; calls that follow are right."""
    _disturb(rng)
    works = [ENTRIES[name](rng) for name in rng.sample(sorted(ENTRIES), 3)]
    for _ in range(4):
        timer = threading.Timer(rng.uniform(0, 0.15), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            while timer.is_alive():
                rng.choice(works)()
            timer.join()
            time.sleep(0.01)  # it strikes here at the latest
        except KeyboardInterrupt:
            continue
    for work in works:
        work()


PROGRAMS: dict[str, Callable[[random.Random], None]] = {"forks": forks, "exits": exits, "signals": signals}


def run(name: str, seed: int) -> None:
    """The program of this name: of PROGRAMS, or `threads:ENTRY`."""
    kind, _, entry = name.partition(":")
    rng = random.Random(seed)
    if kind == "threads":
        threads(rng, entry)
    else:
        PROGRAMS[kind](rng)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]))
