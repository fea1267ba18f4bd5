"""Checks and commands of another user: limits and permissions do not bind root."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forks import forked

from ttc_llvm.tuning.database import notices, signing

NOBODY = 65534
_KEEPCAPS, _AMBIENT, _RAISE = 8, 47, 2  # of prctl
_READ_SEARCH = 2  # capability: the interpreter may lie in root's own home
_CAPABILITIES = 0x20080522  # version of capset's structures

needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")


@contextmanager
def own_folder(owner: int = NOBODY) -> Iterator[Path]:
    """A folder of that user, which all may enter, in a place that all may enter."""
    folder = Path(tempfile.mkdtemp(prefix="ttc-other-"))
    os.chown(folder, owner, owner)
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def passes_as_other(check: Callable[[], object], home: Path) -> bool:
    """True where the check holds for a user whose home this is; in a child, whose modules are loaded already."""

    def checked() -> object:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        use_home(home)
        return check()

    return forked(checked) == 0


def use_home(home: Path) -> None:
    """What a fresh process of the user with this home would begin with."""
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "TTC_DATABASE", "TTC_DATABASE_TRUST"):
        os.environ.pop(name, None)
    os.environ["HOME"] = str(home)
    signing._secret.cache_clear()
    notices._warned.clear()


def become(user: int) -> None:
    """In a child before its command (`preexec_fn`): another user, who may read and enter everything but write nothing.

    Where this process is not root's, it stays who it is.
    """
    if os.getuid() != 0:
        return
    libc = ctypes.CDLL(None)
    libc.prctl(_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    rights = struct.pack("6I", *[1 << _READ_SEARCH] * 3, 0, 0, 0)  # effective, permitted, inheritable
    libc.capset(struct.pack("Ii", _CAPABILITIES, 0), rights)
    libc.prctl(_AMBIENT, _RAISE, _READ_SEARCH, 0, 0)
