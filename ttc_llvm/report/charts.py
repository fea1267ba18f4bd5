"""Charts as frozen values: numbers and words, no drawing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart; values: None where there is none."""

    label: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """A value of every series for each case, in the order of the suite. bound: drawn as a line above; base: a
    horizontal line, such as a speedup of 1; log: of the values' axis."""

    title: str
    caption: str
    names: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str
    bound: Series | None = None
    base: float | None = None
    log: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Groups of bars: a group for each name, a bar for each series."""

    title: str
    caption: str
    names: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Several curves over a common logarithmic axis."""

    title: str
    caption: str
    at: tuple[float, ...]
    series: tuple[Series, ...]
    across: str
    unit: str


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points, expected against measured, one colour for each series; x and y have the same unit and scale."""

    title: str
    caption: str
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    across: str
    unit: str


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of each name's values: every value a point, quartiles as a box; logarithmic."""

    title: str
    caption: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    unit: str


Chart = Cases | Bars | Curve | Cloud | Spread
