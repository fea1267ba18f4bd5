"""SHA-256 and HMAC-SHA256 without OpenSSL, whose library takes longer to load than all else that the database needs."""

from __future__ import annotations

from _operator import _compare_digest as compare_digest

try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # before Python 3.12
    except ImportError:  # a Python without its own
        from hashlib import sha256

__all__ = ["compare_digest", "hmac_sha256", "sha256"]

_BLOCK = 64  # bytes


def hmac_sha256(secret: bytes, message: bytes) -> bytes:
    """HMAC (RFC 2104) with SHA-256."""
    key = (secret if len(secret) <= _BLOCK else sha256(secret).digest()).ljust(_BLOCK, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in key) + message).digest()
    digest: bytes = sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()
    return digest
