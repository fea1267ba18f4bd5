"""Whose machine code may run: who can write a database, by owners and modes of the file and of the folders it lies in.

Code is linked if it carries the reader's own signature and nobody but the reader and root can write the file or its
folder; or, signed or not, if the file is trusted: named in TTC_DATABASE_TRUST, or one that only root can have written.
The latter says something to other users only, over whom root has power anyway. To root himself his own files say no
more than anybody's own files do: he may have copied them from anywhere, so that his own signature counts.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "TTC_DATABASE_TRUST"
ROOT = 0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Standing:
    """The trust in a file's code. own: the reader's, and private; private: nobody but the reader and root
    can write it; trusted: all of its code may run."""

    own: bool
    private: bool
    trusted: bool

    @property
    def keeps_code(self) -> bool:
        """True where code that is stored may run later."""
        return self.private or self.trusted


def standing(place: Path, environ: Mapping[str, str] = os.environ) -> Standing:
    """The standing of a database at this path, which holds no symbolic links; what does not exist yet will be ours."""
    user = os.geteuid()
    near = [found for found in map(_stat, (place, place.parent)) if found is not None]
    private = all(found.st_uid in (user, ROOT) and not found.st_mode & _OTHERS_WRITE for found in near)
    own = private and all(found.st_uid == user for found in near[:1])
    return Standing(own, private, _is_named(place, environ) or (user != ROOT and _is_roots(place)))


def make_folder(folder: Path) -> None:
    """Create a folder and those above it that are missing, for the user alone; raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    for one in reversed(missing):
        with suppress(FileExistsError):
            one.mkdir(0o700)
    if not folder.is_dir():
        raise NotADirectoryError(20, os.strerror(20), str(folder))


def make_file(place: Path) -> None:
    """Create an empty file for the user alone, unless there is one; raises OSError."""
    with suppress(FileExistsError):
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_named(place: Path, environ: Mapping[str, str]) -> bool:
    named = filter(None, environ.get(VARIABLE, "").split(os.pathsep))
    return any(one in (place, *place.parents) for one in map(_real, named))


def _real(name: str) -> Path:
    return Path(os.path.realpath(os.path.expanduser(name)))


def _is_roots(place: Path) -> bool:
    return all(map(_only_root_writes, (place, *place.parents)))


def _only_root_writes(path: Path) -> bool:
    found = _stat(path)
    return found is not None and found.st_uid == ROOT and not found.st_mode & _OTHERS_WRITE
