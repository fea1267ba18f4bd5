"""Calls of `einsum` and `tensordot`: by what earlier calls have left, and else in all steps, which are loaded then."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from operator import is_
from typing import Any

import numpy as np

from .. import locks
from ..lazy_dataclasses import NamedTuple
from . import known

LISTS, INTEGERS = (list, tuple), {int}


class Call(NamedTuple):
    """The options of a call of `einsum`, as they are given."""

    out: Any = None
    alpha: complex = 1
    beta: complex = 0
    optimize: Any = True
    dtype: Any = None
    order: str = "K"
    casting: str = "safe"
    effort: int | str = 1
    threads: int | None = None


_USUAL = Call()[3:]


def computed(given: Sequence[Any], call: Call) -> Any:
    """`alpha * np.einsum(*given) + beta * out`; see the public function."""
    if len(given) != 3 or type(given[0]) is not str:
        return _steps().in_all_steps(given, call, None)
    spec, a, b = given
    return _shortly(spec, a, b, given, call)


def _shortly(spec: Hashable, a: Any, b: Any, given: Sequence[Any], call: Call) -> Any:
    """The result by what an earlier call has left, or in all steps. spec: tells with a and b what is to be done."""
    usual = all(map(is_, call[3:], _USUAL))
    key = known.key_of(spec, a, b, call.out, call.alpha, call.beta) if usual else None
    result = None if key is None else known.run(key, a, b, call.out, call.alpha, call.beta)
    return _steps().in_all_steps(given, call, None if key is None else (key, a, b)) if result is None else result


def dotted(a: Any, b: Any, axes: Any, out: Any) -> Any:
    """`np.tensordot(a, b, axes)`; see the public function."""
    spec = _hashable(axes)
    key = None if spec is None else known.key_of(spec, a, b, out, 1, 0)
    result = None if key is None else known.run(key, a, b, out, 1, 0)
    if result is None:
        result = _dotted().in_all_steps(a, b, axes, out, None if key is None else (key, a, b))
    return np.asarray(result) if isinstance(result, np.generic) else result  # NumPy makes no scalars here


def _hashable(axes: Any) -> Hashable:
    """Axes of plain integers as part of a key; None for others."""
    if type(axes) is int:
        return axes
    if type(axes) not in LISTS or len(axes) != 2:
        return None
    a, b = axes
    if type(a) not in LISTS or type(b) not in LISTS:
        return (a, b) if type(a) is type(b) is int else None
    return (*a, None, *b) if {*map(type, a), *map(type, b)} <= INTEGERS else None


@cache
def _steps() -> Any:
    return locks.imported(".einsum", __package__)


@cache
def _dotted() -> Any:
    return locks.imported(".dotted", __package__)
