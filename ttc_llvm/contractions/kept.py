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
from ..tuning.database.records import Request
from .fused.run import Prepared, parse

KIND = "prepared contraction"  # of rows in the database
SEARCHED = "contraction"  # of rows of what searches have found
FIRST = 16  # of a process: what it prepares later is not what its start waits for
LONGEST = 4096  # characters of a key
_PREPARED, _TOLD = "prepared", "told"
_numbers = count()


def find(key: Hashable, threads: int, settings: str = "") -> tuple[Prepared, list[str]] | None:
    """The run that an earlier process has prepared for calls with this key, whose parts are plain, and the lines that
    it has put beside it; None where there is nothing. settings: all that it depends on beside machine and sources."""
    text = repr(key)
    if len(text) > LONGEST:
        return None
    with suppress(TargetError, ValueError, KeyError):  # no code runs here; rows of another form
        found = kept_kernels.stored(_request(text, threads, settings))
        if found:
            return parse(found[_PREPARED].decode()), found[_TOLD].decode().split("\n")
    return None


def keep(
    key: Hashable, threads: int, prepared: Prepared, told: Callable[[], Sequence[str] | None], settings: str = ""
) -> None:
    """Store it for later processes. told: makes the lines beside it, None where it is not to be stored."""
    text = repr(key)
    if len(text) > LONGEST or next(_numbers) >= FIRST:
        return
    lines = told()
    if lines is not None:
        objects = {_PREPARED: str(prepared).encode(), _TOLD: "\n".join(lines).encode()}
        kept_kernels.keep(_request(text, threads, settings), objects)


def searched(problem: str, target: str, threads: int, versions: str = VERSIONS) -> Request:
    """The request under which a search stores the best plan. versions: of the plan; it is found by any."""
    return Request(problem, target, threads, "hot-ab", "", versions, SEARCHED)


def _request(key: str, threads: int, settings: str) -> Request:
    options = f"{revision()} {settings}"
    return kept_kernels.request_for(KIND, key, stored_code.machine(), VERSIONS, threads, options)


@once
def revision() -> str:
    """Of all that plans, and of what native code reads, by the files that they come from."""
    own, builders = os.path.dirname(__file__), os.path.join(ir_builders.__path__[0], "fused")
    folders = {own: "", os.path.join(own, "fused"): "", builders: "", lowering.__path__[0]: "micro_kernel"}
    files = (file for folder, name in folders.items() for file in os.scandir(folder) if name in file.name)
    return stored_code.states_of(file for file in files if file.name.endswith(".py"))
