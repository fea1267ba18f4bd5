"""Choices among contractions that differ in how C lies, by what is predicted; kept for later processes, which then load
no planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

from ..errors import PlanError
from ..lazy_dataclasses import NamedTuple
from ..runtime import backend
from ..tuning.database.database import Database
from ..tuning.database.records import Record, Request
from . import kept
from .merged import Form
from .plans import Plan, check, parse

KIND = "choice of a contraction"  # of rows in the database
FIRST = 16  # choices of a process that are kept: what it chooses later is not what its start waits for
LOOKS = 64  # of a process: with more, it is no start that waits for them
MOST = 1024  # rows in a file: with one more, the one that was written first goes
_NAME = "choice"
_numbers, _looks = count(), count()


class Choice(NamedTuple):
    """The number of the chosen contraction, and its plan."""

    number: int
    plan: Plan


def made(
    forms: Sequence[Form], workers: int, versions: str, store: Database, make: Callable[[], Choice],
    is_kept: Callable[[], bool],
) -> Choice:  # fmt: skip
    """The choice that an earlier process has kept, or `make()`'s, which is kept if it is one of the first and
    `is_kept()`. versions: all that predictions depend on beside this machine and our sources."""
    if next(_looks) >= LOOKS:
        return make()
    key = " | ".join(map(str, forms)), backend.host_target().key, workers, "hot-ab", "", f"{versions} {kept.revision()}"
    request = Request(*key, KIND)
    for _, text in store.native(request, KIND):
        with suppress(PlanError, ValueError, IndexError):
            number, _, plan = text.decode().partition(" ")
            return Choice(int(number), check(parse(plan), forms[int(number)].merged).plan)
    found = make()
    if next(_numbers) < FIRST and is_kept():
        record = Record(request, 1, KIND, objects=((_NAME, f"{found.number} {found.plan}".encode()),))
        store.keep_native(record, MOST)
    return found
