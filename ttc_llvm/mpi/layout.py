"""Layouts: distributions of a tensor's elements over the ranks of a communicator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import between
from ..errors import OptionError
from ..operands.types import as_dtype
from .communicators import checked
from .distribution import distribution
from .splits import Indices, Split
from .whole import gathered, scattered

if TYPE_CHECKING:
    import numpy.typing as npt


class Layout:
    """A tensor's elements on the ranks of a communicator: which rank has which, and where.

    comm: an mpi4py communicator; shape: the tensor's, whole. grid: the extents of a grid of the ranks, in C order (rank
    1 is the next to rank 0 along the last dimension), whose product is the number of ranks. axes: `{axis: dimension}`,
    which axis is split over which dimension of the grid; dimensions that split no axis hold copies. splits: `{axis:
    split}`, how: `block`, `cyclic(size)`, or the sizes of the parts; block where nothing is said. By default axis 0 is
    split over all ranks, and the grid is as balanced as the number of ranks allows.

    A rank's part is an array with the tensor's axes; along each it has the rank's indices, ascending. Raises
    OptionError.
    """

    __slots__ = ("comm", "distribution")

    def __init__(
        self,
        comm: Any,
        shape: int | Sequence[int],
        *,
        grid: Sequence[int] | None = None,
        axes: Mapping[int, int] | None = None,
        splits: Mapping[int, Split | Sequence[int]] | None = None,
    ) -> None:
        self.comm = checked(comm)
        self.distribution = distribution(comm.size, shape, grid, axes, splits)

    def __repr__(self) -> str:
        return f"<Layout {self.distribution}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's."""
        return self.distribution.shape

    @property
    def grid(self) -> tuple[int, ...]:
        """The extents of the grid of ranks."""
        return self.distribution.grid

    @property
    def local_shape(self) -> tuple[int, ...]:
        """The shape of this rank's part."""
        return self.distribution.shape_of(self.comm.rank)

    def indices(self, axis: int) -> Indices:
        """The indices along an axis that this rank has, ascending. Its part is `x[np.ix_(...)]` of all axes'."""
        rank = len(self.shape)
        k = between(-rank, rank - 1)("axis", axis, OptionError) % rank
        found: Indices = self.distribution.axes[k].indices(self.distribution.parts(self.comm.rank)[k])
        return found

    def empty(self, dtype: npt.DTypeLike = "f8") -> npt.NDArray[Any]:
        """A new array for this rank's part, in C order, whose elements are arbitrary."""
        return np.empty(self.local_shape, as_dtype(dtype))

    def scatter(self, x: Any = None, root: int = 0) -> npt.NDArray[Any]:
        """This rank's part of the whole tensor `x`, which only the rank `root` has to pass. Collective.

        Raises ArrayError on all ranks.
        """
        return scattered(self.comm, self.distribution, x, root)

    def gather(self, part: Any, root: int = 0) -> npt.NDArray[Any] | None:
        """The whole tensor of all ranks' parts, in C order, on the rank `root`; None on the others. Collective.

        Raises ArrayError on all ranks.
        """
        return gathered(self.comm, self.distribution, part, root)
