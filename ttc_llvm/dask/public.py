"""`ttc_llvm.dask.transpose`: arguments, and arrays with labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import isnan
from typing import Any

import dask.array as da

from ..arguments import permutation, reason, sequence, shown
from ..errors import ArrayError
from .graph import Chunks, permuted, rechunked


def transpose(x: Any, axes: Sequence[int] | Sequence[Hashable] | None = None, *, chunks: Any = None) -> Any:
    """The Dask array `x` with its axes permuted; its chunks, once computed, are C-contiguous copies by our kernels.

    axes: as in `np.transpose`: axes[k] of x becomes axis k, None reverses them all. chunks: of the result, whatever
    Dask takes for chunks; by default those of x, permuted. A chunk of the result is one task, which copies each element
    once, straight from the chunks of x that have it: there is no rechunking before it or after.

    An xarray.DataArray is transposed as its own method does, with names of dimensions as axes (also in chunks), and
    keeps its labels; its data become a Dask array if they are none. Kernels run on one thread each: Dask's scheduler
    runs several. Raises ArrayError.
    """
    if hasattr(x, "dims") and hasattr(x, "to_dataset"):
        return _labelled(x, axes, chunks)
    if not isinstance(x, da.Array):
        raise ArrayError(f"x is a {type(x).__name__}: a Dask array or an xarray.DataArray is expected")
    order = permutation("axes", axes, x.ndim, ArrayError)
    if chunks is None:
        return permuted(x, order)
    return rechunked(x, order, _chunks(x, order, chunks))


def _labelled(x: Any, axes: Any, chunks: Any) -> Any:
    names = x.dims[::-1] if axes is None else sequence("axes", axes, ArrayError, "names or numbers")
    given = [x.dims[k] if isinstance(k, int) and k not in x.dims and -x.ndim <= k < x.ndim else k for k in names]
    dims = _filled(given, x.dims)
    if sorted(map(str, dims)) != sorted(map(str, x.dims)):
        raise ArrayError(f"axes {shown(axes)} do not permute the dimensions {x.dims}")
    data = x.data if isinstance(x.data, da.Array) else da.asarray(x.data)
    if isinstance(chunks, Mapping):
        chunks = {dims.index(name) if name in dims else name: extents for name, extents in chunks.items()}
    result = transpose(data, [x.dims.index(name) for name in dims], chunks=chunks)
    return x.transpose(*dims).copy(data=result)


def _filled(given: list[Any], dims: tuple[Any, ...]) -> list[Any]:
    """With an Ellipsis as xarray takes it: for all dimensions that are not named, in their order."""
    if sum(name is ... for name in given) != 1:
        return given
    at = next(k for k, name in enumerate(given) if name is ...)
    return [*given[:at], *(name for name in dims if name not in given), *given[at + 1 :]]


def _chunks(x: da.Array, order: tuple[int, ...], chunks: Any) -> Chunks:
    """What a caller wants of the result. Raises ArrayError."""
    if any(isnan(extent) for extent in x.shape):
        raise ArrayError("x has chunks of unknown extents: call its compute_chunk_sizes first")
    shape = tuple(x.shape[k] for k in order)
    if isinstance(chunks, Mapping) and (others := [k for k in chunks if k not in range(-x.ndim, x.ndim)]):
        raise ArrayError(f"chunks {shown(chunks)} name {shown(others[0])}, which is no axis of {shape}")
    before = tuple(x.chunks[k] for k in order)
    try:
        wanted: Chunks = da.core.normalize_chunks(chunks, shape, dtype=x.dtype, previous_chunks=before)
    except Exception as error:  # of several types
        raise ArrayError(f"chunks {shown(chunks)} are none of an array of shape {shape}: {reason(error)}") from None
    if any(extent < 0 for along in wanted for extent in along):
        raise ArrayError(f"chunks {shown(chunks)} have negative extents")
    return wanted
