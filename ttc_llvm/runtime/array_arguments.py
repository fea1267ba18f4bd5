"""Arguments of a call: the memory of tensors, as an address, and scalars."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..arguments import number, shown
from ..errors import ArrayError
from ..operands.addresses import data_address
from ..operands.operand import Operand
from ..operands.reading import in_place
from ..problem import dtypes
from ..problem.dtypes import Kind
from ..problem.problem import Problem

END_OF_MEMORY = 1 << 64
OVERLAP = "A and B overlap in memory: the transposition is out of place"
_VALUES = (np.generic, bool, float, complex, str)  # of which some show a buffer
_REALS = frozenset((int, float, type(None)))
_PARTS = struct.Struct("2d")


@dataclass(frozen=True, slots=True)
class Storage:
    """Requirements on the memory of a tensor.

    dtype: of its elements, and exact: no other of that size; elements: their least number, outer sizes included;
    bytes: what they take; written: it must not be read-only; spelled: the dtype as the problem's maker named it.
    """

    name: Literal["A", "B"]
    dtype: np.dtype[Any]
    exact: bool
    elements: int
    written: bool
    spelled: str
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", self.elements * self.dtype.itemsize)

    @classmethod
    def of(cls, problem: Problem, name: Literal["A", "B"]) -> Storage:
        """A or B of a problem. Plain moves take any items of that size: unsigned integers, ml_dtypes' bfloat16 ..."""
        own = problem.a if name == "A" else problem.b
        exact = problem.compute.kind is not Kind.OPAQUE
        side = name.lower()
        elements = problem.storage(side)
        return cls(name, dtypes.to_numpy(own), exact, elements, name == "B", problem.spelled_of(side))

    def address(self, x: Any) -> tuple[int, Any]:
        """Its address, and the object that keeps that memory alive: x is an array, a buffer or an integer address.
        ArrayError for memory that does not fit."""
        if type(x) is np.ndarray:  # what most calls bring, checked in no time
            flags = x.flags
            fits = x.dtype == self.dtype and x.size >= self.elements and flags.forc
            if fits and (flags.writeable or not self.written):
                return data_address(x), x
        elif type(x) is int and 0 < x < END_OF_MEMORY:
            return x, None
        return self._checked(x)

    def _checked(self, x: Any) -> tuple[int, Any]:
        """The address of anything else that may be handed over, or the rule that it breaks. Some objects make the
        memory that they show, as images of PIL do: the array holds it."""
        address = self.integer(x)
        if address is not None:
            return address, None
        found = in_place(x, self.name, self.dtype) if not isinstance(x, _VALUES) else None
        if found is None or found.on_device:
            given = f"{type(x).__name__}{' on a device' if found else ''}"
            raise ArrayError(f"{self.name} is a {given}: pass an array, a buffer or an integer address")
        self.check(found)
        return found.address, found

    def integer(self, x: Any, what: str = "address") -> int | None:
        """An integer address; None for what is no integer. ArrayError where it cannot be one. what: it must be."""
        if not isinstance(x, (int, np.integer)) or isinstance(x, bool):
            return None
        if not 0 < int(x) < END_OF_MEMORY and (self.elements or x):
            raise ArrayError(f"{self.name} is the integer {shown(x)}, which is no {what}")
        return int(x)

    def check(self, given: Operand) -> None:
        """ArrayError for an array of other elements, of too few, or that may not be written to as it must be.
        Libraries that ask for it are told that their array is written to."""
        array = given.view
        if given.conjugated:
            raise ArrayError(f"{self.name} is a lazily conjugated view: pass its storage, {self.name}.resolve_conj()")
        if not self._admits(array.dtype):
            raise ArrayError(f"{self.name} has dtype {array.dtype}: the problem's type is {self.spelled}")
        if not array.flags.forc:
            raise ArrayError(f"{self.name} is not contiguous (strides {array.strides}): pass its whole storage")
        if array.size < self.elements:
            raise ArrayError(f"{self.name} holds {array.size} elements: the problem needs {self.elements}")
        if self.written and given.locked:
            raise ArrayError(f"{self.name} {given.locked}")
        if self.written and given.written is not None:
            given.written()

    def _admits(self, dtype: np.dtype[Any]) -> bool:
        if self.exact:
            return dtype == self.dtype
        return dtype.itemsize == self.dtype.itemsize and not dtype.hasobject


def exactly(name: str, value: Any) -> Any:
    """An optional scalar as part of a cache's key; ProblemError as `number`. Complex numbers go by their bits: 3 + 0j
    equals 3 - 0j, but makes other zeros. The sign of a real zero changes nothing: zeros are kinds of their own."""
    kind = type(value)
    if kind in _REALS:
        return value
    given = value if kind is complex else number(name, value)
    return _PARTS.pack(given.real, given.imag)
