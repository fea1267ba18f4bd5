"""Paths that callers hand over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .arguments import Error, shown, word
from .errors import OptionError
from .locks import imported

if TYPE_CHECKING:
    from pathlib import Path

LONGEST_NAME, LONGEST_PATH = 255, 4096  # bytes, of Linux: NAME_MAX and PATH_MAX


def checked(name: str, value: Any, error: Error = OptionError) -> Path:
    """A path of str or os.PathLike that a file system can know."""
    try:
        spelled = os.fspath(value)
    except Exception:
        spelled = None
    if not isinstance(spelled, str):
        raise error(f"{name} {shown(value)} is no path: a str or a pathlib.Path is expected")
    data = os.fsencode(word(name, spelled, error))
    if len(data) >= LONGEST_PATH or max(map(len, data.split(b"/"))) > LONGEST_NAME:
        most = f"at most {LONGEST_NAME} bytes a name, {LONGEST_PATH - 1} in all"
        raise error(f"{name} {shown(spelled)} is too long: {most}")
    found: Path = imported("pathlib").Path(spelled)  # which would double the time that `ttc_llvm.transpose` takes
    return found
