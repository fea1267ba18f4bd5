"""Threads from cold, forks, exits and signals: a few rounds of `make stress`, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_place")

PROGRAMS = Path(__file__).parent / "endurance" / "stress_programs.py"
EVERYDAY = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import ttc_llvm
x = np.random.rand(24, 24, 3)
wanted = np.transpose(x, (2, 0, 1))
with ThreadPoolExecutor(8) as pool:
    results = list(pool.map(lambda given: ttc_llvm.transpose(given, (2, 0, 1)), [x] * 400))
assert all((result == wanted).all() for result in results)
"""


def outcome(*arguments: str) -> tuple[int, str]:
    """Status and stderr of a new interpreter."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("attempt", range(3))
def test_a_pool_of_threads_transposes_from_its_first_call_on(attempt: int) -> None:
    assert outcome("-c", EVERYDAY) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("program", ["threads:transpose", "threads:solution", "threads:compile", "forks", "signals"])
@pytest.mark.parametrize("seed", ["1", "2"])
def test_rounds_end_well(program: str, seed: str) -> None:
    assert outcome(str(PROGRAMS), program, seed) == (0, "")


def test_a_process_ends_while_threads_call() -> None:
    status, said = outcome(str(PROGRAMS), "exits", "3")
    assert (status, said) in ((0, ""), (-15, ""))


RAISING = """
import os, signal, threading, time
import ttc_llvm
from ttc_llvm import locks

class Struck(Exception): ...

def strike(number, frame):
    raise Struck

held = threading.Event()
def compile():
    with locks.LLVM:
        held.set()
        time.sleep(1)

thread = threading.Thread(target=compile)
thread.start()
held.wait()
signal.signal(signal.SIGALRM, strike)
signal.setitimer(signal.ITIMER_REAL, 0.2)
child = os.fork()
if child == 0:
    os._exit(all(lock.acquire(timeout=1) for lock in (locks.CODE, locks.DATABASE, locks.LLVM)))
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
free = []
def take():
    free.append(locks.CODE.acquire(timeout=1))
    locks.CODE.release()
other = threading.Thread(target=take)
other.start()
other.join()
assert free == [True]
"""
COLLECTING = """
import gc, os, threading, time
from ttc_llvm import locks

begun = threading.Event()
def build():
    with locks.uncollected():
        begun.set()
        time.sleep(0.3)

thread = threading.Thread(target=build)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    os._exit(gc.isenabled())
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
"""


def test_a_signal_that_raises_while_a_fork_waits_leaves_no_lock_closed() -> None:
    status, said = outcome("-c", RAISING)
    assert status == 0, said
    assert "Struck" in said  # Python shows it, and forks


def test_children_collect_garbage() -> None:
    assert outcome("-c", COLLECTING) == (0, "")
