"""Machine code that serves many problems: kept in the solutions database, so that later processes only link it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from ..compiling.stored_plans import open_database
from ..errors import CompileError
from ..machine.target import Target
from ..runtime import backend, kernel
from ..tuning.database.records import Record, Request

_log = logging.getLogger(__name__)
T = TypeVar("T")


def linked(
    what: str, how: str, target: Target, compiled: Callable[[], bytes], link: Callable[[bytes], T]
) -> T:
    """`link(code)`, where code is the object stored under these names, or else `compiled()`, which is then stored.

    what, how: the row's problem and plan; the code of another plan or of other versions is not used. Stored code that
    cannot be linked is compiled again, with a warning.
    """
    if not backend.runs_here(target):
        return link(compiled())
    request = Request(what, target.key, 1, "hot-ab", "", kernel.versions())
    store = open_database(None)
    record = store.find(request, 1).record
    code = None if record is None or record.plan != how else dict(record.objects).get(kernel.NAME)
    if code is not None:
        try:
            return link(code)
        except CompileError as error:
            _log.warning("stored object code is ignored: %s", error)
    code = compiled()
    made = link(code)
    fresh = Record(request, 1, how, objects=((kernel.NAME, code),))
    if record is not None and record.plan == how:
        store.keep(fresh)
    else:
        store.store(fresh)
    return made
