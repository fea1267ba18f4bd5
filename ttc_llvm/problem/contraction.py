"""The contraction of two tensors: one product with sums over the indices that the result lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import arguments
from ..arguments import shown
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass
from . import dtypes, type_names
from .dtypes import DType, Kind
from .layouts import column_major
from .scalars import scalar

OPERANDS = ("a", "b", "c")
COUNT_LIMIT = 1 << 62  # elements of a tensor, and multiplications


class IndexClass(Enum):
    """The tensors that have an index."""

    BATCH = "batch"  # all three: each value is a product of its own
    M = "m"  # A and C
    N = "n"  # B and C
    K = "k"  # A and B: summed over


_CLASSES = {"abc": IndexClass.BATCH, "ac": IndexClass.M, "bc": IndexClass.N, "ab": IndexClass.K}


@dataclass(frozen=True, slots=True)
class Contraction:
    """`C[c] <- alpha * sum A[a] * B[b] + beta * C[c]`, the sum over the indices that C lacks.

    spec: the indices of A, B and C, one letter for each axis, as in `np.einsum`: "ijk,kl->ijl". An index stands once
    in a tensor, and in two tensors at least.
    size: the extent of every index.
    dtype: of all three: `s d c z`, or a name or NumPy type of these (see `type_names.read`). It is kept as its letter.
    strides_a, strides_b, strides_c: in elements, axis by axis; None = C order. Those of C address each element once.
    alpha, beta: the defaults of a call; they stay run-time values. beta = 0 never reads C.
    conjugate_a, conjugate_b: conjugate that tensor (complex types only).

    Raises ProblemError, one sentence, for anything invalid.
    """

    spec: str
    size: tuple[tuple[str, int], ...]
    dtype: str = "d"
    strides_a: tuple[int, ...] | None = None
    strides_b: tuple[int, ...] | None = None
    strides_c: tuple[int, ...] | None = None
    alpha: complex = 1.0
    beta: complex = 0.0
    conjugate_a: bool = False
    conjugate_b: bool = False

    if TYPE_CHECKING:  # what is taken; the fields say what is kept

        def __init__(
            self,
            spec: str,
            size: Mapping[str, SupportsIndex] | Iterable[tuple[str, SupportsIndex]],
            dtype: type_names.TypeLike = "d",
            strides_a: Iterable[SupportsIndex] | None = None,
            strides_b: Iterable[SupportsIndex] | None = None,
            strides_c: Iterable[SupportsIndex] | None = None,
            alpha: complex = 1.0,
            beta: complex = 0.0,
            conjugate_a: bool = False,
            conjugate_b: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "spec", "".join(arguments.text("spec", self.spec, ProblemError).split()))
        put(self, "size", _sizes(self))
        arguments.put(self, _RULES, ProblemError)
        put(self, "dtype", type_names.read(self.dtype))
        _check_type(self)
        _check_strides(self)
        for name in ("alpha", "beta"):
            put(self, name, scalar(name, getattr(self, name), self.element, type_names.read(self.dtype).spelled))

    @property
    def element(self) -> DType:
        """The type of all elements and of the arithmetic."""
        return dtypes.dtype(str(self.dtype))

    @property
    def extents(self) -> dict[str, int]:
        """The extent of each index."""
        return dict(self.size)

    def indices(self, operand: str) -> str:
        """The indices of an operand, "a", "b" or "c": a letter for each axis. ProblemError for others."""
        return _operands(self.spec)[OPERANDS.index(arguments.one_of("operand", operand, OPERANDS, ProblemError))]

    def shape(self, operand: str) -> tuple[int, ...]:
        """The extents of an operand's axes."""
        extents = self.extents
        return tuple(extents[index] for index in self.indices(operand))

    def strides(self, operand: str) -> tuple[int, ...]:
        """The strides of an operand's axes, in elements."""
        shape = self.shape(operand)
        given = {"a": self.strides_a, "b": self.strides_b, "c": self.strides_c}[operand]
        return column_major(shape[::-1])[::-1] if given is None else given

    def class_of(self, index: str) -> IndexClass:
        """The class of an index. ProblemError where the spec lacks it."""
        arguments.one_of("index", index, self.extents, ProblemError)
        return _CLASSES["".join(name for name in OPERANDS if index in self.indices(name))]

    @property
    def multiplications(self) -> int:
        """Products of two elements: the extents of all indices, multiplied."""
        total = 1
        for _, extent in self.size:
            total *= extent
        return total

    def __str__(self) -> str:
        sizes = ",".join(f"{index}:{extent}" for index, extent in self.size)
        return f"{self.spec} {sizes} {self.dtype}"


def _operands(spec: str) -> list[str]:
    """The indices of A, B and C. ProblemError where a text does not state three."""
    inputs, arrow, c = spec.partition("->")
    operands = [*inputs.split(","), c]
    if not arrow or len(operands) != len(OPERANDS):
        raise ProblemError(f"spec {shown(spec)} is not of the form 'ijk,kl->ijl': two operands and their result")
    return operands


def _sizes(given: Contraction) -> tuple[tuple[str, int], ...]:
    """The checked extents, by index in the order of the spec."""
    operands = _operands(given.spec)
    for name, indices in zip(OPERANDS, operands, strict=True):
        _check_indices(given.spec, name, indices)
    stated: Any = given.size
    pairs = stated.items() if isinstance(stated, Mapping) else arguments.sequence("size", stated, ProblemError)
    try:
        listed = [(index, extent) for index, extent in pairs]
        known = dict(listed)
    except (TypeError, ValueError):
        raise ProblemError(f"size {shown(given.size)} is no mapping of indices to extents") from None
    if len(known) != len(listed):
        raise ProblemError(f"size {shown(listed)} has an index twice")
    wanted = dict.fromkeys("".join(operands))
    for index in wanted:
        if index not in known:
            raise ProblemError(f"size {shown(known)} has no extent of index {index}")
        if sum(index in indices for indices in operands) < 2:
            raise ProblemError(f"index {index} of spec {shown(given.spec)} stands in one tensor only")
    if len(known) != len(wanted):
        other = next(index for index in known if index not in wanted)
        raise ProblemError(f"size {shown(known)} has index {shown(other)}, which spec {given.spec!r} lacks")
    rule = arguments.between(0, COUNT_LIMIT)
    return tuple((index, rule(f"the extent of index {index}", known[index], ProblemError)) for index in wanted)


def _check_indices(spec: str, name: str, indices: str) -> None:
    for index in indices:
        if not (index.isascii() and index.isalpha()):
            raise ProblemError(f"spec {shown(spec)} has {index!r} in {name}: indices are letters of ASCII")
        if indices.count(index) > 1:
            raise ProblemError(f"index {index} stands more than once in {name} of spec {shown(spec)}")


def _check_type(given: Contraction) -> None:
    spelled = type_names.read(given.dtype).spelled
    if str(given.dtype) not in ("s", "d", "c", "z"):
        raise ProblemError(f"data type {spelled} has no products here: float32, float64, complex64 and complex128 have")
    if (given.conjugate_a or given.conjugate_b) and given.element.kind is not Kind.COMPLEX:
        raise ProblemError(f"conjugation needs a complex data type, not {spelled}")


def _check_strides(given: Contraction) -> None:
    for name in OPERANDS:
        strides, shape = given.strides(name), given.shape(name)
        if len(strides) != len(shape):
            raise ProblemError(f"strides_{name} {strides} has {len(strides)} entries, but {name} has {len(shape)} axes")
        span = sum((extent - 1) * abs(stride) for extent, stride in zip(shape, strides, strict=True) if extent)
        if max(span, *shape, 1) >= COUNT_LIMIT // given.element.itemsize:
            raise ProblemError(f"{name} of shape {shape} and strides {strides} is beyond 64-bit addresses")
    if given.multiplications > COUNT_LIMIT:
        raise ProblemError(f"{given.spec} has more than 2**62 multiplications")
    _check_apart(given.shape("c"), given.strides("c"))


def _check_apart(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Each element of C at an address of its own, which holds where every axis steps over those inside it."""
    if 0 in shape:
        return
    span = 0
    for stride, extent in sorted((abs(s), e) for s, e in zip(strides, shape, strict=True) if e > 1):
        if stride <= span:
            raise ProblemError(f"strides_c {strides} lets elements of C of shape {shape} overlap, or interleave")
        span += (extent - 1) * stride


_RULES = {
    "strides_a": arguments.optional(arguments.each(arguments.integer, "integers")),
    "strides_b": arguments.optional(arguments.each(arguments.integer, "integers")),
    "strides_c": arguments.optional(arguments.each(arguments.integer, "integers")),
    "conjugate_a": arguments.flag,
    "conjugate_b": arguments.flag,
}
