"""The entries of a problem's object: their kinds, names and parameters. Those of contractions: `contraction_interface`.

C header, Fortran module and LLVM IR all follow this one list.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from enum import Enum

from ..arguments import one_of, shown
from ..errors import OptionError
from ..lazy_dataclasses import dataclass, replace
from . import names
from .contraction import Contraction
from .dtypes import DType, Kind
from .problem import Problem

BYTES_PER_THREAD = 64 << 10  # moved: with less, starting a thread takes longer than the work that it takes over
MAX_THREADS = 1024
LONGEST_PREFIX = 40
MAX_INT = (1 << 31) - 1  # of C's int, in which extents, lda and ldb are passed


class Sizes(Enum):
    """The shapes that an entry takes, by its suffix: the generated extents, any in ints, any in 64 bits by strides."""

    OWN = ""
    ANY = "_any"
    WIDE = "_i64"


@dataclass(frozen=True, slots=True)
class Symbols:
    """The names and visibility of entries. prefix: what all names, of files too, begin with; hidden: a shared library
    that the objects are linked into does not export them. OptionError for other values."""

    prefix: str = ""
    hidden: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.prefix, str) or re.fullmatch("([A-Za-z_][A-Za-z0-9_]*)?", self.prefix) is None:
            raise OptionError(f"prefix {shown(self.prefix)} cannot begin a C name: it takes letters, digits and _")
        if len(self.prefix) > LONGEST_PREFIX:
            raise OptionError(f"prefix {shown(self.prefix)} has more than {LONGEST_PREFIX} characters")

    def stem(self, problem: Problem | Contraction) -> str:
        """The name of a problem's files and of its plain C entry."""
        return self.prefix + names.stem(problem)


PLAIN = Symbols()
VISIBILITIES = ("default", "hidden")


def symbols(prefix: str, visibility: str) -> Symbols:
    """The symbols that callers ask for; visibility: one of VISIBILITIES. OptionError for other values."""
    return Symbols(prefix, one_of("visibility", visibility, VISIBILITIES) == "hidden")

_PARAMETERS = {
    Sizes.OWN: ("lda", "ldb"),
    Sizes.ANY: ("size", "lda", "ldb"),
    Sizes.WIDE: ("size", "strides_a", "strides_b"),
}
IN_PLACE = {"B": "A", "ldb": "lda", "strides_a": "strides", "strides_b": "strides"}
"""Parameters that entries in place have in common for A and B, by what they are out of place."""


class Role(Enum):
    """Roles of an entry's parameters."""

    READ = "a tensor that is read"
    WRITTEN = "the tensor that is written"
    BOTH = "the tensor that is permuted in place"
    SCALAR = "alpha or beta, of the type of the arithmetic"
    SIZES = "an int per index"
    WIDE = "an int64_t per index or axis"
    NUMBER = "an int"
    MEMORY = "memory of the caller's"
    BYTES = "its size"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an entry."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a call, by which threads pay. per_element: of its index space; per_thread: with less,
    starting a thread takes longer than what it takes over; elements: at the problem's own size; parts: into which that
    can be cut."""

    per_element: int
    per_thread: int
    elements: int
    parts: int = MAX_THREADS

    @property
    def most_threads(self) -> int:
        """The number of threads that pay at the problem's own size, at least 1."""
        return max(1, min(MAX_THREADS, self.parts, self.elements * self.per_element // self.per_thread))


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a transposition. beta: it takes beta; part: it runs one of several parts; sizes: the shapes that it
    takes; threaded: it runs all parts on OpenMP's threads. Never both `part` and `threaded`. symbols: how it is named.
    """

    problem: Problem
    beta: bool = False
    part: bool = False
    sizes: Sizes = Sizes.OWN
    threaded: bool = False
    symbols: Symbols = PLAIN

    @property
    def name(self) -> str:
        """The entry's symbol."""
        ends = ((self.beta, "_beta"), (self.part, "_part"), (self.threaded, "_omp"))
        return self.symbols.stem(self.problem) + self.sizes.value + "".join(end for there, end in ends if there)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, in order."""
        scalars = () if self.problem.compute.kind is Kind.OPAQUE else ("alpha", "beta") if self.beta else ("alpha",)
        role = Role.WIDE if self.sizes is Sizes.WIDE else Role.SIZES
        inplace, sizes = self.problem.inplace, () if self.problem.terms else _PARAMETERS[self.sizes]
        tensors = (Parameter("A", Role.BOTH),) if inplace else (*of(Role.READ, "A"), *of(Role.WRITTEN, "B"))
        return (
            *tensors,
            *of(Role.SCALAR, scalars),
            *of(role, dict.fromkeys(IN_PLACE.get(x, x) for x in sizes) if inplace else sizes),
            *of(Role.NUMBER, ("part", "parts") if self.part else ()),
        )

    @property
    def extents(self) -> tuple[int, ...]:
        """The problem's own."""
        return self.problem.size

    @property
    def dtype(self) -> str:
        """The problem's data type, as it was written."""
        return self.problem.dtype

    @property
    def types(self) -> tuple[DType, DType, DType]:
        """Of A, of B, and of alpha and beta."""
        return self.problem.a, self.problem.b, self.problem.compute

    @property
    def work(self) -> Work:
        """Bytes: of A and of B, of B twice where it is read beside A."""
        return Work(self.problem.bytes_per_element(self.beta), BYTES_PER_THREAD, self.problem.elements)

    @property
    def zeros(self) -> int:
        """Parameters behind part and parts."""
        return 0


def of(role: Role, labels: Iterable[str]) -> tuple[Parameter, ...]:
    """Parameters of a role."""
    return tuple(Parameter(label, role) for label in labels)


def entries(problem: Problem, symbols: Symbols = PLAIN) -> tuple[Entry, ...]:
    """The entries of a problem's object. Plain moves have no scalars, hence none that take beta; sums have one shape.
    """
    betas = (False,) if problem.compute.kind is Kind.OPAQUE else (False, True)
    ways = itertools.product((Sizes.OWN,) if problem.terms else Sizes, betas, (False, True))
    return tuple(Entry(problem, beta, part, sizes, symbols=symbols) for sizes, beta, part in ways)


def threaded(problem: Problem, symbols: Symbols = PLAIN) -> tuple[Entry, ...]:
    """The entries that OpenMP's threads run: inline in the header, strong in the second object."""
    return tuple(replace(entry, threaded=True) for entry in entries(problem, symbols) if not entry.part)
