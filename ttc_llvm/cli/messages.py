"""One-line messages of the command line; nothing else is loaded for them."""

from __future__ import annotations

import sys


def say(message: str) -> None:
    """One line on stderr, if anybody reads it."""
    if sys.stderr is None:  # closed by the caller
        return
    try:
        print(f"ttc: {message}", file=sys.stderr, flush=True)
    except OSError:
        return
