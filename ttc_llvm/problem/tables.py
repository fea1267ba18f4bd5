"""Texts that fit a terminal: tables, lines with labels, folded words. A pipe has 80 columns, or COLUMNS."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence

USUAL, NARROWEST = 80, 40  # columns
NARROW = 12  # columns to which a text column is folded before a table is cut in two
GAP = 2
SEPARATORS = (" ", ",", "x_:=")  # behind which texts are broken, the first ones rather than the others
Row = Sequence[str]


def columns() -> int:
    """The columns that a line may have."""
    return max(shutil.get_terminal_size((USUAL, 24)).columns, NARROWEST)


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """A text in lines that fit; one that is empty has one. first, rest: what the first line and the others begin with.

    Paths stay whole, so that they can be copied; other words that are too long are folded.
    """
    room = columns() - max(len(first), len(rest))
    words = (word if "/" in word else "\n".join(folded(word, room)) for word in text.split(" "))
    pieces = " ".join(words).split("\n")
    found: list[str] = []
    for piece in pieces:
        found += textwrap.wrap(
            piece, columns(), initial_indent=rest if found else first, subsequent_indent=rest,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return found or [first.rstrip()]


def labelled(rows: Sequence[tuple[str, Sequence[str]]]) -> Iterator[tuple[str, str]]:
    """Pairs of a label and a line of its texts, which is indented where the label is empty."""
    width = max(len(label) for label, _ in rows)
    pad = " " * (width + GAP)
    for label, texts in rows:
        lines = [line[len(pad) :] for text in texts or ("-",) for line in wrapped(text, pad, pad)]
        for number, line in enumerate(lines):
            yield f"{'' if number else label:{width}}", line


def folded(text: str, room: int) -> list[str]:
    """A text in pieces of so many characters at most, broken behind separators where there are any."""
    pieces = []
    while len(text) > room:
        cuts = (at for marks in SEPARATORS if (at := _last(text[:room], marks)) > room // 3)
        cut = room if text[room] == " " else next(cuts, room)
        pieces.append(text[:cut].rstrip(" "))
        text = text[cut:].lstrip(" ")
    return [*pieces, text]


def _last(text: str, marks: str) -> int:
    """How many characters there are up to the last of these marks."""
    return 1 + max(map(text.rfind, marks))


# --- tables -------------------------------------------------------------------------------------------------


def aligned(rows: Sequence[Row], texts: int = 0, remarks: int = 0) -> list[str]:
    """Columns of one width: the first few flush left, numbers flush right. remarks: so many of the last columns are
    remarks on their rows, flush left.

    Where they do not fit, the widest of these texts are folded, but the first, which names the row; where that is not
    enough, the table goes on below, and each part begins with the names and ends with the remarks.
    """
    natural = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths, room = list(natural), columns()
    while _span(widths) > room and (wide := _widest(widths[:texts])):
        widths[wide] -= 1
    left = [*range(texts), *range(len(widths) - remarks, len(widths))]
    if _span(widths) <= room:
        return _lines(rows, widths, range(len(widths)), left)
    room_for_remarks = remarks * (NARROW + GAP)
    name = min(natural[0], (room - room_for_remarks) // 2)
    most = room - room_for_remarks - name - GAP
    inner = natural[1 : len(natural) - remarks]
    ends = [min(width, NARROW) for width in natural[len(natural) - remarks :]]
    widths = [name, *(min(width, most) for width in inner), *ends]
    found: list[str] = []
    for part in _parts(widths, room, remarks):
        found += ["", *_lines(rows, widths, part, left)] if found else _lines(rows, widths, part, left)
    return found


def _span(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widest(widths: Sequence[int]) -> int:
    """The widest of the columns that may be folded, 0 where none may."""
    return max((k for k, width in enumerate(widths) if k and width > NARROW), key=widths.__getitem__, default=0)


def _parts(widths: Sequence[int], room: int, remarks: int) -> Iterator[list[int]]:
    """The columns of each part of a table that is too wide."""
    part, last = [0], len(widths) - remarks
    ends = range(last, len(widths))
    for k in range(1, last):
        if len(part) > 1 and _span([widths[one] for one in (*part, k, *ends)]) > room:
            yield [*part, *ends]
            part = [0]
        part.append(k)
    yield [*part, *ends]


def _lines(rows: Sequence[Row], widths: Sequence[int], part: Sequence[int], left: Sequence[int]) -> list[str]:
    found = []
    for row in rows:
        cells = [folded(row[k], widths[k]) for k in part]
        for number in range(max(map(len, cells), default=0)):
            shown = (cell[number] if number < len(cell) else "" for cell in cells)
            line = (f"{text:{'<' if k in left else '>'}{widths[k]}}" for k, text in zip(part, shown, strict=True))
            found.append((" " * GAP).join(line).rstrip())
    return found
