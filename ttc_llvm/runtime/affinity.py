"""Placement of worker threads: compact, scatter, none, or an explicit list of CPUs; also as OpenMP's variables have it.

Place 0 of every order belongs to the calling thread, whose own mask is never changed; worker k takes place
k + 1. With more threads than places, the places are used again from the start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from ..errors import OptionError
from ..lazy_dataclasses import dataclass

CPUS = "/sys/devices/system/cpu"
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
    """A policy and, only for EXPLICIT, the CPUs in the order of the threads.

    permute, offset: of COMPACT and SCATTER, as in KMP_AFFINITY: how many levels (package, core, CPU of a core) trade
    places, so that `compact,2` is `scatter`, and the place that comes first.
    """

    policy: Policy
    cpus: tuple[int, ...] = ()
    permute: int = 0
    offset: int = 0

    def __str__(self) -> str:
        if self.policy is Policy.EXPLICIT:
            return ",".join(map(str, self.cpus))
        moved = f",{self.permute}" if self.permute or self.offset else ""
        return f"{self.policy.value}{moved}{f',{self.offset}' if self.offset else ''}"


LEVELS = 3  # of a machine: package, core, CPU of a core
NONE = Affinity(Policy.NONE)


def parse(text: str, mask: Iterable[int] | None = None) -> Affinity:
    """`none`, `compact`, `scatter` or a list such as `0,2,4-7`.

    Also values of KMP_AFFINITY such as `granularity=fine,compact,1,0`, and of GOMP_CPU_AFFINITY such as `0 2-8:2`.
    mask: the CPUs that may be used, by default those of this process. Raises OptionError for bad syntax, a
    reversed range, a CPU outside the mask, and for anything but none where threads cannot be pinned.
    """
    word = ",".join(part for part in re.split(r"\s*,\s*", text.strip().lower()) if part not in _AS_EVER)
    if word in (Policy.NONE.value, "disabled"):
        return NONE
    allowed = process_mask() if mask is None else frozenset(mask)
    if allowed is None:
        raise OptionError(
            f"affinity {text!r} cannot be honoured: this platform cannot pin threads, only none"
        )
    moved = re.fullmatch(_MOVED, word)
    if moved is not None:
        return Affinity(Policy(moved[1]), (), int(moved[2] or 0), int(moved[3] or 0))
    return Affinity(Policy.EXPLICIT, tuple(_listed(word, allowed, f"affinity {text!r}")))


def usual() -> Affinity:
    """The affinity where none is asked for: compact, or none where the system cannot pin threads."""
    return NONE if process_mask() is None else Affinity(Policy.COMPACT)


def process_mask() -> frozenset[int] | None:
    """The CPUs that this thread, and threads it starts, may use; None where the platform cannot say."""
    if not (hasattr(os, "sched_getaffinity") and hasattr(os, "sched_setaffinity")):
        return None
    return frozenset(os.sched_getaffinity(0))


def cpu_count() -> int:
    """The CPUs that this thread, and threads it starts, may use."""
    return len(process_mask() or ()) or os.cpu_count() or 1


def places(affinity: Affinity, threads: int, mask: Iterable[int], topology: Topology) -> tuple[int | None, ...]:
    """The CPU of each thread, the calling one first; None = not pinned. mask: CPUs to be used; topology may lack some
    of them."""
    order = _order(affinity, sorted(mask), topology)
    if not order:
        return (None,) * threads
    return tuple(order[thread % len(order)] for thread in range(threads))


def read_topology(root: str | os.PathLike[str] = CPUS) -> dict[int, tuple[int, int]]:
    """Package and core of every CPU that the system describes."""
    found = {}
    for name in os.listdir(root) if os.path.isdir(root) else ():
        number = name.removeprefix("cpu")
        if number.isdecimal() and number != name:
            facts = (os.path.join(root, name, "topology", fact) for fact in ("physical_package_id", "core_id"))
            package, core = map(_number, facts)
            if package is not None and core is not None:
                found[int(number)] = (package, core)
    return found


def pin(cpu: int) -> bool:
    """Bind the calling thread to one CPU; False where the system refuses, as it may after the mask shrank."""
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


_AS_EVER = ("granularity=fine", "granularity=thread", "respect", "warnings", "nowarnings", "noverbose")
"""Modifiers of KMP_AFFINITY that ask for what is done anyway."""
_MOVED = r"(compact|scatter)(?:,([0-9]{1,9}))?(?:,([0-9]{1,9}))?"
_ITEM = r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([1-9][0-9]{0,8}))?)?"


def _listed(word: str, allowed: frozenset[int], subject: str) -> Iterator[int]:
    for item in re.split(r"\s*,\s*|\s+", word):
        match = re.fullmatch(_ITEM, item)
        if match is None:
            raise OptionError(
                f"{subject} is malformed: the choices are compact, scatter, none, lists like 0,2,4-7"
            )
        low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise OptionError(
                f"{subject} has the reversed range {item}: the first CPU exceeds the last"
            )
        for cpu in range(low, high + 1, int(match[3] or 1)):
            if cpu not in allowed:
                known = ",".join(map(str, sorted(allowed)))
                raise OptionError(f"{subject} names CPU {cpu}: the CPUs that this process may use are {known}")
            yield cpu


def _order(affinity: Affinity, mask: list[int], topology: Topology) -> list[int]:
    if affinity.policy is Policy.NONE:
        return []
    if affinity.policy is Policy.EXPLICIT:
        return [cpu for cpu in affinity.cpus if cpu in mask]
    places = _places(mask, topology)
    most = LEVELS - 1
    least_first = min(affinity.permute, most) if affinity.policy is Policy.COMPACT else max(most - affinity.permute, 0)

    def rank(cpu: int) -> tuple[int, ...]:
        return places[cpu][LEVELS - least_first :][::-1] + places[cpu][: LEVELS - least_first]

    order = sorted(mask, key=rank)
    first = affinity.offset % len(order)
    return order[first:] + order[:first]


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


def _number(path: str) -> int | None:
    try:
        with open(path) as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return None
