"""Arrays of other libraries: what each of them gets back, and what is refused with its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm.errors import ArrayError

RNG = np.random.default_rng(8)

pytestmark = pytest.mark.usefixtures("module_database")


def test_dask_arrays_stay_lazy() -> None:
    dask: Any = pytest.importorskip("dask.array")
    x = RNG.random((6, 8, 4))
    got = ttc_llvm.transpose(dask.from_array(x, chunks=3), (2, 0, 1))
    assert type(got).__module__.startswith("dask.")
    assert np.array_equal(got.compute(), x.transpose(2, 0, 1))
    with pytest.raises(ArrayError, match="a is a dask Array, which transposes itself: out, order and stream"):
        ttc_llvm.transpose(dask.ones((2, 3)), out=np.zeros((3, 2)))


def test_quantities_keep_their_unit() -> None:
    pint: Any = pytest.importorskip("pint")
    metre = pint.UnitRegistry().metre
    x = RNG.random((3, 4))
    got = ttc_llvm.transpose(x * metre)
    assert got.units == metre and np.array_equal(got.magnitude, x.T)
    assert not np.shares_memory(got.magnitude, x)
    with pytest.raises(ArrayError, match="out is a Quantity, which NumPy's functions make"):
        ttc_llvm.transpose(x, out=np.zeros((4, 3)) * metre)


def test_jax_arrays_come_back_as_jax_arrays() -> None:
    jax: Any = pytest.importorskip("jax")
    names = ("float32", "bfloat16", "int8", "complex64", "bool", "float8_e4m3fn")
    for name in names:
        x = jax.numpy.asarray(RNG.integers(0, 2, (3, 4, 5))).astype(name)
        got = ttc_llvm.transpose(x, (2, 0, 1))
        assert isinstance(got, jax.Array) and got.dtype == x.dtype and got.devices() == x.devices()
        assert np.asarray(got).tobytes() == np.asarray(x).transpose(2, 0, 1).tobytes()
    with jax.enable_x64(True):
        wide = jax.numpy.arange(6, dtype="float64").reshape(2, 3)
    assert ttc_llvm.transpose(wide).dtype == "float64"
    assert np.array_equal(ttc_llvm.transpose(x.astype("float32"), alpha=3), 3 * np.asarray(x).astype("f4").T)
    assert type(ttc_llvm.ascontiguousarray(x)) is np.ndarray
    with pytest.raises(ArrayError, match="out is an array of JAX, which are immutable: take the result"):
        ttc_llvm.transpose(np.zeros((2, 3), "f4"), out=jax.numpy.zeros((3, 2)))
    with pytest.raises(ArrayError, match=r"order 'F': arrays of jax.* have no order in memory"):
        ttc_llvm.transpose(x, order="F")
    with pytest.raises(ArrayError, match=r"is traced by JAX: call jax\.numpy\.transpose"):
        jax.jit(ttc_llvm.transpose)(x)


def test_solutions_read_jax_arrays() -> None:
    jax: Any = pytest.importorskip("jax")
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (5, 7), "s"), 1, 1)
    a, b = jax.numpy.asarray(RNG.random((7, 5)), dtype="float32"), np.zeros((5, 7), "f4")
    solution(a, b)
    assert np.array_equal(b, np.asarray(a).T)
    with pytest.raises(ArrayError, match="B is an array of JAX, which are immutable"):
        solution(np.asarray(a), jax.numpy.zeros((5, 7)))


def test_files_are_read_and_written_by_assignment(tmp_path: Any) -> None:
    h5py: Any = pytest.importorskip("h5py")
    x = RNG.random((4, 5))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        data = file.create_dataset("x", data=x)
        result = file.create_dataset("y", (5, 4), "f8")
        assert np.array_equal(ttc_llvm.transpose(data), x.T)
        with pytest.raises(ArrayError, match=r"out is a Dataset, whose memory cannot be reached: say out\[\.\.\.\] ="):
            ttc_llvm.transpose(x, out=result)
        result[...] = ttc_llvm.transpose(x)
        assert np.array_equal(result[...], x.T)


def test_zarr_arrays_are_read_and_written_by_assignment() -> None:
    zarr: Any = pytest.importorskip("zarr")
    data = zarr.zeros((4, 5))
    data[...] = 3.0
    assert np.array_equal(ttc_llvm.transpose(data), np.full((5, 4), 3.0))
    with pytest.raises(ArrayError, match=r"out is a Array, whose memory cannot be reached: say out\[\.\.\.\] ="):
        ttc_llvm.transpose(np.zeros((5, 4)), out=data)


def test_types_of_ml_dtypes_go_with_tensors() -> None:
    ml_dtypes: Any = pytest.importorskip("ml_dtypes")
    x = RNG.random((3, 4)).astype(ml_dtypes.bfloat16)
    got = ttc_llvm.transpose(x, conjugate=True)
    assert got.dtype == x.dtype and got.tobytes() == x.T.tobytes()
    torch: Any = pytest.importorskip("torch")
    out = torch.zeros((4, 3), dtype=torch.bfloat16)
    ttc_llvm.transpose(x, out=out)
    assert ttc_llvm.transpose(out, out=np.zeros((3, 4), x.dtype)).tobytes() == x.tobytes()
    with pytest.raises(ArrayError, match="out has dtype"):
        ttc_llvm.transpose(x, out=torch.zeros((4, 3), dtype=torch.int16))
