"""Arguments of a call: the memory of tensors, as an address, and scalars."""

from __future__ import annotations

import inspect
import struct
from typing import Any, Literal

import numpy as np

from ..arguments import is_fraction, number, shown
from ..errors import ArrayError
from ..lazy_dataclasses import dataclass, field
from ..operands import torch_tensor
from ..operands.addresses import data_address
from ..operands.operand import Array, Operand, described, packed
from ..operands.reading import in_place
from ..operands.types import spelled
from ..problem import dtypes
from ..problem.dtypes import Kind
from ..problem.problem import Problem
from ..problem.readings import Reading, Tensor

BY_STRIDES = -1  # in place of an address: the array lies otherwise than the problem says
END_OF_MEMORY = 1 << 64
OVERLAP = "A and B overlap in memory: the transposition is out of place, unless its problem has inplace=True"
KEPT_READINGS = 64
IN_PLACE = Reading.IN_PLACE  # found faster
_VALUES = (np.generic, bool, float, complex, str)  # of which some show a buffer
_OF_ARRAYS = ("dtype", "__array_interface__", "__dlpack__")
REALS = frozenset((int, float, type(None)))  # of scalars that are keys as they are
_PARTS = struct.Struct("2d")


@dataclass(frozen=True, slots=True)
class Storage:
    """Requirements on the memory of a tensor, and how arrays stand for it.

    tensor: shapes and strides of arrays; dtype: of its elements, and exact: no other of that size; bytes: from its
    first element to its last; written: it must not be read-only; spelled: the dtype as the problem's maker named it;
    in_f, in_c: shapes of arrays in F and in C order that are its storage, None where they are not.
    """

    name: Literal["A", "B"]
    tensor: Tensor
    dtype: np.dtype[Any]
    exact: bool
    written: bool
    spelled: str
    bytes: int = field(init=False)
    in_f: tuple[int, ...] | None = field(init=False)
    in_c: tuple[int, ...] | None = field(init=False)
    _known: dict[Any, Reading] = field(init=False)  # by shape and strides, a bounded number

    def __post_init__(self) -> None:
        put, itemsize = object.__setattr__, self.dtype.itemsize
        in_f, in_c = self.tensor.outer, self.tensor.outer[::-1]
        steps = packed(in_c, itemsize)
        put(self, "bytes", self.tensor.elements * itemsize)
        put(self, "_known", {})
        put(self, "in_f", in_f if self.tensor.reading(in_f, steps[::-1], itemsize) is IN_PLACE else None)
        put(self, "in_c", in_c if self.tensor.reading(in_c, steps, itemsize) is IN_PLACE else None)

    @classmethod
    def of(cls, problem: Problem, name: Literal["A", "B"]) -> Storage:
        """A or B of a problem. Plain moves take any items of that size, unsigned integers, ml_dtypes' bfloat16 ..., and
        types that NumPy lacks do."""
        own = problem.a if name == "A" else problem.b
        exact = problem.compute.kind is not Kind.OPAQUE and not dtypes.is_foreign(own)
        spelled = problem.spelled_of(name.lower())
        return cls(name, Tensor.of(problem, name), dtypes.to_numpy(own), exact, name == "B", spelled)

    def address(self, x: Any) -> tuple[int, Any]:
        """Its address, or BY_STRIDES, and the object that keeps that memory alive: x is an array, a buffer or an
        integer address. ArrayError for what does not fit."""
        if type(x) is not np.ndarray:
            return (x, None) if type(x) is int and 0 < x < END_OF_MEMORY else self._of_other(x)
        shape, flags = x.shape, x.flags  # an array is what most calls bring: checked in no time
        if x.dtype != self.dtype or (self.written and not flags.writeable):
            return self._checked(x)
        if (shape == self.in_f and flags.f_contiguous) or (shape == self.in_c and flags.c_contiguous):
            return data_address(x), x
        if len(shape) == 1 and flags.c_contiguous and shape[0] >= self.tensor.elements:
            return data_address(x), x
        known = self._known.get((shape, x.strides))
        if known is None:
            return self._checked(x)
        return (data_address(x) if known is IN_PLACE else BY_STRIDES), x

    def _of_other(self, x: Any) -> tuple[int, Any]:
        """The same of a tensor by the array that shares its memory, or of anything else."""
        array = torch_tensor.shared(x)
        if array is None:
            return self._checked(x)
        found = self.address(array)
        if self.written:
            torch_tensor.written(x)
        return found

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
        place = self.place(found, _is_buffer(x))
        return place, found

    def integer(self, x: Any, what: str = "address") -> int | None:
        """An integer address; None for what is no integer. ArrayError where it cannot be one. what: it must be."""
        if not isinstance(x, (int, np.integer)) or isinstance(x, bool):
            return None
        if not 0 < int(x) < END_OF_MEMORY and (self.tensor.elements or x):
            raise ArrayError(f"{self.name} is the integer {shown(x)}, which is no {what}")
        return int(x)

    def place(self, given: Operand, is_buffer: bool = False) -> int:
        """The address of an array, or BY_STRIDES; ArrayError for one that does not fit, or may not be written to as it
        must be. is_buffer: it is storage. Libraries that ask for it are told that their array is written to."""
        array = given.view
        if given.conjugated:
            raise ArrayError(f"{self.name} is a lazily conjugated view: pass its storage, {self.name}.resolve_conj()")
        if not self._admits(array.dtype):
            raise ArrayError(f"{self.name} has dtype {spelled(array.dtype)}: the problem's type is {self.spelled}")
        if is_buffer:
            array = self._flat(array)
        reading = self.reading(array)
        if self.written and given.locked:
            raise ArrayError(f"{self.name} {given.locked}")
        if self.written and given.written is not None:
            given.written()
        return given.address if reading is IN_PLACE else BY_STRIDES

    def reading_of(self, address: int, keep: Any) -> Reading:
        """The relation of an array to the tensor, from what `address` or `place` has found."""
        return self.reading(_array(keep)) if address == BY_STRIDES else IN_PLACE

    def reading(self, array: Array) -> Reading:
        """The relation of an array of the tensor's type to it; ArrayError for one that is neither."""
        key = array.shape, array.strides
        known = self._known.get(key)
        if known is None:
            known = self.tensor.reading(*key, self.dtype.itemsize)
            if len(self._known) >= KEPT_READINGS:
                self._known.clear()
            self._known[key] = known
        return known

    def array(self, address: int, keep: Any) -> Array:
        """The tensor as an array of its shape, of what `address` or `place` has found."""
        shape = self.tensor.shape
        if type(keep) is np.ndarray and keep.shape == shape and keep.dtype == self.dtype:
            return keep  # by its strides, which the problem's may be
        if address != BY_STRIDES:
            return described(address, shape, self.tensor.strides, self.dtype, keep)
        return _array(keep).view(self.dtype)

    def _flat(self, array: Array) -> Array:
        """What a buffer holds, in one dimension."""
        if not array.flags.forc:
            raise ArrayError(f"{self.name} is not contiguous (strides {array.strides}): pass its whole storage")
        return array.reshape(-1, order="A")

    def _admits(self, dtype: np.dtype[Any]) -> bool:
        if self.exact:
            return dtype == self.dtype
        return dtype.itemsize == self.dtype.itemsize and not dtype.hasobject


def _array(keep: Any) -> Array:
    array: Array = keep if isinstance(keep, np.ndarray) else keep.view
    return array


def _is_buffer(x: Any) -> bool:
    """True for objects that have memory, and no type of elements: ctypes arrays, memoryviews, array.array ..."""
    if any(hasattr(type(x), name) for name in _OF_ARRAYS):
        return False
    return not any(inspect.getattr_static(x, name, None) for name in _OF_ARRAYS)  # their values may be made on demand


def exactly(name: str, value: Any) -> Any:
    """An optional scalar as part of a cache's key; ProblemError as `number`. Complex numbers go by their bits: 3 + 0j
    equals 3 - 0j, but makes other zeros. The sign of a real zero changes nothing: zeros are kinds of their own."""
    kind = type(value)
    if kind in REALS or is_fraction(value):
        return value
    given = value if kind is complex else number(name, value)
    return _PARTS.pack(given.real, given.imag)
