"""A machine as plans and IR builders see it: one frozen value."""

from __future__ import annotations

from enum import Enum
from typing import Any

from .. import arguments
from ..arguments import Error
from ..errors import TargetError
from ..lazy_dataclasses import dataclass


class Exchange(Enum):
    """Instructions by which registers exchange elements best."""

    UNPACK = "unpack"  # any two-input shuffle; halves of 128-bit groups are interleaved
    TRANSPOSE = "transpose"  # registers of a length known at run time only: pairs of lanes are exchanged in place
    SEGMENTS = "segments"  # stores take an element of each of several registers and write them side by side


@dataclass(frozen=True, slots=True)
class Target:
    """A machine as plans and IR builders see it.

    name: canonical spelling; triple, cpu, features: for LLVM; vector_bits: full register width for
    4- to 16-byte elements, small_vector_bits: for 1- and 2-byte elements; registers: vector registers;
    masked: element sizes (bytes) whose masked load and store is one instruction (the tail rule);
    insert_bits: shortest part of a wider register that a load inserts without waiting for the unit that shuffles,
    0 = none; line, page, l1, l2: bytes, per core; ways, l2_ways: associativity of L1 and of L2; streams: there are
    non-temporal stores; prefetches: there is a prefetch instruction; across_lines: bytes of the longest load of A that
    pays where A is misaligned to the cache line, 0 = any; far: lines of micro-tiles are best prefetched into L2, as L1
    has room for few in flight; pairs: non-temporal stores of two lines side by side are clearly faster than those of
    single ones; exchange: how registers exchange elements; scalable: registers may be longer than vector_bits, never
    shorter; integers: floating-point registers may change the NaNs that they load, so that bits travel in others;
    natural: A and B lie at multiples of their items' size, as far as that is a power of two up to 8;
    gathers: loading a register's elements from as many addresses takes no longer than loading them one by one;
    kept: bytes moved, up to which the last cache keeps what is written into it, and is fast: copies and mirrored rows
    are not written past it then, 0 = not measured;
    fused: a multiplication and the addition behind it are one instruction; by_lanes: which takes a factor out of any
    lane of a register; half: instructions convert between half and single precision;
    abi: the ABI's name for LLVM, "" = the triple says it; family: LLVM's back end.
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
    l2_ways: int = 8
    streams: bool = True
    prefetches: bool = True
    across_lines: int = 0
    far: bool = False
    pairs: bool = False
    exchange: Exchange = Exchange.UNPACK
    scalable: bool = False
    natural: bool = False
    gathers: bool = False
    integers: bool = False
    kept: int = 0
    fused: bool = True
    by_lanes: bool = False
    half: bool = False
    abi: str = ""
    family: str = "x86"

    def __post_init__(self) -> None:
        arguments.put(self, _RULES, TargetError, "target ")
        _check_code(self)

    def __hash__(self) -> int:
        return hash((self.name, self.cpu, self.features))  # all fields take ten times as long, and planning asks often

    def lanes(self, itemsize: int) -> int:
        """Elements of this size in a full vector register, at least 1."""
        itemsize = _itemsize(itemsize)
        bits = self.small_vector_bits if itemsize <= 2 else self.vector_bits
        return max(1, bits // (8 * itemsize))

    def has_masks(self, *itemsizes: int) -> bool:
        """True where a masked access of such elements is one instruction; 16-byte elements are two 8-byte lanes."""
        return all(min(_itemsize(itemsize), 8) in self.masked for itemsize in itemsizes)

    def joins(self, itemsize: int) -> bool:
        """True where one instruction takes a vector of such elements out of two, by lanes known at run time only."""
        known = _itemsize(itemsize) >= 4 or (itemsize == 2 and self.has_masks(itemsize))
        return known and self.family == "x86" and self.vector_bits == 512

    @property
    def is_elf(self) -> bool:
        """True where object files are ELF: neither Mach-O nor WebAssembly's own."""
        return self.family != "wasm32" and not self.triple.endswith("-darwin")

    @property
    def is_big_endian(self) -> bool:
        """True where the first byte of a number in memory is its highest."""
        return self.triple.startswith("powerpc64-")

    @property
    def key(self) -> str:
        """The target's part of kernel and database keys."""
        return f"{self.triple} {self.cpu} {self.features} {self.vector_bits}/{self.small_vector_bits}"

    def __str__(self) -> str:
        return self.name


# Families of LLVM's back ends: the first words of their triples, and how their code exchanges elements.
_FAMILIES: dict[str, tuple[tuple[str, ...], Exchange | None, str]] = {
    "x86": (("x86_64",), None, ""),
    "aarch64": (("aarch64", "arm64"), Exchange.TRANSPOSE, ""),
    "ppc64": (("powerpc64", "powerpc64le"), None, ""),
    "riscv64": (("riscv64",), Exchange.SEGMENTS, "lp64d"),
    "wasm32": (("wasm32",), None, ""),
}
_BACK_ENDS = {architecture: family for family, (names, *_) in _FAMILIES.items() for architecture in names}
_OF_FEATURES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
_OTHER_MODES = frozenset(("+soft-float", "+x32", "-64bit", "-64bit-mode", "+16bit-mode", "+32bit-mode"))

_OTHER_OBJECTS = ("windows", "win32", "uefi", "cygwin", "mingw", "msvc", "-coff", "-xcoff", "aix")


def family_of(triple: str) -> str:
    """The back end of a triple; KeyError for one of none."""
    return _BACK_ENDS[triple.partition("-")[0]]


def _check_code(t: Target) -> None:
    """Raises TargetError for machines on which LLVM would end the process."""
    if t.family not in _FAMILIES:
        raise TargetError(f"target family {arguments.shown(t.family)} is not one of {', '.join(_FAMILIES)}")
    architectures, scalable, abi = _FAMILIES[t.family]
    if t.triple.partition("-")[0] not in architectures:
        raise TargetError(f"target triple {arguments.shown(t.triple)} is none of {t.family}")
    if t.exchange is not (scalable if t.scalable else Exchange.UNPACK):
        kind = "of any length" if t.scalable else "of one length"
        raise TargetError(f"target exchange {t.exchange.value} is none of {t.family} with registers {kind}")
    if t.abi not in ("", abi):
        raise TargetError(f"target abi {arguments.shown(t.abi)} is none of {t.family}")
    if any(word in t.triple for word in _OTHER_OBJECTS):
        name = arguments.shown(t.triple)
        raise TargetError(f"target triple {name} is of a system whose objects are neither ELF, Mach-O nor WebAssembly")


def features(name: str, value: Any, error: Error = TargetError) -> str:
    """The rule of features as LLVM takes them, without those of other modes of a machine."""
    for feature in filter(None, arguments.text(name, value, error).split(",")):
        sound = feature[0] in "+-" and len(feature) > 1 and _OF_FEATURES.issuperset(feature[1:])
        if not sound or feature in _OTHER_MODES:
            raise error(f"{name}: the feature {arguments.shown(feature)} is none that code can be made with")
    return str(value)


def _itemsize(given: int) -> int:
    return given if type(given) is int and given > 0 else int(_SIZE("size of an item", given, TargetError))


def _bits(name: str, value: Any, error: Error = TargetError) -> int:
    """The rule of a register's length."""
    found = int(arguments.between(8, 1 << 16)(name, value, error))
    if found & (found - 1):
        raise error(f"{name} {found} is not a power of two")
    return found


_SIZE = arguments.between(1, 1 << 62)
_RULES = {
    "name": arguments.text, "triple": arguments.text, "cpu": arguments.text, "features": features,
    "vector_bits": _bits, "small_vector_bits": _bits, "registers": _SIZE, "masked": arguments.integers,
    "insert_bits": arguments.between(0), "line": _SIZE, "page": _SIZE, "l1": _SIZE, "l2": _SIZE, "ways": _SIZE,
    "l2_ways": _SIZE, "streams": arguments.flag, "prefetches": arguments.flag, "across_lines": arguments.between(0),
    "far": arguments.flag, "pairs": arguments.flag, "exchange": arguments.instance(Exchange),
    "scalable": arguments.flag, "natural": arguments.flag, "gathers": arguments.flag, "integers": arguments.flag,
    "kept": arguments.between(0), "fused": arguments.flag, "by_lanes": arguments.flag, "half": arguments.flag,
    "abi": arguments.text, "family": arguments.text,
}  # fmt: skip
