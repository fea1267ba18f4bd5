"""Placement of worker threads: compact, scatter, none, or an explicit list of CPUs.

Place 0 of every order belongs to the calling thread, whose own mask is never changed; worker k takes place
k + 1. With more threads than places, the places are used again from the start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ..errors import OptionError

CPUS = Path("/sys/devices/system/cpu")
# CPU -> (package, core): logical CPUs of one core share both.
Topology = Mapping[int, tuple[int, int]]


class Policy(Enum):
    """Spread of workers over the CPUs of the process."""

    NONE = "none"  # the operating system decides
    COMPACT = "compact"  # neighbours first: siblings of a core, cores of a package
    SCATTER = "scatter"  # packages in turn, a core's siblings last
    EXPLICIT = "explicit"


@dataclass(frozen=True, slots=True)
class Affinity:
    """A policy and, only for EXPLICIT, the CPUs in the order of the threads."""

    policy: Policy
    cpus: tuple[int, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.cpus)) if self.policy is Policy.EXPLICIT else self.policy.value


NONE = Affinity(Policy.NONE)


def parse(text: str, mask: Iterable[int] | None = None) -> Affinity:
    """`none`, `compact`, `scatter` or a list such as `0,2,4-7`.

    mask: the CPUs that may be used, by default those of this process. Raises OptionError for bad syntax, a
    reversed range, a CPU outside the mask, and for anything but none where threads cannot be pinned.
    """
    word = text.strip().lower()
    if word == Policy.NONE.value:
        return NONE
    allowed = process_mask() if mask is None else frozenset(mask)
    if allowed is None:
        raise OptionError(
            f"affinity {text!r} cannot be honoured: this platform cannot pin threads, only none"
        )
    if word in (Policy.COMPACT.value, Policy.SCATTER.value):
        return Affinity(Policy(word))
    return Affinity(Policy.EXPLICIT, tuple(_listed(word, allowed, f"affinity {text!r}")))


def process_mask() -> frozenset[int] | None:
    """The CPUs that this thread, and threads it starts, may use; None where the platform cannot say."""
    if not (hasattr(os, "sched_getaffinity") and hasattr(os, "sched_setaffinity")):
        return None
    return frozenset(os.sched_getaffinity(0))


def places(affinity: Affinity, threads: int, mask: Iterable[int], topology: Topology) -> tuple[int | None, ...]:
    """The CPU of each thread, the calling one first; None = not pinned. mask: CPUs to be used; topology may lack some
    of them."""
    order = _order(affinity, sorted(mask), topology)
    if not order:
        return (None,) * threads
    return tuple(order[thread % len(order)] for thread in range(threads))


def read_topology(root: Path = CPUS) -> dict[int, tuple[int, int]]:
    """Package and core of every CPU that the system describes."""
    found = {}
    for folder in root.glob("cpu[0-9]*/topology"):
        package, core = (_number(folder / name) for name in ("physical_package_id", "core_id"))
        name = folder.parent.name[len("cpu") :]
        if name.isdecimal() and package is not None and core is not None:
            found[int(name)] = (package, core)
    return found


def pin(cpu: int) -> bool:
    """Bind the calling thread to one CPU; False where the system refuses, as it may after the mask shrank."""
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


_ITEM = re.compile(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*")


def _listed(word: str, allowed: frozenset[int], subject: str) -> Iterator[int]:
    for item in word.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise OptionError(
                f"{subject} is malformed: the choices are compact, scatter, none, lists like 0,2,4-7"
            )
        low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise OptionError(
                f"{subject} has the reversed range {item.strip()}: the first CPU exceeds the last"
            )
        for cpu in range(low, high + 1):
            if cpu not in allowed:
                known = ",".join(map(str, sorted(allowed)))
                raise OptionError(f"{subject} names CPU {cpu}, but this process may use {known} only")
            yield cpu


def _order(affinity: Affinity, mask: list[int], topology: Topology) -> list[int]:
    if affinity.policy is Policy.NONE:
        return []
    if affinity.policy is Policy.EXPLICIT:
        return [cpu for cpu in affinity.cpus if cpu in mask]
    places = _places(mask, topology)
    if affinity.policy is Policy.COMPACT:
        return sorted(mask, key=lambda cpu: places[cpu])
    return sorted(mask, key=lambda cpu: places[cpu][::-1])


def _places(mask: list[int], topology: Topology) -> dict[int, tuple[int, int, int]]:
    """CPU -> (package, rank of its core in the package, rank among the core's CPUs), within the mask."""
    homes = {cpu: topology.get(cpu, (0, cpu)) for cpu in mask}
    cores: dict[int, list[int]] = {}
    for package, core in sorted(set(homes.values())):
        cores.setdefault(package, []).append(core)
    siblings: dict[tuple[int, int], list[int]] = {}
    for cpu in mask:
        siblings.setdefault(homes[cpu], []).append(cpu)
    return {
        cpu: (home[0], cores[home[0]].index(home[1]), siblings[home].index(cpu))
        for cpu, home in homes.items()
    }


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
