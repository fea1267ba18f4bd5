"""A problem stated by arrays that a caller has: their axes by ascending stride, their outer sizes, their types."""

from __future__ import annotations

from typing import Any

from ..arguments import integer, sequence, shown
from ..errors import ArrayError
from ..lazy_dataclasses import dataclass
from ..operands.operand import packed
from ..operands.reading import operand
from . import dtypes, type_names
from .layouts import Layout, layout


@dataclass(frozen=True, slots=True)
class Stated:
    """The fields of a `Problem`, whose index k of A is axis axes_a[k] of the array, and so for B."""

    perm: tuple[int, ...]
    size: tuple[int, ...]
    dtype: str
    lda: tuple[int, ...] | None
    ldb: tuple[int, ...] | None
    axes_a: tuple[int, ...]
    axes_b: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Array:
    """An array as its library describes it. strides: in bytes; dtype: as its library has it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return dtypes.parse_pair(type_names.read(self.dtype))[0].itemsize


def stated(x: Any, axes: Any, out: Any) -> Stated:
    """The problem `out = transpose(x, axes)`. axes: as in `np.transpose`; out: None for a new C-ordered array.

    Raises ArrayError for axes and shapes that do not fit, and for strides that no problem has; ProblemError for types.
    """
    source = _described(x, "x")
    order = _permutation(axes, len(source.shape))
    shape = tuple(source.shape[k] for k in order)
    target = _fresh(shape, source) if out is None else _described(out, "out")
    if target.shape != shape:
        raise ArrayError(f"out has shape {target.shape}: the transposed array has {shape}")
    a, b = _layout(source, "x"), _layout(target, "out")
    perm = tuple(a.axes.index(order[k]) for k in b.axes)
    lda, ldb = (None if one.outer == one.size else one.outer for one in (a, b))
    types = source.dtype if source.dtype == target.dtype else (source.dtype, target.dtype)
    return Stated(perm, a.size, type_names.read(types), lda, ldb, a.axes, b.axes)


def _layout(array: _Array, name: str) -> Layout:
    found = layout(array.shape, array.strides, array.itemsize)
    if found is None:
        raise ArrayError(
            f"{name} has shape {array.shape} and strides {array.strides} of {array.itemsize}-byte elements:"
            " a Problem states whole tensors and parts of them that take every element along their densest axis;"
            " ttc_llvm.transpose takes any strides"
        )
    return found


def _fresh(shape: tuple[int, ...], like: _Array) -> _Array:
    return _Array(shape, packed(shape, like.itemsize), like.dtype)


def _permutation(axes: Any, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank))[::-1]
    given = sequence("axes", axes, ArrayError, "integers")
    order = [integer(f"axes[{k}]", axis, ArrayError) for k, axis in enumerate(given)]
    found = tuple(axis + rank if -rank <= axis < 0 else axis for axis in order)
    if sorted(found) != list(range(rank)):
        raise ArrayError(f"axes {shown(tuple(order))} do not permute the {rank} axes of the array")
    return found


# --- what libraries say of their arrays -----------------------------------------------------------------------


def _described(x: Any, name: str) -> _Array:
    """An array of any library, on a device as well; its elements are not looked at."""
    own = getattr(x, "dtype", None)
    of_torch = type(own).__module__ == "torch"  # its dtype says more than a view's, where NumPy lacks the type
    given = operand(x.detach() if of_torch else x, name)  # no gradient is lost where nothing is moved
    if given.conjugated:
        instead = f"{name}.resolve_conj()" + (", or x.conj() with conjugate=True" if name == "x" else "")
        raise ArrayError(f"{name} is a lazily conjugated view, which no solution takes: pass {instead}")
    return _Array(given.view.shape, given.view.strides, own if of_torch else given.view.dtype)
