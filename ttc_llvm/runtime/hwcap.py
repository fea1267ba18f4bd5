"""The AArch64 processor that this process runs on, as Linux describes it."""

from __future__ import annotations

import ctypes

from ..lazy_dataclasses import NamedTuple
from ..machine import arm_features
from .once import once

CPUINFO = "/proc/cpuinfo"
_AT_HWCAP, _AT_HWCAP2, _PR_SVE_GET_VL, _VL_MASK = 16, 26, 51, 0xFFFF


class Processor(NamedTuple):
    """cpu: LLVM's name; capabilities: AT_HWCAP and AT_HWCAP2; sve_bits: of SVE's registers in this process, or 0."""

    cpu: str
    capabilities: tuple[int, int]
    sve_bits: int


@once
def processor() -> Processor:
    """This processor."""
    system = ctypes.CDLL(None)
    ask = system.getauxval
    ask.restype, ask.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
    length = system.prctl(_PR_SVE_GET_VL, 0, 0, 0, 0)
    bits = 8 * (length & _VL_MASK) if length >= 0 else 0
    return Processor(arm_features.cpu_of(_cpuinfo()), (ask(_AT_HWCAP), ask(_AT_HWCAP2)), bits)


def identity() -> str:
    """A text that is the same where `processor` is."""
    cpu, capabilities, bits = processor()
    return f"{cpu} {' '.join(f'{word:x}' for word in capabilities)} {bits}"


def _cpuinfo() -> str:
    try:
        with open(CPUINFO, "rb", buffering=0) as file:
            return file.readall().decode("ascii", "replace")
    except OSError:
        return ""
