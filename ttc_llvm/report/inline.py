"""matplotlib's SVG made fit to stand inside a page: scalable, in the page's text colour, with names of its own."""

from __future__ import annotations

import re
from html import escape


def inline(svg: str, prefix: str, label: str, ink: str) -> str:
    """The SVG element of a document. prefix: for its ids, so that two pictures never share one; label: what a screen
    reader says; ink: the colour that stands for the page's own."""
    start = svg.index("<svg")
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", svg[start:].strip(), flags=re.DOTALL)
    box = re.search(r'viewBox="([^"]*)"', body)
    body = re.sub(r"^<svg[^>]*>", "", body)
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}-", body)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL).replace(ink, "currentColor")
    body = re.sub(r">\s+<", "><", body.replace("\n", " "))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img"'
    return f'{head} viewBox="{box[1] if box else "0 0 600 300"}" aria-label="{escape(label)}">{body}'
