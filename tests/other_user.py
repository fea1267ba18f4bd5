"""Checks made as another user: root passes every test of permissions."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forks import forked

from ttc_llvm.tuning import notices, signing

NOBODY = 65534

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
    notices.forget()
