"""The measurement of a search's winner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import arguments
from ..arguments import Error
from ..errors import OptionError

GIB = 1 << 30


@dataclass(frozen=True, slots=True, repr=False)
class Measurement:
    """The measurement of a search's winner.

    seconds: the winner's best run; gibs: its bandwidth (GiB/s, bytes of A + B, B twice where it is read);
    ceiling_gibs: the same bytes without permutation, same run; ceiling: which; timings: all plans, the fastest
    first, with the seconds of every run; proxy: timed on a smaller stand-in of a huge problem.
    """

    seconds: float
    gibs: float
    ceiling_gibs: float | None
    ceiling: str
    timings: tuple[tuple[str, tuple[float, ...]], ...] = ()
    proxy: bool = False
    interrupted: bool = False

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, OptionError, "measurement ")

    def __repr__(self) -> str:
        words = [f"{self.seconds * 1e3:.4g} ms", f"{self.gibs:.1f} GiB/s"]
        words += [] if self.ratio is None else [f"{self.ratio:.2f} of {self.ceiling} at {self.ceiling_gibs:.1f} GiB/s"]
        words += [f"{len(self.timings)} timed"] if self.timings else []
        words += ["on a smaller stand-in"] if self.proxy else []
        words += ["interrupted"] if self.interrupted else []
        return f"Measurement({', '.join(words)})"

    @property
    def ratio(self) -> float | None:
        """gibs / ceiling_gibs."""
        return self.gibs / self.ceiling_gibs if self.ceiling_gibs else None


def _timing(name: str, value: Any, error: Error) -> tuple[str, tuple[float, ...]]:
    """A plan's text and the seconds of its runs."""
    found = arguments.sequence(name, value, error, "a plan and seconds")
    if len(found) != 2:
        raise error(f"{name} {arguments.shown(value)} is not a pair of a plan and seconds")
    return arguments.text(name, found[0], error), _SECONDS(name, found[1], error)


_SECONDS = arguments.each(arguments.real, "seconds")
_RULES = {
    "seconds": arguments.real,
    "gibs": arguments.real,
    "ceiling_gibs": arguments.optional(arguments.real),
    "ceiling": arguments.text,
    "timings": arguments.each(_timing, "timings"),
    "proxy": arguments.flag,
    "interrupted": arguments.flag,
}
