"""Arrays of every library as arguments: what is read in place, what comes back, and what is refused with its reason."""

from __future__ import annotations

import array
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm.errors import ArrayError
from ttc_llvm.operands.reading import in_place, operand

RNG = np.random.default_rng(33)
AXES = (2, 0, 1)

pytestmark = pytest.mark.usefixtures("module_database")


# --- the memory of other objects --------------------------------------------------------------------------


class Exporting:
    """An array that only DLPack describes; the keywords are those of NumPy's arrays."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def __dlpack__(self, **options: Any) -> Any:
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.memory.__dlpack_device__()


class Described:
    """An array that only NumPy's interface describes."""

    def __init__(self, memory: Any) -> None:
        self.__array_interface__ = memory.__array_interface__
        self.memory = memory


@pytest.mark.parametrize("make", [Exporting, Described, memoryview])
def test_arrays_by_any_protocol_are_read_and_written_in_place(make: Any) -> None:
    x, out = RNG.random((4, 5, 6)), np.zeros((6, 4, 5))
    given = make(out)
    assert ttc_llvm.transpose(make(x), AXES, out=given) is given
    assert np.array_equal(out, x.transpose(AXES))
    got = ttc_llvm.transpose(make(x[:, ::2]), AXES)
    assert type(got) is np.ndarray and np.array_equal(got, x[:, ::2].transpose(AXES))


def test_read_only_exports_are_refused() -> None:
    x, out = RNG.random((4, 5)), np.zeros((5, 4))
    out.flags.writeable = False
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        with pytest.raises(ArrayError, match="out is read-only, as its DLPack export says"):
            ttc_llvm.transpose(x, out=Exporting(out))
    make: Any
    for make in (memoryview, Described):
        with pytest.raises(ArrayError, match="out is read-only: the result is written to it"):
            ttc_llvm.transpose(x, out=make(out))
    with pytest.raises(ArrayError, match="out is read-only"):
        ttc_llvm.transpose(np.zeros(3, "S1"), out=memoryview(b"abc"))


def test_an_export_that_fails_says_why() -> None:
    """And is no array of one object, which is what NumPy would make of it."""
    foreign = Exporting(np.zeros((2, 3), ">f8"))
    for call in (ttc_llvm.transpose, ttc_llvm.ascontiguousarray, ttc_llvm.Problem.from_arrays):
        with pytest.raises(ArrayError, match="is a Exporting that cannot be read: DLPack only supports"):
            call(foreign)


@pytest.mark.parametrize("make", [bytearray, lambda raw: array.array("B", raw), lambda raw: (ctypes.c_uint8 * 6)(*raw)])
def test_plain_buffers_are_written_in_place(make: Callable[[bytes], Any]) -> None:
    x = np.arange(6, dtype=np.uint8)
    out = make(bytes(6))
    assert ttc_llvm.transpose(x, out=out) is out
    assert list(out) == list(x)


def test_memory_lives_as_long_as_it_is_described() -> None:
    made = in_place(Exporting(np.arange(1000.0)), "a")
    assert made is not None
    gone = [np.full(1000, 7.0) for _ in range(20)]
    assert np.array_equal(made.view, np.arange(1000.0)) and len(gone) == 20


def test_an_operand_says_where_its_memory_is() -> None:
    x = np.zeros((3, 4), "f4")[:, 1:]
    for made in (operand(x, "a"), operand(Exporting(x), "a"), operand(Described(x), "a")):
        assert (made.address, made.view.shape, made.view.strides) == (x.ctypes.data, (3, 3), (16, 4))
        assert (made.view.dtype, made.locked, made.on_device, made.conjugated) == (np.dtype("f4"), "", False, False)


def test_problems_are_stated_of_arrays_by_any_protocol() -> None:
    x = np.zeros((3, 4, 5), "f4")
    wanted = ttc_llvm.Problem.from_arrays(x, AXES)
    for made in (Exporting(x), Described(x), memoryview(x)):  # type: ignore[arg-type]
        assert ttc_llvm.Problem.from_arrays(made, AXES) == wanted


class File:
    """A data set of h5py or zarr, as far as a caller sees: no memory, but items that can be set."""

    shape, dtype = (5, 4), np.dtype("f8")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((5, 4))


NO_PLACE: dict[str, tuple[Any, str]] = {
    "list": ([[0.0] * 4] * 5, "out is a list: it must be an array or a writable buffer"),
    "number": (5.0, "out is a float: it must be an array or a writable buffer"),
    "NumPy's number": (np.float64(5), "out is a float64: it must be an array or a writable buffer"),
    "file": (File(), r"out is a File, whose memory cannot be reached: say out\[\.\.\.\] = ttc_llvm\.transpose"),
    "pointer": (ctypes.pointer(ctypes.c_double()), "out is a ctypes pointer"),
}


@pytest.mark.parametrize("name", NO_PLACE)
def test_what_no_result_can_be_written_to(name: str) -> None:
    out, message = NO_PLACE[name]
    with pytest.raises(ArrayError, match=message):
        ttc_llvm.transpose(np.ones((4, 5)), out=out)
