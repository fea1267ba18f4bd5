"""Folders where programs keep a user's files, by the rules of the system, and the file of solutions there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

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


def default_path(environ: Mapping[str, str] = os.environ) -> str:
    """The default path of the solutions: $TTC_DATABASE (empty = unset), or the user's cache directory.

    Raises DatabaseError where neither is known.
    """
    given = environ.get(VARIABLE, "")
    return os.path.expanduser(given) if given else user_path()


def user_path() -> str:
    """The user's own database, wherever $TTC_DATABASE is; DatabaseError where there is no home directory."""
    folder = user_folder("CACHE")
    if not os.path.isabs(folder):
        raise DatabaseError(f"there is no home directory to keep solutions in: {VARIABLE} names another place")
    return os.path.join(folder, FILE_NAME)


def choose_path(explicit: str | os.PathLike[str] | None, environ: Mapping[str, str] = os.environ) -> str:
    """The path given to a command or a call, else `default_path`; a leading ~ is the home directory.

    DatabaseError where the system has no owners of files, which tell whose machine code may run.
    """
    if not hasattr(os, "geteuid"):
        raise DatabaseError("solutions are kept on POSIX systems only, whose files have owners")
    return os.path.expanduser(explicit) if explicit else default_path(environ)
