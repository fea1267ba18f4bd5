"""Facts of this machine that need no LLVM: cache sizes, and the CPU features that kernels rely on."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path

from .cpu_features import needs
from .target import Target

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def caches(root: Path = CACHES) -> dict[str, int]:
    """l1, l2, line, page (bytes) and ways of CPU 0 for `target.for_features`; unknown ones are absent."""
    found = {"page": mmap.PAGESIZE}
    for index in sorted(root.glob("index*")):
        level, kind, size, ways, line = (_read(index / name) for name in _FILES)
        if kind == "Instruction" or not _bytes(size):
            continue
        if level == "1":
            numbers = {"l1": _bytes(size), "ways": _bytes(ways), "line": _bytes(line)}
            found |= {name: value for name, value in numbers.items() if value}
        elif level == "2":
            found["l2"] = _bytes(size)
    return found


_FILES = ("level", "type", "size", "ways_of_associativity", "coherency_line_size")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _bytes(text: str) -> int:
    """`48K` -> 49152; 0 where the text is no size."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    return int(number) * unit if number.isdecimal() else 0


def missing(target: Target, available: Mapping[str, bool]) -> tuple[str, ...]:
    """The features that the target needs and this machine lacks, sorted; empty where its code runs here."""
    return tuple(sorted(name for name in needs(target) if not available.get(name, False)))
