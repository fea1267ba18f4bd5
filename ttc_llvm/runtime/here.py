"""The name of this machine and its LLVM, known without LLVM: under which code is stored that runs here."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from .. import __version__, locks
from ..tuning.database.digests import sha256
from . import cpuid
from .once import once

VERSIONS = f"ttc{__version__}"  # on which such code depends besides
_LIBRARIES = ("libllvmlite.so", "libllvmlite.dylib")
# Texts that are the same where LLVM says the same of two machines, and we do, by the system's name of the processor.
_IDENTITIES: Mapping[str, Callable[[], str]] = {
    "x86_64": lambda: cpuid.identity(),
    "aarch64": lambda: str(locks.imported(".hwcap", __package__).identity()),
}


@once
def here() -> str | None:
    """The name of such a processor with this installation of llvmlite; None where that is not known.

    Raises TargetError where the system lets nothing run that a process has made.
    """
    identity = _IDENTITIES.get(platform.machine())
    where, who = _installation(), identity and identity()
    return None if where is None or who is None else str(sha256(f"{where} {who}".encode()).hexdigest())


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
