"""Charts drawn with matplotlib, which is imported with this module: SVG and PNG, wide and narrow.

Colours are Okabe and Ito's, told apart with every kind of colour blindness; markers differ as well. INK stands for the
page's own text colour.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from ..native.marks import MARK
from .charts import Bars, Cases, Chart, Cloud, Curve, Series, Spread

INK = "#010203"
HATCHES = ("", "///", "...", "xxx", "---")
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#999999")
MARKERS = "os^DvPX"
SIZES = {"wide": (9.2, 4.0), "narrow": (4.4, 4.2)}  # inches
LABELS = {"wide": 20, "narrow": 8}  # cases that are named below the axis
LONGEST = 18  # letters of a case's name
LEFT = 0.72  # inches left of the axes
APART = 0.6  # of the room between two cases: how far the first and the last series are from each other
POINTS = 400  # of a cloud's series: more are thinned out evenly
STYLE: Any = {
    "font.size": 10, "font.family": "sans-serif", "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK,
    "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "axes.grid.axis": "y", "grid.color": "#999999", "grid.alpha": 0.35, "grid.linewidth": 0.6, "axes.axisbelow": True,
    "legend.frameon": False, "legend.fontsize": 9, "legend.labelcolor": INK, "svg.fonttype": "none",
    "svg.hashsalt": "ttc",
}  # fmt: skip


def draw(chart: Chart, layout: str) -> Figure:
    """A chart as a figure of this layout: wide or narrow."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=SIZES[layout])
        axes = figure.add_subplot()
        below = _DRAWN[type(chart)](axes, chart, layout)
        axes.set_ylabel(chart.unit)
        _place(figure, axes, layout, below)
        width, height = SIZES[layout]
        size = 10 if layout == "wide" or len(chart.title) < 50 else 8
        figure.text(LEFT / width, 1 - 0.2 / height, chart.title, fontsize=size)
    return figure


def _place(figure: Figure, axes: Axes, layout: str, below: float) -> None:
    """Margins, labels of the axes, and the legend below. matplotlib finds all these places by drawing everything twice
    more: half of the time. below: inches that tick labels take."""
    width, height = SIZES[layout]
    _, labels = axes.get_legend_handles_labels()
    entry = 0.57 + 0.066 * max(map(len, labels), default=0)  # inches, at most
    columns = max(1, min(len(labels), 5 if layout == "wide" else 2, int(width / entry)))
    rows = -(-len(labels) // columns)
    bottom = below + 0.2 * rows + (0.1 if rows else 0) + (0.22 if axes.get_xlabel() else 0)
    figure.subplots_adjust(LEFT / width, bottom / height, 1 - 0.12 / width, 1 - 0.32 / height)
    axes.yaxis.set_label_coords(0.22 / width, (bottom + height) / 2 / height, figure.transFigure)
    middle = (LEFT + width - 0.12) / 2 / width
    axes.xaxis.set_label_coords(middle, (bottom - below - 0.12) / height, figure.transFigure)
    if labels:
        figure.legend(loc="lower center", ncols=columns, markerscale=1.2, borderpad=0, columnspacing=1.2)


def svg(figure: Figure) -> str:
    """The figure as SVG text, the same for the same chart; its background is transparent."""
    with matplotlib.rc_context(STYLE):
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": MARK})
    return stream.getvalue()


def png(figure: Figure) -> bytes:
    """The figure as a PNG on white."""
    stream = io.BytesIO()
    packed, told = {"compress_level": 3}, {"Software": MARK}
    figure.savefig(stream, format="png", dpi=120, facecolor="white", pil_kwargs=packed, metadata=told)
    return stream.getvalue()


# --- kinds of charts ----------------------------------------------------------------------------------------


def _cases(axes: Axes, chart: Cases, layout: str) -> float:
    at = range(len(chart.names))
    if chart.bound is not None and any(value is not None for value in chart.bound.values):
        values = [float("nan") if value is None else value for value in chart.bound.values]
        axes.step(at, values, where="mid", color=INK, linewidth=1.2, label=chart.bound.label)
    if chart.base is not None:
        axes.axhline(chart.base, color=INK, linewidth=1)
    size = 30 if len(at) <= 30 else 18
    for number, (series, colour, marker) in enumerate(_styled(chart.series)):
        aside = APART * ((number + 0.5) / len(chart.series) - 0.5)
        _bands(axes, series, aside, colour)
        for hollow in (False, True):
            points = [(k + aside, v) for k, v in enumerate(series.values) if v is not None and _is(series, k) is hollow]
            face, edge, label = ("none", colour, None) if hollow else (colour, INK, series.label)
            axes.scatter(
                [k for k, _ in points], [v for _, v in points], s=size, marker=marker, color=face, label=label,
                linewidths=1.2 if hollow else 0.4, edgecolors=edge,
            )  # fmt: skip
    if chart.log:
        _logarithmic(axes)
    else:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    axes.set_xlim(-0.7, len(at) - 0.3)
    axes.set_xlabel("case")
    return _name_cases(axes, chart.names, layout)


def _is(series: Series, k: int) -> bool:
    """True where a value is drawn hollow."""
    return k < len(series.hollow) and series.hollow[k]


def _bands(axes: Axes, series: Series, aside: float, colour: str) -> None:
    for k, band in enumerate(series.bands):
        if band is not None:
            axes.plot([k + aside] * 2, band, color=colour, linewidth=1.2)


def _name_cases(axes: Axes, names: tuple[str, ...], layout: str) -> float:
    step = -(-len(names) // LABELS[layout])
    shown = [name[:LONGEST] for name in names[::step]]
    longest = max(map(len, shown), default=0)
    upright = longest * len(shown) * 0.085 > SIZES[layout][0] - 1
    axes.set_xticks(range(0, len(names), step), shown)
    axes.tick_params(axis="x", rotation=90 if upright else 0, labelsize=7.5)
    return 0.12 + 0.068 * longest if upright else 0.3


def _styled(series: Sequence[Series]) -> Iterator[tuple[Series, str, str]]:
    for k, one in enumerate(series):
        yield one, COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]


def _logarithmic(axes: Axes) -> None:
    """A logarithmic axis whose few ticks are plain numbers."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    ticks = _ticks(low, high)
    if len(ticks) >= 2:
        axes.set_yticks(ticks)
        axes.set_ylim(low, high)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _ticks(low: float, high: float) -> list[float]:
    """A few round numbers between two others, for a logarithmic axis."""
    steps: tuple[float, ...] = (1, 1.5, 2, 3, 4, 6, 8)
    if high > 12 * low:
        steps = (1, 2, 5) if high < 1e4 * low else (1,)
    return [m * 10.0**p for p in range(-9, 13) for m in steps if low <= m * 10.0**p <= high]


def _bars(axes: Axes, chart: Bars, layout: str) -> float:
    width = 0.8 / len(chart.series)
    digits = 9 if layout == "wide" else 7
    for k, (series, colour, _) in enumerate(_styled(chart.series)):
        at = [number + (k - (len(chart.series) - 1) / 2) * width for number in range(len(chart.names))]
        heights = [value or 0.0 for value in series.values]
        bars = axes.bar(
            at, heights, 0.92 * width, color=colour, label=series.label, edgecolor=INK, linewidth=0.5,
            hatch=HATCHES[k % len(HATCHES)],
        )  # fmt: skip
        axes.bar_label(bars, [f"{height:.3g}" for height in heights], padding=1, fontsize=digits)
    axes.set_xticks(range(len(chart.names)), list(chart.names), fontsize=10 if layout == "wide" else 8)
    axes.set_xlim(-0.6, max(len(chart.names), 3) - 0.4)
    return 0.3


def _curve(axes: Axes, chart: Curve, layout: str) -> float:
    for series, colour, marker in _styled(chart.series):
        values = [float("nan") if value is None else value for value in series.values]
        axes.plot(chart.at, values, color=colour, marker=marker, label=series.label)
    axes.set_xscale("log")
    axes.set_xticks(chart.at, [f"{value:,g}" for value in chart.at])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(chart.across)
    axes.set_ylim(top=1.02)
    return 0.3


def _cloud(axes: Axes, chart: Cloud, layout: str) -> float:
    for k, (name, points) in enumerate(chart.series):
        shown = points[:: -(-len(points) // POINTS)]
        axes.scatter(
            [x for x, _ in shown], [y for _, y in shown], s=14, alpha=0.7, label=f"{name} ({len(points):,})",
            color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], linewidths=0,
        )  # fmt: skip
    every = [*chart.roof, *(point for _, points in chart.series for point in points)]
    sides = [[point[k] for point in every] for k in (0, 1)]
    ends = min(map(min, sides)), max(map(max, sides))
    axes.plot(*zip(*(chart.roof or zip(ends, ends, strict=True)), strict=True), color=INK, linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis, values in zip((axes.xaxis, axes.yaxis), sides, strict=True):
        low, high = min(values) * 0.95, max(values) * 1.05
        axis.set_view_interval(low, high, ignore=True)
        axis.set_ticks(_ticks(low, high), labels=[f"{tick:g}" for tick in _ticks(low, high)])
        axis.set_minor_locator(NullLocator())
    axes.set_xlabel(chart.across)
    return 0.3


def _spread(axes: Axes, chart: Spread, layout: str) -> float:
    at = range(1, len(chart.names) + 1)
    axes.boxplot(
        chart.values, positions=list(at), widths=0.4, showfliers=False,
        medianprops={"color": COLOURS[3], "linewidth": 2}, boxprops={"color": INK},
        whiskerprops={"color": INK}, capprops={"color": INK},
    )  # fmt: skip
    for k, values in zip(at, chart.values, strict=True):
        shown = values[:: -(-len(values) // POINTS)]
        jitter = [k + 0.18 * ((7 * n) % 11 / 5.5 - 1) for n in range(len(shown))]
        axes.scatter(jitter, shown, s=10, color=COLOURS[0], alpha=0.6, linewidths=0)
    axes.set_xlim(0.4, max(len(chart.names), 4) + 0.6)
    names = [name.replace(" ", "\n", 1) for name in chart.names]
    axes.set_xticks(list(at), names, fontsize=10 if layout == "wide" else 8)
    _logarithmic(axes)
    return 0.45


_DRAWN: Mapping[type[Chart], Callable[[Axes, Any, str], float]] = {
    Cases: _cases,
    Bars: _bars,
    Curve: _curve,
    Cloud: _cloud,
    Spread: _spread,
}
