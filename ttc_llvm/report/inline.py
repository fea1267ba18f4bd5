"""matplotlib's SVG made fit to stand inside a page: scalable, in the page's text colour, with names of its own."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

OFTEN = 3  # uses of a style that make a class of it shorter


def inline(svg: str, prefix: str, label: str, ink: str) -> str:
    """The SVG element of a document. prefix: for its ids, so that two pictures never share one; label: what a screen
    reader says; ink: the colour that stands for the page's own."""
    start = svg.index("<svg")
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", svg[start:].strip(), flags=re.DOTALL)
    box = re.search(r'viewBox="([^"]*)"', body)
    body = re.sub(r"^<svg[^>]*>", "", body)
    body = _renamed(body, prefix)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL).replace(ink, "currentColor")
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)  # the page's own
    body = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), body)  # a hundredth of a point
    body = re.sub(r">\s+<", "><", body.replace("\n", " "))
    body = _classes(body, prefix)
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img"'
    return f'{head} viewBox="{box[1] if box else "0 0 600 300"}" aria-label="{escape(label)}">{body}'


def _renamed(body: str, prefix: str) -> str:
    """Ids that something refers to, short and with the prefix; without the others."""
    used = dict.fromkeys(re.findall(r'(?:url\(#|href="#)([^")]+)', body))
    names = {name: f"{prefix}{k}" for k, name in enumerate(used)}
    body = re.sub(r' id="([^"]*)"', lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", body)
    return re.sub(r'(url\(#|href="#)([^")]+)', lambda found: found[1] + names[found[2]], body)


def _classes(body: str, prefix: str) -> str:
    """Styles that many elements share, stated once: points of a cloud have one each otherwise."""
    styles = Counter(re.findall(r' style="([^"]*)"', body))
    names = {style: f"{prefix}{k}" for k, style in enumerate(s for s, n in styles.items() if n >= OFTEN)}

    def short(found: re.Match[str]) -> str:
        name = names.get(found[1])
        return found[0] if name is None else f' class="{name}"'

    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    return f"<style>{rules}</style>" + re.sub(r' style="([^"]*)"', short, body)
