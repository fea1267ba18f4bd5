"""Machines as rows of tables: adding one is adding a row. Facts only; no LLVM is loaded here.

Caches are those of the row's typical machine, per core; a CPU that differs has a row of its own in `DIFFERENCES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from .target import Exchange, Target

X86 = "x86_64-unknown-linux-gnu"
_ARM = "aarch64-unknown-linux-gnu"
_POWER, _POWER_BE = "powerpc64le-unknown-linux-gnu", "powerpc64-unknown-linux-gnu"
_RISCV = "riscv64-unknown-linux-gnu"
_WASM = "wasm32-unknown-unknown"
_KIB = 1 << 10
_EVERY = (1, 2, 4, 8)


def _arm(name: str, features: str, bits: int) -> Target:
    """One of AArch64; SVE's registers may be longer than the plan needs, and have masks."""
    sve = features == "+sve"
    return Target(
        name, _ARM, "generic", features, bits, bits, 32, _EVERY if sve else (), 128 if bits > 128 else 0,
        l1=64 * _KIB, ways=4, l2=512 * _KIB, streams=False, scalable=sve, by_lanes=True, half=True, family="aarch64",
        exchange=Exchange.TRANSPOSE if sve else Exchange.UNPACK,
    )  # fmt: skip


def _power(name: str, triple: str, cpu: str) -> Target:
    return Target(
        name, triple, cpu, "+vsx", 128, 128, 64, (), line=128, page=64 * _KIB, l1=32 * _KIB, l2=512 * _KIB,
        streams=False, integers=True, family="ppc64",
    )  # fmt: skip


def _riscv(name: str, cpu: str, bits: int) -> Target:
    return Target(
        name, _RISCV, cpu, f"+m,+a,+f,+d,+c,+v,+zvl{bits}b", bits, bits, 32, _EVERY,
        l2=512 * _KIB, streams=False, prefetches=False, exchange=Exchange.SEGMENTS, scalable=True, natural=True,
        abi="lp64d", family="riscv64",
    )  # fmt: skip


# Made when they are first asked for: most programs ask for one.
ROWS: Mapping[str, partial[Target]] = {
    made.args[0]: made
    for made in (
        partial(Target, "sse2", X86, "x86-64", "", 128, 128, 16, (), fused=False),
        partial(Target, "avx", X86, "sandybridge", "", 256, 128, 16, (4, 8), 128, fused=False),
        partial(Target, "avx2", X86, "haswell", "", 256, 256, 16, (4, 8), 128, half=True),
        partial(
            Target, "avx512", X86, "skylake-avx512", "-prefer-256-bit", 512, 512, 32, _EVERY, 128, l2=1 << 20,
            l2_ways=16, half=True,
        ),
        partial(Target, "knl", X86, "knl", "", 512, 256, 32, (4, 8), 128, l2=512 * _KIB, l2_ways=16, half=True),
        partial(_arm, "neon", "", 128),
        partial(_arm, "sve", "+sve", 128),
        partial(_arm, "sve256", "+sve", 256),
        partial(_arm, "sve512", "+sve", 512),
        partial(_power, "vsx", _POWER, "pwr8"),
        partial(_power, "vsx-be", _POWER_BE, "pwr8"),
        partial(_riscv, "rvv", "generic-rv64", 128),
        partial(_riscv, "rvv256", "generic-rv64", 256),
        partial(
            Target, "wasm", _WASM, "generic", "+simd128", 128, 128, 16, (), streams=False, prefetches=False,
            fused=False, family="wasm32",
        ),
    )
}  # fmt: skip


@lru_cache(maxsize=len(ROWS))
def row(name: str) -> Target:
    """The typical machine of a row."""
    return ROWS[name]()


# LLVM's CPU names by row, each also a spelling of its own.
CPUS = {
    "sse2": ("x86-64", "core2", "nocona", "k8", "nehalem", "westmere", "penryn", "x86-64-v2", "btver1", "amdfam10"),
    "avx": ("sandybridge", "ivybridge", "bdver1", "bdver2", "bdver3", "btver2"),
    "avx2": ("haswell", "broadwell", "skylake", "alderlake", "raptorlake", "znver1", "znver2", "znver3",
             "bdver4", "x86-64-v3"),
    "avx512": ("skylake-avx512", "cascadelake", "cooperlake", "cannonlake", "icelake-client", "icelake-server",
               "tigerlake", "rocketlake", "sapphirerapids", "emeraldrapids", "graniterapids", "znver4", "znver5",
               "x86-64-v4"),
    "knl": ("knl", "knm"),
    "neon": ("cortex-a53", "cortex-a55", "cortex-a57", "cortex-a72", "cortex-a73", "cortex-a75", "cortex-a76",
             "cortex-a77", "cortex-a78", "cortex-x1", "neoverse-e1", "neoverse-n1", "ampere1", "ampere1a",
             "thunderx2t99", "tsv110", "apple-m1", "apple-m2", "apple-m3", "apple-m4"),
    "sve": ("cortex-a510", "cortex-a710", "cortex-a715", "cortex-x2", "cortex-x3", "neoverse-n2", "neoverse-v2",
            "grace"),
    "sve256": ("neoverse-v1",),
    "sve512": ("a64fx",),
    "vsx": ("pwr8", "pwr9", "pwr10"),
    "rvv": ("sifive-p670",),
    "rvv256": ("spacemit-x60", "sifive-x280"),
}  # fmt: skip

# Spellings that are neither a row nor a CPU -> (row, LLVM's CPU name): the original TTC's architectures, common
# names, and CPUs of the other byte order.
ALIASES = {
    "arm": ("neon", "generic"),
    "aarch64": ("neon", "generic"),
    "arm64": ("neon", "generic"),
    "sve128": ("sve", "generic"),
    "power": ("vsx", "pwr8"),
    "power8": ("vsx", "pwr8"),
    "power9": ("vsx", "pwr9"),
    "power10": ("vsx", "pwr10"),
    "pwr8-be": ("vsx-be", "pwr8"),
    "pwr9-be": ("vsx-be", "pwr9"),
    "riscv": ("rvv", "generic-rv64"),
    "rvv128": ("rvv", "generic-rv64"),
    "wasm32": ("wasm", "generic"),
    "webassembly": ("wasm", "generic"),
}

# Triples -> the row that any machine of that triple runs; the Linux ABIs of glibc and musl are one, and macOS's.
TRIPLES = {
    f"{machine}{system}": row
    for machine, row, systems in (
        ("x86_64", "sse2", ("-unknown-linux-gnu", "-linux-gnu", "-linux-musl", "-apple-darwin")),
        ("aarch64", "neon", ("-unknown-linux-gnu", "-linux-gnu", "-linux-musl", "-apple-darwin")),
        ("arm64", "neon", ("-apple-darwin",)),
        ("powerpc64le", "vsx", ("-unknown-linux-gnu", "-linux-gnu", "-linux-musl")),
        ("powerpc64", "vsx-be", ("-unknown-linux-gnu", "-linux-gnu")),
        ("riscv64", "rvv", ("-unknown-linux-gnu", "-linux-gnu", "-linux-musl")),
        ("wasm32", "wasm", ("-unknown-unknown", "-wasi", "-wasip1")),
    )
    for system in systems
}

# Differences of CPUs from their row: caches (bytes), and facts that were measured on them.
DIFFERENCES: dict[str, dict[str, Any]] = {
    "bdver3": {"l1": 16 * _KIB, "ways": 4, "l2": 1 << 20, "l2_ways": 16},
    "znver4": {"l2": 1 << 20, "l2_ways": 8, "across_lines": 16, "far": True},
    "znver5": {"l1": 48 * _KIB, "ways": 12, "l2": 1 << 20, "kept": 16 << 20},
    "sapphirerapids": {"l1": 48 * _KIB, "ways": 12, "l2": 2 << 20, "pairs": True, "gathers": True},
    "emeraldrapids": {"l1": 48 * _KIB, "ways": 12, "l2": 2 << 20, "pairs": True, "gathers": True},
    "graniterapids": {"l1": 48 * _KIB, "ways": 12, "l2": 2 << 20, "pairs": True, "gathers": True},
    "cortex-a53": {"l1": 32 * _KIB, "l2": 128 * _KIB, "l2_ways": 16},
    "cortex-a72": {"l1": 32 * _KIB, "ways": 2, "l2": 256 * _KIB, "l2_ways": 16},
    "neoverse-n1": {"l2": 1 << 20},
    "neoverse-n2": {"l2": 1 << 20},
    "neoverse-v1": {"l2": 1 << 20},
    "neoverse-v2": {"l2": 2 << 20},
    "grace": {"l2": 1 << 20},
    "apple-m1": {"l1": 128 * _KIB, "ways": 8, "l2": 3 << 20, "l2_ways": 12, "line": 128, "page": 16 * _KIB},
    "apple-m2": {"l1": 128 * _KIB, "ways": 8, "l2": 4 << 20, "l2_ways": 16, "line": 128, "page": 16 * _KIB},
    "apple-m3": {"l1": 128 * _KIB, "ways": 8, "l2": 4 << 20, "l2_ways": 16, "line": 128, "page": 16 * _KIB},
    "apple-m4": {"l1": 128 * _KIB, "ways": 8, "l2": 4 << 20, "l2_ways": 16, "line": 128, "page": 16 * _KIB},
    "a64fx": {"line": 256, "page": 64 * _KIB},
    "pwr8": {"l1": 64 * _KIB},
    "pwr10": {"l2": 2 << 20},
}

ABSENT = {
    "knc": "LLVM has no back end for KNC (first-generation Xeon Phi); its successor is knl",
    "cuda": "it is a GPU, and a CPU is meant here",
}
ABSENT_FAMILIES = {"sm_": ABSENT["cuda"], "gfx": ABSENT["cuda"]}
