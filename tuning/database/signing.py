"""The user's own signature under stored machine code: a keyed digest, its secret in the user's state folder."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

from ttc_llvm.tuning.database.digests import hmac_sha256
from ttc_llvm.tuning.database.folders import user_folder
from ttc_llvm.tuning.database.notices import warn_once
from ttc_llvm.tuning.database.trust import OPENING, make_folder

SECRET_BYTES = 32
WAIT_SECONDS = 2.0  # for another process to fill the file that it has just made
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | OPENING
_DOMAIN = b"ttc_llvm code 2"


def signature(secret: bytes, fields: Iterable[str | bytes | None]) -> bytes:
    """HMAC-SHA256 of the fields in order; framed by their lengths, so that no two lists of fields look the same."""
    return hmac_sha256(secret, b"".join((_DOMAIN, *map(_framed, fields))))


def _framed(field: str | bytes | None) -> bytes:
    data = field.encode("utf-8", "surrogateescape") if isinstance(field, str) else field or b""
    return b"\n%s %d\n%s" % (type(field).__name__.encode(), len(data), data)


def own_secret() -> bytes | None:
    """The user's secret, made by the first call; None, and one line of warning, where there is no place for it."""
    path = os.path.join(user_folder("STATE"), "secret")
    try:
        return _secret(path, os.geteuid())
    except (OSError, ValueError) as error:
        fact = error.strerror if isinstance(error, OSError) else error
        rule = "machine code is neither kept in databases nor taken from them"
        warn_once(path, "secret", f"{path} cannot be used ({fact}): {rule}")
        return None


@lru_cache(maxsize=8)
def _secret(path: str, _: int) -> bytes:
    """The secret of a user, kept for this user only; what is raised is not kept."""
    if not os.path.isabs(path):
        raise ValueError("there is no home directory")
    if not os.path.lexists(path):
        _make(path)
    return _read(path)


def _make(path: str) -> None:
    """Of processes that come first together, one succeeds: a link never replaces a file, and is there as a whole."""
    folder, name = os.path.split(path)
    make_folder(folder)
    part = os.path.join(folder, f".{name}-{os.urandom(8).hex()}")
    try:
        _write(part)
        with suppress(FileExistsError):
            os.link(part, path)
    except OSError as error:
        if error.errno not in _NO_LINKS or not os.path.exists(part):
            raise
        with suppress(FileExistsError):
            _write(path)  # the file system has no links: others wait for the bytes
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _write(path: str) -> None:
    with open(os.open(path, _NEW, 0o600), "wb") as stream:
        stream.write(os.urandom(SECRET_BYTES))
        stream.flush()
        os.fsync(stream.fileno())


def _read(path: str) -> bytes:
    # A pipe of that name is opened without waiting for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | OPENING)
    with open(descriptor, "rb", buffering=0) as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        if found.st_uid != os.geteuid():
            raise ValueError(f"it belongs to user {found.st_uid}, not to user {os.geteuid()}")
        if found.st_mode & 0o077:
            raise ValueError("others can read or write it: remove it, and a new one is made")
        while os.fstat(descriptor).st_size < SECRET_BYTES and time.time() - found.st_mtime < WAIT_SECONDS:
            time.sleep(0.01)
        secret = stream.read(SECRET_BYTES + 1)
    if secret is None or len(secret) != SECRET_BYTES:
        raise ValueError(f"it does not hold {SECRET_BYTES} bytes: remove it, and a new one is made")
    return secret
