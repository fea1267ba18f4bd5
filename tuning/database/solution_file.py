"""One file of solutions, strictly: whatever goes wrong is a DatabaseError of one line."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, BinaryIO

from ttc_llvm import locks
from ttc_llvm.errors import DatabaseError
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.tuning.database import rows, schema
from ttc_llvm.tuning.database.code import ALONE, Code, linkable, signed
from ttc_llvm.tuning.database.file_access import FileAccess
from ttc_llvm.tuning.database.notices import warn_once
from ttc_llvm.tuning.database.outcomes import Cleared, Listed, Stored
from ttc_llvm.tuning.database.packing import Objects
from ttc_llvm.tuning.database.records import Record, Request, covers, merge
from ttc_llvm.tuning.database.schema import CODE, SOLUTIONS, Transaction

_ID_DIGITS = 32
Found = tuple[Record | None, tuple[str, ...]]  # a solution, and plans that are hints of one
IsPlan = Callable[[str], bool]  # whether a row's text, of today or earlier, is that of the plan in question


def _exchange() -> Any:
    """What exports and imports need, and nothing else."""
    with locks.IMPORTS:
        from ttc_llvm.tuning.database import exchange
    return exchange


def _place(row: Listed) -> tuple[str, ...]:
    request = row.record.request
    return request.problem, request.target, request.id


class SolutionFile(FileAccess):
    """The solutions in the SQLite file at `path`.

    Every method is one or more short transactions, safe with other processes and threads at work. Code is given out
    where it may run only (`trust.py`), and kept where it may run later.
    """

    def get(self, request: Request) -> Record | None:
        """The stored solution of this request, whatever versions made it, with their code that asks.

        A malformed row counts as none, with one warning.
        """
        return self.read(lambda s: self._get(s, request))

    def code_of(self, problem: str, target: str, is_plan: IsPlan, versions: str) -> Objects:
        """The code of a plan of a problem for these versions, whatever request it belongs to."""
        return self.read(lambda s: self._code_of(s, problem, target, is_plan, versions)) or ()

    def native(self, request: Request, plan: str) -> Objects:
        """Code that `put_native` has stored."""
        return self.read(lambda s: self._code(s, request, plan)) or ()

    def put_native(self, given: Iterable[tuple[Record, int | None]]) -> None:
        """Store code that belongs to no solution, unless this user cannot sign it; with each, how many rows of such
        code of its plan are kept, None = all."""
        made = ((record, signed(self.path, record, ALONE), most) for record, most in given)
        if every := [(record, code, most) for record, code, most in made if code is not None]:
            self.write(lambda s: self._put_native(s, every))

    def look_up(self, request: Request, known: Record | None, effort: int | None) -> Found:
        """The better one of what is stored and what is known; where it spares no search of this effort, None = all do,
        `rows.plans`."""

        def found(s: Transaction) -> Found:
            stored = self._get(s, request)
            best = stored if known is None else merge(stored, known)
            spares = effort is None or (best is not None and covers(best.effort, effort))
            return best, () if spares else rows.plans(s, request)

        return self.read(found) or (known, ())

    def put(self, records: Iterable[Record], refused: Collection[tuple[str, str]] = ()) -> list[bool]:
        """Merge records into the file, all or none; says for each whether it changed what is stored.

        refused: IDs with plans that are of no use here and give way to any other.
        """
        return [one.changed for one in self._put(records, refused)]

    def rows(self) -> list[Listed]:
        """Every solution, by problem, without objects."""
        return sorted((Listed(*one) for one in self.read(lambda s: rows.listed(s, self._ignored)) or ()), key=_place)

    def show(self, prefix: str, versions: str | None = None) -> Record:
        """The solution whose ID begins so, with the code of these versions; DatabaseError for none or several."""
        (key,) = self._resolve([prefix])
        found = self.read(lambda s: self._by_id(s, key, versions) or rows.older(s, self._ignored).get(key))
        if found is None:
            raise DatabaseError(f"solution {key} of {self.path} was removed meanwhile, or is malformed")
        return found

    def export(self, stream: BinaryIO, versions: str | None = None, *, objects: bool = True) -> int:
        """Write every solution as a JSON line; returns how many. A slow stream keeps no lock on the file.

        versions: whose code is wanted, None = that of whoever made the plan.
        """
        listed = self.rows()
        for one in (row.record for row in listed):
            found = self.read(partial(self._by_id, key=one.request.id, versions=versions)) if objects else None
            stream.write(_exchange().to_line(found or one, objects=objects))
        return len(listed)

    def import_(self, lines: Iterable[bytes], source: str, *, objects: bool = False) -> list[Stored]:
        """Merge an export into the file, all or nothing; says for each what became of it.

        objects: take the machine code, too, and sign it: it will run. DatabaseError names source, line and field of
        the first malformed line.
        """
        return self._put(_exchange().from_lines(lines, source, objects=objects))

    def delete(self, prefixes: Sequence[str]) -> Cleared:
        """Remove the solutions with these IDs, or none if one of them is not found."""
        keys = self._resolve(prefixes)

        def remove(s: Transaction) -> int:
            known = rows.older(s, self._ignored)
            return sum(map(bool, [self._delete(s, key, known.get(key)) for key in keys]))

        return Cleared(self._remove(remove))

    def clear_older(self, versions: str, native: str = "") -> Cleared:
        """Remove what is of use to other versions of the program only: their solutions that these versions have no code
        of, their code, code without a solution, tables of older schemas. native: of code that belongs to no solution,
        where it has versions of its own."""

        def remove(s: Transaction) -> int:
            count = self._drop_older(s)
            used = f"SELECT id FROM {CODE} WHERE versions = ?"  # another version's plan, and in daily use
            count += s.change(f"DELETE FROM {SOLUTIONS} WHERE versions != ? AND id NOT IN ({used})", versions, versions)
            lost = f"extra IS NOT '{ALONE}' AND id NOT IN (SELECT id FROM {SOLUTIONS})"
            s.change(f"DELETE FROM {CODE} WHERE versions NOT IN (?, ?) OR ({lost})", versions, native)
            return count

        return Cleared(self._remove(remove))

    def clear(self) -> Cleared:
        """Remove every solution. A damaged file is moved aside, not deleted: it may be someone's document."""

        def remove(s: Transaction) -> int:
            count = self._drop_older(s)
            s.change(f"DELETE FROM {CODE}")
            return count + s.change(f"DELETE FROM {SOLUTIONS}")

        try:
            return Cleared(self._remove(remove))
        except DatabaseError as error:
            if not schema.is_damage(error.__cause__):
                raise
            return Cleared(0, self.move_aside())

    # --- inside one transaction ---

    def _get(self, s: Transaction, request: Request) -> Record | None:
        found = self._by_id(s, request.id, request.versions)
        if found is not None:
            return found
        known = rows.older_of(s, request, self._ignored)
        return None if known is None else replace(known, request=request)

    def _by_id(self, s: Transaction, key: str, versions: str | None) -> Record | None:
        """A row of schema 2. versions: whose code is wanted, None = that of whoever made the plan."""
        found = s.select(rows.GET, key) if SOLUTIONS in s.tables else []
        read = rows.sound(found, self._ignored, lambda row: rows.decode(row, versions, partial(self._code, s)))
        return next((record for record, _ in read), None)

    def _code(self, s: Transaction, request: Request, plan: str) -> Objects:
        return linkable(self.path, s.place, request, rows.code(s, request, plan))

    def _code_of(self, s: Transaction, problem: str, target: str, is_plan: IsPlan, versions: str) -> Objects:
        known = s.select(rows.GET_PLANS, problem, target) if SOLUTIONS in s.tables else []
        found = (row for row in known if isinstance(row[rows.PLAN], str) and is_plan(row[rows.PLAN]))
        read = rows.sound(found, self._ignored, lambda row: rows.decode(row, versions, partial(self._code, s)))
        return next((record.objects for record, _ in read if record.objects), ())

    def _put(self, records: Iterable[Record], refused: Collection[tuple[str, str]] = ()) -> list[Stored]:
        given = list(records)
        return self.write(lambda s: [self._merge(s, record, refused) for record in given]) if given else []

    def _merge(self, s: Transaction, record: Record, refused: Collection[tuple[str, str]]) -> Stored:
        old = self._get(s, record.request)
        if old is not None and (old.request.id, old.plan) in refused:
            old = None
        kept = merge(old, record)
        if kept == old:
            return Stored(False)
        s.change(rows.PUT, *rows.encode(kept))
        s.change(f"DELETE FROM {CODE} WHERE id = ? AND plan != ?", kept.request.id, kept.plan)
        made = signed(self.path, kept) if kept.objects and kept.objects is record.objects else None
        if made is not None:
            s.change(rows.PUT_CODE, *rows.encode_code(kept.request, made))
        return Stored(True, made is not None)

    def _put_native(self, s: Transaction, given: Iterable[tuple[Record, Code, int | None]]) -> None:
        for record, code, most in given:
            s.change(rows.PUT_CODE, *rows.encode_code(record.request, code))
            if most is not None:
                s.change(rows.DROP_CODE, ALONE, record.plan, ALONE, record.plan, most)

    def _drop_older(self, s: Transaction) -> int:
        newer = {key for (key,) in s.select(f"SELECT id FROM {SOLUTIONS}")}
        count = len(rows.older(s, self._ignored).keys() - newer)
        schema.drop_older(s)
        return count

    def _delete(self, s: Transaction, key: str, older: Record | None) -> int:
        s.change(f"DELETE FROM {CODE} WHERE id = ?", key)
        count = 0 if older is None else rows.remove_older(s, older.request)
        return count + s.change(f"DELETE FROM {SOLUTIONS} WHERE id = ?", key)

    # --- naming and removing ---

    def _ignored(self, key: Any, error: DatabaseError) -> None:
        name = repr(key) if isinstance(key, str) and len(key) <= _ID_DIGITS else reprlib.repr(key)
        warn_once(self.path, "row", f"solutions database {self.path}: row {name} is ignored: {error}")

    def _keys(self, s: Transaction) -> list[str]:
        found = s.select(f"SELECT id FROM {SOLUTIONS}") if SOLUTIONS in s.tables else []
        return list({key for (key,) in found if isinstance(key, str)} | rows.older(s, self._ignored).keys())

    def _resolve(self, prefixes: Sequence[str]) -> list[str]:
        keys = self.read(self._keys) or []
        return [self._one(prefix, [key for key in keys if key.startswith(prefix)]) for prefix in prefixes]

    def _one(self, prefix: str, matches: list[str]) -> str:
        if not re.fullmatch("[0-9a-f]+", prefix):
            raise DatabaseError(f"{prefix!r} is not the ID of a solution: IDs are hexadecimal digits")
        if len(matches) != 1:
            count = len(matches) or "no"
            raise DatabaseError(f"{count} solutions in {self.path} have an ID {prefix}...: exactly one must")
        return matches[0]

    def _remove(self, operation: Callable[[Transaction], int]) -> int:
        if self.read(lambda s: True) is None:
            return 0

        def checked(s: Transaction) -> int:
            schema.check(s)  # first: what is removed as a whole is not counted while it is removed
            return operation(s)

        removed = self.write(checked)
        self.shrink()
        return removed
