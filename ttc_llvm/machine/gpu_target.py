"""GPUs as rows of a table: adding one is adding a row. Facts only; no LLVM and no driver is loaded here."""

from __future__ import annotations

import re
from typing import Literal

from .. import arguments, locks
from ..errors import TargetError
from ..lazy_dataclasses import dataclass
from .target import features

NVPTX, AMDGPU = "nvptx64-nvidia-cuda", "amdgcn-amd-amdhsa"
DEFAULT = "sm_80"  # what `cuda` means where no device is present
SECTOR = 32  # bytes: the least that memory moves, on every machine of the table
KIB = 1 << 10


@dataclass(frozen=True, slots=True)
class GpuTarget:
    """A GPU as plans and IR builders see it.

    name: canonical spelling, `sm_90` or `gfx90a`; triple, cpu, features: for LLVM; intrinsics: the row of
    `ir_builders.gpu.intrinsics` that names thread indices, the barrier and address spaces; ptx: version of the PTX
    text (major, minor), (0, 0) where the output is an object file; warp: threads that run in lockstep;
    vector_bytes: widest access of one thread; shared_bytes: shared memory of one block;
    max_threads: of one block; max_blocks: of grid.x; line: bytes.
    Per multiprocessor, for ranking only: threads, blocks, registers, shared_total (bytes); multiprocessors of the
    usual product; bandwidth of its memory in GB/s.
    """

    name: str
    triple: str
    cpu: str
    features: str
    intrinsics: str
    ptx: tuple[int, int]
    warp: int
    threads: int
    blocks: int
    shared_total: int
    multiprocessors: int
    bandwidth: int
    shared_bytes: int = 48 * KIB
    max_threads: int = 1024
    max_blocks: int = (1 << 31) - 1
    registers: int = 65536
    vector_bytes: int = 16
    line: int = 128

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, TargetError, "target ")
        _check_code(self)

    @property
    def is_nvidia(self) -> bool:
        """True where code is PTX text for NVIDIA's driver; else it is an AMD code object."""
        return self.triple == NVPTX

    @property
    def family(self) -> str:
        """The back end that the table of CPUs would name; GPUs have names of their own."""
        return self.triple.partition("-")[0]

    @property
    def abi(self) -> str:
        """As for CPUs: LLVM's default."""
        return ""

    @property
    def capability(self) -> tuple[int, int]:
        """NVIDIA's compute capability, (9, 0) for sm_90; (0, 0) for AMD."""
        if not self.is_nvidia:
            return 0, 0
        number = int(self.cpu.removeprefix("sm_"))
        return number // 10, number % 10

    @property
    def key(self) -> str:
        """The target's part of kernel and database keys."""
        return f"{self.triple} {self.cpu} {self.features}"

    def __str__(self) -> str:
        return self.name


_TEXTS = ("name", "triple", "cpu", "intrinsics")
_COUNTS = (
    "warp", "threads", "blocks", "shared_total", "multiprocessors", "bandwidth", "shared_bytes", "max_threads",
    "max_blocks", "registers", "vector_bytes", "line",
)  # fmt: skip
_RULES = (
    dict.fromkeys(_TEXTS, arguments.text)
    | dict.fromkeys(_COUNTS, arguments.between(1, 1 << 62))
    | {"ptx": arguments.each(arguments.between(0), "numbers", 2), "features": features}
)
_CPUS = {NVPTX: re.compile(r"sm_[0-9]{2,3}"), AMDGPU: re.compile(r"gfx[0-9a-f]{3,5}")}
_INTRINSICS = {"nvvm": NVPTX, "amdgcn": AMDGPU}


def _check_code(t: GpuTarget) -> None:
    """Raises TargetError for machines without a back end."""
    if t.intrinsics not in _INTRINSICS:
        raise TargetError(f"target intrinsics {arguments.shown(t.intrinsics)} are not one of {', '.join(_INTRINSICS)}")
    if t.triple != _INTRINSICS[t.intrinsics]:
        raise TargetError(f"target triple {arguments.shown(t.triple)} is none of {t.intrinsics}")
    if _CPUS[t.triple].fullmatch(t.cpu) is None:
        raise TargetError(f"target cpu {arguments.shown(t.cpu)} is none of {t.triple}")


def _nvidia(
    name: str, ptx: tuple[int, int], threads: int, blocks: int, shared: int, multiprocessors: int, bandwidth: int
) -> GpuTarget:
    features, memory = f"+ptx{ptx[0]}{ptx[1]}", shared * KIB
    return GpuTarget(
        name, NVPTX, name, features, "nvvm", ptx, 32, threads, blocks, memory, multiprocessors, bandwidth
    )


def _amd(
    name: str, warp: int, threads: int, shared: int, multiprocessors: int, bandwidth: int, line: int = 128
) -> GpuTarget:
    return GpuTarget(
        name, AMDGPU, name, "", "amdgcn", (0, 0), warp, threads, 16, shared * KIB, multiprocessors, bandwidth,
        shared_bytes=64 * KIB, max_blocks=(1 << 22) - 1, line=line,
    )  # fmt: skip


# PTX versions are the oldest that name the machine, so that old drivers load the text; ptxas 11.8 reads all up to 7.8.
_ROWS = {
    row.name: row
    for row in (
        _nvidia("sm_35", (5, 0), 2048, 16, 48, 15, 288),  # Tesla K40
        _nvidia("sm_50", (5, 0), 2048, 32, 64, 5, 16),  # GeForce 840M
        _nvidia("sm_60", (5, 0), 2048, 32, 64, 56, 732),  # P100
        _nvidia("sm_70", (6, 0), 2048, 32, 96, 80, 900),  # V100
        _nvidia("sm_75", (6, 3), 1024, 16, 64, 40, 320),  # T4
        _nvidia("sm_80", (7, 0), 2048, 32, 164, 108, 1555),  # A100
        _nvidia("sm_86", (7, 1), 1536, 16, 100, 84, 768),  # A40, RTX 3090
        _nvidia("sm_89", (7, 8), 1536, 24, 100, 142, 864),  # L40, RTX 4090
        _nvidia("sm_90", (7, 8), 2048, 32, 228, 132, 4800),  # H100, H200
        _nvidia("sm_100", (8, 6), 2048, 32, 228, 148, 8000),  # B200
        _nvidia("sm_120", (8, 7), 1536, 24, 100, 170, 1792),  # RTX 5090
        # AMD: compute units and LDS as in ROCm's "GPU specifications", lines as in the papers on CDNA and RDNA
        _amd("gfx906", 64, 2560, 64, 60, 1024, line=64),  # MI50
        _amd("gfx90a", 64, 2048, 64, 104, 1638, line=64),  # MI210, one die of MI250
        _amd("gfx942", 64, 2048, 64, 304, 5300),  # MI300X
        _amd("gfx950", 64, 2048, 160, 256, 8000),  # MI350X
        _amd("gfx1030", 32, 1024, 64, 80, 512),  # RX 6900 XT
        _amd("gfx1100", 32, 1024, 64, 96, 960),  # RX 7900 XTX
        _amd("gfx1200", 32, 1024, 64, 32, 320),  # RX 9060 XT
        _amd("gfx1201", 32, 1024, 64, 64, 640),  # RX 9070 XT
    )
}

# Every spelling that the command line (--architecture, --cpu) and `target=` accept, beside the rows' own names.
_ALIASES = {
    "cuda": DEFAULT, "nvptx": DEFAULT, "kepler": "sm_35", "maxwell": "sm_50", "pascal": "sm_60", "volta": "sm_70",
    "turing": "sm_75", "ampere": "sm_80", "ada": "sm_89", "hopper": "sm_90", "blackwell": "sm_100",
    "k40": "sm_35", "p100": "sm_60", "v100": "sm_70", "t4": "sm_75", "a100": "sm_80", "h100": "sm_90",
    "h200": "sm_90", "b200": "sm_100", "hip": "gfx90a", "rocm": "gfx90a", "mi50": "gfx906", "mi210": "gfx90a",
    "mi250": "gfx90a", "mi300": "gfx942", "mi300x": "gfx942", "mi350": "gfx950", "mi350x": "gfx950",
}  # fmt: skip
# Capabilities without a row of their own run the code of the nearest older one.
_NEAREST = {
    "sm_37": "sm_35", "sm_52": "sm_50", "sm_53": "sm_50", "sm_61": "sm_60", "sm_62": "sm_60", "sm_72": "sm_70",
    "sm_87": "sm_86", "sm_103": "sm_100", "sm_110": "sm_100", "sm_121": "sm_120",
}  # fmt: skip
Name = Literal[  # the same for type checkers
    "sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120",
    "gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1200", "gfx1201",
    "cuda", "nvptx", "kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell",
    "k40", "p100", "v100", "t4", "a100", "h100", "h200", "b200",
    "hip", "rocm", "mi50", "mi210", "mi250", "mi300", "mi300x", "mi350", "mi350x",
    "sm_37", "sm_52", "sm_53", "sm_61", "sm_62", "sm_72", "sm_87", "sm_103", "sm_110", "sm_121",
]  # fmt: skip
_SPELLINGS = {name: name for name in _ROWS} | _ALIASES | _NEAREST
FAMILIES = ("sm_", "gfx")  # how names of GPUs start, known or not


def names() -> tuple[str, ...]:
    """The rows of the table."""
    return tuple(_ROWS)


def spellings() -> tuple[str, ...]:
    """Every name that `find` accepts."""
    return tuple(_SPELLINGS)


def is_gpu(name: str) -> bool:
    """True where a spelling means a GPU, be it one of the table or not."""
    key = name.strip().lower()
    return key in _SPELLINGS or key.startswith(FAMILIES)


def find(name: str) -> GpuTarget:
    """The GPU of that name. TargetError lists near matches, so that LLVM never sees an unknown name."""
    key = name.strip().lower()
    if key not in _SPELLINGS:
        near = locks.imported("difflib").get_close_matches(key, _SPELLINGS, n=4, cutoff=0.5) or list(_ROWS)
        raise TargetError(f"unknown GPU {arguments.shown(name)}: near matches are {', '.join(near)}")
    return _ROWS[_SPELLINGS[key]]


def for_capability(major: int, minor: int) -> GpuTarget:
    """The row whose code a device of this compute capability runs: the newest one that is not newer than the device.

    TargetError where all rows are newer.
    """
    rows = [row for row in _ROWS.values() if row.is_nvidia and row.capability <= (major, minor)]
    if not rows:
        raise TargetError(f"compute capability {major}.{minor} is not supported: the oldest GPU is sm_35")
    return max(rows, key=lambda row: row.capability)
