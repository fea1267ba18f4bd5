"""Plans of fused contractions: which indices are rows, how much is packed at a time, and how C is written."""

from __future__ import annotations

from ...arguments import shown
from ...errors import PlanError
from ...lazy_dataclasses import dataclass
from ...locks import cached_property
from ..merged import A, B, C, Merged
from ..plan import NAMES, all_strides, are_numbers, check_copies, numbers, read

VERSION = "fused1"
_GROUPS = ("rows", "columns", "terms", "batches")


@dataclass(frozen=True)
class FusedPlan:
    """One product of packed blocks. Indices by number, outermost first.

    rows, columns: indices of A and C, and of B and C, or the other way round: rows are what vectors go along; terms:
    indices that are summed over; batches: all others. block: rows, columns and terms that are packed at a time.
    copies: for A and B, the order in which a tensor is copied first, None = it is packed from its place.
    streams: C is written by non-temporal stores where it is not read.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    terms: tuple[int, ...]
    batches: tuple[int, ...]
    block: tuple[int, int, int]
    streams: bool = False
    copies: tuple[tuple[int, ...] | None, ...] = (None, None, None)

    def __post_init__(self) -> None:
        groups = (*(getattr(self, name) for name in _GROUPS), self.block)
        is_plan = all(map(are_numbers, groups)) and len(self.block) == 3 and 0 not in self.block
        is_plan = is_plan and type(self.streams) is bool and type(self.copies) is tuple
        is_plan = is_plan and len(self.copies) == len(NAMES) and self.copies[C] is None
        if is_plan and all(order is None or are_numbers(order) for order in self.copies):
            return
        values = ", ".join(f"{name}={shown(getattr(self, name))}" for name in (*_GROUPS, "block", "streams", "copies"))
        raise PlanError(f"{values} are no plan of a fused contraction: tuples of the numbers of its indices")

    def __str__(self) -> str:
        groups = [f"{name}={numbers(getattr(self, name))}" for name in (*_GROUPS, "block")]
        copies = zip(NAMES, self.copies, strict=True)
        groups += [f"{name}={numbers(order)}" for name, order in copies if order is not None]
        return " ".join([VERSION, *groups, *(["streams"] if self.streams else [])])


def parse(text: str) -> FusedPlan:
    """The inverse of `str(plan)`. PlanError for other texts."""
    version, *parts = text.split() or [""]
    streams = "streams" in parts
    fields = dict(part.partition("=")[::2] for part in parts if part != "streams")
    try:
        wanted = {*_GROUPS, "block"}
        if version != VERSION or not wanted <= set(fields) <= {*wanted, *NAMES} or len(fields) + streams != len(parts):
            raise ValueError
        rows, columns, terms, batches, (m, n, k) = (read(fields[name]) for name in (*_GROUPS, "block"))
        copies = tuple(read(fields[name]) if name in fields else None for name in NAMES)
        return FusedPlan(rows, columns, terms, batches, (m, n, k), streams, copies)
    except ValueError:
        example = f"{VERSION} rows=0 columns=1 terms=2 batches= block=96,64,32 [a=2,0] [streams]"
        raise PlanError(f"{shown(text)} is no plan of a fused contraction: {example}") from None


@dataclass(frozen=True)
class Fused:
    """A plan applied to a contraction."""

    merged: Merged
    plan: FusedPlan

    @cached_property
    def swapped(self) -> bool:
        """True where rows are indices of B."""
        return any(B in self.merged.indices[k].tensors for k in self.plan.rows) or any(
            A in self.merged.indices[k].tensors for k in self.plan.columns
        )

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, columns and terms."""
        extent = self.merged.extent
        return extent(self.plan.rows), extent(self.plan.columns), extent(self.plan.terms)

    @property
    def batches(self) -> int:
        """The number of products."""
        return self.merged.extent(self.plan.batches)

    @property
    def tensors(self) -> tuple[int, int, int]:
        """The tensor of rows, that of columns, and C."""
        return (B, A, C) if self.swapped else (A, B, C)

    def is_packed_by_vectors(self, tensor: int) -> bool:
        """True where rows or columns, or terms, of A or B follow each other in it."""
        side = self.plan.rows if tensor == self.tensors[0] else self.plan.columns
        strides = self.strides(tensor)
        inner = [strides[number] for group in (side, self.plan.terms) for number in group[-1:]]
        return not inner or 1 in inner

    def strides(self, tensor: int) -> tuple[int, ...]:
        """The strides of all indices in A, B or C: in its place, or in its copy."""
        return self._strides[tensor]

    @cached_property
    def _strides(self) -> tuple[tuple[int, ...], ...]:
        return all_strides(self.merged, self.plan.copies)


def check(plan: FusedPlan, merged: Merged) -> Fused:
    """The plan applied to a contraction. PlanError where it does not fit."""
    made = Fused(merged, plan)
    everything = tuple(range(len(merged.indices)))
    if tuple(sorted((*plan.rows, *plan.columns, *plan.terms, *plan.batches))) != everything:
        raise PlanError(f"{plan} does not name each index of {merged} once")
    left, right, _ = made.tensors
    classes = ((plan.rows, (left, C)), (plan.columns, (right, C)), (plan.terms, (A, B)), (plan.batches, (A, B, C)))
    for group, tensors in classes:
        if any(merged.indices[k].tensors != tuple(sorted(tensors)) for k in group):
            raise PlanError(f"{plan} has indices of {merged} in groups of other classes")
    check_copies(plan, plan.copies, merged)
    return made
