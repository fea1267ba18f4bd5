"""A report written: the page and its pictures as files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import OptionError
from ..native import whole_file
from .charts import Chart
from .figures import FIGURES, Figure
from .inline import inline
from .inputs import Inputs
from .page import Drawn, Picture, page

TITLE = "Tensor transpositions: measured"
MISSING = "ttc report draws with matplotlib, which is not installed: pip install 'ttc_llvm[report]'"
PAGE = "index.html"


def write(inputs: Inputs, folder: Path, title: str = TITLE, page_only: bool = False) -> tuple[Path, ...]:
    """Write index.html into a folder, which is made, and unless `page_only` a PNG and an SVG for every picture; returns
    their paths.

    Raises OptionError where matplotlib is missing or the folder cannot be written.
    """
    try:
        from . import plots
    except ImportError:
        raise OptionError(MISSING) from None
    del plots
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = None if page_only else folder
        drawn = [Drawn(figure, tuple(_pictures(figure, inputs, beside))) for figure in FIGURES]
        target = folder / PAGE
        whole_file.write(target, page(inputs, drawn, title))
    except OSError as error:
        raise OptionError(f"--output={folder} cannot be written: {error.strerror or error}") from None
    return target, *(folder / name for one in drawn for picture in one.pictures for name in picture.files)


def _pictures(figure: Figure, inputs: Inputs, folder: Path | None) -> Iterator[Picture]:
    for number, chart in enumerate(figure.make(inputs), 1):
        stem = f"{figure.name}-{number}-{_slug(chart.title)}"
        yield _picture(chart, folder, stem, f"{figure.name[0]}{figure.name[-1]}{number}")


def _slug(title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("!=", "not")).strip("-")
    return words[:60].strip("-")


def _picture(chart: Chart, folder: Path | None, stem: str, prefix: str) -> Picture:
    """A chart drawn. folder: for its files, None = none."""
    from . import plots

    figure = plots.draw(chart, "wide")
    wide, narrow = plots.svg(figure), plots.svg(plots.draw(chart, "narrow"))
    files: tuple[str, ...] = ()
    if folder is not None:
        files = (f"{stem}.svg", f"{stem}.png")
        whole_file.write(folder / files[0], wide.replace(plots.INK, "#000000"))
        whole_file.write(folder / files[1], plots.png(figure))
    label = f"{chart.title}. {chart.caption}"
    elements = [inline(svg, f"{prefix}{k}", label, plots.INK) for k, svg in (("w", wide), ("n", narrow))]
    return Picture(chart, elements[0], elements[1], files)
