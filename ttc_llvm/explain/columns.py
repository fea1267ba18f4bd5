"""Words and tables in the columns of a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

COLUMNS = 80


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 0) -> list[str]:
    """Columns of one width: the first `texts` flush left, numbers flush right."""
    every = [head, *rows]
    widths = [max(len(row[k]) for row in every) for k in range(len(head))]
    return [
        "  ".join(f"{cell:{'<' if k < texts else '>'}{widths[k]}}" for k, cell in enumerate(row)).rstrip()
        for row in every
    ]


def folded(line: str) -> list[str]:
    """An indented line in as many as it takes, the rest indented further."""
    pad = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line.strip(), COLUMNS, initial_indent=pad, subsequent_indent=f"{pad}    ") or [""]


def wrapped(line: str) -> list[str]:
    """A line in as many as it takes."""
    return textwrap.wrap(line, COLUMNS, subsequent_indent="  ", break_long_words=True)


def count(number: int, one: str, many: str = "") -> str:
    """A number and its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
