"""Results in a file, one JSON line each, appended as soon as they are there; what was killed is resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from ..errors import OptionError, os_errors
from ..native.whole_file import read
from ..runtime import interrupts
from .result_line import BEGINNING, from_line, to_line
from .results import Result

T = TypeVar("T")


class ResultFile:
    """A file of results. A last line without its end, left by a run that was killed, counts as not there."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def read(self) -> tuple[Result, ...]:
        """All results, in the order of the file; OptionError where a line is none, or the file cannot be read."""
        return tuple(self.lines(from_line))

    def lines(self, parsed: Callable[[str], T], beginnings: Sequence[bytes] = (BEGINNING,)) -> Iterator[T]:
        """The same of what else a line may be. parsed: a line's result, or OptionError; beginnings: of lines."""
        *whole, torn = self._bytes().split(b"\n")
        if not any(torn[: len(one)] == one[: len(torn)] for one in beginnings):
            whole.append(torn)  # what no run of ours has begun
        for number, line in enumerate(whole, 1):
            try:
                yield parsed(line.decode())
            except (OptionError, UnicodeDecodeError) as error:
                raise OptionError(f"{self.path}, line {number}: {error}") from None

    def known(self) -> tuple[Result, ...]:
        """The results to continue from: none where there is no file yet. OptionError where a pipe or device is."""
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OptionError(f"{self.path} is no file: results are added to a file, from which the next run goes on")
        return self.read() if os.path.exists(self.path) else ()

    def prepare(self) -> None:
        """Make the file appendable: hours of measuring must not end at a mistyped folder. Drops a torn last line.
        OptionError where it holds something else, too."""
        with os_errors(f"{self.path} cannot be written"), open(self.path, "ab") as stream:
            self.read()
            kept = self._bytes().rfind(b"\n") + 1
            stream.truncate(kept)

    def append(self, result: Result) -> Result:
        """Add a result; it is in the file when this returns. As `read` will give it: its figures are rounded there, and
        those that are shown now and by a later report must not differ."""
        line = to_line(result)
        with os_errors(f"{self.path} cannot be written"), interrupts.held(), open(self.path, "ab") as stream:
            stream.write(line.encode() + b"\n")
        return from_line(line)

    def _bytes(self) -> bytes:
        with os_errors(f"{self.path} cannot be read"):
            return read(self.path)
