"""The progress of a compilation, as callers and displays are told."""

from __future__ import annotations

from collections.abc import Callable

from ttc_llvm import arguments
from ttc_llvm.errors import OptionError
from ttc_llvm.lazy_dataclasses import dataclass

PLANNING, COMPILING, TIMING, VERIFYING, WRITING = PHASES = ("planning", "compiling", "timing", "verifying", "writing")


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a compilation.

    done: plans timed; total: plans to be considered, -1 = unknown; best: seconds of the fastest so far; phase: what
    comes next: planning, compiling, timing (also where more plans have been timed), verifying or writing.
    """

    done: int
    total: int
    best: float | None = None
    phase: str = TIMING

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, OptionError, "progress ")


def _phase(name: str, value: object, error: arguments.Error) -> str:
    return arguments.one_of(name, value, PHASES, error)


_RULES = {
    "done": arguments.between(0),
    "total": arguments.between(-1),
    "best": arguments.optional(arguments.real),
    "phase": _phase,
}
Report = Callable[[Progress], None]
