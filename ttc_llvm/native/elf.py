"""Symbols of ELF objects, as far as libraries need them: which ones they define, and their visibility."""

from __future__ import annotations

from ..errors import ArtifactError
from ..runtime.elf import MAGIC as MAGIC
from ..runtime.elf import UNDEFINED, Elf, Ended, Symbol, is_readable

GLOBAL, WEAK = 1, 2  # bindings that other objects see
OPENMP = ("GOMP_", "omp_")  # names of an OpenMP library's functions
VISIBILITY = 3  # bits of st_other: 0 = default


def is_elf(data: bytes) -> bool:
    """True for ELF files."""
    return data[:4] == MAGIC


def defined_symbols(data: bytes) -> tuple[str, ...]:
    """Names of the global and weak symbols that an object defines, in its order. ArtifactError if it is no ELF."""
    return tuple(symbol.name for symbol in _visible(data))


def with_default_visibility(data: bytes) -> bytes:
    """The same object, its global and weak symbols of default visibility. ArtifactError if it is no ELF."""
    changed = bytearray(data)
    for symbol in _visible(data):
        changed[symbol.other] &= ~VISIBILITY
    return bytes(changed)


def with_openmp(data: bytes, binding: int) -> bytes:
    """The same object, what it refers to of an OpenMP library bound so: GLOBAL where it must be there, WEAK where it
    may be missing. ArtifactError if it is no ELF."""
    changed = bytearray(data)
    for symbol in _symbols(data):
        if symbol.section == UNDEFINED and symbol.name.startswith(OPENMP):
            info = symbol.other - 1
            changed[info] = changed[info] & 0xF | binding << 4
    return bytes(changed)


def _visible(data: bytes) -> list[Symbol]:
    """The global and weak symbols that an object defines."""
    return [one for one in _symbols(data) if one.binding in (GLOBAL, WEAK) and one.section != UNDEFINED]


def _symbols(data: bytes) -> list[Symbol]:
    if not is_readable(data):
        raise ArtifactError("a library needs ELF objects: these bytes are none")
    try:
        return list(Elf(data).symbols())
    except Ended:
        raise ArtifactError("an ELF object ends early: its symbols cannot be read") from None
