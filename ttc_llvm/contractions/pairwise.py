"""One or two labelled arrays into one: what is not a contraction is taken away first, then the best plan runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import originals
from ..lazy_dataclasses import NamedTuple
from ..operands.operand import Array, packed
from ..problem import dtypes
from ..problem.contraction import Contraction
from ..runtime import runtime
from ..runtime.once import Recent
from .expression import LETTERS, Labels
from .known import PREPARED, empty
from .search import chosen, planned

if TYPE_CHECKING:
    from .blocks import Runs
    from .plans import Plan

_prepared: Recent[Runs] = Recent(PREPARED)
_placed: Recent[tuple[int, ...]] = Recent(PREPARED)


class Labelled(NamedTuple):
    """An array and the labels of its axes. conjugated: what it stands for are the conjugates of its elements."""

    array: Array
    labels: Labels
    conjugated: bool = False


class How(NamedTuple):
    """The way to a plan. threads: of copies, None = those of `set_num_threads`; effort: plans that are timed."""

    threads: int | None = None
    effort: int = 1


class Target(NamedTuple):
    """The place of a result. array: None = new memory; free: in any order of axes; alpha, beta: as in `einsum`."""

    labels: Labels
    array: Array | None = None
    free: bool = True
    alpha: complex = 1
    beta: complex = 0


def squeezed(x: Labelled, extents: dict[int, int]) -> Labelled:
    """The same without axes of extent 1 along which others are longer."""
    array, labels, conjugated = x
    ones = [label for label, extent in zip(labels, array.shape, strict=True) if extent == 1 != extents[label]]
    if not ones:
        return x
    at = (*(0 if label in ones else slice(None) for label in labels), ...)  # `...`: never a scalar
    return Labelled(array[at], tuple(label for label in labels if label not in ones), conjugated)


def reduced(x: Labelled, keep: frozenset[int]) -> Labelled:
    """The same with each label once, and without those that are not in `keep`, which are summed over."""
    array, labels, conjugated = x
    unique = tuple(dict.fromkeys(labels))
    if len(unique) != len(labels):
        array, labels = originals.EINSUM(array, _small(labels, unique), _small(unique, unique)), unique
    summed = tuple(axis for axis, label in enumerate(labels) if label not in keep)
    if summed:
        array = np.asarray(array.sum(summed))
        labels = tuple(label for label in labels if label in keep)
    return Labelled(array, labels, conjugated)


def _small(labels: Labels, unique: Labels) -> list[int]:
    """The labels counted from 0, as NumPy takes them."""
    return [unique.index(label) for label in labels]


class Pair(NamedTuple):
    """Two arrays that contract, and the plan for it. to: where the product goes."""

    a: Labelled
    b: Labelled
    to: Labelled
    execution: Runs


def pair(a: Labelled, b: Labelled, to: Target, extents: dict[int, int], how: How) -> Pair:
    """The arrays without what is no contraction, and a place for their product: the target, if products can be written
    to it."""
    a, b, kept = squeezed(a, extents), squeezed(b, extents), frozenset(to.labels)
    a, b = reduced(a, kept | frozenset(b.labels)), reduced(b, kept | frozenset(a.labels))
    used = {label: extent for x in (a, b) for label, extent in zip(x.labels, x.array.shape, strict=True)}
    labels = tuple(label for label in to.labels if label in used)
    out = to.array
    if out is None or not _takes(out, a.array.dtype):
        out = _empty(a, b, labels, used, out is None and to.free, how)
    result = Labelled(out, labels)
    return Pair(a, b, result, _execution(a, b, result, how))


def contract(a: Labelled, b: Labelled, to: Target, extents: dict[int, int], how: How) -> Labelled:
    """`alpha * a b + beta * array`, over the labels that the target lacks. Both arrays are of one type.

    A new result lacks the labels along which both arrays have extent 1 and others are longer.
    """
    made = pair(a, b, to, extents, how)
    result = made.to.array
    made.execution.run(made.a.array, made.b.array, result, to.alpha, to.beta if result is to.array else 0)
    return Labelled(placed(result, to), made.to.labels)


def placed(result: Array, to: Target) -> Array:
    """A result in the target's array; where it is not there yet, beside `beta` times what that holds, in its type."""
    out = to.array
    if out is None or result is out:
        return result
    out[...] = result if to.beta == 0 else to.beta * out + result
    return out


def _takes(out: Array, kind: np.dtype[Any]) -> bool:
    """True where products can be written to an array."""
    regular = all(step % out.itemsize == 0 for step in out.strides)
    return out.dtype == kind and out.dtype.isnative and out.flags.aligned and regular and not _interleaved(out)


def _interleaved(out: Array) -> bool:
    """True where an axis does not step over those inside it, though no element is another's."""
    span = 0
    for step, extent in sorted((abs(s), n) for s, n in zip(out.strides, out.shape, strict=True) if n > 1):
        if step <= span:
            return True
        span += (extent - 1) * step
    return False


def _execution(a: Labelled, b: Labelled, c: Labelled, how: How, modelled: Plan | None = None) -> Runs:
    """The planned contraction of arrays that lie as these do. modelled: as in `planned`."""
    lies = ((x.labels, x.array.shape, x.array.strides, x.conjugated) for x in (a, b, c))
    key = (*lies, c.array.dtype, how, runtime.num_threads())
    return _prepared.find(key) or _prepared.put(key, planned(contraction(a, b, c), *how, True, modelled))


def contraction(a: Labelled, b: Labelled, c: Labelled) -> Contraction:
    """The contraction of arrays that lie so; labels become letters."""
    letters = {label: LETTERS[-1 - k] for k, label in enumerate(dict.fromkeys((*a.labels, *b.labels)))}
    spelled = ["".join(letters[label] for label in x.labels) for x in (a, b, c)]
    size = {letters[label]: n for x in (a, b) for label, n in zip(x.labels, x.array.shape, strict=True)}
    itemsize = c.array.itemsize
    of_a, of_b, of_c = (tuple(step // itemsize for step in x.array.strides) for x in (a, b, c))
    spec = f"{spelled[0]},{spelled[1]}->{spelled[2]}"
    kind = dtypes.from_numpy(c.array.dtype).name
    return Contraction(spec, size, kind, of_a, of_b, of_c, conjugate_a=a.conjugated, conjugate_b=b.conjugated)


def _empty(
    a: Labelled, b: Labelled, labels: Labels, extents: dict[int, int], free: bool, how: How
) -> Array:
    """A new result: in C order, or in the order that is made with fewer copies, if its own is free."""
    of_both = ((x.labels, x.array.shape, x.array.strides, x.conjugated) for x in (a, b))
    key = (*of_both, labels, a.array.dtype, free, how, runtime.num_threads())
    order = _placed.find(key)
    if order is None:
        order = _placed.put(key, _order(a, b, labels, extents, how) if free else tuple(range(len(labels))))
    shape = tuple(extents[labels[axis]] for axis in order)
    result = empty(shape, a.array.dtype)
    return result.transpose(np.argsort(order)) if order else result


def _order(a: Labelled, b: Labelled, labels: Labels, extents: dict[int, int], how: How) -> tuple[int, ...]:
    """The axes of the result in the order in which they lie in memory: by predictions; one is planned."""
    batch = [label for label in labels if label in a.labels and label in b.labels]
    rows = [label for label in a.labels if label in labels and label not in batch]
    columns = [label for label in b.labels if label in labels and label not in batch]
    orders = tuple(dict.fromkeys((labels, (*batch, *rows, *columns), (*batch, *columns, *rows))))
    laid = [_laid(a.array, labels, order, extents) for order in orders]
    number, plan = chosen([contraction(a, b, c) for c in laid], how.threads)
    _execution(a, b, laid[number], how, plan)
    return tuple(labels.index(label) for label in orders[number])


def _laid(memory: Array, labels: Labels, order: Labels, extents: dict[int, int]) -> Labelled:
    """A result without memory of its own, whose axes lie in this order."""
    steps = dict(zip(order, packed(tuple(extents[label] for label in order), memory.itemsize), strict=True))
    shape, strides = (tuple(of[label] for label in labels) for of in (extents, steps))
    return Labelled(np.lib.stride_tricks.as_strided(memory, shape, strides), labels)
