"""Values of the benchmark's options, read from their texts."""

from __future__ import annotations

from ..errors import OptionError

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def words(flag: str, text: str) -> tuple[str, ...]:
    """Names between commas, each once; OptionError for none."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not words:
        raise OptionError(f"{flag}={text}: at least one name is expected")
    return words


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


# --- how far it has come ----------------------------------------------------------------------------------


class _Display(Display):
    """A bar if stderr is a terminal, log lines with --verbose, else nothing; drawn between measurements only."""

    def __init__(self, total: int, done: int) -> None:
        super().__init__(sys.stderr.isatty(), total, done)
        self._total, self._done = total, done

    def searching(self, case: Case, progress: Progress) -> None:
        """A batch of candidates was timed."""
        best = "" if not progress.best else f", best {progress.best * 1e3:.4g} ms"
        self.draw(completed=self._done, text=f"{case.id}: {progress.done} candidates{best}")

    def finished(self, result: Result) -> None:
        """A case is done."""
        self._done += 1
        ratio = "no ceiling" if result.ratio is None else f"{result.ratio:.2f} of {result.ceiling}"
        _log.info("%d of %d: %s %.1f GiB/s, %s", self._done, self._total, result.id, result.ours.gibs, ratio)
        self.draw(completed=self._done, text=f"{result.id}: {ratio}")
