"""Plans of kernels of layouts' own: loaded by the first layout whose kernel is not stored."""

from __future__ import annotations

from math import prod

from ..compiling import compiler, options
from ..compiling.trial import Mode
from ..lowering.chain_plans import joined_plan
from ..lowering.fallback import SLOTS
from ..lowering.plan import CpuPlan, Fetch, Store
from ..lowering.shared_run import LONG_ROW, is_mirrored
from ..lowering.writing import resolve
from ..machine.target import Target
from ..problem.canonical import Canonical, Placed, static
from ..runtime.executable import Executable
from ..tuning.cost.measures import Measures
from ..tuning.cost.model import model_plan
from ..tuning.database.opened import open_database
from ..tuning.space.blocks import blocks, has_gaps, same_unit_axis, unit_axes
from ..tuning.space.choices import FREE, Forced
from .copy_kinds import MOST_PLANES, are_rows, is_turned, merges_planes, moves_pixels, picks, splits_planes
from .scalings import Scaling

PLANES_AHEAD = 48  # micro-tiles by which lines of planes are prefetched
FOUR_AHEAD = 16  # the same of four planes that are merged
MIRRORED_AHEAD = 12  # the same of mirrored rows: hardware loses runs that go forwards within rows that go backwards
PICKED_AHEAD, CROSSED_AHEAD = 24, 24  # the same of items that are picked backwards, and of transposed pixels
DOUBLED_AHEAD, LONG_TILE = 16, 64 << 10  # the same of items picked in longer micro-tiles, and bytes of their tiles
WIDE, WIDE_BYTES = 384, 768  # elements of a micro-tile of mirrored pixels, and its bytes, at most
STRETCH, LEAST_ROW = 48 << 10, 8 << 10  # bytes of which lines are prefetched, and of mirrored rows with such prefetches
SHORT_ROW, WIDE_ITEM = 2 << 10, 8  # bytes of rows and of items that are written into a last cache that keeps them
ROWS_AHEAD = 6 << 10  # bytes, as far ahead as rows are prefetched
LEAST_JOINED, LEAST_GATHERED, LEAST_PAST = 128, 192, 256  # of rows that are joined, in scratch, within the last cache
LEAST_FETCHED = 256  # bytes of a micro-tile of rows that are prefetched, or a whole row
TILED = 4, 2, 1  # micro-tiles along a side of a tile that stays in the caches: fewer where more crowd a set of L1
KEPT_AHEAD = 4  # the same of planes that the last cache keeps; rows that are turned take up to 1.6 times as long so
ORDINARY, STREAMED = Forced(streaming=False), Forced(streaming=True)
SMALL = ORDINARY  # of arrays that caches hold: nothing is gained by storing past them


def searched(placed: Placed, scale: Scaling, threads: int, effort: int, small: bool) -> Executable:
    """A layout's best plan of several, timed. small: caches hold the arrays."""
    mode, forced = (Mode.HOT, SMALL) if small else (Mode.COLD, FREE)
    choice = options.checked(effort, threads, mode=mode, forced=forced)
    scalars = scale.alpha, scale.beta
    found = compiler.plan_canonical(placed.canonical, choice, scalars, open_database(None))
    return Executable(placed, found.plan, choice.target, found.objects)


def modelled(canonical: Canonical, target: Target, threads: int, forced: Forced) -> CpuPlan:
    """The cost model's plan, but for kinds of copies that were measured later than what it is fitted to: those that
    nearly fit into L2 are 1.4 times as fast where whole vectors are written past it, merged planes 1.03 to 1.2 times
    where each plane's lines are prefetched, split ones 1.0 to 1.3 times, and pixels that the last cache keeps 1.2 to
    2.4 times where they are written into it. Mirrored pixels: `_forwards`; others that are transposed are read 1.2 to
    1.8 times as fast where lines of micro-tiles are prefetched; picked items: `_lengthened`."""
    if (unfetched := _unfetched(canonical, target, threads, forced)) is not None:
        return unfetched
    plan = model_plan(canonical, target, threads, forced)
    if forced is not FREE or not canonical.is_move or canonical.in_place or not target.streams:
        return plan
    if target.kept and moves_pixels(canonical):
        if canonical.bytes_moved <= target.kept:
            return model_plan(canonical, target, threads, ORDINARY)
        if plan.store is Store.COMBINED:
            return _ahead(plan, CROSSED_AHEAD)
    if target.kept and (is_turned(canonical) or merges_planes(canonical) or splits_planes(canonical)):
        if canonical.bytes_moved <= target.kept:
            return _ahead(model_plan(canonical, target, threads, ORDINARY), 0 if is_turned(canonical) else KEPT_AHEAD)
        if is_mirrored(canonical) and plan.store is Store.ALIGNED:
            return _forwards(canonical, plan)
    if canonical.bytes_moved <= target.kept and _stays_cached(canonical, plan, target):
        return _by_rows(canonical, model_plan(canonical, target, threads, ORDINARY), target)
    if target.kept and are_rows(canonical):
        return _rows_ahead(canonical, plan, target, threads)
    if plan.store is Store.CACHED and 2 * canonical.bytes_moved > 3 * target.l2 * threads:
        streamed = model_plan(canonical, target, threads, STREAMED)
        plan = streamed if streamed.store is Store.ALIGNED else plan
    return plan if target.far else _fetching(canonical, plan, target)


def _needs_no_fetch(canonical: Canonical, target: Target) -> bool:
    """True for arrays that the last cache keeps both of; picked items, mirrored rows, pixels and planes have plans of
    their own."""
    quarters = 3 if same_unit_axis(canonical) else 2
    others = (picks, moves_pixels, is_mirrored, merges_planes, splits_planes)
    return 4 * canonical.bytes_moved <= quarters * target.kept and not any(kind(canonical) for kind in others)


def _unfetched(canonical: Canonical, target: Target, threads: int, forced: Forced) -> CpuPlan | None:
    """The plan of arrays that caches hold: nothing is prefetched, and B is written in its order, in tiles of some
    micro-tiles; where these crowd a set of L1, in the model's, or in tiles of fewer; None where all do, and of other
    arrays. 1.1 times as fast in the mean, up to 5 times: the model's data are mostly of arrays in memory."""
    moves = target.kept and canonical.is_move and not canonical.in_place
    if not (moves and (forced is SMALL or _needs_no_fetch(canonical, target))):
        return None
    plan = model_plan(canonical, target, threads, ORDINARY)
    order, row = canonical.along("b"), static(canonical.extents[0]) * canonical.b.itemsize
    block = (row < SHORT_ROW and not same_unit_axis(canonical) and _by_lines(canonical, target)) or plan.block
    crowded = Measures(canonical, target).crowded
    for count in TILED:
        tile = tuple(min(n, count * k) if k > 1 else 1 for n, k in zip(canonical.extents, block, strict=True))
        if not any(crowded(tile)):
            return CpuPlan(tile, block, order, order, max(1, min(2, len(order) - 1)))
        if not any(crowded(plan.tile)):
            return _ahead(plan, 0)
    return None


def _fetching(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan past the caches with what is prefetched of planes and of picked items."""
    if splits_planes(canonical) and (plan.store is Store.ALIGNED or (target.kept and plan.store is Store.COMBINED)):
        return _planes_fetched(canonical, plan, target)
    if plan.store is not Store.ALIGNED:
        return plan
    merges = merges_planes(canonical)
    if merges and static(canonical.axes[0].extent) < MOST_PLANES:
        return _ahead(plan, PLANES_AHEAD)
    if merges and (plan.fetch is Fetch.ROWS or plan.prefetch == 0):
        return _ahead(plan, FOUR_AHEAD)
    if static(canonical.axes[0].stride_a) < -1:
        return _ahead(plan, PICKED_AHEAD)
    return _lengthened(canonical, plan, target) if picks(canonical) else plan


def _planes_fetched(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan with lines of pixels prefetched that are split; of four planes, one line each in a micro-tile: what is
    prefetched of two crowds L1, and they take up to 1.25 times as long."""
    line = min(plan.block[0], target.line // canonical.b.itemsize)
    if static(canonical.axes[1].extent) == MOST_PLANES and plan.tile[0] % line == 0:
        plan = plan.changed(block=(line, *plan.block[1:]))
    return _ahead(plan, PLANES_AHEAD)


def _ahead(plan: CpuPlan, distance: int) -> CpuPlan:
    """The plan with lines of micro-tiles prefetched."""
    return plan.changed(fetch=Fetch.BLOCKS, prefetch=distance)


def _forwards(canonical: Canonical, plan: CpuPlan) -> CpuPlan:
    """The plan with lines of mirrored rows prefetched: of long rows, those of the next one, or of the next stretch,
    forwards in memory. Hardware then recognises them, and wide micro-tiles, written backwards (`written_backwards`),
    are copied 1.2 to 1.5 times as fast."""
    at = 0 if canonical.axes[0].stride_a == -1 else 1  # the mirrored axis; before it is a pixel's
    width, rows = prod(canonical.extents[:at]), [static(axis.extent) for axis in canonical.axes[at:]]
    widest = min(WIDE, WIDE_BYTES // canonical.b.itemsize)
    wide = plan.block[at] * (2 if at == 0 else max(1, widest // plan.block_elements))
    is_long = rows[0] * width * canonical.b.itemsize >= LEAST_ROW and len(rows) > 1 - at
    if plan.block[:at] != canonical.extents[:at] or wide > rows[0] or not is_long:
        return _ahead(plan, MIRRORED_AHEAD)
    whole, most = -(-rows[0] // wide) * wide, STRETCH // (width * canonical.b.itemsize)
    tile = *plan.block[:at], max(wide, min(whole, most // wide * wide)), *(1 for _ in rows[1:])
    block = *plan.block[:at], wide, *(1 for _ in rows[1:])
    return plan.changed(tile=tile, block=block, panel=(), fetch=Fetch.ROWS, prefetch=1)


def _rows_ahead(canonical: Canonical, plan: CpuPlan, target: Target, threads: int) -> CpuPlan:
    """The plan with rows prefetched, which hardware does not do across gaps: 1.0 to 1.6 times as fast. Rows that are no
    whole lines are joined to such, 1.1 to 2 times as fast as where they leave scratch or find their own boundaries.
    Short ones are written into the last cache, if it keeps them, or where registers cannot be joined; those that do not
    follow each other in A as in B stay in scratch."""
    size, ordered = static(canonical.extents[0]) * canonical.b.itemsize, canonical.along("a") == canonical.along("b")
    if size % target.line == 0:
        return plan if plan.store is Store.CACHED else _rows_fetched(canonical, _some_lines(canonical, plan))
    if not ordered and size < LEAST_JOINED:
        return plan
    joined = _rows_fetched(canonical, joined_plan(canonical, target, SLOTS, Fetch.BLOCKS, 0))
    gathered = ordered and resolve(canonical, joined, target).store is not Store.JOINED
    least = LEAST_PAST if canonical.bytes_moved <= target.kept else LEAST_GATHERED if gathered else LONG_ROW
    return joined if size >= least else model_plan(canonical, target, threads, ORDINARY)


def _some_lines(canonical: Canonical, plan: CpuPlan) -> CpuPlan:
    """The plan with micro-tiles of some lines of a row: finding what to prefetch for single ones takes longer than
    copying them, up to 2 times as long in all."""
    row, least = canonical.extents[0], LEAST_FETCHED // canonical.b.itemsize
    if plan.block_elements >= least:
        return plan
    rest = (1,) * (len(plan.block) - 1)
    return plan.changed(block=(min(row, least), *rest), tile=(row, *plan.tile[1:]), panel=())


def _rows_fetched(canonical: Canonical, plan: CpuPlan) -> CpuPlan:
    return _ahead(plan, ROWS_AHEAD // (plan.block_elements * canonical.b.itemsize))


def _stays_cached(canonical: Canonical, plan: CpuPlan, target: Target) -> bool:
    """True for transposed matrices that are written faster into the last cache, if it keeps them: with short rows, of
    wide items or of parts of lines, and with gaps between items where rows would leave scratch."""
    if same_unit_axis(canonical):
        return False
    row = static(canonical.axes[0].extent) * canonical.b.itemsize
    is_short = row < SHORT_ROW and (canonical.b.itemsize >= WIDE_ITEM or row % target.line > 0)
    small = 2 * canonical.bytes_moved <= target.kept
    return is_short or (small and plan.store is Store.COMBINED and has_gaps(canonical, target))


def _by_rows(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan with B written row by row, in micro-tiles that L1 holds A's lines of, if it does: 1.1 to 1.9 times as
    fast within the last cache, where nothing is to be prefetched."""
    block = _by_lines(canonical, target) or blocks(canonical, target)[0]
    tile, order = (canonical.extents[0], *block[1:]), canonical.along("b")
    lines = prod(tile[k] for k in range(len(tile)) if k != unit_axes(canonical)[0])
    if 2 * lines * target.line > target.l1 or any(Measures(canonical, target).crowded(tile)):
        return plan
    return _ahead(plan, 0).changed(
        tile=tile, block=block, order=order, inner=order, parallel=min(2, len(order) - 1), panel=()
    )


def _by_lines(canonical: Canonical, target: Target) -> tuple[int, ...]:
    """Micro-tiles of two lines of B by two elements along A's rows, where these have gaps between wide items: 1.0 to
    1.5 times as fast as those that take more lines of each row; none where B's rows are shorter."""
    size, (near, _) = canonical.b.itemsize, unit_axes(canonical)
    lines = 2 * target.line // size
    if size < WIDE_ITEM or not has_gaps(canonical, target) or static(canonical.extents[0]) < lines:
        return ()
    return tuple(lines if k == 0 else 2 if k == near else 1 for k in range(len(canonical.axes)))


def _lengthened(canonical: Canonical, plan: CpuPlan, target: Target) -> CpuPlan:
    """The plan with long tiles and their lines prefetched: 1.3 times as fast from memory; in micro-tiles of twice the
    length, 1.3 to 1.7 times as fast within a last cache that keeps them, but slower from memory."""
    stays = canonical.bytes_moved <= target.kept and 2 * plan.block[0] <= canonical.extents[0]
    length, ahead = (2 * plan.block[0], DOUBLED_AHEAD) if stays else (plan.block[0], PICKED_AHEAD)
    most = max(1, LONG_TILE // canonical.b.itemsize // length)
    tile = min(most, -(-canonical.extents[0] // length)) * length, *plan.tile[1:]
    return _ahead(plan.changed(tile=tile, block=(length, *plan.block[1:]), panel=()), ahead)
