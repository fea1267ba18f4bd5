"""Warnings to users of the library, shown at the line of their own program."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0] + "."


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called into the package."""
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, depth)
