"""The databases of this process, one object for each path."""

from __future__ import annotations

import os
from functools import cache

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.folders import choose_path
from ttc_llvm.tuning.database.notices import warn_once


@cache
def _database(path: str | None, ignore: bool) -> Database:
    return Database(path, read=not ignore)


def open_database(path: str | os.PathLike[str] | None, ignore: bool = False) -> Database:
    """The solutions database at this path (None: TTC_DATABASE, else the user's cache directory).

    Where there is no place for one, it lasts as long as the process, and one line says so.
    """
    with locks.DATABASE:
        try:
            return _database(choose_path(path), ignore)
        except DatabaseError as error:
            warn_once("", "place", f"{error}; new solutions last as long as this process")
            return _database(None, ignore)
