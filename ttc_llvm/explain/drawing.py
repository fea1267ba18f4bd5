"""Pictures of an explanation as SVG: runs in cache lines, and candidates, expected against measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from . import geometry
from .words import measured_gibs

if TYPE_CHECKING:
    from .explanation import Explanation, Tried

PANEL = 370.0  # units of a panel's width
RUNS = 8
LINES = 8  # cache lines of a run that are drawn
CELL = 30
LETTER = 6.8  # units of a digit's width


# --- elements: colours are classes, which the page's style sheet fills in, so that pictures follow a dark page -----


def picture(width: float, height: float, label: str, body: Iterable[str]) -> str:
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


def upright(x: float, y: float, words: str, anchor: str = "end", name: str = "small") -> str:
    """A line of text that is read from below."""
    turned = f"translate({x:.5g} {y:.5g}) rotate(-90)"
    return f'<text transform="{turned}" text-anchor="{anchor}" class="{name}">{escape(words)}</text>'


# --- runs -----------------------------------------------------------------------------------------------------


def runs(e: Explanation) -> tuple[str, ...]:
    """A tile's first runs in A and in B, cut into cache lines: what of a line belongs to the tile is filled."""
    found = [geometry.runs(e.canonical, e.plan.tile, name, e.target, RUNS) for name in "AB"]
    return tuple(
        picture(PANEL, 52 + 22 * len(one.starts), f"runs of one tile of {one.tensor} in cache lines", _runs(one))
        for one in found
    )


def _runs(one: geometry.Runs) -> Iterator[str]:
    heading = f"{one.tensor}: {one.count:,} x {one.run:,} bytes, {one.used:.0%} of lines used"
    yield label(0, 14, heading, name="strong")
    left = 8 + LETTER * max(len(f"{start:+,}") for start in one.starts)
    for number, start in enumerate(one.starts):
        y = 28 + 22.0 * number
        yield label(left, y + 12, f"{start:+,}", "end", "small")
        yield from _run(one, start, left + 8, y)
    if one.count > len(one.starts):
        yield label(left + 8, 42 + 22 * len(one.starts), f"... {one.count - len(one.starts):,} more", name="small")


def _run(one: geometry.Runs, start: int, x: float, y: float) -> Iterator[str]:
    first = start // one.line * one.line
    lines = -(-(start + one.run - first) // one.line)
    shown = min(lines, LINES, int((PANEL - x - 40) / CELL))
    for k in range(shown):
        at, low = x + k * CELL, first + k * one.line
        inside = max(start, low), min(start + one.run, low + one.line)
        scale = CELL / one.line
        yield rect(at + (inside[0] - low) * scale, y, (inside[1] - inside[0]) * scale, 16, "used")
        yield rect(at, y, CELL, 16, "line")
    if lines > shown:
        yield label(x + shown * CELL + 4, y + 12, f"+{lines - shown:,}", name="small")


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
    return picture(420, 340, "bandwidth of candidates, expected and measured", body)


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
    yield upright(14, 160, "GiB/s measured", "middle")


def _ticks(top: float) -> Sequence[float]:
    step = next(s for s in (10.0**p * m for p in range(-6, 9) for m in (1, 2, 5)) if top / s <= 5)
    return [step * k for k in range(int(top / step) + 1)]


def _dot(tried: Tried, e: Explanation, at: tuple[float, float]) -> str:
    chosen = tried.plan == str(e.plan)
    words = escape(f"{tried.seconds * 1e3:.4g} ms: {tried.plan}")
    name, radius = ("chosen", 6) if chosen else ("tried", 3.5)
    return f'<circle cx="{at[0]:.5g}" cy="{at[1]:.5g}" r="{radius}" class="{name}"><title>{words}</title></circle>'
