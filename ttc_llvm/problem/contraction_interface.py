"""The entries of a contraction's object: their names and parameters, which header, module and LLVM IR follow."""

from __future__ import annotations

import itertools
from enum import Enum

from ..lazy_dataclasses import dataclass, replace
from . import names
from .contraction import Contraction

MULTIPLICATIONS_PER_THREAD = 1 << 18  # with less, starting a thread takes longer than the work that it takes over
MAX_THREADS = 1024


class Role(Enum):
    """Roles of an entry's parameters."""

    READ = "a tensor that is read"
    WRITTEN = "the tensor that is written"
    SCALAR = "alpha or beta"
    WORDS = "an int64_t per index or axis"
    NUMBER = "an int"
    MEMORY = "memory of the caller's"
    BYTES = "its size"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. sizes: it takes extents; part: it runs one of several parts; threaded: it runs all parts on OpenMP's
    threads. Never both `part` and `threaded`."""

    stated: Contraction
    sizes: bool = False
    part: bool = False
    threaded: bool = False

    @property
    def name(self) -> str:
        """The entry's symbol."""
        ends = ((self.sizes, "_any"), (self.part, "_part"), (self.threaded, "_omp"))
        return names.contraction_stem(self.stated) + "".join(end for there, end in ends if there)

    @property
    def parameters(self) -> tuple[tuple[str, Role], ...]:
        """Its parameters, in order."""
        return (
            ("A", Role.READ), ("B", Role.READ), ("C", Role.WRITTEN), ("alpha", Role.SCALAR), ("beta", Role.SCALAR),
            *((("size", Role.WORDS),) if self.sizes else ()),
            ("strides_a", Role.WORDS), ("strides_b", Role.WORDS), ("strides_c", Role.WORDS),
            *(_OF_PARTS if self.part else ()),
        )  # fmt: skip


_OF_PARTS = (("part", Role.NUMBER), ("parts", Role.NUMBER), ("scratch", Role.MEMORY), ("scratch_bytes", Role.BYTES))


def entries(stated: Contraction) -> tuple[Entry, ...]:
    """The entries of a contraction's object that compute."""
    return tuple(Entry(stated, sizes, part) for sizes, part in itertools.product((False, True), repeat=2))


def threaded(stated: Contraction) -> tuple[Entry, ...]:
    """The entries that OpenMP's threads run, inline in the header."""
    return tuple(replace(entry, threaded=True) for entry in entries(stated) if not entry.part)


def release(stated: Contraction) -> str:
    """The name of the function that gives back kept memory."""
    return f"{names.contraction_stem(stated)}_release"


def most_threads(stated: Contraction, tasks: int) -> int:
    """The number of threads that pay at the contraction's own size, at least 1. tasks: into which it is cut."""
    return max(1, min(MAX_THREADS, tasks, stated.multiplications // MULTIPLICATIONS_PER_THREAD))
