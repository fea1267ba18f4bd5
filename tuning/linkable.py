"""Stored machine code that may be linked here, and code that is worth storing; what is left out is said once."""

from __future__ import annotations

from pathlib import Path

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning import trust
from ttc_llvm.tuning.code import Code, Objects, packed, unpack
from ttc_llvm.tuning.notices import warn_once
from ttc_llvm.tuning.records import Record, Request
from ttc_llvm.tuning.signing import own_secret


def linkable(path: Path, place: Path, request: Request, code: Code | None) -> Objects:
    """The objects that this request may link: of its versions, and signed by this user or in a trusted file.

    path, place: the database as it was named, and with all symbolic links resolved.
    """
    if code is None or code.versions != request.versions or code.objects is None:
        return ()
    found = trust.standing(place)
    if not found.safe:
        warn_once(path, "shared", trust.shared(path))
        return ()
    if not found.trusted and not code.is_signed(own_secret(), request):
        if own_secret() is not None:
            unsigned = "holds machine code that this user has not signed: it is not run, but built anew"
            warn_once(path, "signature", f"solutions database {path} {unsigned}")
        return ()
    try:
        return unpack(code.plan, code.objects)
    except DatabaseError as error:
        warn_once(path, request.id, f"solutions database {path}: code of row {request.id} is ignored: {error}")
        return ()


def signed(path: Path, record: Record) -> Code | None:
    """A record's code as it is stored; None where it could not be run later."""
    secret = own_secret()
    try:
        return None if secret is None else packed(record, secret)
    except DatabaseError as error:
        key = record.request.id
        warn_once(path, key, f"solutions database {path}: code of row {key} is left out: {error}")
        return None
