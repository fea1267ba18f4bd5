"""The words of fused plans in the database, for later processes, which then load no planner."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import count

from .. import ir_builders, lowering
from ..errors import TargetError
from ..runtime import kept_kernels, stored_code
from ..runtime.here import VERSIONS
from ..runtime.once import once
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from .fused.run import Prepared, parse

KIND = "prepared contraction"  # of rows in the database
SEARCHED = "contraction"  # of rows of what searches have found
FIRST = 16  # of a process: what it prepares later is not what its start waits for
LOOKS = 64  # of a process: with more, it is no start that waits for them
LONGEST = 4096  # characters of a key
FUSED, OTHERS = "fused", ("memory", "micro_tile", "micro_tile_code", "micro_kernel")  # folders, and modules beside them
_PREPARED, _TOLD = "prepared", "told"
_numbers, _looks = count(), count()


def find(key: Hashable, threads: int, settings: str = "") -> tuple[Prepared, list[str]] | None:
    """The run that an earlier process has prepared for calls with this key, whose parts are plain, and the lines that
    it has put beside it; None where there is nothing. settings: all that it depends on beside machine and sources."""
    text = _text(key) if next(_looks) < LOOKS else ""
    with suppress(TargetError, ValueError, KeyError):  # no code runs here; rows of another form
        found = kept_kernels.stored(_request(text, threads, settings)) if text else {}
        if found:
            return parse(found[_PREPARED].decode()), found[_TOLD].decode().split("\n")
    return None


def keep(
    key: Hashable, threads: int, prepared: Prepared, told: Callable[[], Sequence[str] | None], settings: str = ""
) -> None:
    """Store it for later processes. told: makes the lines beside it, None where it is not to be stored."""
    text = _text(key) if next(_numbers) < FIRST else ""
    lines = told() if text else None
    if lines is not None:
        objects = {_PREPARED: str(prepared).encode(), _TOLD: "\n".join(lines).encode()}
        request = _request(text, threads, settings)
        record = Record(request, 1, KIND, objects=(*objects.items(),))
        open_database(None).keep_native(record, kept_kernels.MOST)


def searched(problem: str, target: str, threads: int, versions: str = VERSIONS) -> Request:
    """The request under which a search stores the best plan. versions: of the plan; it is found by any."""
    return Request(problem, target, threads, "hot-ab", "", versions, SEARCHED)


def _text(key: Hashable) -> str:
    """The text of a key; nothing where it is too long."""
    with suppress(ValueError):  # of integers of thousands of digits
        text = repr(key)
        return text if len(text) <= LONGEST else ""
    return ""


def _request(key: str, threads: int, settings: str) -> Request:
    options = f"{revision()} {settings}"
    return kept_kernels.request_for(KIND, key, stored_code.machine(), VERSIONS, threads, options)


@once
def revision() -> str:
    """Of all that plans, and of native code and what it reads, by the files that they come from."""
    own, builders, lower = os.path.dirname(__file__), ir_builders.__path__[0], lowering.__path__[0]
    whole = own, os.path.join(own, FUSED), os.path.join(builders, FUSED)
    files = [file for folder in whole for file in os.scandir(folder) if file.name.endswith(".py")]
    others = {f"{name}.py" for name in (*stored_code.COMPILER, *OTHERS)}
    return stored_code.states_of((*files, *(x for at in (builders, lower) for x in os.scandir(at) if x.name in others)))
