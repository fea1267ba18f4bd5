"""Values that plans make for a pair of arrays, kept for calls with the same ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from mpi4py import MPI

from ..operands.addresses import data_address
from ..operands.operand import Array

MOST = 4  # pairs of arrays


class _Freed(Protocol):
    def free(self) -> None: ...


T = TypeVar("T", bound=_Freed)


class Bindings(Generic[T]):
    """Values of `made` for the last pairs of arrays, by their addresses and strides. Forgotten ones are freed."""

    def __init__(self, made: Callable[[Array, Array], T]) -> None:
        self._made = made
        self._known: dict[tuple[Any, ...], T] = {}

    def __del__(self) -> None:
        if not MPI.Is_finalized():
            for one in self._known.values():
                one.free()

    def __call__(self, a: Array, b: Array) -> T:
        """The value for these two."""
        place = data_address(a), a.strides, data_address(b), b.strides
        bound = self._known.get(place)
        if bound is None:
            if len(self._known) == MOST:
                self._known.pop(next(iter(self._known))).free()
            bound = self._known[place] = self._made(a, b)
        return bound
