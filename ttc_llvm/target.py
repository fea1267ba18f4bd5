"""Machines as rows of a table: adding one is adding a row. Facts only; no LLVM is loaded here."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import Any

from .errors import TargetError

X86 = "x86_64-unknown-linux-gnu"


@dataclass(frozen=True, slots=True)
class Target:
    """What plans and IR builders need to know of a machine.

    name: canonical spelling; triple, cpu, features: what LLVM gets; vector_bits: full register width for
    4- to 16-byte elements, small_vector_bits: for 1- and 2-byte elements; registers: vector registers;
    masked: element sizes (bytes) whose masked load and store is one instruction (the tail rule);
    insert_bits: shortest part of a wider register that a load inserts without waiting for the unit that shuffles,
    0 = none; line, page, l1, l2: bytes, per core; ways: associativity of L1.
    """

    name: str
    triple: str
    cpu: str
    features: str
    vector_bits: int
    small_vector_bits: int
    registers: int
    masked: tuple[int, ...]
    insert_bits: int = 0
    line: int = 64
    page: int = 4096
    l1: int = 32 << 10
    l2: int = 256 << 10
    ways: int = 8

    def lanes(self, itemsize: int) -> int:
        """Elements of this size in a full vector register, at least 1."""
        bits = self.small_vector_bits if itemsize <= 2 else self.vector_bits
        return max(1, bits // (8 * itemsize))

    def has_masks(self, itemsize: int) -> bool:
        """True where a masked access of such elements is one instruction; 16-byte elements are two 8-byte lanes."""
        return min(itemsize, 8) in self.masked

    @property
    def key(self) -> str:
        """The target's part of kernel and database keys."""
        return f"{self.triple} {self.cpu} {self.features} {self.vector_bits}/{self.small_vector_bits}"

    def __str__(self) -> str:
        return self.name


_ROWS = {
    row.name: row
    for row in (
        Target("sse2", X86, "x86-64", "", 128, 128, 16, ()),
        Target("avx", X86, "sandybridge", "", 256, 128, 16, (4, 8), 128),
        Target("avx2", X86, "haswell", "", 256, 256, 16, (4, 8), 128),
        Target("avx512", X86, "skylake-avx512", "-prefer-256-bit", 512, 512, 32, (1, 2, 4, 8), 128, l2=1 << 20),
        Target("knl", X86, "knl", "", 512, 256, 32, (4, 8), 128, l2=512 << 10),
    )
}

# Every spelling that the command line (--architecture, --cpu) and `target=` accept -> (row, LLVM's CPU name).
_CPUS = {
    "sse2": ("x86-64", "core2", "nocona", "k8", "nehalem", "westmere", "penryn", "x86-64-v2", "btver1", "amdfam10"),
    "avx": ("sandybridge", "ivybridge", "bdver1", "bdver2", "bdver3", "btver2"),
    "avx2": ("haswell", "broadwell", "skylake", "alderlake", "raptorlake", "znver1", "znver2", "znver3",
             "bdver4", "x86-64-v3"),
    "avx512": ("skylake-avx512", "cascadelake", "cooperlake", "cannonlake", "icelake-client", "icelake-server",
               "tigerlake", "rocketlake", "sapphirerapids", "emeraldrapids", "graniterapids", "znver4", "znver5",
               "x86-64-v4"),
    "knl": ("knl", "knm"),
}  # fmt: skip
_SPELLINGS = {row: (row, target.cpu) for row, target in _ROWS.items()} | {
    cpu: (row, cpu) for row, cpus in _CPUS.items() for cpu in cpus
}
_ABSENT = {
    "knc": "LLVM has no back end for KNC (first-generation Xeon Phi); its successor is knl",
    "power": "POWER is not supported yet",
    "arm": "AArch64 is not supported yet",
    "cuda": "GPUs are not supported yet",
}
_ABSENT_FAMILIES = {"sm_": _ABSENT["cuda"], "gfx": _ABSENT["cuda"], "pwr": _ABSENT["power"], "neoverse": _ABSENT["arm"]}


def spellings() -> tuple[str, ...]:
    """Every name that `find` accepts."""
    return tuple(_SPELLINGS)


def find(name: str) -> Target:
    """The target of that name. TargetError lists near matches, so that LLVM never sees an unknown name."""
    key = name.strip().lower()
    absent = _ABSENT.get(key) or next((why for prefix, why in _ABSENT_FAMILIES.items() if key.startswith(prefix)), None)
    if absent:
        raise TargetError(f"architecture {key} cannot be used: {absent}")
    if key not in _SPELLINGS:
        near = difflib.get_close_matches(key, _SPELLINGS, n=4, cutoff=0.5) or list(_ROWS)
        raise TargetError(f"unknown architecture or CPU {name!r}: near matches are {', '.join(near)}")
    row, cpu = _SPELLINGS[key]
    return replace(_ROWS[row], name=key, cpu=cpu)


def for_features(
    cpu: str, enabled: frozenset[str], features: str, triple: str = X86, **caches: Any
) -> Target:
    """The target of a machine that reports this CPU name, these enabled features and cache sizes (bytes)."""
    needs = (
        ("avx512", {"avx512f", "avx512bw", "avx512vl", "avx512dq"}),
        ("knl", {"avx512f"}),
        ("avx2", {"avx2"}),
        ("avx", {"avx"}),
    )
    row = next((name for name, wanted in needs if wanted <= enabled), "sse2")
    known = cpu if cpu in _SPELLINGS else _ROWS[row].cpu
    return replace(_ROWS[row], name="host", triple=triple, cpu=known, features=features, **caches)


def scalar(target: Target) -> Target:
    """The same machine with no vectors wider than one element's natural pair: what `--no-vec` compiles for."""
    return replace(target, name=f"{target.name}-novec", vector_bits=64, small_vector_bits=8, masked=())
