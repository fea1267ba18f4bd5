"""A report written: the page and its pictures as files."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import OptionError
from .charts import Chart
from .figures import FIGURES, Figure
from .inline import inline
from .inputs import Inputs
from .page import Drawn, Picture, page

TITLE = "Tensor transpositions: measured"
MISSING = "ttc report draws with matplotlib, which is not installed: pip install 'ttc_llvm[report]'"
PAGE = "index.html"


def write(inputs: Inputs, folder: Path, title: str = TITLE) -> tuple[Path, ...]:
    """Write index.html and a PNG and an SVG for every picture into a folder, which is made; returns their paths.

    Raises OptionError where matplotlib is missing or the folder cannot be written.
    """
    try:
        from . import plots
    except ImportError:
        raise OptionError(MISSING) from None
    del plots
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files: list[Path] = []
        drawn = [Drawn(figure, tuple(_pictures(figure, inputs, folder, files))) for figure in FIGURES]
        target = folder / PAGE
        target.write_text(page(inputs, drawn, title), encoding="utf-8")
    except OSError as error:
        raise OptionError(f"--output={folder} cannot be written: {error.strerror or error}") from None
    return target, *files


def _pictures(figure: Figure, inputs: Inputs, folder: Path, files: list[Path]) -> list[Picture]:
    found = []
    for number, chart in enumerate(figure.make(inputs), 1):
        stem = f"{figure.name}-{number}-{_slug(chart.title)}"
        found.append(_picture(chart, folder, stem, f"{figure.name[0]}{figure.name[-1]}{number}"))
        files += [folder / name for name in found[-1].files]
    return found


def _slug(title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("!=", "not")).strip("-")
    return words[:60].strip("-")


def _picture(chart: Chart, folder: Path, stem: str, prefix: str) -> Picture:
    from . import plots

    wide = plots.draw(chart, "wide")
    text = plots.svg(wide)
    (folder / f"{stem}.svg").write_text(text.replace(plots.INK, "#000000"), encoding="utf-8")
    (folder / f"{stem}.png").write_bytes(plots.png(wide))
    label = f"{chart.title}. {chart.caption}"
    narrow = plots.svg(plots.draw(chart, "narrow"))
    elements = [inline(svg, f"{prefix}{k}", label, plots.INK) for k, svg in (("w", text), ("n", narrow))]
    return Picture(chart, elements[0], elements[1], (f"{stem}.svg", f"{stem}.png"))
