"""Features of CPUs by name, and where CPUID reports those of the x86-64 CPU that a program runs on."""

from __future__ import annotations

from functools import lru_cache

from ..arguments import shown
from ..errors import TargetError
from ..lazy_dataclasses import dataclass, replace
from . import arm_features
from .target import Target

# Features that LLVM may use when code moves, permutes and scales data; those that such code never needs
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
    **arm_features.STEPS,
}  # fmt: skip


@lru_cache(maxsize=256)
def needs(target: Target) -> frozenset[str]:
    """CPU features, in LLVM's spelling, that code for this target may use. TargetError for unknown CPUs."""
    needed: set[str] = set()
    row: str | None = target.cpu
    while row is not None:
        if row not in _STEPS:
            raise TargetError(f"what CPU {shown(row)} needs is not known")
        row, features = _STEPS[row]
        needed.update(features.split())
    for switch in filter(None, target.features.split(",")):
        (needed.add if switch[0] == "+" else needed.discard)(switch[1:])
    if target.scalable:
        needed.add(f"sve{target.vector_bits}")
    return frozenset(needed)


# --- run-time detection: CPUID and, for registers that the system has to save, XGETBV ------------------------


@dataclass(frozen=True, slots=True, order=True)
class CpuidBit:
    """The place of a feature in CPUID's answers: leaf, subleaf, register (0 = eax ... 3 = edx) and bit."""

    leaf: int
    subleaf: int
    register: int
    bit: int


_EXTENDED = 0x80000001
_BITS = {
    (1, 0, 2): "sse3:0 pclmul:1 ssse3:9 fma:12 cx16:13 sse4.1:19 sse4.2:20 crc32:20 movbe:22 popcnt:23 xsave:26"
    " avx:28 f16c:29",
    (1, 0, 3): "cx8:8 cmov:15 fxsr:24 sse2:26",
    (7, 0, 1): "bmi:3 avx2:5 bmi2:8 avx512f:16 avx512dq:17 adx:19 avx512ifma:21 clflushopt:23 avx512cd:28"
    " avx512bw:30 avx512vl:31",
    (7, 0, 2): "avx512vbmi:1 avx512vbmi2:6 gfni:8 vaes:9 vpclmulqdq:10 avx512vnni:11 avx512bitalg:12"
    " avx512vpopcntdq:14",
    (7, 0, 3): "avx512fp16:23",
    (7, 1, 0): "avxvnni:4 avx512bf16:5",
    (13, 1, 0): "xsavec:1",
    (_EXTENDED, 0, 2): "sahf:0 lzcnt:5 sse4a:6 xop:11 fma4:16 tbm:21",
}
PLACES = {
    name: CpuidBit(*where, int(bit))
    for where, words in _BITS.items()
    for name, bit in (word.split(":") for word in words.split())
}
OSXSAVE = CpuidBit(1, 0, 2, 27)  # XGETBV may be asked
YMM, ZMM = 0x6, 0xE6  # XCR0: the system saves these registers
_TUNING = {"prefer-256-bit"}  # says what is fast, not what is there


def saved_registers(needed: frozenset[str]) -> int:
    """The bits of XCR0 that code with these features relies on."""
    if any(name.startswith("avx512") for name in needed):
        return ZMM
    return YMM if "avx" in needed else 0


def checkable(machine: Target) -> Target:
    """The same machine with the features that a program can look up; kernels never need the others."""
    kept = [s for s in machine.features.split(",") if s[1:] in PLACES or s[1:] in _TUNING]
    return replace(machine, features=",".join(kept))


def by_demand(machines: tuple[Target, ...]) -> tuple[Target, ...]:
    """The most demanding machine first: the widest registers, then the most features."""
    return tuple(sorted(machines, key=lambda m: (-m.vector_bits, -m.small_vector_bits, -len(needs(m)))))
