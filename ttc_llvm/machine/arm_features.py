"""Features of AArch64 CPUs by name, and what Linux says of the CPU that a program runs on.

Sources: Linux, arch/arm64/include/uapi/asm/hwcap.h; the manuals' MIDR_EL1; LLVM, AArch64Processors.td.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Bits of AT_HWCAP and AT_HWCAP2 that have to be set, by LLVM's name of the feature. As with x86-64 those are left out
# that code which moves, permutes and scales data never needs.
_BITS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "fp-armv8": ((0,), ()), "neon": ((1,), ()), "crc": ((7,), ()), "lse": ((8,), ()), "fullfp16": ((9, 10), ()),
    "rdm": ((12,), ()), "complxnum": ((14,), ()), "rcpc": ((15,), ()), "dotprod": ((20,), ()), "fp16fml": ((23,), ()),
    "sve": ((22,), ()), "sve2": ((22,), (1,)), "i8mm": ((), (13,)), "bf16": ((), (14,)),
}  # fmt: skip
# Of CPUs, those of them that code for one may use; each row adds to the one it names.
STEPS: dict[str, tuple[str | None, str]] = {
    "generic": (None, "fp-armv8 neon"),
    **dict.fromkeys(("cortex-a53", "cortex-a57", "cortex-a72", "cortex-a73"), ("generic", "crc")),
    "thunderx2t99": ("cortex-a57", "lse rdm"),
    "tsv110": ("thunderx2t99", "dotprod fullfp16 fp16fml"),
    **dict.fromkeys(
        ("cortex-a55", "cortex-a75", "cortex-a76", "cortex-a77", "cortex-a78", "cortex-x1", "neoverse-e1",
         "neoverse-n1"),
        ("thunderx2t99", "rcpc dotprod fullfp16"),
    ),
    "apple-m1": ("neoverse-n1", "complxnum fp16fml"),
    **dict.fromkeys(("apple-m2", "apple-m3", "apple-m4"), ("apple-m1", "bf16 i8mm")),
    **dict.fromkeys(("ampere1", "ampere1a"), ("neoverse-n1", "complxnum bf16 i8mm")),
    "a64fx": ("thunderx2t99", "complxnum fullfp16 sve"),
    "neoverse-v1": ("apple-m1", "bf16 i8mm sve"),
    **dict.fromkeys(
        ("cortex-a510", "cortex-a710", "cortex-a715", "cortex-x2", "cortex-x3", "neoverse-n2", "neoverse-v2", "grace"),
        ("neoverse-v1", "sve2"),
    ),
}  # fmt: skip
# LLVM's name of a CPU, by the implementer and the part number of MIDR_EL1.
_ARM, _APPLE = 0x41, 0x61
_PARTS = {
    (_ARM, 0xD03): "cortex-a53", (_ARM, 0xD05): "cortex-a55", (_ARM, 0xD07): "cortex-a57", (_ARM, 0xD08): "cortex-a72",
    (_ARM, 0xD09): "cortex-a73", (_ARM, 0xD0A): "cortex-a75", (_ARM, 0xD0B): "cortex-a76", (_ARM, 0xD0C): "neoverse-n1",
    (_ARM, 0xD0D): "cortex-a77", (_ARM, 0xD40): "neoverse-v1", (_ARM, 0xD41): "cortex-a78", (_ARM, 0xD44): "cortex-x1",
    (_ARM, 0xD46): "cortex-a510", (_ARM, 0xD47): "cortex-a710", (_ARM, 0xD48): "cortex-x2",
    (_ARM, 0xD49): "neoverse-n2", (_ARM, 0xD4A): "neoverse-e1", (_ARM, 0xD4D): "cortex-a715",
    (_ARM, 0xD4E): "cortex-x3", (_ARM, 0xD4F): "neoverse-v2",
    (0x42, 0x516): "thunderx2t99", (0x43, 0x0AF): "thunderx2t99", (0x46, 0x001): "a64fx", (0x48, 0xD01): "tsv110",
    (0xC0, 0xAC3): "ampere1", (0xC0, 0xAC4): "ampere1a",
    **{(_APPLE, part): "apple-m1" for part in (0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x28, 0x29)},
    **{(_APPLE, part): "apple-m2" for part in (0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x38, 0x39)},
    **{(_APPLE, part): "apple-m3" for part in (0x42, 0x43, 0x44, 0x45, 0x48, 0x49)},
}  # fmt: skip
GENERIC = "generic"
_FIELD = r"(?im)^CPU (?:implementer|part)\s*:\s*(0x[0-9a-f]+)\s*$"


def cpu_of(cpuinfo: str) -> str:
    """LLVM's name of the CPU that /proc/cpuinfo describes, "generic" for unknown ones; of several the last, as fast
    cores follow economical ones."""
    found = [int(value, 16) for value in re.findall(_FIELD, cpuinfo)]
    pairs = zip(found[::2], found[1::2], strict=False)
    return next((_PARTS[pair] for pair in reversed([*pairs]) if pair in _PARTS), GENERIC)


def features(capabilities: tuple[int, int], sve_bits: int) -> Mapping[str, bool]:
    """Features that are there or not, by LLVM's name. capabilities: the words AT_HWCAP and AT_HWCAP2; sve_bits: of
    SVE's registers, 0 where there are none, as in a virtual machine that hides them."""
    found = {
        name: all(word >> bit & 1 for word, bits in zip(capabilities, wanted, strict=True) for bit in bits)
        for name, wanted in _BITS.items()
    }
    return {name: there and (sve_bits > 0 or not name.startswith("sve")) for name, there in found.items()}


def switches(found: Mapping[str, bool]) -> str:
    """The features as LLVM takes them: what is missing first, as that takes away what needs it, too."""
    ordered = sorted(found, key=lambda name: (found[name], name))
    return ",".join(f"{'-+'[found[name]]}{name}" for name in ordered)


def lengths(sve_bits: int) -> Mapping[str, bool]:
    """Features of ours that say how long registers are at least, as in `sve256`: code for longer ones stops here."""
    return {f"sve{bits}": bits <= sve_bits for bits in (128, 256, 512)}
