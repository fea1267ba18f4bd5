"""The entries of a contraction's object: their names and parameters, which header, module and LLVM IR follow."""

from __future__ import annotations

import itertools

from ..lazy_dataclasses import dataclass, replace
from . import interface
from .contraction import OPERANDS, Contraction
from .dtypes import DType
from .interface import MAX_THREADS, PLAIN, Parameter, Role, Sizes, Symbols, Work, of

MULTIPLICATIONS_PER_THREAD = 1 << 18  # with less, starting a thread takes longer than the work that it takes over
STRIDES = tuple(f"strides_{name}" for name in OPERANDS)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. any: it takes extents; part: it runs one of several parts; threaded: it runs all parts on OpenMP's
    threads; release: it gives back kept memory, and takes nothing. At most one of the last three. tasks: into which
    the work at the contraction's own size can be cut; symbols: how it is named."""

    problem: Contraction
    any: bool = False
    part: bool = False
    threaded: bool = False
    release: bool = False
    tasks: int = MAX_THREADS
    symbols: Symbols = PLAIN

    @property
    def name(self) -> str:
        """The entry's symbol."""
        ends = (self.any, "_any"), (self.part, "_part"), (self.threaded, "_omp"), (self.release, "_release")
        return self.symbols.stem(self.problem) + "".join(end for there, end in ends if there)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, in order."""
        if self.release:
            return ()
        return (
            *of(Role.READ, ("A", "B")), Parameter("C", Role.WRITTEN), *of(Role.SCALAR, ("alpha", "beta")),
            *of(Role.WIDE, ("size", *STRIDES) if self.any else STRIDES),
            *(_OF_PARTS if self.part else ()),
        )  # fmt: skip

    @property
    def sizes(self) -> Sizes:
        """The shapes that it takes."""
        return Sizes.WIDE if self.any else Sizes.OWN

    @property
    def extents(self) -> tuple[int, ...]:
        """The contraction's own."""
        return tuple(extent for _, extent in self.problem.size)

    @property
    def dtype(self) -> str:
        """The contraction's data type."""
        return str(self.problem.dtype)

    @property
    def types(self) -> tuple[DType, DType, DType]:
        """Of A and B, of C, and of alpha and beta."""
        return (self.problem.element,) * 3

    @property
    def work(self) -> Work:
        """Multiplications."""
        return Work(1, MULTIPLICATIONS_PER_THREAD, self.problem.multiplications, self.tasks)

    @property
    def zeros(self) -> int:
        """Parameters behind part and parts: memory, of which 0 is none."""
        return len(_MEMORY)


AnyEntry = interface.Entry | Entry
_MEMORY = Parameter("scratch", Role.MEMORY), Parameter("scratch_bytes", Role.BYTES)
_OF_PARTS = (*of(Role.NUMBER, ("part", "parts")), *_MEMORY)


def may_thread(entry: AnyEntry) -> bool:
    """True where several threads can pay."""
    return entry.work.most_threads > 1 or (entry.sizes is not Sizes.OWN and bool(entry.extents))


def serial(entry: AnyEntry) -> AnyEntry:
    """The same entry on one thread."""
    return replace(entry, threaded=False)


def parted(entry: AnyEntry) -> AnyEntry:
    """A part of an entry."""
    return replace(entry, threaded=False, part=True)


def entries(stated: Contraction, symbols: Symbols = PLAIN) -> tuple[Entry, ...]:
    """The entries of a contraction's object; the last one gives back kept memory."""
    found = (Entry(stated, any, part, symbols=symbols) for any, part in itertools.product((False, True), repeat=2))
    return (*found, Entry(stated, release=True, symbols=symbols))


def threaded(stated: Contraction, symbols: Symbols = PLAIN, tasks: int = MAX_THREADS) -> tuple[Entry, ...]:
    """The entries that OpenMP's threads run: inline in the header, strong in the second object."""
    return tuple(Entry(stated, any, threaded=True, tasks=tasks, symbols=symbols) for any in (False, True))
