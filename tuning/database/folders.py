"""Folders where programs keep a user's files, by the rules of the system, and the file of solutions there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError

VARIABLE = "TTC_DATABASE"
FILE_NAME = "solutions.sqlite3"
_XDG = {"CACHE": ("XDG_CACHE_HOME", "~/.cache"), "STATE": ("XDG_STATE_HOME", "~/.local/state")}


def user_folder(kind: str) -> str:
    """Our folder of a kind, CACHE or STATE. On Linux it is known without `platformdirs`, which loads much."""
    if not sys.platform.startswith("linux"):
        known = locks.imported("platformdirs")
        return str({"CACHE": known.user_cache_dir, "STATE": known.user_state_dir}[kind]("ttc_llvm"))
    variable, usual = _XDG[kind]
    given = os.environ.get(variable, "")
    return os.path.join(given if os.path.isabs(given) else os.path.expanduser(usual), "ttc_llvm")


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The default path of the solutions: $TTC_DATABASE (empty = unset), or the user's cache directory.

    Raises DatabaseError where neither is known.
    """
    given = environ.get(VARIABLE, "")
    return _expand(Path(given)) if given else user_path()


def user_path() -> Path:
    """The user's own database, wherever $TTC_DATABASE is; DatabaseError where there is no home directory."""
    folder = Path(user_folder("CACHE"))
    if not folder.is_absolute():
        raise DatabaseError(f"there is no home directory to keep solutions in: {VARIABLE} names another place")
    return folder / FILE_NAME


def choose_path(explicit: str | Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The path given to a command or a call, else `default_path`; a leading ~ is the home directory.

    DatabaseError where the system has no owners of files, which tell whose machine code may run.
    """
    if not hasattr(os, "geteuid"):
        raise DatabaseError("solutions are kept on POSIX systems only, whose files have owners")
    return _expand(Path(explicit)) if explicit else default_path(environ)


def _expand(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no home directory: a file of that very name is the best guess
        return path
