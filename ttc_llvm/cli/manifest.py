"""Manifests: files that list problems for one library, as lines of options or as JSON.

Text: one problem a line, in the command line's own options; `#` begins a comment, blank lines are skipped.
JSON: a list of objects whose keys are the options without dashes: `[{"perm": [1, 0], "size": [48, 32]}]`.
Whatever is wrong is told as `FILE:LINE: FIELD ...`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..errors import OptionError
from ..lazy_dataclasses import dataclass, field
from ..native import whole_file
from . import manifest_fields, reading
from .manifest_fields import RUN_WIDE, shown
from .options import CANONICAL, OPTIONS, typed

# How messages begin that say in words which field is meant.
IN_WORDS = {"unknown data type": "--dataType", "data type": "--dataType", "dtype": "--dataType"}


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One problem of a manifest. given: texts (switches: True or False) by field of `Command`; flags: as in `Command`;
    lines: where each field stands if that is not the problem's first line."""

    file: str
    line: int
    given: Mapping[str, Any]
    flags: Mapping[str, str]
    lines: Mapping[str, int] = field(default_factory=dict)

    def place(self, message: str = "") -> str:
        """`FILE:LINE` of the field that a message begins with, or of the problem."""
        word = re.match(r"(?:--)?([A-Za-z][\w-]*)", message)
        name = next((key for words, key in IN_WORDS.items() if message.startswith(words)), word[1] if word else "")
        return f"{self.file}:{self.lines.get(self.flags.get(name, name).removeprefix('--'), self.line)}"


class _Fault(ValueError):
    """What is wrong, and on which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read(path: str) -> tuple[ManifestEntry, ...]:
    """The problems of a manifest, at least one. OptionError, one sentence that begins with file and line."""
    try:
        text = _text(path)
        entries = tuple(_json_entries(path, text) if _is_json(path, text) else _text_entries(path, text))
    except _Fault as fault:
        raise OptionError(f"{path}:{fault.line}: {fault}") from None
    if not entries:
        raise OptionError(f"{path}: there is no problem in this manifest: it needs at least one")
    return entries


def _text(path: str) -> str:
    try:
        data = whole_file.read(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"--manifest={path} cannot be read: {reason}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Fault(line, f"byte 0x{data[error.start]:02x} is not UTF-8 text") from None
    if "\0" in text:
        raise _Fault(text.count("\n", 0, text.index("\0")) + 1, "a NUL byte is not text")
    return text


def _is_json(path: str, text: str) -> bool:
    return path.lower().endswith(".json") or text.lstrip()[:1] in ("[", "{")


# --- text -------------------------------------------------------------------------------------------------


_QUOTING = re.compile("""['"#\\\\]""")  # what shlex alone understands; it is slow


def _text_entries(path: str, text: str) -> Iterator[ManifestEntry]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True) if _QUOTING.search(line) else line.split()
            if words:
                yield ManifestEntry(path, number, _given(words), typed(words))
        except OptionError as error:
            raise _Fault(number, str(error)) from None
        except ValueError as error:  # of shlex, which says no more
            why = "a quotation mark" if "quotation" in str(error) else "a character behind the backslash"
            raise _Fault(number, f"{why} is missing at the end of the line: every problem stands on one") from None


def _given(words: list[str]) -> dict[str, Any]:
    flags = [word.partition("=")[0] for word in reading.joined(words)]
    names = [CANONICAL.get(flag, flag) for flag in flags]
    for flag, name in zip(flags, names, strict=True):
        if flag.startswith("-") and names.count(name) > 1:
            raise OptionError(_twice(flag, flags))
        if flag in ("-h", "--help", "--version", "--cmake-dir"):
            raise OptionError(f"{flag} is no option of a problem")
    found = reading.given(words)
    for option in OPTIONS:
        if option.field in found and option.field in RUN_WIDE:
            raise OptionError(manifest_fields.refusal(option, option.flag))
    return found


def _twice(flag: str, flags: Collection[str]) -> str:
    """The sentence on an option that is given twice, by one name or by two."""
    other = next((one for one in flags if one != flag and CANONICAL.get(one, one) == CANONICAL.get(flag, flag)), None)
    return f"{flag} is given twice" if other is None else f"{flag} and {other} are two names of one option: give one"


# --- JSON -------------------------------------------------------------------------------------------------


class _Cursor:
    """A place in a JSON text; arrays of objects are walked here, so that every field's line is known."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._decoder = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_once)

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
        """Step over one of these characters; _Fault if another comes."""
        for character in characters:
            if self.takes(character):
                return character
        wanted = " or ".join(map(repr, characters))
        raise _Fault(self.line, f"{self.peek()!r} stands where JSON wants {wanted}" if self.peek() else
                     f"the text ends where JSON wants {wanted}")  # fmt: skip

    def value(self) -> Any:
        """The value that comes next."""
        self.peek()
        line = self.line
        try:
            found, self._at = self._decoder.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise _Fault(error.lineno, f"{error.msg} (column {error.colno})") from None
        except RecursionError:
            raise _Fault(line, "lists are nested too deep") from None
        except ValueError as error:  # an integer of more digits than Python reads
            raise _Fault(line, str(error)) from None
        return found


def _no_constant(name: str) -> None:
    """Python reads NaN and Infinity, other readers of JSON do not."""
    raise ValueError(f"{name} is no number in JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key} is given twice")
        found[key] = value
    return found


def _json_entries(path: str, text: str) -> Iterator[ManifestEntry]:
    cursor = _Cursor(text)
    if cursor.peek() != "[":
        raise _Fault(cursor.line, "a JSON manifest is a list of objects: it begins with '['")
    for _ in _items(cursor, "[", "]"):
        if cursor.peek() != "{":
            raise _Fault(cursor.line, f"{shown(cursor.value())} stands where an object such as "
                         '{"perm": [1, 0], "size": [48, 32]} is expected')  # fmt: skip
        line = cursor.line
        given, lines = _object(cursor)
        yield ManifestEntry(path, line, given, typed([f"--{key}" for key in lines]), lines)
    if cursor.peek():
        raise _Fault(cursor.line, f"{cursor.peek()!r} follows the end of the list")


def _items(cursor: _Cursor, begin: str, end: str) -> Iterator[None]:
    """Stop at every item of a list or object; the caller steps over the item."""
    cursor.expect(begin)
    if cursor.takes(end):
        return
    yield
    while cursor.expect(f",{end}") == ",":
        yield


def _object(cursor: _Cursor) -> tuple[dict[str, Any], dict[str, int]]:
    given: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for _ in _items(cursor, "{", "}"):
        line = (cursor.peek(), cursor.line)[1]
        key = cursor.value()
        if not isinstance(key, str):
            raise _Fault(line, f"{shown(key)} stands where a key is expected")
        cursor.expect(":")
        value = cursor.value()
        known = [CANONICAL.get(f"--{one}", one) for one in lines]
        if key in lines or CANONICAL.get(f"--{key}") in known:
            raise _Fault(line, _twice(f"--{key}", [f"--{one}" for one in lines]).replace("--", ""))
        lines[key] = line
        try:
            option = manifest_fields.option(key)
            if value is not None:
                given[option.field] = manifest_fields.converted(option, key, value)
        except OptionError as error:
            raise _Fault(line, str(error)) from None
    return given, lines
