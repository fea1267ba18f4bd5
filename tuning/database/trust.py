"""Whose files may be used: who can write a database, by owners and modes of the file and of the folders it lies in.

Code is linked if it carries the reader's own signature and nobody but the reader and root can write the file or its
folder; or, signed or not, if the file is trusted: named in TTC_DATABASE_TRUST, or one that only root can have written.
The latter says something to other users only, over whom root has power anyway. To root himself his own files say no
more than anybody's own files do: he may have copied them from anywhere, so that his own signature counts.

A file that is neither private nor trusted is read as it lies, and nothing is written into it: whoever can put a journal
beside it would have SQLite remove, overwrite or give away files with the reader's rights.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.tuning.database.notices import warn_once

VARIABLE = "TTC_DATABASE_TRUST"
ROOT = 0
# Windows has no such flags; there, `choose_path` refuses files.
OPENING = os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_NOFOLLOW") else 0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Standing:
    """The trust in a file. own: the reader's, and private; private: nobody but the reader and root can write
    it, or beside it; trusted: all of its code may run."""

    own: bool
    private: bool
    trusted: bool

    @property
    def safe(self) -> bool:
        """True where SQLite may open it for writing, and code that is stored may run later."""
        return self.private or self.trusted


def standing(place: str, environ: Mapping[str, str] = os.environ) -> Standing:
    """The standing of a database at this path, which holds no symbolic links; what does not exist yet will be ours."""
    user = os.geteuid()
    near = [found for found in map(_stat, (place, os.path.dirname(place))) if found is not None]
    private = all(map(_is_private, near))
    own = private and all(found.st_uid == user for found in near[:1])
    return Standing(own, private, _is_named(place, environ) or (user != ROOT and _is_roots(place)))


def shared(path: str) -> str:
    """The sentence about a file that is not safe."""
    use = "its plans are used, its machine code is not, and nothing is written into it"
    rule = f"`chmod go-w` both, or name it in {VARIABLE}"
    return f"others than this user can write solutions database {path} or its folder: {use}; {rule}"


def make_folder(folder: str) -> None:
    """Create a folder and those above it that are missing, for the user alone; raises OSError, also where root would
    leave his own in the home of another (sudo keeps HOME)."""
    missing = [one for one in _upwards(folder) if not os.path.lexists(one)]
    if missing:
        _check_owner(os.path.dirname(missing[-1]))
    for one in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(one, 0o700)
    if not os.path.isdir(folder):
        raise NotADirectoryError(20, os.strerror(20), folder)


def make_file(place: str) -> None:
    """Create an empty file for the user alone, unless there is one; raises OSError as `make_folder` does."""
    if not os.path.lexists(place):
        _check_owner(os.path.dirname(place))
    with suppress(FileExistsError):
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | OPENING, 0o600))


def read_private(path: str) -> bytes:
    """The content of a plain file that nobody but the user and root can write; raises OSError. A private folder may
    hold what was moved or linked there while it was none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | OPENING)
    with open(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_private(found):
            raise PermissionError(errno.EACCES, "others can write it", path)
        return stream.read()


def _check_owner(folder: str) -> None:
    """PermissionError where root would make something below a folder of another user."""
    found = _stat(folder)
    if os.geteuid() == ROOT and found is not None and found.st_uid != ROOT:
        fact = f"{folder} belongs to user {found.st_uid}, and root makes nothing below it"
        raise PermissionError(errno.EPERM, fact, folder)


def _upwards(path: str) -> list[str]:
    """A path, and the folders that it lies in, up to the root."""
    found = [path]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _is_private(found: os.stat_result) -> bool:
    return found.st_uid in (os.geteuid(), ROOT) and not found.st_mode & _OTHERS_WRITE


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_named(place: str, environ: Mapping[str, str]) -> bool:
    named = filter(None, environ.get(VARIABLE, "").split(os.pathsep))
    return any(one in _upwards(place) for one in map(_real, named))


def _real(name: str) -> str | None:
    """The absolute path of an entry; None for others, which would trust whatever folder is the current one."""
    path = os.path.expanduser(name)
    if not os.path.isabs(path):
        warn_once(path, VARIABLE, f"{VARIABLE}: {name} is not an absolute path, and so it is ignored")
        return None
    return os.path.realpath(path)


def _is_roots(place: str) -> bool:
    return all(map(_only_root_writes, _upwards(place)))


def _only_root_writes(path: str) -> bool:
    found = _stat(path)
    return found is not None and found.st_uid == ROOT and not found.st_mode & _OTHERS_WRITE
