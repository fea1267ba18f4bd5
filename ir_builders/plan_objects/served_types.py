"""The types that plans of a library take."""

from __future__ import annotations

from collections.abc import Sequence

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import is_move
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.problem import Problem

from .. import layout_fields as layouts
from . import fields as f
from .kernels import KINDS, Moved

ARITHMETIC = {"s": f.FLOAT, "d": f.DOUBLE, "c": f.COMPLEX_FLOAT, "z": f.COMPLEX_DOUBLE}
_ARITHMETIC_NAMES = tuple(ARITHMETIC)  # in the order of `layout_fields.ARITHMETIC`


@dataclass(frozen=True, slots=True)
class Types:
    """A pair of types, and whether A is conjugated: what a plan's `types` spell."""

    a: DType
    b: DType
    conjugate: bool

    @classmethod
    def of(cls, problem: Problem) -> Types:
        """Those of a problem."""
        return cls(problem.a, problem.b, problem.conjugate)

    @property
    def name(self) -> str:
        """As callers spell it: a star behind the letters is for the conjugate."""
        return dtypes.pair_name(self.a, self.b) + "*" * self.conjugate

    @property
    def has_scalars(self) -> bool:
        """True where there are alpha and beta."""
        return dtypes.compute_type(self.a, self.b).kind is not Kind.OPAQUE

    @property
    def is_planned(self) -> bool:
        """True for plain moves, and for arithmetic that any-size kernels know."""
        return self.moved(f.COPY) is None or all(t.name in _ARITHMETIC_NAMES for t in (self.a, self.b))

    def moved(self, kind: int) -> Moved | None:
        """The work of kernels of this kind; None for moves, and for kinds that there are not."""
        if (kind and not self.has_scalars) or is_move(KINDS[kind], self.a, self.b, self.conjugate):
            return None
        return Moved(self.a, self.b, KINDS[kind], self.conjugate and kind < f.ZERO)

    def layout_kind(self, kind: int) -> int:
        """The kind of layouts (`layout_fields`) of this kind of alpha and beta; 0 = there is none."""
        if self.moved(kind) is None:
            return self.a.itemsize if kind == f.COPY else 0
        of, to = (_ARITHMETIC_NAMES.index(t.name) for t in (self.a, self.b))
        alpha = {f.COPY: layouts.ALPHA_ONE, f.ZERO: layouts.ALPHA_ZERO, f.SCALE_B: layouts.ALPHA_ZERO}
        beta = layouts.BETA_ANY if kind in (f.UPDATE, f.SCALE_B) else layouts.BETA_ZERO
        return layouts.scaled_kind(of, to, alpha.get(kind, layouts.ALPHA_ANY), beta, self.conjugate and kind < f.ZERO)


def served(problems: Sequence[Problem]) -> tuple[Types, ...]:
    """The types of a library, each once, but for conversions of others than floating-point types, and those whose name
    is too long."""
    found = dict.fromkeys(Types.of(problem) for problem in problems)
    return tuple(types for types in found if types.is_planned and len(types.name) <= f.NAME_BYTES)
