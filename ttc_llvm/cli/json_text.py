"""JSON that is walked item by item, so that whoever finds a mistake knows its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


class Fault(ValueError):
    """What is wrong, and on which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Cursor:
    """A place in a JSON text; arrays of objects are walked here, so that every field's line is known."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._decoder = json.JSONDecoder()

    @property
    def line(self) -> int:
        """The line of what comes next."""
        return self._text.count("\n", 0, self._at) + 1

    def peek(self) -> str:
        """The next character that is no blank, "" at the end."""
        while self._text[self._at : self._at + 1] in (" ", "\t", "\r", "\n"):
            self._at += 1
        return self._text[self._at : self._at + 1]

    def takes(self, character: str) -> bool:
        """Step over this character if it comes next."""
        found = self.peek() == character
        self._at += found
        return found

    def expect(self, characters: str) -> str:
        """Step over one of these characters; Fault if another comes."""
        for character in characters:
            if self.takes(character):
                return character
        wanted = " or ".join(map(repr, characters))
        raise Fault(self.line, f"{self.peek()!r} stands where JSON wants {wanted}" if self.peek() else
                     f"the text ends where JSON wants {wanted}")  # fmt: skip

    def value(self) -> Any:
        """The value that comes next."""
        self.peek()
        line = self.line
        try:
            found, self._at = self._decoder.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise Fault(error.lineno, f"{error.msg} (column {error.colno})") from None
        except RecursionError:
            raise Fault(line, "lists are nested too deep") from None
        except ValueError as error:  # an integer of more digits than Python reads
            raise Fault(line, str(error)) from None
        return found


def items(cursor: Cursor, begin: str, end: str) -> Iterator[None]:
    """Stop at every item of a list or object; whoever iterates steps over the item."""
    cursor.expect(begin)
    if cursor.takes(end):
        return
    yield
    while cursor.expect(f",{end}") == ",":
        yield
