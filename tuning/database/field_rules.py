"""The rules of the fields of a record, and the error of a field that breaks one."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from datetime import datetime
from functools import reduce
from typing import Any

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError

MAX_TEXT = 1 << 16  # bytes of one text, timings and `extra` aside
MAX_EXTRA = 1 << 20  # bytes, and as many in ASCII
_DEEPER = 100  # how much deeper than on its own `extra` may be nested in a line of an export, and a caller be
_INTEGERS = 1 << 63  # SQLite's: from minus this to this, exclusive
EXHAUSTIVE = -1  # the effort of a search through the whole space


def check(name: str, value: Any, holds: Callable[[Any], bool], otherwise: str) -> None:
    """Raise DatabaseError where a value breaks its rule."""
    if not holds(value):
        raise DatabaseError(f"{name} = {reprlib.repr(value)} {otherwise}")


def check_text(name: str, value: Any) -> None:
    """The same for texts."""
    check(name, value, is_text, f"is not text of at most {MAX_TEXT} bytes")


def is_text(value: Any, most: int = MAX_TEXT) -> bool:
    """True for text of so many bytes at most."""
    if not isinstance(value, str):
        return False
    try:
        return len(value.encode()) <= most
    except UnicodeEncodeError:
        return False


def is_integer(value: Any) -> bool:
    """True for an integer that SQLite holds."""
    return isinstance(value, int) and not isinstance(value, bool) and -_INTEGERS <= value < _INTEGERS


def is_tally(value: Any) -> bool:
    """True for 0, 1, 2, ..."""
    return is_integer(value) and value >= 0


def is_count(value: Any) -> bool:
    """True for 1, 2, ..."""
    return is_integer(value) and value >= 1


def is_effort(value: Any) -> bool:
    """True for a number of candidates, or all of them."""
    return is_count(value) or (is_integer(value) and value == EXHAUSTIVE)


def is_number(value: Any) -> bool:
    """True for a finite number of at least 0."""
    number = isinstance(value, float) or is_integer(value)
    return number and math.isfinite(value) and value >= 0


def is_optional(value: Any) -> bool:
    """The same, or nothing."""
    return value is None or is_number(value)


def are_seconds(value: Any) -> bool:
    """True for a tuple of such numbers."""
    return isinstance(value, tuple) and all(map(is_number, value))


def are_objects(value: Any) -> bool:
    """True for pairs of a name and bytes, the names distinct."""
    if not isinstance(value, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return False
    distinct = len({name for name, _ in value if is_text(name)}) == len(value)
    return distinct and all(isinstance(data, bytes) for _, data in value)


def is_object(value: Any) -> bool:
    """True for a JSON object as text."""
    if value == "{}":  # nearly always
        return True
    if not is_text(value, MAX_EXTRA):
        return False
    try:
        json = locks.imported("json")
        found = json.loads(value)
        text = json.dumps(reduce(lambda inner, _: [inner], range(_DEEPER), found), allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and len(text) <= MAX_EXTRA


def is_time(value: Any) -> bool:
    """True for a time in ISO 8601."""
    if not is_text(value):
        return False
    try:
        datetime.fromisoformat(value.removesuffix("Z"))
    except ValueError:
        return False
    return True
