"""Plans of contractions: the indices that form the matrices, those that are looped over, and the copies."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from ..arguments import shown
from ..errors import PlanError
from ..lazy_dataclasses import NamedTuple, dataclass, replace
from ..locks import cached_property
from .merged import A, B, C, Merged

VERSION = "gemm1"
NAMES = "abc"
INTEGERS = {int}
_GROUPS = ("m", "n", "k", "loops")


@dataclass(frozen=True)
class ContractionPlan:
    """Matrix products over m, n and k, repeated for each value of `loops`. Indices by number, outermost first.

    m, n, k: indices that together are the rows of A, the columns of B and what is summed over; `loops`: all others,
    those that are summed over last. copies: for A, B and C the order in which the tensor is copied into scratch (C:
    computed there, and then copied to its place), None = it is used in place. blocks: indices along which the whole is
    done piece by piece, so that copies stay in the caches, and how much of each at a time; the outermost first.
    """

    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]
    loops: tuple[int, ...] = ()
    copies: tuple[tuple[int, ...] | None, ...] = (None, None, None)
    blocks: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        groups = (self.m, self.n, self.k, self.loops)
        is_plan = all(map(are_numbers, groups)) and type(self.copies) is type(self.blocks) is tuple
        if is_plan and len(self.copies) == len(NAMES):
            pairs = all(are_numbers(block) and len(block) == 2 for block in self.blocks)
            if pairs and all(order is None or are_numbers(order) for order in self.copies):
                return
        fields = (*_GROUPS, "copies", "blocks")
        values = ", ".join(f"{name}={shown(getattr(self, name))}" for name in fields)
        raise PlanError(f"{values} are no plan of a contraction: tuples of the numbers of its indices")

    def __str__(self) -> str:
        parts = [f"{name}={numbers(getattr(self, name))}" for name in _GROUPS]
        copies = zip(NAMES, self.copies, strict=True)
        parts += [f"{name}={numbers(order)}" for name, order in copies if order is not None]
        if self.blocks:
            parts.append("blocks=" + ",".join(f"{number}:{size}" for number, size in self.blocks))
        return " ".join([VERSION, *parts])


def parse(text: str) -> ContractionPlan:
    """The inverse of `str(plan)`. PlanError for other texts."""
    version, *parts = text.split() or [""]
    fields = dict(part.partition("=")[::2] for part in parts)
    try:
        known = {*_GROUPS, *NAMES, "blocks"}
        if version != VERSION or not set(_GROUPS) <= set(fields) <= known or len(fields) != len(parts):
            raise ValueError
        m, n, k, loops = (read(fields[name]) for name in _GROUPS)
        copies = tuple(read(fields[name]) if name in fields else None for name in NAMES)
        pairs = [block.partition(":")[::2] for block in fields["blocks"].split(",")] if "blocks" in fields else []
        return ContractionPlan(m, n, k, loops, copies, tuple((int(number), int(size)) for number, size in pairs))
    except ValueError:
        raise PlanError(f"{shown(text)} is no plan of a contraction: {VERSION} m=0 n=1 k=2 loops= [a=2,0] ..") from None


def are_numbers(values: object) -> bool:
    """True for a tuple of integers from 0 on."""
    return type(values) is tuple and {*map(type, values)} <= INTEGERS and min(values, default=0) >= 0


def numbers(values: tuple[int, ...]) -> str:
    """Numbers of indices as plans spell them."""
    return ",".join(map(str, values))


def read(text: str) -> tuple[int, ...]:
    """The inverse of `numbers`. ValueError for other texts."""
    return tuple(map(int, text.split(","))) if text else ()


class Matrix(NamedTuple):
    """One operand of the products. rows, columns: strides in elements; loops: strides of the plan's loops."""

    rows: int
    columns: int
    loops: tuple[int, ...]

    def fits(self, rows: int, columns: int) -> bool:
        """True where BLAS can address it: one stride is 1, the other at least the extent along that one."""
        by_rows = (self.columns == 1 or columns == 1) and (self.rows >= columns or rows == 1)
        by_columns = (self.rows == 1 or rows == 1) and (self.columns >= rows or columns == 1)
        return by_rows or by_columns


@dataclass(frozen=True)
class Products:
    """A plan applied to a contraction: matrices of m x k, k x n and m x n elements, and the loops around them."""

    merged: Merged
    plan: ContractionPlan

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """m, n and k."""
        plan = self.plan
        return self.merged.extent(plan.m), self.merged.extent(plan.n), self.merged.extent(plan.k)

    @cached_property
    def repeats(self) -> int:
        """The number of products."""
        return self.merged.extent(self.plan.loops)

    @cached_property
    def piece(self) -> Products:
        """One piece, of the full size; without blocks the whole."""
        if not self.plan.blocks:
            return self
        indices = list(self.merged.indices)
        for number, size in self.plan.blocks:
            indices[number] = replace(indices[number], extent=size)
        return Products(replace(self.merged, indices=tuple(indices)), replace(self.plan, blocks=()))

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return prod(-(-self.merged.indices[number].extent // size) for number, size in self.plan.blocks)

    @cached_property
    def matrices(self) -> tuple[Matrix, Matrix, Matrix]:
        """A, B and C."""
        m, n, k = self.plan.m, self.plan.n, self.plan.k
        return self._matrix(A, m, k), self._matrix(B, k, n), self._matrix(C, m, n)

    def strides(self, tensor: int) -> tuple[int, ...]:
        """The strides of all indices in A, B or C: in its place, or in its copy."""
        return self._strides[tensor]

    @cached_property
    def _strides(self) -> tuple[tuple[int, ...], ...]:
        return all_strides(self.merged, self.plan.copies)

    def _matrix(self, tensor: int, rows: tuple[int, ...], columns: tuple[int, ...]) -> Matrix:
        strides = self.strides(tensor)
        row, column = (strides[group[-1]] if group else 0 for group in (rows, columns))
        return Matrix(row, column, tuple([strides[number] for number in self.plan.loops]))

    def is_valid(self) -> bool:
        """True where every group of indices is one dimension of its matrices, and BLAS can address them."""
        m, n, k = self.plan.m, self.plan.n, self.plan.k
        sides = (A, m, k), (B, k, n), (C, m, n)
        return all(folds(self.merged, self.strides(tensor), *groups) for tensor, *groups in sides)

    def scratch(self) -> int:
        """Elements of all copies."""
        return sum(self.merged.elements(t) for t, order in enumerate(self.plan.copies) if order is not None)


def folds(merged: Merged, strides: tuple[int, ...], *groups: tuple[int, ...]) -> bool:
    """True where a tensor's indices in either group, its rows and its columns, are one dimension of a matrix that BLAS
    can address."""
    indices = merged.indices
    for group in groups:
        for a, b in pairwise(group):
            if strides[a] != strides[b] * indices[b].extent or strides[b] <= 0:
                return False
    rows, columns = (strides[group[-1]] if group else 0 for group in groups)
    return Matrix(rows, columns, ()).fits(*map(merged.extent, groups))


def check(plan: ContractionPlan, merged: Merged) -> Products:
    """The plan applied to a contraction. PlanError where it does not fit."""
    products = Products(merged, plan)
    everything = tuple(range(len(merged.indices)))
    if tuple(sorted((*plan.m, *plan.n, *plan.k, *plan.loops))) != everything:
        raise PlanError(f"{plan} does not name each index of {merged} once")
    for group, tensors in ((plan.m, (A, C)), (plan.n, (B, C)), (plan.k, (A, B))):
        if any(merged.indices[number].tensors != tensors for number in group):
            raise PlanError(f"{plan} has indices of {merged} in groups of other classes")
    check_copies(plan, plan.copies, merged)
    for number, size in plan.blocks:
        group = next((group for group in (plan.m, plan.n, plan.loops) if number in group), ())
        if not (group and C in merged.indices[number].tensors and 0 < size <= merged.indices[number].extent):
            raise PlanError(f"{plan} has blocks of {merged} that are not along its rows, columns or loops")
        if group is not plan.loops and group[0] != number:
            raise PlanError(f"{plan} has blocks along {number}, which is not the outermost of its group")
    if not products.is_valid():
        raise PlanError(f"{plan} makes matrices of {merged} that BLAS cannot address")
    return products


def all_strides(merged: Merged, copies: tuple[tuple[int, ...] | None, ...]) -> tuple[tuple[int, ...], ...]:
    """The strides of all indices in A, B and C: in its place, or in its copy in this order."""
    pairs = zip(merged.strides, copies, strict=True)
    return tuple([strides if order is None else _copied_strides(merged, order) for strides, order in pairs])


def _copied_strides(merged: Merged, order: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [0] * len(merged.indices), 1
    for number in reversed(order):
        strides[number] = step
        step *= merged.indices[number].extent
    return tuple(strides)


def check_copies(plan: object, copies: tuple[tuple[int, ...] | None, ...], merged: Merged) -> None:
    """PlanError where the order of a copy does not name each index of its tensor."""
    for tensor, order in enumerate(copies):
        if order is not None and tuple(sorted(order)) != tuple(sorted(merged.of_tensor(tensor))):
            raise PlanError(f"{plan} copies {NAMES[tensor]} of {merged} without each of its indices once")
