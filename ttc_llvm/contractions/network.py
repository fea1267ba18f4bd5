"""Several operands, two at a time: the path of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import count, reason, shown
from ..errors import OptionError
from ..locks import imported
from ..operands.operand import Array
from .expression import FIRST_OF_ELLIPSIS, Expression, Labels

Path = tuple[tuple[int, ...], ...]


def path(expression: Expression, arrays: Sequence[Array], optimize: Any) -> Path:
    """The operands to be contracted at each step, by position among those that are left; results go to the end.

    optimize: as in `np.einsum`: True, False (from left to right), "greedy", "optimal", a name and a memory limit, or a
    path. opt_einsum finds it where it is installed, else NumPy; two operands need no search, and one no step.
    OptionError where it is none.
    """
    operands = len(arrays)
    if operands <= 2 and (optimize is None or isinstance(optimize, (bool, str))):
        return (tuple(range(operands)),)
    if optimize is False or optimize is None:
        return ((0, 1), *((0, operands - 1 - k) for k in range(1, operands - 1)))
    given = _given(optimize)
    found = given if given is not None else _found(expression, arrays, optimize)
    _check(found, operands, optimize)
    return found or ((0,),)


def _given(optimize: Any) -> Path | None:
    """A path that the caller states, with or without NumPy's heading."""
    if isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path":
        optimize = optimize[1:]
    if isinstance(optimize, (list, tuple)) and all(isinstance(step, (list, tuple)) for step in optimize):
        return tuple(tuple(step) for step in optimize)
    return None


def _found(expression: Expression, arrays: Sequence[Array], optimize: Any) -> Path:
    operands: list[Any] = []
    for array, labels in zip(arrays, expression.inputs, strict=True):
        operands += [array, [*labels]]
    operands.append([*expression.output])
    try:
        if max((label for labels in expression.inputs for label in labels), default=0) < FIRST_OF_ELLIPSIS:
            library = _opt_einsum()
            if library is not None and isinstance(optimize, (bool, str)):
                kind = "auto" if optimize is True else optimize
                return tuple(map(tuple, library.contract_path(*operands, optimize=kind)[0]))
        else:
            operands = _renamed(operands)
        return tuple(map(tuple, np.einsum_path(*operands, optimize=optimize)[0][1:]))
    except Exception as error:
        raise OptionError(f"optimize {shown(optimize)} leads to no path: {reason(error)}") from None


def _renamed(operands: list[Any]) -> list[Any]:
    """The same with labels that NumPy takes."""
    labels: dict[int, int] = {}
    return [[labels.setdefault(x, len(labels)) for x in item] if isinstance(item, list) else item for item in operands]


def _opt_einsum() -> Any:
    try:
        return imported("opt_einsum")
    except ImportError:
        return None


def _check(steps: Path, operands: int, given: Any) -> None:
    left, of = operands, count(operands, "operand")
    for step in steps:
        known = all(isinstance(k, (int, np.integer)) and 0 <= k < left for k in step)
        if not known or not step or len(set(step)) != len(step):
            raise OptionError(f"optimize {shown(given)} is no path for {of}: step {shown(step)}")
        left += 1 - len(step)
    if left != 1:
        raise OptionError(f"optimize {shown(given)} is no path for {of}: it leaves {left}")


def kept(inputs: Sequence[Labels], output: Labels, first: Labels, second: Labels) -> Labels:
    """The labels that a step's result needs: those of what is left, and of the result; shared ones first."""
    needed = {label for labels in inputs for label in labels} | set(output)
    both = [label for label in first if label in second]
    order = dict.fromkeys((*both, *first, *second))
    return tuple(label for label in order if label in needed)
