"""Types of arguments and results, for type checkers and editors: nothing is imported from here when a program runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, SupportsComplex, SupportsFloat, SupportsIndex, TypeAlias, TypeVar

import numpy as np


class _Exported(Protocol):
    """Arrays that DLPack describes: of NumPy, PyTorch, JAX, CuPy."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class _Tensor(_Exported, Protocol):
    """Tensors of PyTorch, which have strides as NumPy's arrays do."""

    def stride(self, *args: Any, **kwargs: Any) -> Any: ...


Axes: TypeAlias = SupportsIndex | Iterable[SupportsIndex] | None
Scalar: TypeAlias = complex | SupportsComplex | SupportsFloat | SupportsIndex
D = TypeVar("D", bound=np.generic)
Ndarray = TypeVar("Ndarray", bound=np.ndarray[Any, Any])  # whose methods editors offer, where they know no more
Exported = TypeVar("Exported", bound=_Exported)
Out = TypeVar("Out")
Tensor = TypeVar("Tensor", bound=_Tensor)
