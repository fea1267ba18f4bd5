"""`einsum`, step by step: operands read and checked, pairs along the path, the result where it is wanted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .. import locks
from ..arguments import number, one_of, reason, shown
from ..arrays import originals, overlaps
from ..arrays.orders import ORDERS
from ..errors import ArrayError, ProblemError
from ..operands.operand import Array, Operand
from ..operands.reading import has_functions, operand, result_place
from ..operands.types import as_dtype
from ..runtime import runtime
from ..tuning import efforts
from . import known, network
from .calls import Call
from .expression import Expression, expression, extents, name_of, split
from .known import PRODUCTS
from .pairwise import How, Labelled, Target, contract, pair, placed, reduced, squeezed

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def in_all_steps(given: Sequence[Any], call: Call, lasting: tuple[Hashable, Array, Array] | None) -> Any:
    """The result in all steps. lasting: the key by which it is kept what they found, and both arrays."""
    if given and isinstance(given[0], bytes):  # NumPy takes them, where it seeks no path
        given = given[0].decode("latin-1"), *given[1:]
    operands, lists, output = split(given)
    if any(has_functions(x) for x in operands):
        return _by_numpy(given, call, "of such arrays")
    read = [operand(x, name_of(k)) for k, x in enumerate(operands)]
    arrays = [_on_host(x, name_of(k)) for k, x in enumerate(read)]
    stated = expression(lists, output, [x.ndim for x in arrays], numbered=not isinstance(given[0], str))
    sizes = extents(stated, [x.shape for x in arrays])
    one_of("casting", call.casting, CASTINGS, ArrayError)
    if call.order is None:  # NumPy takes it, too
        call = call._replace(order="K")
    one_of("order", call.order, ORDERS, ArrayError)
    kind = _common(arrays) if call.dtype is None else as_dtype(call.dtype)
    if kind.char not in PRODUCTS:
        if not isinstance(call.optimize, bool):  # NumPy knows fewer names, and asks for a heading of paths
            call = call._replace(optimize=["einsum_path", *network.path(stated, arrays, call.optimize)])
        return _by_numpy(given, call, f"of dtype {kind}")
    arrays = [_cast(x, kind, call.casting, name_of(k)) for k, x in enumerate(arrays)]
    lazy = [x.conjugated and kind.kind == "c" for x in read]
    labelled = [Labelled(*one) for one in zip(arrays, stated.inputs, lazy, strict=True)]
    to = _target(call, stated, sizes, kind, arrays)
    threads = None if call.threads is None else runtime.thread_count(call.threads)
    how = How(threads, efforts.effort("effort", call.effort))
    result = _along(network.path(stated, arrays, call.optimize), labelled, to, sizes, how)
    if lasting is not None:
        key, a, b = lasting
        known.remember(key, a, b, call.out, pair(labelled[0], labelled[1], to, sizes, how))
    return _handed(result, call, read)


# --- arguments ------------------------------------------------------------------------------------------


def _on_host(given: Operand, name: str) -> Array:
    if given.on_device:
        raise ArrayError(f"{name} is on a device: contractions run on the host")
    return given.view if type(given.view) is np.ndarray else np.asarray(given.view)


def _common(arrays: Sequence[Array]) -> np.dtype[Any]:
    """The type of the arithmetic, where none is asked for."""
    try:
        return np.result_type(*arrays)
    except TypeError:
        named = " and ".join(str(kind) for kind in dict.fromkeys(x.dtype for x in arrays))
        raise ArrayError(f"dtypes {named} have none in common: all operands are computed with in one") from None


def _cast(x: Array, kind: np.dtype[Any], casting: Any, name: str) -> Array:
    """The operand in the type of the arithmetic, at addresses and strides that products take."""
    if not np.can_cast(x.dtype, kind, casting):
        raise ArrayError(f"{name} has dtype {x.dtype}, which is not cast to {kind} by casting {shown(casting)}")
    regular = all(step % x.itemsize == 0 for step in x.strides) and x.flags.aligned
    return x if x.dtype == kind and x.dtype.isnative and regular else x.astype(kind.newbyteorder("="))


def _target(
    call: Call, stated: Expression, sizes: dict[int, int], kind: np.dtype[Any], arrays: Sequence[Array]
) -> Target:
    """Where the result goes, and by which scalars it is scaled."""
    alpha, beta = (_scalar(name, value, kind) for name, value in (("alpha", call.alpha), ("beta", call.beta)))
    shape = tuple(sizes[label] for label in stated.output)
    order = one_of("order", call.order, ORDERS, ArrayError).upper()
    if call.out is None:
        if beta:
            locks.imported("..arrays.checks", __package__).check_beta(call.beta)
        if order == "A":
            order = "F" if all(x.flags.fnc for x in arrays) else "C"
        free = order == "K"
        return Target(stated.output, None if free else known.empty(shape, kind, order), free, alpha, beta)
    place = result_place(call.out, "out")
    if place.on_device:
        raise ArrayError("out is on a device: contractions run on the host")
    out = place.view if type(place.view) is np.ndarray else place.view.view(np.ndarray)
    if out.shape != shape:
        raise ArrayError(f"out has shape {out.shape}: the result has {shape}")
    casting: Any = call.casting
    if not np.can_cast(kind, out.dtype, casting):
        raise ArrayError(f"out has dtype {out.dtype}, to which {kind} is not cast by casting {shown(call.casting)}")
    overlaps.check_once(out)
    for k, x in enumerate(arrays):
        if overlaps.share(x, out):
            raise ArrayError(f"out shares memory with {name_of(k)}: contractions are out of place")
    return Target(stated.output, out, False, alpha, beta)


def _scalar(name: str, value: Any, kind: np.dtype[Any]) -> complex:
    found = number(name, value)
    if kind.kind != "c" and found.imag != 0:
        raise ProblemError(f"{name} = {shown(value)} is complex, but the dtype {kind} is real")
    return found if kind.kind == "c" else found.real


def _by_numpy(given: Sequence[Any], call: Call, what: str) -> Any:
    if number("alpha", call.alpha) != 1 or number("beta", call.beta) != 0:
        raise ProblemError(f"contractions {what} are NumPy's, which has no alpha and beta")
    if call.out is not None and not has_functions(call.out):
        result_place(call.out, "out")
    options: dict[str, Any] = {"optimize": call.optimize, "order": call.order, "casting": call.casting}
    options |= {name: getattr(call, name) for name in ("out", "dtype") if getattr(call, name) is not None}
    try:
        result = originals.EINSUM(*given, **options)
        return result[()] if type(result) is np.ndarray and result.ndim == 0 and call.out is None else result
    except MemoryError:
        raise
    except Exception as error:  # whatever objects of other libraries raise
        raise ArrayError(f"numpy.einsum says: {reason(error)}") from error


# --- the computation ------------------------------------------------------------------------------------


def _along(
    steps: network.Path, operands: list[Labelled], to: Target, sizes: dict[int, int], how: How
) -> Array:
    """The result of all steps."""
    for position, step in enumerate(steps):
        chosen = [operands[k] for k in step]
        operands = [x for k, x in enumerate(operands) if k not in step]
        last = position == len(steps) - 1
        if len(chosen) == 1:
            if last:
                return _single(chosen[0], to, sizes)
            operands.append(chosen[0])
            continue
        while len(chosen) > 1:
            first, second, *rest = chosen
            if last and not rest:
                return contract(first, second, to, sizes, how).array
            labels = network.kept([x.labels for x in (*operands, *rest)], to.labels, first.labels, second.labels)
            chosen = [contract(first, second, Target(labels), sizes, how), *rest]
        operands.append(chosen[0])
    raise AssertionError(f"{steps} do not end")


def _single(x: Labelled, to: Target, sizes: dict[int, int]) -> Array:
    """A single operand: sums, a diagonal, a permutation; a view where that is enough."""
    array, labels, conjugated = reduced(squeezed(x, sizes), frozenset(to.labels))
    view: Array = array.transpose([labels.index(label) for label in to.labels])
    out = to.array
    if out is None and to.alpha == 1 and not conjugated:
        return view
    result: Array = out if out is not None and out.dtype == view.dtype else np.empty_like(view)
    checks, assignment = (locks.imported(f"..arrays.{name}", __package__) for name in ("checks", "assignment"))
    scale = checks.scaled(view.dtype, view.dtype, to.alpha, to.beta if result is out else 0, conjugated)
    assignment.mover().assign(view, result, scale, runtime.num_threads(), 1)
    return placed(result, to)


def _handed(result: Array, call: Call, read: Sequence[Operand]) -> Any:
    if call.out is not None:
        return call.out
    back = next((x for x in read if x.back is not None), None)
    if back is not None:
        return back.handed(result)
    return result if result.ndim else result[()]
