"""Micro-tile shapes: what a register covers along A and along B, and the blocks that follow."""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod

from ttc_llvm.lowering.layout import RegisterCount, register_count
from ttc_llvm.lowering.shared_run import shared_run
from ttc_llvm.lowering.tile_sizes import cover, merge
from ttc_llvm.machine.target import Exchange, Target
from ttc_llvm.problem.canonical import Canonical, static
from ttc_llvm.problem.kinds import Beta

SPREAD = 8  # rows in a register, at least, that are worth spreading
MAX_ELEMENTS = 1024  # of a block: bounds code size and compile time
PIECE = 16 << 10  # bytes of rows that are copied in pieces, at least
MAX_ELEMENTS_IN_MEMORY = 2048  # of tensors beyond the caches, where bytes need whole lines of B


def width(canonical: Canonical, target: Target) -> int:
    """Elements in a full register, by the wider element type."""
    return target.lanes(canonical.widest)


@lru_cache(maxsize=16)
def blocks(canonical: Canonical, target: Target) -> tuple[tuple[int, ...], ...]:
    """Micro-tile shapes, the most promising first: a full register on both sides, whole cache lines of B, then
    narrower ones where a full square would not fit the registers."""
    w = width(canonical, target)
    line = max(1, target.line // canonical.b.itemsize)
    same, copies = same_unit_axis(canonical), canonical.kinds.beta is Beta.ZERO
    shapes = [(4 * w, 4 * w), (2 * w, 2 * w), (w, w)] if same else [(w, max(w, line)), (w, w)]
    if line > target.line // canonical.widest and not same:  # numbers become shorter
        shapes[1:1] = [(w, line // 2), (w // 2, line), (w // 4, line)]
    shapes += [
        (w // 2, w),
        (w, w // 2),
        *([(w // 2, 2 * w)] if target.pairs and copies else []),
        (w, 2 * w),
        (2 * w, w),
        (w // 2, w // 2),
        (w // 4, w),
        (w // 4, w // 4),
    ]
    in_memory = canonical.elements * canonical.widest > target.l2
    limit = MAX_ELEMENTS_IN_MEMORY if in_memory else MAX_ELEMENTS
    found: dict[tuple[int, ...], None] = {}
    gaps, along_a = has_gaps(canonical, target), (w,) if cuts_to_bytes(canonical, target) else (w, w // 2)
    candidates = [_rows(canonical, 4 * w)] if same else _whole_rows(canonical, along_a, line, gaps) if copies else []
    candidates += [_block(canonical, max(1, wanted_a), max(1, wanted_b), gaps) for wanted_a, wanted_b in shapes]
    candidates = [*_spread(canonical, w), *candidates]
    if shared_run(canonical) > 1:
        candidates = [_shared(canonical, count * w) for count in (1, 2, 4)]
    for block in candidates:
        if prod(block) <= limit and _registers(canonical, block, target) <= target.registers:
            found[block] = None
    return tuple(found) or (_block(canonical, 1, 1),)


@lru_cache(maxsize=64)
def same_unit_axis(canonical: Canonical) -> bool:
    """True where one axis has unit stride in A and in B."""
    return any(
        abs(static(a.stride_a)) == 1 and a.stride_b == 1 and static(a.extent) > 1 for a in canonical.axes
    )


def least_rows(canonical: Canonical) -> int:
    """Elements of B's rows that tiles take at least: where B begins off a line every piece of a row ends in two partial
    lines, which is felt in short ones; so rows of A that are rows of B are cut into long pieces only."""
    return min(canonical.extents[0], PIECE // canonical.widest) if same_unit_axis(canonical) else 1


@lru_cache(maxsize=64)
def unit_axes(canonical: Canonical) -> tuple[int, int]:
    """The axes of smallest stride in A and in B."""
    a = [abs(static(s)) or 1 << 62 for s in canonical.strides("a")]
    return min(range(len(a)), key=lambda k: a[k]), 0


def has_gaps(canonical: Canonical, target: Target) -> bool:
    """True where rows of A are not B's and have gaps between elements, several of which a register holds."""
    axis, _ = unit_axes(canonical)
    step = abs(static(canonical.axes[axis].stride_a))
    masks = target.has_masks(canonical.a.itemsize, canonical.b.itemsize)
    return masks and axis != 0 and 1 < step <= width(canonical, target) // 2


def _block(canonical: Canonical, wanted_a: int, wanted_b: int, gaps: bool = False) -> tuple[int, ...]:
    """gaps: elements along A are covered although they have gaps."""
    extents = merge(_along_a(canonical, wanted_a, gaps), cover(canonical, "b", wanted_b))
    return tuple(extents.get(k, 1) for k in range(len(canonical.axes)))


def _along_a(canonical: Canonical, wanted: int, gaps: bool) -> dict[int, int]:
    return cover(canonical, "a", wanted, compact=not gaps, axes=1 if gaps else None)


def _whole_rows(canonical: Canonical, along_a: tuple[int, ...], line: int, gaps: bool) -> list[tuple[int, ...]]:
    """Whole short rows of B that are no whole lines, as many as make some, by so many elements along A; none where
    rows are whole lines or do not follow each other in memory."""
    extents: dict[int, int] = {}
    order, length = canonical.along("b")[::-1], 1
    for number, k in enumerate(order):
        if canonical.axes[k].stride_b != length:
            return []
        if all(static(canonical.axes[j].stride_b) % line == 0 for j in order[number + 1 :]):
            extents[k] = line // gcd(line, length)
            shapes = (merge(_along_a(canonical, wanted, gaps), extents) for wanted in along_a) if number else ()
            return [tuple(shape.get(j, 1) for j in range(len(order))) for shape in shapes]
        extents[k] = canonical.extents[k]
        length *= extents[k]
    return []


def _rows(canonical: Canonical, wanted: int) -> tuple[int, ...]:
    """Rows below a vector's width, several at a time, along B's next axis."""
    extents = cover(canonical, "b", wanted, compact=False)
    return tuple(extents.get(k, 1) for k in range(len(canonical.axes)))


def _spread(canonical: Canonical, w: int) -> list[tuple[int, ...]]:
    """As many rows as fill a register of A and one of B once each begins at a power of two, where rows of 3, 5, ...
    elements stay rows."""
    first = canonical.axes[0]
    length = static(first.extent)
    if length >= w or length & (length - 1) == 0 or (abs(static(first.stride_a)), first.stride_b) != (1, 1):
        return []
    wanted = w >> (length - 1).bit_length()
    if wanted < SPREAD:
        return []
    block = _block(canonical, length * wanted, length * wanted)
    return [block] if sum(extent > 1 for extent in block) == 3 else []


def _shared(canonical: Canonical, wanted: int) -> tuple[int, ...]:
    """Whole registers of a run that A and B share, at least one, about `wanted` elements (a power of two)."""
    found, length = [1] * len(canonical.axes), 1
    for k in range(shared_run(canonical)):
        extent = canonical.extents[k]
        part = max(1, wanted // (length & -length))  # so many rows are a multiple of `wanted`
        found[k] = min(extent, part)
        length *= found[k]
        if found[k] < extent or length % wanted == 0:
            break
    return tuple(found)


def _registers(canonical: Canonical, block: tuple[int, ...], target: Target) -> int:
    """Full registers that the block occupies on its way from A to B."""
    a, b = registers(canonical, block, target)
    if converts_first(canonical, target):
        return b.registers
    loaded = a.registers * a.lanes
    held = loaded if a.run else min(prod(block), loaded)  # gaps are left out as soon as they are loaded
    return max(b.registers * b.lanes, held) // width(canonical, target)


def registers(canonical: Canonical, block: tuple[int, ...], target: Target) -> tuple[RegisterCount, RegisterCount]:
    """The registers of a whole micro-tile, of A and of B, but that none holds rows apart."""
    w, gaps = width(canonical, target), target.has_masks(canonical.a.itemsize, canonical.b.itemsize)
    a = register_count(block, canonical.strides("a"), w, gaps)
    w_b = target.lanes(canonical.b.itemsize) if converts_first(canonical, target) else w
    return a, register_count(block, canonical.strides("b"), w_b)


def converts_first(canonical: Canonical, target: Target) -> bool:
    """True where numbers become shorter before registers exchange them, as `ir_builders.micro_tile` does it."""
    shorter, copies = canonical.b.itemsize < canonical.a.itemsize, canonical.kinds.beta is Beta.ZERO
    return shorter and copies and not canonical.terms and target.exchange is Exchange.UNPACK


def cuts_to_bytes(canonical: Canonical, target: Target) -> bool:
    """True where longer numbers become single bytes before registers exchange them: to convert half a register of them
    takes as long as a whole one."""
    return canonical.b.itemsize == 1 and converts_first(canonical, target)
