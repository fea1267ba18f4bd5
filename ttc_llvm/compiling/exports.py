"""`ttc_llvm.export_solutions` and `import_solutions`: stored solutions as a file of JSON lines, and back."""

from __future__ import annotations

import os
from pathlib import Path

from .. import arguments, paths
from ..errors import DatabaseError, OptionError, os_errors, states_memory
from ..lazy_dataclasses import dataclass
from ..native import marks
from ..native.whole_file import whole_file
from ..runtime import kernel
from ..tuning.database import exchange
from ..tuning.database.exchange import lines_of
from ..tuning.database.folders import choose_path
from ..tuning.database.outcomes import Stored
from ..tuning.database.solution_file import SolutionFile


@dataclass(frozen=True, slots=True)
class Imported:
    """The counts of an import. read: solutions in the file; changed: those that were new or better than what was
    stored; coded: those that were stored with machine code."""

    read: int
    changed: int
    coded: int

    def __post_init__(self) -> None:
        arguments.put(self, dict.fromkeys(("read", "changed", "coded"), arguments.between(0)), OptionError)

    @classmethod
    def of(cls, found: list[Stored]) -> Imported:
        """The counts of what became of each solution."""
        return cls(len(found), sum(one.changed for one in found), sum(one.coded for one in found))


@states_memory
def export_solutions(
    path: str | Path, *, database: str | Path | None = None, with_code: bool = False, overwrite: bool = False
) -> int:
    """Write all stored solutions to a file, one JSON line each, whole or not at all; returns how many.

    database: its path, by default the user's (`ttc database path`); with_code: machine code, too, not plans and timings
    alone; overwrite: replace a file that is no export. Raises DatabaseError where the database cannot be read or the
    file not written, OptionError where the file is the database itself or somebody else's.
    """
    place, file = paths.checked("path", path), stored_in(database)
    coded, forced = arguments.flag("with_code", with_code), arguments.flag("overwrite", overwrite)
    if os.path.exists(place) and os.path.exists(file.path) and os.path.samefile(place, file.path):
        raise OptionError(f"{place} is the database itself: export to another file")
    marks.check_file(place, forced, exchange.is_export)
    with os_errors(f"export to {place} failed", DatabaseError), whole_file(place) as stream:
        return file.export(stream, kernel.versions(), objects=coded)


@states_memory
def import_solutions(path: str | Path, *, database: str | Path | None = None, with_code: bool = False) -> Imported:
    """Merge an export into the database, all or nothing: a solution replaces one of less effort, or a slower one.

    database: as for `export_solutions`; with_code: machine code, too, which will run here as yours; without it, code is
    built anew from the plans. Raises DatabaseError, which names the line, where the file is no export.
    """
    place, file, coded = paths.checked("path", path), stored_in(database), arguments.flag("with_code", with_code)
    with os_errors(f"import of {place} failed", DatabaseError), open(place, "rb") as stream:
        return Imported.of(file.import_(lines_of(stream), str(place), objects=coded))


def stored_in(database: str | Path | None) -> SolutionFile:
    """The file of solutions that a caller means; DatabaseError where there is no place for one."""
    return SolutionFile(choose_path(arguments.optional(paths.checked)("database", database or None, OptionError)))
