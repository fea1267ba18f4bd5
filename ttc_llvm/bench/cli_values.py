"""Texts of options become values; OptionError with the option's name and a rule where they cannot."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, TypeVar

from ..cli import values
from ..errors import OptionError

T = TypeVar("T")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def option(args: argparse.Namespace, field: str, read: Callable[[str, str], T], default: Any = None) -> Any:
    """The value of an option that was given; else the default."""
    text = getattr(args, field)
    return default if text is None else read(flag(field), text)


def flag(field: str) -> str:
    """An option by the name of its field."""
    return f"--{field.replace('_', '-')}"


def words(flag: str, text: str) -> tuple[str, ...]:
    """Names between commas, each once; at least one."""
    found = values.words(text)
    if not found:
        raise OptionError(f"{flag}={text}: at least one name is expected")
    return found


def integer(flag: str, text: str) -> int:
    """An integer."""
    return _read(flag, text, values.integer, "an integer is expected")


def positive(flag: str, text: str) -> int:
    """An integer of at least 1."""
    number = integer(flag, text)
    if number < 1:
        raise OptionError(f"{flag}={number}: a number of at least 1 is expected")
    return number


def seconds(flag: str, text: str) -> float:
    """A number of seconds; whether it makes sense is for others to say."""
    return _read(flag, text, values.seconds)


def _read(flag: str, text: str, read: Callable[[str], T], rule: str = "") -> T:
    try:
        return read(text)
    except ValueError as error:
        raise OptionError(f"{flag}={text[:40]}: {rule or error}") from None


def size(flag: str, text: str) -> int:
    """Bytes: `500000`, `512K`, `8M` or `1G`."""
    number, unit = (text[:-1], text[-1:].lower()) if text[-1:].isalpha() else (text, "")
    if unit not in _UNITS or not re.fullmatch("[0-9]{1,15}", number) or int(number) < 1:
        raise OptionError(f"{flag}={text[:40]}: a size such as 500000, 512K, 8M or 1G is expected")
    return int(number) * _UNITS[unit]
