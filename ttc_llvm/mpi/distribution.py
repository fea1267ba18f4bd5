"""A distribution of a tensor's elements over the places of a grid, without a communicator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..arguments import between, each, integer, integers, shown
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from .splits import MOST, Axis, Block, read

WHOLE = -1  # in the place of a grid's dimension: the axis is not split
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """grid: its extents, in C order. dimensions: that of the grid which splits each axis, or WHOLE. axes: the splits.

    Dimensions of the grid that split no axis hold copies.
    """

    grid: Places
    dimensions: Places
    axes: tuple[Axis, ...]

    @property
    def ranks(self) -> int:
        """The number of places."""
        return prod(self.grid)

    @property
    def shape(self) -> Places:
        """The tensor's."""
        return tuple(axis.extent for axis in self.axes)

    @property
    def largest(self) -> int:
        """The elements of the largest part, or more."""
        return prod(max(map(axis.count, range(axis.parts))) for axis in self.axes)

    def parts(self, rank: int) -> Places:
        """The part of each axis that a rank has."""
        at = np.unravel_index(rank, self.grid)
        return tuple(0 if k == WHOLE else int(at[k]) for k in self.dimensions)

    def owners(self, parts: Sequence[int]) -> list[int]:
        """The ranks that have these parts of the axes, ascending: several where dimensions hold copies."""
        fixed = {k: part for k, part in zip(self.dimensions, parts, strict=True) if k != WHOLE}
        places: Iterable[Iterable[int]] = ((fixed[k],) if k in fixed else range(n) for k, n in enumerate(self.grid))
        return [_rank(at, self.grid) for at in product(*places)]

    def shape_of(self, rank: int) -> Places:
        """The shape of a rank's part."""
        return tuple(axis.count(part) for axis, part in zip(self.axes, self.parts(rank), strict=True))

    def __str__(self) -> str:
        places = enumerate(zip(self.axes, self.dimensions, strict=True))
        split = [f"axis {k} {axis.split} over dimension {at}" for k, (axis, at) in places if at != WHOLE]
        return f"{self.shape} on a grid {self.grid}: {', '.join(split) or 'copies'}"


def _rank(at: Sequence[int], grid: Places) -> int:
    rank = 0
    for k, extent in zip(at, grid, strict=True):
        rank = rank * extent + k
    return rank


# --- what callers write ----------------------------------------------------------------------------------


def distribution(ranks: int, shape: Any, grid: Any, axes: Any, splits: Any) -> Distribution:
    """The distribution that a caller of `Layout` describes. Raises OptionError."""
    given_shape = (shape,) if hasattr(shape, "__index__") else shape
    extents = each(between(0, MOST), "extents")("shape", given_shape, OptionError)
    along = _dimensions(axes, len(extents))
    places = _grid(grid, ranks, max(along.values(), default=-1) + 1)
    if beyond := [k for k in along.values() if k >= len(places)]:
        raise OptionError(f"axes {shown(axes)} name dimension {beyond[0]}: the grid {places} has {len(places)}")
    given = _by_axis("splits", {} if splits is None else splits, len(extents))
    if whole := [k for k in given if k not in along]:
        raise OptionError(f"splits {shown(splits)} name axis {whole[0]}, which is not split")
    dimensions = tuple(along.get(k, WHOLE) for k in range(len(extents)))
    return Distribution(places, dimensions, tuple(
        _axis(k, extent, 1 if at == WHOLE else places[at], given.get(k, Block()))
        for k, (extent, at) in enumerate(zip(extents, dimensions, strict=True))
    ))  # fmt: skip


def _axis(k: int, extent: int, parts: int, split: Any) -> Axis:
    return Axis(extent, parts, read(f"splits[{k}]", split, extent, parts))


def _by_axis(name: str, given: Any, rank: int) -> dict[int, Any]:
    """A caller's mapping from axes, negative ones counted from the end."""
    if not isinstance(given, Mapping):
        raise OptionError(f"{name} {shown(given)} is not a mapping from axes")
    found: dict[int, Any] = {}
    for key, value in given.items():
        axis = integer(f"an axis of {name}", key, OptionError)
        if not -rank <= axis < rank or axis % rank in found:
            raise OptionError(f"{name} {shown(given)} name axis {axis}: each of the tensor's {rank} may be named once")
        found[axis % rank] = value
    return found


def _dimensions(axes: Any, rank: int) -> dict[int, int]:
    """The dimension of the grid that splits each axis."""
    if axes is None:
        return {0: 0} if rank else {}
    found = {k: between(0)(f"axes[{k}]", at, OptionError) for k, at in _by_axis("axes", axes, rank).items()}
    if len(set(found.values())) < len(found):
        raise OptionError(f"axes {shown(axes)} split two axes over one dimension of the grid")
    return found


def _grid(given: Any, ranks: int, dimensions: int) -> Places:
    if given is None:
        return balanced(ranks, max(dimensions, 1))
    grid = integers("grid", given, OptionError)
    if min(grid, default=1) < 1 or prod(grid) != ranks:
        raise OptionError(f"grid {shown(grid)} has {prod(grid)} places, the communicator {ranks} ranks")
    return grid


def balanced(ranks: int, dimensions: int) -> Places:
    """A grid of so many dimensions, as equal as the prime factors of the number of ranks allow, large ones first."""
    grid = [1] * dimensions
    for factor in sorted(_prime_factors(ranks), reverse=True):
        grid[grid.index(min(grid))] *= factor
    return tuple(sorted(grid, reverse=True))


def _prime_factors(number: int) -> list[int]:
    found, factor = list[int](), 2
    while factor * factor <= number:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found + [number] * (number > 1)
