"""A plan for a GPU: the short tuple of decisions that turns a canonical form into one kernel and its launch."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from math import prod

from ... import arguments
from ...errors import PlanError
from ...lazy_dataclasses import dataclass
from ...machine.gpu_target import GpuTarget
from ...problem.canonical import Canonical, static
from ..plan import AXES, COUNT, SHAPE, Decisions, Plan
from ..plan_checks import check_shape
from ..plan_text import read, shown, tuple_of

VERSION = "gpu1"
MAX_REGISTER_BYTES = 256  # of one thread's registers that a register block may take up: beyond, spills come near
MAX_SPREAD = 64  # elements of one thread that may have addresses of their own in shared memory: else spills come near
MAX_ACCESSES = 512  # of one thread to A or to B, all unrolled: code grows with them


class Shared(Enum):
    """Uses of shared memory: none, or a tile in A's or in B's order."""

    NONE = "none"  # every thread stores what it loaded
    A = "a"  # runs of A lie contiguously in shared memory
    B = "b"  # runs of B do


@dataclass(frozen=True, slots=True)
class GpuPlan(Plan):
    """A plan for a GPU. Of the shared core, `order` lists the loops over tiles, outermost first: blocks with
    neighbouring numbers differ in the last axis; `block` is what one thread permutes in registers between loading
    and writing it to shared memory, all ones where elements go there one by one.

    threads: per block, at most; vector: elements of one access to A and to B in global memory, along the run of each;
    shared: whether tiles go through shared memory; padding: elements left free there between groups of runs, against
    bank conflicts; panel: extents of a group of tiles that is finished before the next one, () = none.
    """

    threads: int
    vector: tuple[int, int]
    shared: Shared = Shared.NONE
    padding: int = 0
    panel: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, PlanError, "plan ")

    def __str__(self) -> str:
        return " ".join([VERSION, *(f"{f.name}={shown(getattr(self, f.name))}" for f in fields(self))])

    @property
    def tile_elements(self) -> int:
        """Elements of one whole tile."""
        return prod(self.tile)


def _pair(text: str) -> tuple[int, int]:
    first, second = tuple_of(text)
    return first, second


_DECISIONS: Decisions = SHAPE | {
    "threads": COUNT,
    "vector": (_pair, arguments.integers),
    "shared": (Shared, arguments.instance(Shared)),
    "padding": COUNT,
    "panel": AXES,
}
_READERS = {name: reader for name, (reader, _) in _DECISIONS.items()}
_RULES = {name: rule for name, (_, rule) in _DECISIONS.items()}


def parse(text: str) -> GpuPlan:
    """The inverse of `str(plan)`; PlanError for another version, an unknown decision or a malformed value."""
    return GpuPlan(**read(text, VERSION, _READERS))


def check(plan: GpuPlan, canonical: Canonical, target: GpuTarget) -> GpuPlan:
    """The plan itself if it fits this canonical form and this GPU, else PlanError with the first rule broken.

    What depends on how the tile lies in memory is checked when the plan is lowered.
    """
    rank = len(canonical.axes)
    check_shape(plan, plan.panel, {"order": plan.order}, rank)
    for axis, tile, block in zip(canonical.axes, plan.tile, plan.block, strict=True):
        if tile > max(1, static(axis.extent)):
            raise PlanError(f"plan tile {tile} exceeds its axis of extent {axis.extent}")
        if tile % block:
            raise PlanError(f"plan tile {tile} is not a multiple of its block {block}")
    for panel, tile in zip(plan.panel, plan.tile, strict=False):
        if panel < 1 or panel % tile:
            raise PlanError(f"plan panel {panel} is not a multiple of its tile {tile}")
    _check_machine(plan, target)
    return plan


def _check_machine(plan: GpuPlan, target: GpuTarget) -> None:
    if not 1 <= plan.threads <= target.max_threads:
        raise PlanError(
            f"plan threads={plan.threads} is not in 1..{target.max_threads}, what {target} runs per block"
        )
    if len(plan.vector) != 2 or not {1, 2, 4, 8, 16}.issuperset(plan.vector):
        raise PlanError(f"plan vector={shown(plan.vector)} is not a pair of powers of two up to 16")
    if plan.padding < 0:
        raise PlanError(f"plan padding={plan.padding} is negative")
