"""Benchmarks of this machine: suites of transpositions beside plain copies of the same bytes, and beside other
libraries.

`run(cases, settings)` measures and yields one `Result` a case; `ttc bench` is this on the command line.
"""

from __future__ import annotations

from .cases import Case
from .cpu_runner import Settings, run
from .results import Result, Timing
from .suites import SUITES, cases

__all__ = ["SUITES", "Case", "Result", "Settings", "Timing", "cases", "run"]
