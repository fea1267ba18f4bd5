"""Transpositions of Dask's arrays, chunk by chunk: `ttc_llvm.dask.transpose`. Needs Dask (the extra `dask`)."""

try:
    import dask.array as _array  # noqa: F401
except ImportError as error:
    raise ImportError(f"ttc_llvm.dask needs Dask's arrays: {error}", name="dask") from error

from .public import transpose

__all__ = ["transpose"]
