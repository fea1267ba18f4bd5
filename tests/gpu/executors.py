"""Executors of GPU code that others wrote, on this CPU, where an environment variable names one. None of their code is
kept here.

TTC_PTX_EMULATOR: gpuocelot's library (github.com/tinygrad/gpuocelot), or another with its `ptx_run`, for NVIDIA.
TTC_TINYGRAD: a checkout of tinygrad, whose emulator of AMD's instructions needs clang.
TTC_EXECUTIONS: how many random kernels a machine gets.

Beside what each gets wrong stands the rewrite of our code that it needs: `REWRITES`, `HALVES`, `machine`, `_run_asm`.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ttc_llvm.lowering.gpu.launch import GpuImage, Launch, Slot
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget

PTX_EMULATOR, TINYGRAD = "TTC_PTX_EMULATOR", "TTC_TINYGRAD"
EXECUTIONS = int(os.environ.get("TTC_EXECUTIONS", "20"))
ARCHITECTURES = {"gfx90a": "cdna", "gfx942": "cdna", "gfx950": "cdna", "gfx1100": "rdna3", "gfx1201": "rdna4"}
TARGETS = {PTX_EMULATOR: ("sm_70", "sm_90", "sm_120"), TINYGRAD: tuple(ARCHITECTURES)}


def _by_registers(store: re.Match[str]) -> str:
    """A store of zeros, through a register."""
    access, bits, place, zeros = store.groups()
    register = f"%zero{bits}"
    return f"\tmov.b{bits} {register}, 0;\n\t{access} \t{place}, {re.sub(r'0[0fd]*', register, zeros)};"


def _one_by_one(pair: re.Match[str]) -> str:
    """An operation on a pair of floats, as two."""
    operation, (result, *operands) = pair[1], pair[2].split(", ")
    halves = [f"mov.b64 {{%x{k}, %y{k}}}, {operand};" for k, operand in enumerate(operands)]
    both = [f"{operation}.f32 {', '.join(f'%{half}{k}' for k in (3, *range(len(operands))))};" for half in "xy"]
    return "\t" + "\n\t".join([*halves, *both, f"mov.b64 {result}, {{%x3, %y3}};"])


REGISTERS = (
    (16, "zero16"), (32, "zero32"), (64, "zero64"), (32, "sink"), (64, "wide"), (32, "x<4>"), (32, "y<4>"),
)  # fmt: skip
REWRITES: tuple[tuple[str, Any], ...] = (  # of PTX, for gpuocelot
    (r"(?m)^\.version .*", ".version 2.3"),  # it refuses versions and machines that it does not know
    (r"(?m)^\.target .*", ".target sm_20"),
    (r"\{_, ", "{%sink, "),  # it wants every half of a register in a place
    # and takes no constant for a factor of 64 bits
    (r"mad\.lo\.s64 \t(\S+), (\S+), (-?\d+), (\S+);", "mul.lo.s64 %wide, \\2, \\3;\n\tadd.s64 \\1, %wide, \\4;"),
    (r"\t(st\.global\.(?:v\d\.)?b(\d+)) \t(\S+), (\{?0[0fd, ]*\}?);", _by_registers),  # stores 0 wrongly
    (r"\t(\w+\.rn)\.f32x2 \t([^;]*);", _one_by_one),  # of Blackwell, which it does not know
    (r"\n\{", "\n{" + "".join(f"\n\t.reg .b{bits} %{name};" for bits, name in REGISTERS)),
)
# Of IR, for tinygrad: its loads of halves of registers from local memory write all of them.
HALVES = r"(?m)^  %\"([^\"]+)\" = load i(8|16), (ptr addrspace\(3\).*)$"
WHOLE = (
    '  %"\\1.l" = load i\\2, \\3\n  %"\\1.z" = zext i\\2 %"\\1.l" to i32\n'
    '  %"\\1.w" = call i32 asm "", "=v,0"(i32 %"\\1.z")\n  %"\\1" = trunc i32 %"\\1.w" to i\\2'
)
_FORMATS = {Slot.POINTER: "Q", Slot.F32: "f", Slot.F64: "d"}
Values = tuple[float, ...]


def machine(name: str) -> GpuTarget:
    """A GPU whose code an executor gets. tinygrad's stores several bytes to local memory at multiples of 4 only."""
    found = gpu_target.find(name)
    return found if found.is_nvidia else replace(found, features="-unaligned-access-mode")


def marked(text: str, target: GpuTarget) -> str:
    """A kernel's IR, changed where an executor is known to be wrong about what LLVM makes of it."""
    if target.is_nvidia:
        return text
    return re.sub(HALVES, WHOLE, text)


def execute(image: GpuImage, a: int, b: int, scalars: list[float]) -> None:
    """Run a kernel on addresses of this process. RuntimeError where the executor gives up."""
    (_run_ptx if image.target.is_nvidia else _run_amd)(image, (a, b, *scalars))


def _packed(launch: Launch, values: Values, boundary: int = 1) -> bytes:
    """Parameters one behind the other, each at a multiple of its size or of `boundary`."""
    found = b""
    for parameter, value in zip(launch.parameters, values, strict=True):
        code = _FORMATS[parameter.slot]
        found += bytes(-len(found) % max(struct.calcsize(code), boundary)) + struct.pack(code, value)
    return found + bytes(-len(found) % boundary)


# --- PTX ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _ptx_run() -> Callable[..., None]:
    found = ctypes.CDLL(os.environ[PTX_EMULATOR]).ptx_run
    found.argtypes, found.restype = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, *[ctypes.c_int] * 7], None
    return found


def _run_ptx(image: GpuImage, values: Values) -> None:
    text = image.code.decode()
    for pattern, instead in REWRITES:
        text = re.sub(pattern, instead, text)
    words = _packed(image.launch, values, 8)
    launch = image.launch
    _ptx_run()(text.encode(), len(words) // 8, words, launch.block, 1, 1, launch.grid, 1, 1, 0)


# --- AMD ----------------------------------------------------------------------------------------------------

LDS_GRAIN, LDS_SHIFT, LDS_MASK = 512, 15, 0x1FF  # of COMPUTE_PGM_RSRC2's field for local memory
USER_REGISTERS = (4, 2, 2, 2, 2, 2, 1)  # that the bits of a descriptor's properties ask for, in order
KERNARG = 3  # which of them is the address of the parameters


@lru_cache(maxsize=1)
def _run_asm() -> Callable[..., int]:
    sys.path.insert(0, os.environ[TINYGRAD])  # before Python's own package `test`
    sys.modules.pop("test", None)
    from test.mockgpu.amd import emu  # type: ignore[import-not-found]

    setattr(emu, "_MXCSRContext", nullcontext)  # noqa: B010 - it would flush denormals, which kernels do not ask for
    return emu.run_asm  # type: ignore[no-any-return]


def _run_amd(image: GpuImage, values: Values) -> None:
    code, start, descriptor = _kernel(image.code, image.launch.entry)
    lds, private = struct.unpack_from("<II", descriptor)
    (resources,) = struct.unpack_from("<I", descriptor, 52)
    (properties,) = struct.unpack_from("<H", descriptor, 56)
    held = ctypes.create_string_buffer(code + bytes(64))
    parameters = ctypes.create_string_buffer(_packed(image.launch, values) + bytes(256))
    at = ctypes.addressof(parameters)
    given: list[int] = []
    for bit, count in enumerate(USER_REGISTERS):
        if properties >> bit & 1:
            given += [at & 0xFFFFFFFF, at >> 32] if bit == KERNARG else [0] * count
    resources = resources & ~(LDS_MASK << LDS_SHIFT) | -(-lds // LDS_GRAIN) << LDS_SHIFT
    grid, block, architecture = image.launch.grid, image.launch.block, ARCHITECTURES[image.target.name]
    _run_asm()(
        ctypes.addressof(held) + start, len(code), grid, 1, 1, block, 1, 1, at, resources, private, architecture, given
    )  # fmt: skip


def _kernel(elf: bytes, name: str) -> tuple[bytes, int, bytes]:
    """The code of a relocatable object, the kernel's offset in it, and its descriptor."""
    (table,), (count,) = struct.unpack_from("<Q", elf, 40), struct.unpack_from("<H", elf, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * k) for k in range(count)]
    (symbols,) = (section for section in sections if section[1] == 2)
    strings, found = sections[symbols[6]][4], dict[str, tuple[Any, int]]()
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        start, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
        text = elf[strings + start : elf.index(b"\0", strings + start)].decode()
        if section < count:
            found[text] = sections[section], value
    (text, start), (constants, place) = found[name], found[f"{name}.kd"]
    return elf[text[4] : text[4] + text[5]], start, elf[constants[4] + place :][:64]
