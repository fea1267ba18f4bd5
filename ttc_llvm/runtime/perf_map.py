"""Names of code that has no file, for Linux's `perf`: it reads them from /tmp/perf-PID.map when it reports.

Loaded where the environment asks for it. Python writes its own functions there (`python -X perf`), so that lines are
only ever added.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

_NEW = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # nor a pipe, unread
_lines = list[bytes]()


def tell(title: str, functions: Mapping[str, int], end: int) -> None:
    """Name the functions of an image by their addresses. end: where its code ends. A map that cannot be written is
    left out."""
    places = sorted((start, name) for name, start in functions.items())
    ends = [start for start, _ in places[1:]] + [end]
    text = " ".join(title.split())
    fresh = [
        f"{start:x} {after - start:x} ttc_llvm:{name} {text}\n".encode()
        for (start, name), after in zip(places, ends, strict=True)
    ]
    _lines.extend(fresh)
    _write(fresh)


def _write(lines: list[bytes]) -> None:
    with suppress(OSError):
        descriptor = os.open(f"/tmp/perf-{os.getpid()}.map", _NEW, 0o600)
        with open(descriptor, "ab", buffering=0) as file:
            file.write(b"".join(lines))


os.register_at_fork(after_in_child=lambda: _write(_lines))  # whose map is another
