"""`permute_plan`: what has to be the same on all ranks is compared, then every rank makes its part of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from ..arguments import between, optional, permutation, shown
from ..errors import ArrayError, OptionError
from ..operands.types import as_dtype
from .agreement import Facts, agreed
from .layout import Layout
from .messages import Perm
from .plan import PermutePlan, Types, is_move

if TYPE_CHECKING:
    import numpy.typing as npt


def permute_plan(
    layout_a: Layout,
    perm: Sequence[int] | None,
    layout_b: Layout,
    dtype: npt.DTypeLike | tuple[npt.DTypeLike, npt.DTypeLike] = "f8",
    *,
    threads: int | None = None,
) -> PermutePlan:
    """A plan of `B = alpha * A.transpose(perm) + beta * B`, A laid out as `layout_a` and B as `layout_b`. Collective.

    perm: as the axes of `np.transpose`: axis perm[k] of A becomes axis k of B; None reverses them all. dtype: any of
    fixed-size elements, or a tuple of A's and B's. threads: of each rank, by default those of `set_num_threads`.

    Both layouts are of the same ranks in the same order. Raises ArrayError or OptionError, on all ranks alike, where
    anything is wrong on one of them, or differs between them.
    """
    known: Any = next((one for one in (layout_a, layout_b) if isinstance(one, Layout)), None)
    if known is None:
        raise OptionError(f"layout_a {shown(layout_a)} is no Layout")
    perm, types, threads = agreed(known.comm, lambda: _checked(layout_a, perm, layout_b, dtype, threads))
    return PermutePlan(layout_a.comm, layout_a.distribution, perm, layout_b.distribution, types, threads)


def _checked(a: Any, perm: Any, b: Any, dtype: Any, threads: Any) -> tuple[tuple[Perm, Types, int | None], Facts]:
    for name, given in (("layout_a", a), ("layout_b", b)):
        if not isinstance(given, Layout):
            raise OptionError(f"{name} {shown(given)} is no Layout")
    if MPI.Comm.Compare(a.comm, b.comm) not in (MPI.IDENT, MPI.CONGRUENT):
        raise OptionError("the layouts' communicators have other ranks, or the same in another order")
    order = permutation("perm", perm, len(a.shape))
    wanted = tuple(a.shape[k] for k in order)
    if b.shape != wanted:
        raise ArrayError(f"layout_b has shape {b.shape}: layout_a's {a.shape}, permuted by {order}, is {wanted}")
    types = _types(dtype)
    count = optional(between(1))("threads", threads, OptionError)
    moved = " into ".join(dict.fromkeys(map(str, types)))
    facts = {"layout_a": a.distribution, "perm": order, "layout_b": b.distribution, "dtype": moved}
    return (order, types, count), {name: str(value) for name, value in facts.items()}


def _types(given: Any) -> Types:
    one = isinstance(given, tuple) and len(given) == 2
    types = (as_dtype(given[0]), as_dtype(given[1])) if one else (as_dtype(given),) * 2
    for dtype in types:
        if dtype.hasobject or dtype.itemsize == 0:
            raise ArrayError(f"dtype {dtype} has Python objects or items of 0 bytes: only plain data can be sent")
    is_move(types)
    return types
