"""The memory that this process can still use: the machine's, what its control group leaves it, and its own limits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

try:
    import resource
except ImportError:  # not a Unix
    resource: Any = None  # type: ignore[no-redef]

ROOT = "/"
RESERVE = 128 << 20  # addresses that threads' stacks, the C library's heaps for them, and LLVM take
UNLIMITED = 1 << 62  # control groups of version 1 state "no limit" as a number beyond this
_GROUP_FILES = {  # by version of control groups: the folder, the limit, what is used, the name of idle page cache
    1: ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
}


def available_memory(root: str | os.PathLike[str] = ROOT) -> int | None:
    """Bytes of memory that can be used without swapping and within all limits, as far as the system tells.

    root: the folder that holds proc/ and sys/.
    """
    left = (free for _, free in _groups(root))
    known = [*_machine(root, "MemAvailable:"), *left, *_limits(root)]
    return max(0, min(known)) if known else None


def total_memory(root: str | os.PathLike[str] = ROOT) -> int | None:
    """Bytes of memory of the machine, or of the smallest control group around this process."""
    known = [*_machine(root, "MemTotal:"), *(most for most, _ in _groups(root))]
    return min(known) if known else None


def _machine(root: str | os.PathLike[str], fact: str) -> Iterator[int]:
    try:
        text = _read(root, "proc/meminfo")
        yield int(text.split(fact)[1].split()[0]) << 10
    except (OSError, IndexError, ValueError):
        return


def _groups(root: str | os.PathLike[str]) -> Iterator[tuple[int, int]]:
    """The limit of the control group of this process, and of those around it, and what each has left."""
    try:
        lines = _read(root, "proc/self/cgroup").splitlines()
        for _, controllers, path in (line.split(":", 2) for line in lines):
            if not controllers or "memory" in controllers.split(","):
                names = list(filter(None, path.split("/")))
                for depth in range(len(names), -1, -1):
                    yield from _group(root, 1 if controllers else 2, "/".join(names[:depth]))
    except (OSError, ValueError):
        return


def _group(root: str | os.PathLike[str], version: int, name: str) -> Iterator[tuple[int, int]]:
    place, limit, used, idle = _GROUP_FILES[version]
    folder = os.path.join(root, place, name)
    try:
        most = int(_read(folder, limit))  # ValueError for "max"
        held = int(_read(folder, used))
        facts = dict(line.split() for line in _read(folder, "memory.stat").splitlines())
        if most < UNLIMITED:
            yield most, most - held + int(facts.get(idle, 0))
    except (OSError, ValueError):
        return


def _limits(root: str | os.PathLike[str]) -> Iterator[int]:
    """What `ulimit -v` and `ulimit -d` leave: address space, and memory that is not a file's."""
    try:
        pages = [int(field) for field in _read(root, "proc/self/statm").split()]
        for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
            most = resource.getrlimit(limit)[0]
            if most != resource.RLIM_INFINITY:
                yield most - used * os.sysconf("SC_PAGE_SIZE") - RESERVE
    except (AttributeError, OSError, ValueError, IndexError):
        return


def _read(folder: str | os.PathLike[str], name: str) -> str:
    with open(os.path.join(folder, name)) as stream:
        return stream.read()
