"""Notices of the database while it works on: one line of logging each, once per process."""

from __future__ import annotations

from ttc_llvm.logs import Log

_LOGGER = Log("ttc_llvm")
_warned: set[tuple[str, str]] = set()


def warn_once(path: str, topic: str, message: str) -> None:
    """One line of logging per path and topic, in this process."""
    if (path, topic) not in _warned:
        _warned.add((path, topic))
        _LOGGER.warning("%s", one_line(message))


def one_line(message: object) -> str:
    """A message that may quote a damaged file: in one line, without control sequences."""
    return printable(" ".join(str(message).split()))


def printable(text: str) -> str:
    """A text from a file, for a terminal: no control sequence reaches it, no tab breaks a column."""
    return "".join(c if c.isprintable() else "?" for c in text)
