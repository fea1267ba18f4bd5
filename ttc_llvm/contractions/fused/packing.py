"""The share of A and B that is packed several elements at a time, and of C that is written so."""

from __future__ import annotations

from math import gcd

from ...lowering.micro_kernel import MicroKernel
from ..merged import C
from .plan import Fused


def together(fused: Fused, tensor: int, kernel: MicroKernel) -> float:
    """The share of the elements of A or B, which is packed by vectors, that are: groups of rows or columns, or groups
    by as many terms. Those of a group that ends behind what follows each other come one by one, and where there are
    fewer terms."""
    is_left = tensor == fused.tensors[0]
    group = kernel.group if is_left else kernel.columns
    side, terms = fused.plan.rows if is_left else fused.plan.columns, fused.plan.terms
    if goes_on(fused, tensor):
        are_pieces = is_left and fused.merged.indices[side[-1]].extent % kernel.piece == 0
        return 1.0 if are_pieces else whole(run_in(fused, tensor, side), group)
    depth = min(fused.sizes[2], fused.plan.block[2])
    return whole(run_in(fused, tensor, terms), group) if depth >= group else 0.0


def goes_on(fused: Fused, tensor: int) -> bool:
    """True where rows or columns follow each other in A or B."""
    side = fused.plan.rows if tensor == fused.tensors[0] else fused.plan.columns
    return bool(side) and fused.strides(tensor)[side[-1]] == 1


def share_apart(fused: Fused, kernel: MicroKernel) -> float:
    """The share of registers whose rows, or those of their pieces, do not follow each other in C."""
    rows = fused.plan.rows
    if not rows or fused.strides(C)[rows[-1]] != 1:
        return 1.0
    run = run_in(fused, C, rows)
    return 1 - whole(run, kernel.group) if run % kernel.piece else 0.0


def shares_written(fused: Fused, kernel: MicroKernel) -> tuple[float, float, float]:
    """The shares of tiles that are written past the caches, and through them in a row or in several runs. What is past
    them has all rows and columns of a tile."""
    plan, (rows, columns, _) = fused.plan, fused.sizes
    run = run_in(fused, C, plan.rows) if plan.rows else 0
    in_a_row = whole(run, kernel.rows) if run else rows // kernel.rows / max(1, -(-rows // kernel.rows))
    if not plan.streams:
        return 0.0, in_a_row, 1 - in_a_row
    streamed = 1.0 if 2 * run == kernel.rows else in_a_row
    of_columns = columns // kernel.columns / max(1, -(-columns // kernel.columns))
    return streamed * of_columns, streamed * (1 - of_columns), 1 - streamed


def run_in(fused: Fused, tensor: int, numbers: tuple[int, ...]) -> int:
    """So many rows, columns or terms are equally far apart in a tensor, one behind the other; 0 where all are."""
    strides, run = fused.strides(tensor), 1
    for at, number in enumerate(reversed(numbers)):
        if at and strides[number] != run * strides[numbers[-1]]:
            return run
        run *= fused.merged.indices[number].extent
    return 0


def whole(run: int, group: int) -> float:
    """The share of groups that end within a run, where one run, or group, begins behind the other; 0: there is one."""
    return max(0.0, (run - group + gcd(run, group)) / run) if run else 1.0
