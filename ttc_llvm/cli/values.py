"""Texts of options become values: ValueError says which rule a text breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .. import locks
from ..arguments import COUNT
from ..tuning.efforts import EFFORTS

_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")


def integer(text: str) -> int:
    """An integer of at most 40 digits."""
    if _INTEGER.fullmatch(text.strip()) is None:
        raise ValueError(f"{text[:40]!r} is not an integer")
    return int(text)


def integers(text: str) -> tuple[int, ...]:
    """Integers between commas; none for an empty text."""
    if text.strip() and "," not in text and _INTEGER.fullmatch(text.strip()) is None:
        raise ValueError(f"{text[:40]!r} is not an integer, nor integers between commas")
    return tuple(integer(part) for part in text.split(",")) if text.strip() else ()


class NamedExtents(tuple[int, ...]):
    """Extents, and the letters of their indices."""

    letters: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, int]]) -> NamedExtents:
        """Extents by letter."""
        named = tuple(pairs)
        made = cls(extent for _, extent in named)
        made.letters = tuple(letter for letter, _ in named)
        return made


def extents(text: str) -> tuple[int, ...]:
    """Integers between commas, or `a:24,i:16` for indices with letters."""
    if ":" not in text:
        return integers(text)
    pairs = [part.strip().partition(":") for part in text.split(",")]
    for letter, colon, _ in pairs:
        if not colon or len(letter.strip()) != 1:
            raise ValueError("a letter and an extent for each index, as in a:24,i:16, are expected")
    letters = [letter.strip() for letter, _, _ in pairs]
    twice = next((x for x in letters if letters.count(x) > 1), None)
    if twice is not None:
        raise ValueError(f"index {twice} has two extents")
    return NamedExtents.of((letter, integer(extent)) for letter, (_, _, extent) in zip(letters, pairs, strict=True))


def scalar(text: str) -> complex:
    """A number, real or complex: `2`, `-1.5e3`, `1+2j` or `1,2`; or a fraction of two, `1/255`, not rounded yet."""
    parts = text.replace(" ", "").split(",")
    above, slash, below = text.partition("/")
    if slash:
        found: complex = _fraction(above, below)  # as complex numbers go, a type checker knows of no fractions
        return found
    try:
        return complex(parts[0]) if len(parts) == 1 else complex(*map(float, parts))
    except (ValueError, TypeError):
        raise ValueError("a number such as 2, -1.5e3, 1+2j or 1,2 (real, imaginary) is expected") from None


def _fraction(above: str, below: str) -> Any:
    fraction: Any = locks.imported("fractions").Fraction
    try:
        return fraction(above) / fraction(below)
    except (ValueError, ZeroDivisionError):
        raise ValueError("a fraction of two numbers such as 1/255 is expected") from None


def terms(text: str) -> tuple[tuple[complex, tuple[int, ...]], ...]:
    """Factors and perms between semicolons, as in 2:0,1;-1:1,0; a perm alone has the factor 1."""
    found = []
    for part in filter(str.strip, text.split(";")):
        factor, _, perm = part.rpartition(":")
        found.append((scalar(factor) if factor.strip() else 1, integers(perm)))
    if not found:
        raise ValueError("factors and perms such as 2:0,1;-1:1,0 are expected")
    return tuple(found)


def order(text: str) -> str:
    """The order of indices in memory, F or C."""
    found = text.strip().upper()
    if found not in ("F", "C"):
        raise ValueError("F (column-major) or C (row-major) is expected")
    return found


def seconds(text: str) -> float:
    """A positive number of seconds."""
    try:
        found = float(text)
    except ValueError:
        raise ValueError("a number of seconds is expected") from None
    if not found > 0:
        raise ValueError("a positive number of seconds is expected")
    return found


def effort(text: str) -> int:
    """Candidates to consider: a count, -1 for the whole space, or a name of `EFFORTS`."""
    word = text.strip()
    if word in EFFORTS:
        return EFFORTS[word]
    if _INTEGER.fullmatch(word) is None or not (int(word) == -1 or 1 <= int(word) <= COUNT):
        names = ", ".join(EFFORTS)
        raise ValueError(f"a count from 1 to {COUNT}, -1 (the whole space) or one of {names} is expected")
    return int(word)


def threads(text: str) -> int | None:
    """A number of threads; None for 0, which stands for the default."""
    number = integer(text)
    if not 0 <= number <= COUNT:
        raise ValueError(f"a number from 1 to {COUNT} is expected, or 0 for the default")
    return number or None


def counts(text: str) -> tuple[int, ...]:
    """Numbers of at least 1 between commas, each once."""
    found = tuple(dict.fromkeys(integers(text)))
    if not found or not 1 <= min(found) <= max(found) <= COUNT:
        raise ValueError(f"numbers from 1 to {COUNT} such as 128,256 are expected")
    return found


def place(text: str) -> str | None:
    """The affinity of threads; None for an empty text, which stands for the default."""
    return text if text.strip() else None


def distances(text: str) -> tuple[int, ...]:
    """Distances of at least 0 between commas, each once."""
    found = tuple(dict.fromkeys(integers(text)))
    if not found or min(found) < 0:
        raise ValueError("distances of 0 or more micro-tiles such as 0,2,4 are expected")
    return found


def blockings(text: str) -> tuple[tuple[int, int], ...]:
    """Pairs of positive sides, `AxB`, between commas, each once."""
    pairs = [re.fullmatch(r"\s*([0-9]{1,9})x([0-9]{1,9})\s*", part) for part in text.split(",")]
    found = tuple((int(pair[1]), int(pair[2])) for pair in pairs if pair is not None)
    if len(found) != len(pairs) or any(min(sides) < 1 for sides in found):
        raise ValueError("positive sides in elements such as 16x16,32x64 (A x B) are expected")
    return tuple(dict.fromkeys(found))


def orders(text: str) -> tuple[tuple[int, ...], ...]:
    """Lists of integers between hyphens, each once."""
    return tuple(dict.fromkeys(integers(part) for part in text.split("-")))


def words(text: str) -> tuple[str, ...]:
    """Words between commas, each once; none for an empty text."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
