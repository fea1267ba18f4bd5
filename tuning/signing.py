"""The user's own signature under stored machine code: a keyed digest, its secret in the user's state folder."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import platformdirs

from ttc_llvm.tuning.notices import warn_once
from ttc_llvm.tuning.trust import make_folder

SECRET_BYTES = 32
_DOMAIN = b"ttc_llvm code 2"


def signature(secret: bytes, fields: Iterable[str | bytes | None]) -> bytes:
    """HMAC-SHA256 of the fields in order; framed by their lengths, so that no two lists of fields look the same."""
    return hmac.digest(secret, b"".join((_DOMAIN, *map(_framed, fields))), "sha256")


def _framed(field: str | bytes | None) -> bytes:
    data = field.encode("utf-8", "surrogateescape") if isinstance(field, str) else field or b""
    return b"\n%s %d\n%s" % (type(field).__name__.encode(), len(data), data)


def own_secret() -> bytes | None:
    """The user's secret, made by the first call; None, and one line of warning, where there is no place for it."""
    return _secret(os.environ.get("XDG_STATE_HOME"), os.environ.get("HOME"))


@lru_cache(maxsize=8)
def _secret(*_: str | None) -> bytes | None:
    """The secret in the state folder that these variables lead to."""
    path = Path(platformdirs.user_state_dir("ttc_llvm")) / "secret"
    try:
        return _read_or_made(path)
    except (OSError, ValueError) as error:
        fact = error.strerror if isinstance(error, OSError) else error
        rule = "machine code is neither kept in databases nor taken from them"
        warn_once(path, "secret", f"{path} cannot be used ({fact}): {rule}")
        return None


def _read_or_made(path: Path) -> bytes:
    if not path.is_absolute():
        raise ValueError("there is no home directory")
    if not os.path.lexists(path):
        _make(path)
    return _read(path)


def _make(path: Path) -> None:
    """Of processes that come first together, one succeeds: a link never replaces a file, and is there as a whole."""
    make_folder(path.parent)
    part = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(SECRET_BYTES))
            stream.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink()


def _read(path: Path) -> bytes:
    # A pipe of that name is opened without waiting for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        if found.st_uid != os.geteuid():
            raise ValueError(f"it belongs to user {found.st_uid}, not to user {os.geteuid()}")
        if found.st_mode & 0o077:
            raise ValueError("others can read or write it: remove it, and a new one is made")
        secret = stream.read(SECRET_BYTES + 1)
    if secret is None or len(secret) != SECRET_BYTES:
        raise ValueError(f"it does not hold {SECRET_BYTES} bytes: remove it, and a new one is made")
    return secret
