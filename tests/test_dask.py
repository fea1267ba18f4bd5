"""Transpositions of Dask's arrays: elements, chunks, graphs, schedulers, labels."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_pages import blocks

import ttc_llvm
from ttc_llvm.errors import ArrayError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

transpose: Any = ttc_llvm.dask.transpose
EXTENTS = (0, 1, 3, 8, 20)
TYPES = ("f4", "f8", "c16", "i2", "?", "M8[s]", "V3")


@pytest.fixture(autouse=True)
def _synchronous() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def any_array(rng: random.Random) -> tuple[Any, Any]:
    """An array of NumPy's and the same in chunks."""
    shape = tuple(rng.choice(EXTENTS) for _ in range(rng.randint(0, 4)))
    dtype = np.dtype(rng.choice(TYPES))
    count = int(np.prod(shape))
    data = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 2, count * dtype.itemsize, np.uint8)
    x = data.view(dtype).reshape(shape)
    return x, da.from_array(x, chunks=tuple(rng.choice((1, 3, 5, 100)) for _ in shape))


def same(found: Any, wanted: Any) -> None:
    """Bit for bit, and every chunk lies in C order in memory of its own."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert found.compute().tobytes() == wanted.tobytes()
    for chunk in dask.compute(*found.to_delayed().ravel().tolist()):
        assert chunk.flags.c_contiguous


@pytest.mark.parametrize("seed", range(40))
def test_transpositions_are_right(seed: int) -> None:
    rng = random.Random(seed)
    x, chunked = any_array(rng)
    axes = rng.sample(range(x.ndim), x.ndim)
    wanted = x.transpose(axes)
    found = transpose(chunked, axes)
    same(found, wanted)
    assert found.chunks == tuple(chunked.chunks[k] for k in axes)
    chunks = tuple(rng.choice((1, 2, 7, -1)) for _ in axes)
    found = transpose(chunked, axes, chunks=chunks)
    same(found, wanted)
    assert found.chunks == da.core.normalize_chunks(chunks, wanted.shape)


def test_axes_are_numpys() -> None:
    x = np.random.default_rng(1).standard_normal((3, 4, 5))
    chunked = da.from_array(x, chunks=2)
    same(transpose(chunked), x.T)
    same(transpose(chunked, (-1, 0, 1)), x.transpose(-1, 0, 1))
    same(transpose(chunked, chunks={0: -1, 2: 3}), x.T)
    objects = da.from_array(np.array([[1, "a"], [None, 2.5]], object), chunks=1)
    assert transpose(objects, chunks=2).compute().tolist() == [[1, None], ["a", 2.5]]
    same(transpose(chunked, chunks="auto"), x.T)


@pytest.mark.parametrize("chunks", (None, (4, 5, 6), (12, 12, 12)))
def test_each_chunk_of_the_result_is_one_task(chunks: Any) -> None:
    """There is no rechunking before or after it: beside the tasks of x nothing else is in the graph."""
    chunked = da.from_array(np.zeros((12, 12, 12)), chunks=5)
    found = transpose(chunked, chunks=chunks)
    layers = [layer for name, layer in found.dask.layers.items() if name not in chunked.dask.layers]
    assert [len(layer) for layer in layers] == [found.npartitions]


def test_chunks_are_copied_by_our_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for every region of x that a chunk of the result meets, on one thread, straight into its place."""
    from ttc_llvm.dask import graph

    calls: list[tuple[tuple[int, ...], Any, int]] = []

    def noted(x: Any, axes: Any, *, out: Any = None, threads: int) -> Any:
        calls.append((x.shape, None if out is None else out.shape, threads))
        return ttc_llvm.transpose(x, axes, out=out, threads=threads)

    monkeypatch.setattr(graph, "transpose", noted)
    x = np.random.default_rng(2).standard_normal((6, 4))
    assert np.array_equal(transpose(da.from_array(x, chunks=(3, 4)), chunks=(4, 4)).compute(), x.T)
    assert sorted(calls) == [((1, 4), (4, 1), 1), ((2, 4), (4, 2), 1), ((3, 4), (4, 3), 1)]


def test_chunks_may_be_empty() -> None:
    x = np.random.default_rng(6).standard_normal((4, 6))
    chunked = da.from_array(x, chunks=((2, 0, 2), (6, 0)))
    for chunks in (None, ((0, 4, 2), (1, 0, 3)), ((6, 0), (4,))):
        same(transpose(chunked, chunks=chunks), x.T)


@pytest.mark.parametrize("scheduler", ("threads", "processes"))
def test_schedulers(scheduler: str) -> None:
    x = np.random.default_rng(3).standard_normal((20, 30, 10))
    chunked = da.from_array(x, chunks=7)
    found = transpose(chunked, (2, 0, 1), chunks=(10, 8, 9)) + transpose(chunked, (2, 0, 1))
    assert np.array_equal(found.compute(scheduler=scheduler, num_workers=2), 2 * x.transpose(2, 0, 1))


def test_a_cluster_of_processes() -> None:
    distributed = pytest.importorskip("distributed")
    x = np.random.default_rng(4).standard_normal((40, 30))
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        found = transpose(da.from_array(x, chunks=13), chunks=11)
        assert np.array_equal(client.compute(found).result(timeout=60), x.T)


def test_labels_are_kept() -> None:
    xarray = pytest.importorskip("xarray")
    x = np.random.default_rng(5).standard_normal((2, 3, 4))
    given = xarray.DataArray(
        x, dims=("time", "lat", "lon"), name="t", attrs={"units": "K"},
        coords={"lat": [10, 20, 30], "area": (("lat", "lon"), x[0])},
    )  # fmt: skip
    wanted = given.transpose("lon", "time", "lat")
    for one, axes in ((given.chunk(2), ("lon", "time", "lat")), (given, (2, 0, 1)), (given.chunk(1), (-1, 0, 1))):
        found = transpose(one, axes, chunks=(2, 2, 3))
        assert isinstance(found.data, da.Array)
        assert found.chunks == ((2, 2), (2,), (3,))
        assert found.compute().identical(wanted)
    assert transpose(given).dims == ("lon", "lat", "time")
    assert transpose(given, (..., "time"), chunks={"lat": 2, "time": 1}).chunks == ((2, 1), (4,), (1, 1))
    for wrong in (given.to_dataset(), given.variable):
        with pytest.raises(ArrayError, match=r"^x is a \w+: a Dask array or an xarray.DataArray is expected$"):
            transpose(wrong)
    with pytest.raises(ArrayError, match=r"^axes \('lon', 'x', 'lat'\) do not permute the dimensions"):
        transpose(given, ("lon", "x", "lat"))


def test_arrays_of_other_libraries_stay_what_they_are() -> None:
    """Chunks that are no arrays of NumPy's go through Dask's own rechunking first."""
    x = np.ma.masked_array(np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4) % 3 == 0)
    chunked = da.from_array(x, chunks=2, asarray=False)
    for chunks in (None, (4, 3)):
        found = transpose(chunked, chunks=chunks).compute()
        assert isinstance(found, np.ma.MaskedArray)
        assert np.array_equal(found.mask, x.mask.T) and np.array_equal(found.filled(-1), x.T.filled(-1))


@pytest.mark.parametrize(
    ("call", "message"),
    (
        (lambda x: transpose(np.zeros((2, 2))), "x is a ndarray: a Dask array or an xarray.DataArray is expected"),
        (lambda x: transpose(x, (0, 0)), "axes (0, 0) does not name each of the 2 axes once"),
        (lambda x: transpose(x, "ab"), "axes 'ab' is not a sequence of integers"),
        (lambda x: transpose(x, chunks=(1, 2, 3)), "chunks (1, 2, 3) are none of an array of shape (6, 4): "),
        (lambda x: transpose(x, chunks=((8, -2), 4)), "chunks ((8, -2), 4) have negative extents"),
        (lambda x: transpose(x, chunks={"a": 1}), "chunks {'a': 1} name 'a', which is no axis of (6, 4)"),
        (lambda x: transpose(x[x[:, 0] > 0], chunks=2), "x has chunks of unknown extents: call its compute_chunk"),
    ),
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ArrayError) as error:
        call(da.zeros((4, 6), chunks=3))
    assert str(error.value).startswith(message)


def test_chunks_of_unknown_extents_are_transposed_as_they_are() -> None:
    x = np.arange(24.0).reshape(4, 6) - 7
    chunked = da.from_array(x, chunks=3)
    assert np.array_equal(transpose(chunked[chunked[:, 0] > 0]).compute(), x[x[:, 0] > 0].T)


def test_the_page_s_blocks_run() -> None:
    names: dict[str, Any] = {}
    exec(blocks("clusters.md")[-1], names)
    assert (names["y"].chunks[0], names["z"].chunks[2]) == ((40,), (3000,))
