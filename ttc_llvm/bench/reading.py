"""Values of the benchmark's options, read from their texts."""

from __future__ import annotations

from ..errors import OptionError

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def words(flag: str, text: str) -> tuple[str, ...]:
    """Names between commas, each once; OptionError for none."""
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not found:
        raise OptionError(f"{flag}={text}: at least one name is expected")
    return found


def integer(flag: str, text: str) -> int:
    """An integer, or OptionError."""
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"{flag}={text[:40]}: an integer is expected") from None


def positive(flag: str, text: str) -> int:
    """An integer of at least 1, or OptionError."""
    number = integer(flag, text)
    if number < 1:
        raise OptionError(f"{flag}={number}: a number of at least 1 is expected")
    return number


def seconds(flag: str, text: str) -> float:
    """A number of seconds, or OptionError."""
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{flag}={text[:40]}: a number of seconds is expected") from None


def size(flag: str, text: str) -> int:
    """Bytes, such as 500000, 512K, 8M or 1G; or OptionError."""
    number, unit = (text[:-1], text[-1:].lower()) if text[-1:].isalpha() else (text, "")
    if unit not in _UNITS or not number.isdecimal() or int(number) < 1:
        raise OptionError(f"{flag}={text[:40]}: a size such as 500000, 512K, 8M or 1G is expected")
    return int(number) * _UNITS[unit]
