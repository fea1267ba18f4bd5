"""The speeds of this machine for products and copies are measured here (`stored_speeds` keeps them)."""

from __future__ import annotations

from functools import partial
from math import prod
from operator import le

from ..tuning.search.speed import DRIFT
from . import last_cache
from .rates import CUTS, LAYOUTS, Rates
from .speeds import LONG, MILLION, SHORT, TURNS, Grid, Sizes, Speed
from .splitting import BY_ONE_THREAD, COLUMNS, DEPTH, GAIN, ROWS, Gains
from .timing import ANYWHERE, LINES, OFF, TOGETHER, Stopwatch, copy_seconds, many, middle

TINY, THIN, EDGE = 4, 16, 256
SURVEY: tuple[Sizes, ...] = ((480, 480, 480), (128, 48, 128), (16, 16, 16), (480, 16, 16), (16, 480, 16))
"""Products whose speeds tell most about others."""
TALL, WAIST = 1536, 64  # extents of a product that is cut
WHOLE: Sizes = (100, 100, 100)  # a million multiplications, for which a BLAS may have code of one thread
LOOKS = 2  # at whether it has
READ: Sizes = (16, 16, 128)  # short products that read a matrix from beyond the caches, in strips:
STRIPS: tuple[Sizes, ...] = (48, 48, 256), (72, 48, 192), (96, 32, 192)
WRITTEN = ("ik,lkj->lij", (144, 24, 32)), ("ik,lkj->ilj", (24, 24, 16)), ("ik,lkj->ilj", (480, 24, 16))
"""Short products that write there, in one piece, in several, and in many."""
NEAR_BYTES = 384 << 10  # that they come to together in the caches
CROWD: Sizes = (256, 4, 8)  # short products whose columns are as far from each other as caches have sets:
APART = 64 << 10  # bytes
INNER = 24  # products before one that reads what follows
ROW, TURNED = 72, (30, 50)  # elements of the rows of a large copy, and of those that become others' columns
ON_LINES: tuple[Sizes, ...] = ((64, 64, 120), (96, 96, 80), (32, 32, 300))
VECTORS = 128  # bytes, of rows or columns: a multiple of all vectors that BLAS takes at a time
RAGGED = ((24, 24), 32), ((480, 144), 1)
"""The other extents of short and of long products with rows or columns left over, and how many of them."""
SWEEPS = 3  # of these, and of short products
MOST = 2  # vectors that rows or columns may seem to be more than they are
TRIALS, STRANGE = 3, 4  # a speed so many times below another is measured again: threads of BLAS have waited
REPEATS, LEAST_REPEATS, FEW = 64, 4, 400_000  # products in one call, of so many multiplications together


def measured(dtype: str) -> tuple[Rates, bool]:
    """The rates of a data type, in two seconds, and whether the machine was free meanwhile."""
    clock = Stopwatch(dtype)
    before = _steady(clock)
    found = _measured(clock)
    return found, 1 / DRIFT < _steady(clock) / before < DRIFT and not clock.is_late


def _steady(clock: Stopwatch) -> float:
    """Seconds of a product that tells whether the machine is as fast as before."""
    return clock.product(LAYOUTS["N", "N"], (EDGE,) * 3)


def _measured(clock: Stopwatch) -> Rates:
    """A busy machine leaves to be guessed what comes last, so a few products of each kind are first, and whole sweeps
    before others."""
    alone = {kind: _alone(clock, spec) for kind, spec in LAYOUTS.items()}  # before threads of the BLAS poll
    tiny = clock.product(LAYOUTS["N", "N"], (TINY,) * 3)
    more = clock.product(many(LAYOUTS["N", "N"]), (*(TINY,) * 3, REPEATS))
    call = max(more - tiny, 0.0) / REPEATS
    run = clock.product(LAYOUTS["N", "N"], (TINY,) * 3, times=TOGETHER) - call
    _survey(clock, tiny)
    short, long = ({kind: _sweep(clock, spec, grid, tiny) for kind, spec in LAYOUTS.items()} for grid in (SHORT, LONG))
    strips = middle([_visit(clock, "lki,kj->lij", sizes, tiny) for sizes in STRIPS])
    read = _visit(clock, "lki,kj->lij", READ, tiny), _visit(clock, "kpli,kj->lpij", READ, tiny), strips
    anywhere, on_lines = (
        (*(_visit(clock, spec, sizes, at=at) for spec, sizes in WRITTEN), _written(clock, tiny, at))
        for at in (ANYWHERE, LINES)
    )
    copied, start = _copies(clock)
    lines = {kind: _lines(clock, spec) for kind, spec in LAYOUTS.items()}
    gains, crowd = Gains({key: _gain(clock, *key) for key in CUTS}, lines, alone), _crowd(clock)
    speeds = {kind: _speed(clock, spec, tiny, short[kind], long[kind]) for kind, spec in LAYOUTS.items()}
    return Rates(speeds, max(run, 0.0), call, (anywhere, on_lines), read, copied, start, crowd, gains)


def _survey(clock: Stopwatch, tiny: float) -> None:
    """A few products, those far slower than others of their size some times."""
    for sizes in SURVEY:
        speeds = dict.fromkeys(LAYOUTS.values(), 0.0)
        for _ in range(TRIALS):
            least = max(speeds.values()) / STRANGE
            slow = [spec for spec, speed in speeds.items() if speed <= least]
            speeds |= {spec: max(speeds[spec], _corner(clock, spec, sizes, tiny)) for spec in slow}


def _copies(clock: Stopwatch) -> tuple[tuple[float, float, float, float], float]:
    """Bytes a second of copies in a core's own caches, of small ones and of large ones that come from beyond these, and
    seconds of a copy of nothing."""
    size, copy = clock.itemsize, partial(copy_seconds, clock.dtype)
    start, wide = copy((TINY, TINY)), last_cache.square(size)
    small, in_turn = (EDGE, EDGE), last_cache.beyond() // (EDGE * EDGE * size)
    near, left = (2 * size * prod(small) / (copy(small, n) - start / 2) for n in (1, in_turn))
    large = (wide // ROW, wide, ROW), (TURNED[0], wide**2 // prod(TURNED), TURNED[1])
    rows, others = (2 * size * prod(shape) / copy(shape, turned=number > 0) for number, shape in enumerate(large))
    start = copy((TINY, TINY), times=TOGETHER)  # without the clocks, which single runs have counted
    return (near, left, rows, others), start


def _crowd(clock: Stopwatch) -> float:
    """Seconds of each column of a short product's result where all of these begin in one set of the first cache."""
    columns, rows, depth = CROWD
    times = APART // (rows * clock.itemsize)
    return clock.product("ik,lkj->ilj", (columns, rows, depth, times)) / (columns * times)


def _written(clock: Stopwatch, tiny: float, at: tuple[int, int, int]) -> float:
    """Seconds that a long product takes more, by each byte of its result, where that is beyond the caches."""
    itemsize = clock.itemsize
    wide = last_cache.square(itemsize)
    near, far = (clock.product(LAYOUTS["N", "N"], (n, n, THIN), at=at) - tiny for n in (EDGE, wide))
    return max(0.0, far - near * (wide / EDGE) ** 2) / (wide**2 * itemsize)


def _visit(
    clock: Stopwatch, spec: str, sizes: Sizes, start: float = 0.0, at: tuple[int, int, int] = ANYWHERE
) -> float:
    """Seconds that short products take more, by each byte that is beyond the caches: of their result, or, with the
    start of a call taken off, of the operand that they read. Off results' times it made choices worse."""
    size = sizes[0] * sizes[2 if start else 1] * clock.itemsize
    inner = INNER if "p" in spec else 1
    far, near = (  # an odd number, whose lines share few sets of a cache
        (clock.product(spec, (*sizes, outer, inner), at=at) - start) / (outer * inner)
        for outer in (last_cache.beyond() // (size * inner) | 1, max(1, NEAR_BYTES // (size * inner)))
    )
    return max(0.0, far - near) / size


def _gain(clock: Stopwatch, left: str, right: str, side: str) -> float:
    """Times as fast as one long product its parts are."""
    sizes = {COLUMNS: (TALL, WAIST, WAIST), ROWS: (WAIST, TALL, WAIST), DEPTH: (WAIST, WAIST, TALL)}[side]
    whole, parts = (
        clock.product(LAYOUTS[left, right], sizes, Gains({(left, right, side): gain}))
        for gain in (0.0, 2 * GAIN)
    )
    return whole / parts


def _alone(clock: Stopwatch, spec: str) -> float:
    """Multiplications of a product that BLAS runs by one thread, at most; threads may still be about other work."""
    return float(MILLION if any(clock.is_alone(spec, WHOLE) for _ in range(LOOKS)) else BY_ONE_THREAD)


def _lines(clock: Stopwatch, spec: str) -> tuple[float, float]:
    """Times as fast as others short products are whose left operand, our B, or right one, our A, is on cache lines."""
    gains = [1.0, 1.0]
    for sizes in ON_LINES:
        anywhere, left, right = (
            clock.product(many(spec), (*sizes, LEAST_REPEATS), at=at)
            for at in (ANYWHERE, (OFF, 0, OFF), (0, OFF, OFF))
        )
        gains = [gains[0] * anywhere / left, gains[1] * anywhere / right]
    left, right = (max(1.0, gain ** (1 / len(ON_LINES))) for gain in gains)
    return left, right


def _speed(
    clock: Stopwatch, spec: str, tiny: float, first: dict[Sizes, float], long: dict[Sizes, float]
) -> Speed:
    """Of short products, the middle ones of some sweeps' speeds."""
    sweeps = [first, *(_sweep(clock, spec, SHORT, tiny) for _ in range(SWEEPS - 1))]
    short = {sizes: middle([sweep[sizes] for sweep in sweeps]) for sizes in SHORT.corners}
    return Speed(short, long, tuple(_ragged(clock, spec, is_rows, *x) for x in RAGGED for is_rows in (False, True)))


def _ragged(clock: Stopwatch, spec: str, is_rows: bool, others: tuple[int, int], count: int) -> tuple[float, ...]:
    """How many columns or rows of a large matrix take as long as so many; of long products, which have many, what is
    left over beside two vectors."""
    step = VECTORS // clock.itemsize
    extents = range(1 if count > 1 else 2 * step, TURNS * step + 1)
    other, depth = others
    every = [(other, x, depth, count) if is_rows else (x, other, depth, count) for x in extents]
    sweeps = ([clock.product(many(spec), sizes) for sizes in every] for _ in range(SWEEPS))
    seconds = [middle(each) for each in zip(*sweeps, strict=True)]
    vector = max(seconds[-1] - seconds[-1 - step], 1e-9)
    found = [0.0, *(step * x / vector for x in seconds[:-1])]
    if count == 1:
        left = [step * (x - seconds[0]) / vector for x in seconds[:-1]]
        found = [turn * step + x for turn in range(TURNS) for x in left]
    return tuple(float(min(max(x, extent), extent + MOST * step)) for extent, x in enumerate(found))


def _sweep(clock: Stopwatch, spec: str, grid: Grid, tiny: float) -> dict[Sizes, float]:
    """The speeds of the corners, by ascending extents: one far below those of smaller products is measured again."""
    found: dict[Sizes, float] = {}
    for sizes in grid.corners:
        smaller = [speed for known, speed in found.items() if all(map(le, known, sizes))]
        for _ in range(TRIALS):
            found[sizes] = max(found.get(sizes, 0.0), _corner(clock, spec, sizes, tiny))
            if found[sizes] > max(smaller, default=0.0) / STRANGE:
                break
    return found


def _corner(clock: Stopwatch, spec: str, sizes: Sizes, tiny: float) -> float:
    """Multiplications a second; many small products are run in one call, which then counts for little."""
    work = prod(sizes)
    if work > MILLION:
        return work / _further(clock.product(spec, sizes), tiny)
    repeats = min(max(FEW // work, LEAST_REPEATS), REPEATS)
    return work * repeats / _further(clock.product(many(spec), (*sizes, repeats)), tiny)


def _further(seconds: float, start: float) -> float:
    """The seconds without those of a start, which are a small part of them, if not a guess."""
    return max(seconds - start, seconds / 2)
