"""A report written: the page and its pictures as files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import OptionError
from ..native import marks
from ..native.publish import publish
from .charts import Chart
from .figures import FIGURES, Figure
from .inline import inline
from .inputs import Inputs
from .page import Drawn, Picture, page

MISSING = "ttc report draws with matplotlib, which is not installed: pip install 'ttc_llvm[report]'"
PAGE = "index.html"


def write(
    inputs: Inputs, folder: Path, title: str = "", page_only: bool = False, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write index.html into a folder, which is made, and unless `page_only` a PNG and an SVG for every picture; returns
    their paths. title: "" = what was measured; overwrite: replace files of these names that ttc_llvm did
    not write.

    Raises OptionError where matplotlib is missing, and where the folder cannot be written or holds such a file.
    """
    if not can_draw():
        raise OptionError(MISSING)
    marks.check(folder, (PAGE,), overwrite)
    files: list[tuple[str, bytes]] | None = None if page_only else []
    drawn = [Drawn(figure, tuple(_pictures(figure, inputs, files))) for figure in FIGURES]
    return publish(folder, [(PAGE, page(inputs, drawn, title).encode()), *(files or ())], overwrite)


def can_draw() -> bool:
    """True where matplotlib is installed."""
    try:
        from . import plots
    except ImportError:
        return False
    return bool(plots)


def _pictures(figure: Figure, inputs: Inputs, files: list[tuple[str, bytes]] | None) -> Iterator[Picture]:
    for number, chart in enumerate(figure.make(inputs), 1):
        stem = f"{figure.name}-{number}-{_slug(chart.title)}"
        yield _picture(chart, files, stem, f"{figure.name[0]}{figure.name[-1]}{number}")


def _slug(title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("!=", "not")).strip("-")
    return words[:60].strip("-")


def _picture(chart: Chart, files: list[tuple[str, bytes]] | None, stem: str, prefix: str) -> Picture:
    """A chart drawn. files: to which its own are added, None = there are none."""
    from . import plots

    figure = plots.draw(chart, "wide")
    wide, narrow = plots.svg(figure), plots.svg(plots.draw(chart, "narrow"))
    names: tuple[str, ...] = ()
    if files is not None:
        names = (f"{stem}.svg", f"{stem}.png")
        files += zip(names, (wide.replace(plots.INK, "#000000").encode(), plots.png(figure)), strict=True)
    label = f"{chart.title}. {chart.caption}"
    elements = [inline(svg, f"{prefix}{k}", label, plots.INK) for k, svg in (("w", wide), ("n", narrow))]
    return Picture(chart, elements[0], elements[1], names)
