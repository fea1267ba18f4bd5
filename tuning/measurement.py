"""The measurement of a search's winner."""

from __future__ import annotations

from typing import Any

from ttc_llvm.lazy_dataclasses import dataclass

from .. import arguments
from ..arguments import Error
from ..errors import OptionError

GIB = 1 << 30
BUSY = "this machine is busy"  # beside every figure that other work has touched
WAS_BUSY = "this machine was busy"  # the same beside what an earlier run has stored


@dataclass(frozen=True, slots=True, repr=False)
class Measurement:
    """The measurement of a search's winner.

    seconds: the winner's best run; gibs: its bandwidth (GiB/s, bytes of A + B, B twice where it is read);
    ceiling_gibs: the same bytes without permutation, same run; ceiling: which; timings: plans, the winner first, with
    the seconds of every run, all of them or the first fifty from a database; proxy: timed on a smaller stand-in of a
    huge problem; timed: how many plans were, None where an older database does not tell; provisional: how often this
    was timed while the machine was busy, 0 = well founded.
    """

    seconds: float
    gibs: float
    ceiling_gibs: float | None
    ceiling: str
    timings: tuple[tuple[str, tuple[float, ...]], ...] = ()
    proxy: bool = False
    interrupted: bool = False
    timed: int | None = None
    provisional: int = 0

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, OptionError, "measurement ")

    def __repr__(self) -> str:
        words = [f"{self.seconds * 1e3:.4g} ms", f"{self.gibs:.1f} GiB/s"]
        words += [] if self.ratio is None else [f"{self.ratio:.2f} of {self.ceiling} at {self.ceiling_gibs:.1f} GiB/s"]
        words += [f"{self.timed or len(self.timings)} timed"] if self.timings else []
        words += [self.remark(now=False).strip(" ()")] if self.provisional else []
        words += ["on a smaller stand-in"] if self.proxy else []
        words += ["interrupted"] if self.interrupted else []
        return f"Measurement({', '.join(words)})"

    @property
    def ratio(self) -> float | None:
        """gibs / ceiling_gibs."""
        return self.gibs / self.ceiling_gibs if self.ceiling_gibs else None

    @property
    def count(self) -> str:
        """The number of plans that were timed, as text."""
        return f"at least {len(self.timings)}" if self.timed is None else str(self.timed)

    def remark(self, now: bool = True) -> str:
        """The remark behind figures that other work has touched; empty for others. now: they were just measured."""
        return f" ({BUSY if now else WAS_BUSY})" if self.provisional else ""


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
    "timed": arguments.optional(arguments.between(0)),
    "provisional": arguments.between(0),
}
