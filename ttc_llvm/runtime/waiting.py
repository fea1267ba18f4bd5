"""The time for which threads of this process have waited for a CPU that other work held, as Linux counts it, and
waiting until none of them holds one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from .affinity import process_mask

TASKS, LOADS = Path("/proc/self/task"), Path("/proc/loadavg")
PAUSE, PATIENCE = 5e-3, 0.5  # seconds between two looks at threads that ought to rest, and of all looks


def waited(tasks: Path = TASKS) -> float:
    """Seconds that all threads of this process together were ready to run and had no CPU; 0 where no system tells."""
    return sum(_waits(tasks)) * 1e-9


def _waits(tasks: Path) -> Iterator[int]:
    try:
        names = os.listdir(tasks)
    except OSError:
        return
    for name in names:
        try:
            _, waits, _ = (tasks / name / "schedstat").read_text().split()
            yield int(waits)
        except (OSError, ValueError):  # a thread that has ended, a kernel that does not count
            continue


def has_a_cpu_each(threads: int) -> bool:
    """True where so many threads would not wait for one another."""
    mask = process_mask()
    return threads <= (len(mask) if mask is not None else os.cpu_count() or 1)


def others_run(places: Path = LOADS) -> bool:
    """True where more threads than this one are running, of all processes, or ready to; False where no system tells."""
    try:
        return int(places.read_text().split()[3].partition("/")[0]) > 1
    except (OSError, ValueError, IndexError):
        return False


def rest() -> None:
    """Wait until no thread of this process runs: those of a BLAS look for work for 0.1 s after a product, on a CPU that
    whoever is timed next would share with them."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        before = time.process_time()
        time.sleep(PAUSE)
        if time.process_time() - before < PAUSE / 2:
            return
