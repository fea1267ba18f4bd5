"""The x86-64 processor that a thread runs on, in its own words: what LLVM's answer about the machine depends on."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from . import image, mapping
from .image import Head

_EXTENDED = 0x80000000
_OSXSAVE = 1 << 27  # of leaf 1's ecx: XGETBV may be asked
# Leaf, subleaf and registers (0 = eax ... 3 = edx) of what LLVM's getHostCPUName and getHostCPUFeatures read. What
# differs between cores, such as their numbers, is left out.
_READ = (
    (0, 0, (0, 1, 2, 3)), (1, 0, (0, 2, 3)), (7, 0, (0, 1, 2, 3)), (7, 1, (0, 1, 2, 3)), (0xD, 1, (0,)),
    (0x14, 0, (1,)), (0x19, 0, (1,)), (0x1E, 1, (0,)), (0x24, 0, (1,)), (_EXTENDED, 0, (0,)),
    (_EXTENDED + 1, 0, (2, 3)), (_EXTENDED + 8, 0, (1,)),
)  # fmt: skip
# void cpuid(leaf, subleaf, registers): mov r8, rdx; push rbx; mov eax, edi; mov ecx, esi; cpuid; mov [r8], eax;
# mov [r8+4], ebx; mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
_CPUID = bytes.fromhex("4989d0 53 89f8 89f1 0fa2 418900 41895804 41894808 4189500c 5b c3")
# uint64_t xgetbv(): xor ecx, ecx; xgetbv; shl rdx, 32; or rax, rdx; ret
_XGETBV = bytes.fromhex("31c9 0f01d0 48c1e220 4809d0 c3")


def identity() -> str:
    """A text that is the same where LLVM says the same of two x86-64 machines.

    Raises TargetError where the system lets nothing run that a process has made.
    """
    names = {"cpuid": 0, "xgetbv": len(_CPUID)}
    head = Head(mapping.MACHINES["x86_64"], 4096, "", (), (len(_CPUID) + len(_XGETBV), 0, 0), 0, names, ())
    loaded = mapping.mapped(image.packed(head, _CPUID + _XGETBV))
    return " ".join(f"{value:x}" for value in _values(loaded))


def _values(loaded: mapping.Loaded) -> Iterator[int]:
    cpuid = loaded.function("cpuid", ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p))
    found = (ctypes.c_uint32 * 4)()

    def read(leaf: int, subleaf: int) -> tuple[int, ...]:
        cpuid(leaf, subleaf, ctypes.addressof(found))
        return tuple(found)

    largest = {first: read(first, 0)[0] for first in (0, _EXTENDED)}
    for leaf, subleaf, registers in _READ:
        values = read(leaf, subleaf) if leaf <= largest[leaf & _EXTENDED] else (0,) * 4
        yield from (values[register] for register in registers)
    if read(1, 0)[2] & _OSXSAVE:
        yield loaded.function("xgetbv", ctypes.CFUNCTYPE(ctypes.c_uint64))()
