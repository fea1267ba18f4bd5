"""A single file that appears whole or not at all, whatever ends the process that writes it; and files that are read
whole, if they are not too long."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ..runtime.interrupts import Undo

LONGEST = 256 << 20  # bytes of what is read whole: devices such as /dev/zero never end


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A stream whose content takes the file's place when the block ends; where it fails, the file stays as it was.

    It is written beside the file, which keeps its mode. What is no regular file, such as a pipe, is written directly.
    OSError as from `open`.
    """
    place = Path(os.path.realpath(path))
    if os.path.exists(path) and not os.path.isfile(path):  # by its own name: pipes in /dev/fd lead to no place
        with open(path, "wb") as stream:
            yield stream
        return
    if place.exists():
        open(place, "ab").close()  # OSError where it is read-only: a rename would not mind
    aside = place.with_name(f".ttc.{secrets.token_hex(4)}.tmp")
    with Undo(partial(_forget, aside)):
        with open(aside, "xb") as stream:
            yield stream
        if place.exists():
            shutil.copymode(place, aside)
        os.replace(aside, place)


def _forget(aside: Path) -> None:
    with contextlib.suppress(OSError):
        aside.unlink(missing_ok=True)


def write(path: str | Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, escaped where that has no bytes, whole or not at all. OSError as from `open`."""
    with whole_file(path) as stream:
        stream.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def read(path: str | Path) -> bytes:
    """A file's content. OSError as from `open`, and where there are more than LONGEST bytes."""
    with open(path, "rb") as stream:
        return rest(stream)


def filled(template: Path, values: Mapping[str, str]) -> str:
    """The text of a template of ours, every @NAME@ of which stands for a value."""
    return re.sub("@([A-Z]+)@", lambda found: values[found[1]], template.read_text())


def rest(stream: BinaryIO) -> bytes:
    """The rest of a stream. OSError where that is more than LONGEST bytes."""
    data = stream.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise OSError(errno.EFBIG, f"it has more than {LONGEST} bytes")
    return data
