"""Machine code as the database stores it: packed, bounded, tied to its plan, signed. What may not be linked here, or is
not worth storing, is left out, which is said once."""

from __future__ import annotations

from typing import Any

from ttc_llvm.errors import DatabaseError
from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.tuning.database import trust
from ttc_llvm.tuning.database.digests import compare_digest
from ttc_llvm.tuning.database.notices import warn_once
from ttc_llvm.tuning.database.packing import Objects, is_image, pack, pack_images, unpack, unpack_images
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.database.signing import own_secret, signature

ALONE = '{"alone": true}'  # the extra of code that belongs to no solution


@dataclass(frozen=True, slots=True)
class Code:
    """The code of one solution for one set of versions, as it is stored; nothing of it has been checked.

    objects, image: packed; images are what was linked already, objects the others; extra: a JSON object, for later
    versions of this program; digest: the signature of all of it.
    """

    versions: Any
    plan: Any
    objects: Any
    image: Any
    digest: Any
    extra: Any = "{}"

    def signature(self, secret: bytes, request: Request) -> bytes:
        """The digest that it has if it is the code of this request."""
        fields = (self.versions, self.objects, self.image, self.extra)
        return signature(secret, (request.kind, request.id, self.plan, request.target, *fields))

    def is_signed(self, secret: bytes | None, request: Request) -> bool:
        """True where it is the code of this request, signed with this secret."""
        fields = (self.versions, self.plan, self.objects, self.image, self.extra)
        if secret is None or not isinstance(self.digest, bytes):
            return False
        if not all(one is None or isinstance(one, (str, bytes)) for one in fields):
            return False
        return compare_digest(self.digest, self.signature(secret, request))


def linkable(path: str, place: str, request: Request, code: Code | None) -> Objects:
    """The images and objects that this request may run: of its versions, and signed by this user or in a trusted file.

    path, place: the database as it was named, and with all symbolic links resolved.
    """
    if code is None or code.versions != request.versions or (code.objects is None and code.image is None):
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
        images = () if code.image is None else unpack_images(code.plan, code.image)
        return images if code.objects is None else images + unpack(code.plan, code.objects)
    except DatabaseError as error:
        warn_once(path, request.id, f"solutions database {path}: code of row {request.id} is ignored: {error}")
        return ()


def signed(path: str, record: Record, extra: str = "{}") -> Code | None:
    """A record's code as it is stored; None where it could not be run later. extra: a JSON object."""
    secret = own_secret()
    try:
        if secret is None:
            return None
        images = tuple(pair for pair in record.objects if extra == ALONE or is_image(pair[1]))
        others = tuple(pair for pair in record.objects if pair not in images)
        packed = pack(record.plan, others) if others else None, pack_images(record.plan, images) if images else None
        made = Code(record.request.versions, record.plan, *packed, b"", extra)
        return replace(made, digest=made.signature(secret, record.request))
    except DatabaseError as error:
        key = record.request.id
        warn_once(path, key, f"solutions database {path}: code of row {key} is left out: {error}")
        return None
