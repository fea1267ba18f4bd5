"""Pictures of an explanation as SVG: tiles in both tensors (the paper's Figure 4), runs in cache lines, candidates.

Colours are classes, which the page's style sheet fills in, so that pictures follow a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from . import geometry
from .explanation import Explanation, Tried
from .text import measured_gibs

PANEL = 370.0  # units of a panel's width
TOP = 46.0
SIDE = 280  # of the largest plane in a panel
SHOWN = 4  # tiles along an axis; more are named
CELLS = 16  # micro-tiles along a tile's side that are drawn one by one
RUNS = 8
LINES = 8  # cache lines of a run that are drawn
CELL = 30


def svg(width: float, height: float, label: str, body: Iterable[str]) -> str:
    """A picture that scales with the page."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}"'
        f' xmlns="http://www.w3.org/2000/svg" style="max-width:{width:g}px">{"".join(body)}</svg>'
    )


def rect(x: float, y: float, width: float, height: float, name: str) -> str:
    """A rectangle of a class."""
    return f'<rect x="{x:.5g}" y="{y:.5g}" width="{max(width, 0):.5g}" height="{max(height, 0):.5g}" class="{name}"/>'


def label(x: float, y: float, words: str, anchor: str = "start", name: str = "") -> str:
    """A line of text."""
    return f'<text x="{x:.5g}" y="{y:.5g}" text-anchor="{anchor}" class="{name}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    """A line of a class."""
    return f'<line x1="{x1:.5g}" y1="{y1:.5g}" x2="{x2:.5g}" y2="{y2:.5g}" class="{name}"/>'


# --- tiles --------------------------------------------------------------------------------------------------


def tiles(e: Explanation) -> tuple[str, ...]:
    """Macro- and micro-tiles in the plane of both contiguous axes: A's and B's; none for a single axis."""
    found = geometry.planes(e.canonical, e.plan)
    return tuple(
        svg(PANEL, TOP + _sides(plane)[1] + 20, f"macro-tiles and micro-tiles of {plane.tensor}", _plane(plane))
        for plane in found
    )


def _shown(plane: geometry.Plane) -> tuple[int, int]:
    """Elements of a plane that are drawn: at most SHOWN tiles a side."""
    across, down = (min(extent, SHOWN * tile) for extent, tile in zip(plane.extents, plane.tile, strict=True))
    return across, down


def _sides(plane: geometry.Plane) -> tuple[float, float]:
    """Sides of the picture: the longer one fills it, and neither gets thinner than a quarter."""
    across, down = _shown(plane)
    longest = max(across, down)
    return SIDE * max(0.25, across / longest), SIDE * max(0.25, down / longest)


def _plane(plane: geometry.Plane) -> Iterator[str]:
    """One tensor's plane: the first tile divided into micro-tiles, the first of those filled."""
    counts = [-(-extent // tile) for extent, tile in zip(plane.extents, plane.tile, strict=True)]
    shown, (width, height) = _shown(plane), _sides(plane)
    x, y = 22.0, TOP
    step = width / shown[0], height / shown[1]
    tile, block = ("x".join(f"{n:,}" for n in pair) for pair in (plane.tile, plane.block))
    heading = f"{plane.tensor}: {counts[0]:,} x {counts[1]:,} tiles of {tile}, micro-tiles {block}"
    yield label(0, 14, heading, name="strong")
    yield label(x, y - 10, f"axis {plane.across}, contiguous: {plane.extents[0]:,} elements", name="small")
    yield (
        f'<text transform="translate(14 {y:.5g}) rotate(-90)" text-anchor="end" class="small">'
        f"axis {plane.down}: {plane.extents[1]:,}</text>"
    )
    yield rect(x, y, width, height, "plane")
    yield rect(x, y, plane.tile[0] * step[0], plane.tile[1] * step[1], "tile")
    yield from _grid(x, y, plane.tile, plane.block, step, "micro", CELLS)
    yield rect(x, y, plane.block[0] * step[0], plane.block[1] * step[1], "first")
    yield from _grid(x, y, shown, plane.tile, step, "edge", SHOWN)
    if counts[0] > SHOWN:
        yield label(x + width + 6, y + 12, "...", name="small")
    if counts[1] > SHOWN:
        yield label(x, y + height + 14, "...", name="small")


def _grid(
    x: float,
    y: float,
    box: tuple[int, int],
    cell: tuple[int, int],
    step: tuple[float, float],
    name: str,
    most: int,
) -> Iterator[str]:
    """Lines between cells of a box; none along a side where they would be too many to be told apart."""
    width, height = box[0] * step[0], box[1] * step[1]
    for side in (0, 1):
        cuts = range(cell[side], box[side], cell[side])
        for cut in cuts if len(cuts) < most else ():
            at = cut * step[side]
            yield line(x + at, y, x + at, y + height, name) if side == 0 else line(x, y + at, x + width, y + at, name)


# --- runs ---------------------------------------------------------------------------------------------------


def runs(e: Explanation) -> tuple[str, ...]:
    """A tile's first runs in A and in B, cut into cache lines: what of a line belongs to the tile is filled."""
    found = [geometry.runs(e.canonical, e.plan.tile, name, e.target, RUNS) for name in "AB"]
    return tuple(
        svg(PANEL, 52 + 22 * len(one.starts), f"runs of one tile of {one.tensor} in cache lines", _runs(one))
        for one in found
    )


def _runs(one: geometry.Runs) -> Iterator[str]:
    heading = f"{one.tensor}: {one.count:,} x {one.run:,} bytes, {one.used:.0%} of lines used"
    yield label(0, 14, heading, name="strong")
    for number, start in enumerate(one.starts):
        y = 28 + 22.0 * number
        yield label(68, y + 12, f"{start:+,}", "end", "small")
        yield from _run(one, start, 76, y)
    if one.count > len(one.starts):
        yield label(76, 42 + 22 * len(one.starts), f"... {one.count - len(one.starts):,} more", name="small")


def _run(one: geometry.Runs, start: int, x: float, y: float) -> Iterator[str]:
    first = start // one.line * one.line
    lines = -(-(start + one.run - first) // one.line)
    for k in range(min(lines, LINES)):
        at, low = x + k * CELL, first + k * one.line
        inside = max(start, low), min(start + one.run, low + one.line)
        scale = CELL / one.line
        yield rect(at + (inside[0] - low) * scale, y, (inside[1] - inside[0]) * scale, 16, "used")
        yield rect(at, y, CELL, 16, "line")
    if lines > LINES:
        yield label(x + LINES * CELL + 4, y + 12, f"+{lines - LINES}", name="small")


# --- candidates ---------------------------------------------------------------------------------------------


def candidates(e: Explanation) -> str:
    """Candidates that were timed: GiB/s expected (across) and measured (up); empty where there are none."""
    known = [tried for tried in e.tried if tried.expected]
    if not known:
        return ""
    expected = [e.canonical.bytes_moved / (tried.expected or 1) / (1 << 30) for tried in known]
    measured = [measured_gibs(tried, e) for tried in known]
    top = 1.1 * max(*expected, *measured)
    body = [*_axes(top)]
    order = sorted(range(len(known)), key=lambda k: known[k].plan == str(e.plan))  # the chosen one on top
    body += [_dot(known[k], e, _at(expected[k], measured[k], top)) for k in order]
    return svg(420, 340, "bandwidth of candidates, expected and measured", body)


def _at(across: float, up: float, top: float) -> tuple[float, float]:
    return 50 + 350 * across / top, 300 - 280 * up / top


def _axes(top: float) -> Iterator[str]:
    yield rect(50, 20, 350, 280, "plane")
    yield line(50, 300, 400, 20, "micro")
    for value in _ticks(top):
        x, y = _at(value, value, top)
        yield label(x, 315, f"{value:g}", "middle", "small")
        yield label(45, y + 4, f"{value:g}", "end", "small")
    yield label(225, 334, "GiB/s expected by the cost model", "middle", "small")
    yield '<text transform="translate(14 160) rotate(-90)" text-anchor="middle" class="small">GiB/s measured</text>'


def _ticks(top: float) -> Sequence[float]:
    step = next(s for s in (10.0**p * m for p in range(-6, 9) for m in (1, 2, 5)) if top / s <= 5)
    return [step * k for k in range(int(top / step) + 1)]


def _dot(tried: Tried, e: Explanation, at: tuple[float, float]) -> str:
    chosen = tried.plan == str(e.plan)
    words = escape(f"{tried.seconds * 1e3:.4g} ms: {tried.plan}")
    name, radius = ("chosen", 6) if chosen else ("tried", 3.5)
    return f'<circle cx="{at[0]:.5g}" cy="{at[1]:.5g}" r="{radius}" class="{name}"><title>{words}</title></circle>'
