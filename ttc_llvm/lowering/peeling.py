"""Micro-tiles that begin at B's boundaries, whatever its address."""

from __future__ import annotations

import itertools
from math import prod

from ..machine.target import Exchange, Target
from ..problem.canonical import LONGEST, Canonical, static
from ..problem.sums import sources
from .layout import has_vectors, run_axes
from .plan import CpuPlan
from .shared_run import is_mirrored, shared_run, short_rows

LONG_ROW = 1 << 10  # bytes: lines at the ends of shorter rows of sums cost as much as ordinary stores


def has_aligned_rows(canonical: Canonical, vector: int, run: int = 1) -> bool:
    """True where every row of B, or run that it shares with A, or of so many axes, starts on a boundary of `vector`
    bytes if B does."""
    steps = [axis.stride_b for axis in canonical.axes if axis.extent != 1]
    size, inside = canonical.b.itemsize, max(run, shared_run(canonical))
    return steps[:1] == [1] and all(isinstance(s, int) and s * size % vector == 0 for s in steps[inside:])


def peeled_grain(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """Elements between the boundaries at which peeled micro-tiles begin: lines, else vectors; 0 where they cannot.

    Micro-tiles have to be whole lines or vectors of B. Rows of B have to share one misalignment, and to lie across
    those of A. Where they follow each other, micro-tiles have to be whole numbers of them; or they whole numbers of
    micro-tiles, and A may have no gaps between elements. The machine has to have masks for partial lines and no stores
    that transpose.
    """
    extent, block = canonical.bounds[0], plan.block[0]
    if target.exchange is Exchange.SEGMENTS or LONGEST in canonical.bounds or extent < block:
        return 0
    if has_whole_rows(canonical, plan):
        return _grain_of_run(canonical, plan, target)
    if has_whole_items(canonical, plan):
        return _grain(canonical, plan, target) if _has_masks(canonical, plan, target) else 0
    if following(canonical, plan) and (extent % block or not run_axes(plan.block, canonical.strides("a"))):
        return 0
    fits = _is_across(canonical, plan) and _has_masks(canonical, plan, target)
    return _grain(canonical, plan, target) if fits else 0


def summed_grain(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """Elements of a line, at which micro-tiles of a sum begin; 0 where rows of B lie in lines in different ways,
    they are short, micro-tiles and tiles are no whole lines, or masks do not serve what is before the first line: the
    machine has none, or micro-tiles no runs of A."""
    line, rest = divmod(target.line, canonical.b.itemsize)
    lanes, types = target.lanes(canonical.widest), (canonical.a, canonical.b, canonical.between)
    whole = all(n >= x or n == 1 or n % line == 0 for n, x in zip(plan.tile, canonical.extents, strict=True))
    parts = all(n == 1 or n % line == 0 or line % n == 0 for n in plan.block)
    whole = whole and canonical.extents[0] * canonical.b.itemsize >= LONG_ROW
    masks = target.has_masks(*(t.itemsize for t in types)) and target.exchange is not Exchange.SEGMENTS
    masks = masks and all(run_axes(plan.block, strides) for strides in (canonical.strides("b"), *sources(canonical)))
    fits = whole and parts and plan.block[0] % lanes == 0 and has_aligned_rows(canonical, target.line)
    return line if masks and fits and not rest and canonical.between.itemsize == canonical.b.itemsize else 0


def peeled_axis(canonical: Canonical, plan: CpuPlan) -> tuple[int, int]:
    """The axis along which peeled micro-tiles are offset, the outermost of theirs in a run of short rows, or B's
    contiguous one; and the elements of B from one index along it to the next."""
    axis = max((k for k in range(axes_of_run(canonical, plan)) if plan.block[k] > 1), default=0)
    return axis, static(canonical.axes[axis].stride_b)


def has_whole_rows(canonical: Canonical, plan: CpuPlan) -> bool:
    """True where peeled micro-tiles have whole short rows of B: in a run that A shares, forwards and backwards by
    turns, or of interleaved channels."""
    return is_mirrored(canonical) or axes_of_run(canonical, plan) > 1


def has_whole_items(canonical: Canonical, plan: CpuPlan) -> bool:
    """True where micro-tiles have whole short rows of A, which follow each other along B's rows, such as pixels that
    become planes. Rows of B end with a masked micro-tile then, whatever follows them."""
    items = [(axis.extent, n) for axis, n in zip(canonical.axes, plan.block, strict=True) if axis.stride_a == 1]
    return items == [(canonical.axes[0].stride_a,) * 2]


def axes_of_run(canonical: Canonical, plan: CpuPlan) -> int:
    """The axes, from the innermost, of the run that has such rows."""
    return shared_run(canonical) if is_mirrored(canonical) else short_rows(canonical, plan.block)


def _grain_of_run(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    """`peeled_grain` of micro-tiles that have whole rows."""
    (axis, step), extents = peeled_axis(canonical, plan), canonical.extents
    size, line = canonical.b.itemsize, max(target.line, target.vector_bits // 8)
    whole = plan.block[:axis] == extents[:axis] and extents[axis] >= plan.block[axis]
    single = prod(plan.block) == step * plan.block[axis] and step * plan.block[axis] * size % line == 0
    fits = whole and single and has_aligned_rows(canonical, line, axes_of_run(canonical, plan))
    return line // size if fits and _has_masks(canonical, plan, target) else 0


def _has_masks(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    lanes = target.lanes(canonical.widest)
    runs = has_vectors(plan.block, canonical.strides("a"), lanes) and run_axes(plan.block, canonical.strides("b"))
    return bool(runs) and target.has_masks(canonical.a.itemsize, canonical.b.itemsize)


def _is_across(canonical: Canonical, plan: CpuPlan) -> bool:
    """True where no row of A continues along axis 0 within a micro-tile, whole or a remainder."""
    pairs = list(zip(plan.block, canonical.extents, strict=True))[1:]
    lengths = [{min(block, extent), extent % block or block} for block, extent in pairs]
    blocks = itertools.product({plan.block[0]}, *lengths)
    return all(0 not in run_axes(block, canonical.strides("a")) for block in blocks)


def _grain(canonical: Canonical, plan: CpuPlan, target: Target) -> int:
    size, vector = canonical.b.itemsize, target.vector_bits // 8
    for boundary in dict.fromkeys((max(target.line, vector), vector)):
        if plan.block[0] * size % boundary == 0 and has_aligned_rows(canonical, boundary):
            return boundary // size
    return 0


def following(canonical: Canonical, plan: CpuPlan) -> tuple[int, ...]:
    """The axes along which rows of B follow each other in memory, innermost first, up to the first one along which
    micro-tiles have several rows."""
    found: list[int] = []
    if static(canonical.axes[0].stride_a) == 0:  # one element of A serves a whole row of B: nothing to continue
        return ()
    length = static(canonical.axes[0].extent)
    while not found or plan.block[found[-1]] == 1:
        steps = enumerate(canonical.axes)
        k = next((k for k, axis in steps if axis.stride_b == length and axis.extent != 1 and k not in found), None)
        if k is None or (plan.block[k] > 1 and not _are_neighbours(canonical, k)):
            break
        found.append(k)
        length *= canonical.extents[k]
    return tuple(found)


def _are_neighbours(canonical: Canonical, k: int) -> bool:
    """True where rows along an axis are neighbours in A, so that the rows after a micro-tile's are loaded one element
    further; the last load then ends with an unused element, which is still inside A."""
    return canonical.axes[k].stride_a == 1 and static(canonical.axes[0].stride_a) > 0
