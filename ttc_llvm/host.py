"""Facts of this machine that need no LLVM: cache sizes, and the CPU features that kernels rely on."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path

from .errors import TargetError
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


# What LLVM may use of a CPU when it moves, permutes and scales data; features that such code never needs
# (cryptography, transactions, matrix tiles, virtualisation) are left out, so that a virtual machine that
# hides them still qualifies. Each row adds to the one it names.
_STEPS: dict[str, tuple[str | None, str]] = {
    "x86-64": (None, "sse2 cx8 cmov fxsr"),
    "k8": ("x86-64", ""),
    "nocona": ("x86-64", "sse3 cx16"),
    "core2": ("nocona", "ssse3 sahf"),
    "penryn": ("core2", "sse4.1"),
    "nehalem": ("penryn", "sse4.2 popcnt crc32"),
    "westmere": ("nehalem", "pclmul"),
    "x86-64-v2": ("nehalem", ""),
    "amdfam10": ("nocona", "sse4a lzcnt popcnt sahf"),
    "btver1": ("amdfam10", "ssse3"),
    "sandybridge": ("westmere", "avx xsave"),
    "ivybridge": ("sandybridge", "f16c"),
    "btver2": ("sandybridge", "sse4a f16c bmi lzcnt movbe"),
    "bdver1": ("sandybridge", "sse4a fma4 xop lzcnt"),
    "bdver2": ("bdver1", "f16c fma bmi tbm"),
    "bdver3": ("bdver2", ""),
    "bdver4": ("bdver3", "avx2 bmi2 movbe"),
    "haswell": ("ivybridge", "avx2 fma bmi bmi2 lzcnt movbe"),
    "broadwell": ("haswell", "adx"),
    "skylake": ("broadwell", "clflushopt xsavec"),
    "x86-64-v3": ("sandybridge", "f16c avx2 fma bmi bmi2 lzcnt movbe"),
    "alderlake": ("skylake", "avxvnni gfni vaes vpclmulqdq"),
    "raptorlake": ("alderlake", ""),
    "znver1": ("broadwell", "sse4a"),
    "znver2": ("znver1", ""),
    "znver3": ("znver2", "vaes vpclmulqdq"),
    "knl": ("broadwell", "avx512f avx512cd"),
    "knm": ("knl", "avx512vpopcntdq"),
    "x86-64-v4": ("x86-64-v3", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    "skylake-avx512": ("skylake", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    "cascadelake": ("skylake-avx512", "avx512vnni"),
    "cooperlake": ("cascadelake", "avx512bf16"),
    "cannonlake": ("skylake-avx512", "avx512ifma avx512vbmi"),
    "icelake-client": ("cannonlake", "avx512vnni avx512vbmi2 avx512bitalg avx512vpopcntdq "
                       "gfni vaes vpclmulqdq"),
    "icelake-server": ("icelake-client", ""),
    "rocketlake": ("icelake-client", ""),
    "tigerlake": ("icelake-client", ""),
    "sapphirerapids": ("icelake-server", "avx512bf16 avx512fp16 avxvnni"),
    "emeraldrapids": ("sapphirerapids", ""),
    "graniterapids": ("sapphirerapids", ""),
    "znver4": ("znver3", "avx512f avx512bw avx512cd avx512dq avx512vl avx512vnni avx512bf16 avx512ifma "
               "avx512vbmi avx512vbmi2 avx512bitalg avx512vpopcntdq gfni"),
    "znver5": ("znver4", "avxvnni"),
}  # fmt: skip


def needs(target: Target) -> frozenset[str]:
    """CPU features, in LLVM's spelling, that code for this target may use. TargetError for unknown CPUs."""
    needed: set[str] = set()
    row: str | None = target.cpu
    while row is not None:
        if row not in _STEPS:
            raise TargetError(f"what CPU {row!r} needs is not known")
        row, features = _STEPS[row]
        needed.update(features.split())
    for switch in filter(None, target.features.split(",")):
        (needed.add if switch[0] == "+" else needed.discard)(switch[1:])
    return frozenset(needed)


def missing(target: Target, available: Mapping[str, bool]) -> tuple[str, ...]:
    """What the target needs and this machine lacks, sorted; empty where its code runs here."""
    return tuple(sorted(name for name in needs(target) if not available.get(name, False)))
