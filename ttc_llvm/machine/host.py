"""Facts of this machine that need no LLVM: whether kernels run on it, cache sizes, CPU features."""

from __future__ import annotations

import mmap
import os
import platform
import sys
from collections.abc import Iterator, Mapping

from .. import locks
from .target import Target

CACHES = "/sys/devices/system/cpu/cpu0/cache"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SERVED = ("x86_64", "aarch64")  # processors that kernels run on
WHERE = "kernels run on x86-64 and AArch64 Linux only"
_SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def unserved() -> str | None:
    """Why no kernel runs on this system and processor, in words; None where some do."""
    processor = platform.machine() or "an unknown processor"
    if sys.platform == "linux" and processor in SERVED and sys.maxsize > 1 << 32:
        return None
    bits = "" if sys.maxsize > 1 << 32 else " in 32 bits"
    here = f"{_SYSTEMS.get(sys.platform, sys.platform)} on {processor}{bits}"
    return f"this machine is {here}: {WHERE}"


def caches(root: str | os.PathLike[str] = CACHES) -> dict[str, int]:
    """l1, l2, line, page (bytes), ways and l2_ways of CPU 0 for `target.for_features`; unknown ones are absent."""
    found = {"page": mmap.PAGESIZE}
    for index in _indices(root):
        names = _OF_LEVEL.get(_read(index, "level"), {})
        if names and _read(index, "type") != "Instruction" and _bytes(_read(index, "size")):
            numbers = {name: _bytes(_read(index, file)) for name, file in names.items()}
            found |= {name: value for name, value in numbers.items() if value}
    return found


def last_cache(root: str | os.PathLike[str] = CACHES) -> int:
    """Bytes of the largest cache that CPU 0 reads through; 0 where the system does not tell."""
    return max((_bytes(_read(index, "size")) for index in _indices(root)), default=0)


_OF_LEVEL = {
    "1": {"l1": "size", "ways": "ways_of_associativity", "line": "coherency_line_size"},
    "2": {"l2": "size", "l2_ways": "ways_of_associativity"},
}


def _indices(root: str | os.PathLike[str]) -> Iterator[str]:
    """The folders of the caches."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    yield from (os.path.join(root, name) for name in names if name.startswith("index"))


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _bytes(text: str) -> int:
    """`48K` -> 49152; 0 where the text is no size."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    return int(number) * unit if number.isdecimal() else 0


def missing(target: Target, available: Mapping[str, bool]) -> tuple[str, ...]:
    """The features that the target needs and this machine lacks, sorted; empty where its code runs here."""
    needs = locks.imported(".cpu_features", __package__).needs
    return tuple(sorted(name for name in needs(target) if not available.get(name, False)))
