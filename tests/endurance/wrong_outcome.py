"""How a wrong call may end, and how one that does not is stopped."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST = 1100  # characters of a message
PATIENCE = 120  # seconds, after which a call counts as one that does not end


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended. word: for the counts; fault: what is wrong with that, "" = nothing."""

    word: str
    fault: str = ""


class Stuck(BaseException):
    """A call did not end."""


@contextmanager
def watched() -> Iterator[None]:
    """The block ends within `PATIENCE`, or with Stuck."""
    def stop(*_: Any) -> None:
        raise Stuck

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def where(error: BaseException) -> str:
    """An error in one line, and the last of our functions on its way."""
    frames = traceback.extract_tb(error.__traceback__)
    last = ([frame for frame in frames if "endurance" not in frame.filename] or list(frames))[-1]
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}:{last.lineno} {last.name})"
