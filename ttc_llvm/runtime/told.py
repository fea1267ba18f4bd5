"""LLVM's answers about itself and this machine, remembered: processes that run stored code need not load it to ask."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from .. import __version__
from ..tuning.database.digests import sha256
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from . import cpuid
from .once import once

VERSIONS = f"ttc{__version__}"  # of what depends on `here` besides
_KIND, _NAME = "machine", "told"
_LIBRARIES = ("libllvmlite.so", "libllvmlite.dylib")


class Told(NamedTuple):
    """LLVM's version, and what it takes this machine for. features: sorted switches, `+avx,-avx512f`."""

    version: str
    triple: str
    cpu: str
    features: str


@once
def here() -> str | None:
    """The name of such a processor with this installation of llvmlite; None where that is not known.

    Raises TargetError where the system lets nothing run that a process has made.
    """
    where, who = _installation(), cpuid.identity()
    return None if where is None or who is None else str(sha256(f"{where} {who}".encode()).hexdigest())


def told(ask: Callable[[], Told]) -> Told:
    """The answers that a process got before on such a processor from this installation of llvmlite, or `ask()`'s.

    They are kept as code is: whoever could change them would have processes run what their processors lack.
    """
    name = here()
    if name is None:
        return ask()
    request = Request(name, "host", 1, "cold", "", VERSIONS, _KIND)
    store = open_database(None)
    for _, found in store.native(request, _NAME):
        lines = found.decode().split("\n")
        if len(lines) == len(Told._fields):
            return Told(*lines)
    answer = ask()
    store.keep_native(Record(request, 1, _NAME, objects=((_NAME, "\n".join(answer).encode()),)))
    return answer


def _installation() -> str | None:
    """What tells an installation of llvmlite from others: its library, to the last change; None where there is none."""
    for place in _places():
        for name in _LIBRARIES:
            path = os.path.join(place, "binding", name)
            try:
                found = os.stat(path)
            except OSError:
                continue
            return f"{path} {found.st_size} {found.st_mtime_ns}"
    return None


def _places() -> list[str]:
    """The folders of the package llvmlite, which is not imported."""
    with suppress(ImportError, ValueError):
        for finder in sys.meta_path:
            spec = finder.find_spec("llvmlite", None)
            if spec is not None:
                return list(spec.submodule_search_locations or ())
    return []
