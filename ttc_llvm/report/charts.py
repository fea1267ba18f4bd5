"""Charts as frozen values: numbers and words, no drawing."""

from __future__ import annotations

from ..lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart; values: None where there is none; hollow: those that other work has touched; bands: of the
    values, lowest and highest."""

    label: str
    values: tuple[float | None, ...]
    hollow: tuple[bool, ...] = ()
    bands: tuple[tuple[float, float] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of any kind. unit: of its values."""

    title: str
    caption: str
    unit: str


@dataclass(frozen=True, slots=True)
class Cases(Chart):
    """A value of every series for each case, in the order of the suite. bound: drawn as a line above; base: a
    horizontal line, such as a speedup of 1; log: of the values' axis."""

    names: tuple[str, ...]
    series: tuple[Series, ...]
    bound: Series | None = None
    base: float | None = None
    log: bool = False


@dataclass(frozen=True, slots=True)
class Bars(Chart):
    """Groups of bars: a group for each name, a bar for each series."""

    names: tuple[str, ...]
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Curve(Chart):
    """Several curves over a common logarithmic axis."""

    at: tuple[float, ...]
    series: tuple[Series, ...]
    across: str


@dataclass(frozen=True, slots=True)
class Cloud(Chart):
    """Points, x against y, one colour for each series, on logarithmic axes. roof: corners of a line above them; none:
    x and y have the same unit, and the line is where they are equal."""

    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    across: str
    roof: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Spread(Chart):
    """The spread of each name's values: every value a point, quartiles as a box; logarithmic."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]

