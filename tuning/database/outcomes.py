"""Results of what is done to a file of solutions."""

from __future__ import annotations

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.tuning.database.records import Record


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a listing: a record without its objects, and the bytes that all of its code takes in the file."""

    record: Record
    packed_bytes: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The fate of a record. changed: it changed what is stored; coded: its code was signed and stored."""

    changed: bool
    coded: bool = False


@dataclass(frozen=True, slots=True)
class Cleared:
    """The result of a clear. rows: solutions removed; moved: where a damaged file went, None if it was sound."""

    rows: int
    moved: str | None = None
