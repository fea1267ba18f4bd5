"""The few SVG elements that pictures of an explanation are made of.

Colours are classes, which the page's style sheet fills in, so that pictures follow a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

PANEL = 370.0  # units of a panel's width


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
