"""One transposition with its data: strided axes, types, scalars, and the arrays that hold A and B."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import reference
from reference import Array

from ttc_llvm.arrays import pairs
from ttc_llvm.arrays.scalings import Scaling
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Placed, from_axes, static
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.in_place import in_place
from ttc_llvm.problem.kinds import Kinds
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Case:
    """axes: any strides, as `from_axes` takes them; plan and target are chosen apart. seed: of the contents; in_place:
    A and B are one tensor."""

    axes: tuple[Axis, ...]
    a: DType
    b: DType
    alpha: complex = 1.0
    beta: complex = 0.0
    conjugate: bool = False
    seed: int = 0
    in_place: bool = False

    @classmethod
    def of(cls, p: Problem, seed: int = 0) -> Case:
        """The case that a problem states."""
        strides_a, strides_b = column_major(p.outer_a), column_major(p.outer_b)
        axes = tuple(Axis(p.size[q], strides_a[q], strides_b[k]) for k, q in enumerate(p.perm))
        return cls(axes, p.a, p.b, p.alpha, p.beta, p.conjugate, seed, p.inplace)

    @property
    def kinds(self) -> Kinds:
        """The kinds its scalars need."""
        return Kinds.of(self.alpha, self.beta)

    @property
    def placed(self) -> Placed:
        """Its canonical form."""
        if self.in_place:
            return in_place(self.axes, self.a, self.kinds, self.conjugate)
        return from_axes(self.axes, self.a, self.b, self.kinds, self.conjugate)

    @property
    def plain(self) -> bool:
        """True where the result must be bit-exact."""
        return reference.is_plain(self.a, self.b, self.alpha, self.beta, self.conjugate)


@dataclass(frozen=True, slots=True)
class Window:
    """A strided tensor in flat storage: `span` elements, element (0, ..., 0) at `origin`."""

    extents: tuple[int, ...]
    strides: tuple[int, ...]
    span: int = field(init=False)
    origin: int = field(init=False)

    def __post_init__(self) -> None:
        reach = [(e - 1) * s for e, s in zip(self.extents, self.strides, strict=True)]
        below, above = -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        empty = 0 in self.extents
        object.__setattr__(self, "span", 0 if empty else below + above + 1)
        object.__setattr__(self, "origin", 0 if empty else below)

    def view(self, storage: Array) -> Array:
        """The tensor inside its storage."""
        size = storage.dtype.itemsize
        if not self.span:
            return np.zeros(self.extents, storage.dtype)
        steps = tuple(s * size for s in self.strides)
        view: Array = np.ndarray(self.extents, storage.dtype, storage.data, self.origin * size, steps)
        return view


def windows(case: Case) -> tuple[Window, Window]:
    """A's and B's windows."""
    extents = tuple(static(axis.extent) for axis in case.axes)
    strides_a = tuple(static(axis.stride_a) for axis in case.axes)
    strides_b = tuple(static(axis.stride_b) for axis in case.axes)
    return Window(extents, strides_a), Window(extents, strides_b)


def fill(case: Case, a: Array, b: Array) -> None:
    """Random contents for both storages; what beta = 0 or alpha = 0 must not read is NaN or random bits."""
    rng = np.random.default_rng(case.seed)
    for storage, t, unread in ((a, case.a, case.alpha == 0), (b, case.b, case.beta == 0)):
        plain = case.plain or unread
        make = reference.random_bits if plain else reference.sample
        storage[...] = make(rng, storage.shape, t)
        if unread and t.kind is not Kind.OPAQUE:
            storage[...] = np.nan


def storages(case: Case) -> tuple[Array, Array]:
    """Both sides' storage, filled."""
    a, b = (np.zeros(w.span, reference.numpy_type(t)) for w, t in zip(windows(case), (case.a, case.b), strict=True))
    fill(case, a, b)
    return a, b


def expected(case: Case, a: Array, b: Array) -> Array:
    """B's storage after the transposition, padding included; a and b stay as they are."""
    window_a, window_b = windows(case)
    result: Array = b.copy()
    view = window_b.view(result)
    value = reference.combine(
        window_a.view(a), view.copy(), (case.a, case.b), case.alpha, case.beta, case.conjugate
    )
    if window_b.span:
        view[...] = value
    return result


def scaling(case: Case) -> Scaling:
    """The scaling of its elements, whatever NumPy calls their types."""
    name = dtypes.pair_name(case.a, case.b)
    return pairs.of_problem(Problem((), (), name, alpha=case.alpha, beta=case.beta, conjugate=case.conjugate))
