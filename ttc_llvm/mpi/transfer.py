"""Redistributions of mpi4py-fft by our plans: `mpi4py_fft.pencil.Transfer = ttc_llvm.mpi.Transfer`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..arguments import between, integers
from ..errors import ArrayError, OptionError
from .agreement import Facts, agreed
from .communicators import checked
from .layout import Layout
from .permute import permute_plan
from .plan import PermutePlan

if TYPE_CHECKING:
    import numpy.typing as npt


class Transfer:
    """A redistribution with the arguments and methods of `mpi4py_fft.pencil.Transfer`: from a pencil that is whole
    along axisA, and split along axisB, to one that is whole along axisB, and split along axisA.

    comm: of the ranks that share the two axes; shape: of what they have together; subshapeA, subshapeB: of this rank's
    arrays. Making one is collective; raises ArrayError or OptionError on all ranks.
    """

    def __init__(
        self, comm: Any, shape: Sequence[int], dtype: npt.DTypeLike,
        subshapeA: Sequence[int], axisA: int, subshapeB: Sequence[int], axisB: int,
    ) -> None:  # fmt: skip
        self.comm, self.dtype = checked(comm), dtype
        self._a, self._b = agreed(comm, lambda: _layouts(comm, shape, (subshapeA, axisA), (subshapeB, axisB)))

    @cached_property
    def _forward(self) -> PermutePlan:
        return permute_plan(self._a, range(len(self._a.shape)), self._b, self.dtype)

    @cached_property
    def _backward(self) -> PermutePlan:
        return permute_plan(self._b, range(len(self._a.shape)), self._a, self.dtype)

    def forward(self, arrayA: Any, arrayB: Any) -> None:
        """arrayA's elements into arrayB. Collective; raises ArrayError on all ranks."""
        self._forward(arrayA, arrayB)

    def backward(self, arrayB: Any, arrayA: Any) -> None:
        """arrayB's elements into arrayA. Collective; raises ArrayError on all ranks."""
        self._backward(arrayB, arrayA)

    def destroy(self) -> None:
        """Forget the plans and their buffers."""
        self.__dict__.pop("_forward", None)
        self.__dict__.pop("_backward", None)


def _layouts(comm: Any, shape: Any, *pencils: tuple[Any, Any]) -> tuple[tuple[Layout, Layout], Facts]:
    """Of the two pencils, each split along the other's axis."""
    extents = integers("shape", shape, OptionError)
    rank = len(extents)
    axes = [between(-rank, rank - 1)("axis", axis, OptionError) % rank for _, axis in pencils]
    a, b = (Layout(comm, extents, axes={axis: 0}) for axis in reversed(axes))
    for layout, (subshape, _) in zip((a, b), pencils, strict=True):
        if layout.local_shape != integers("subshape", subshape, OptionError):
            raise ArrayError(f"the pencil of {extents} has shape {layout.local_shape} here, not {tuple(subshape)}")
    return (a, b), {"shape": str(extents), "axes": str(axes)}
