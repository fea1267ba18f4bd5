"""The plan of a group: what `grouped` returns."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ..arrays import assignment
from ..arrays.call import ALONE_BYTES
from ..arrays.checks import check_beta
from ..arrays.scalings import Scaling
from ..errors import states_memory
from ..runtime import runtime
from ..runtime.once import obtain
from .blocks import Blocks
from .checks import Checks
from .group import Group
from .ragged import Words
from .reading import Side
from .rows import check_apart
from .table import Table, move, views


class GroupedPlan(Group):
    """Transposes all blocks of a group, of one shape or of many, by one call; as `grouped` made it. Safe in several
    threads."""

    @states_memory
    def __init__(self, blocks: Blocks, scalars: tuple[Any, Any, Any], threads: int | None, effort: int = 1) -> None:
        super().__init__(blocks, scalars)
        self._threads, self._effort = threads, effort
        self._checks = Checks(blocks)
        self._tables: dict[tuple[int, int], Table] = {}
        if assignment.has_kernels():
            self._table(self._scaling(None, None, None), 0)

    @states_memory
    def __call__(
        self,
        list_a: Any,
        list_b: Any = None,
        *,
        alpha: Any = None,
        beta: Any = None,
        conjugate: Any = None,
        threads: int | None = None,
    ) -> Any:
        """Transpose the arrays of one list into those of another, which is returned; without it, into new arrays.

        list_a, list_b: an array for each block, of NumPy, PyTorch or any library whose memory can be reached, with the
        plan's dtype, shapes and strides. alpha, beta, conjugate, threads: by default the plan's.
        Raises ArrayError, which names the block, for arrays that are others; where blocks of list_b share memory with
        each other, or with blocks of list_a; and for what alpha and beta the dtype does not admit, ProblemError.
        """
        scale = self._scaling(alpha, beta, conjugate)
        a = self._lists[0].read(list_a)
        if list_b is None:
            check_beta(scale.beta, "list_b")
            new = self._new()
            self._move(a.addresses, self._lists[1].read(new).addresses, scale, threads)
            return [a.given[k].handed(one) if k in a.given else one for k, one in enumerate(new)]
        b: Side = self._lists[1].read(list_b)
        b.note()
        self._move(a.addresses, b.addresses, scale, threads)
        return list_b

    @states_memory
    def run(
        self,
        addresses_a: Any,
        addresses_b: Any,
        *,
        alpha: Any = None,
        beta: Any = None,
        conjugate: Any = None,
        threads: int | None = None,
    ) -> None:
        """The same for blocks at these addresses, arrays of integers: of each block's element 0, in bytes.

        Blocks of one buffer are at `buffer.ctypes.data + offsets`. The caller keeps all memory alive.
        Raises ArrayError where a block has no address, or blocks share memory as above.
        """
        a, b = self._addresses("a", addresses_a), self._addresses("b", addresses_b)
        self._move(a, b, self._scaling(alpha, beta, conjugate), threads)

    def __reduce__(self) -> Any:
        """Pickled as it was asked for, and planned anew."""
        return GroupedPlan, (self._blocks, self._scalars, self._threads, self._effort)

    def explain(self) -> str:
        """A line for each way in which blocks are transposed, with the blocks, their layouts, and bytes of A and B."""
        if not assignment.has_kernels():
            return f"{self!r}\n  {len(self)} blocks by NumPy, one after the other"
        ways = self._table(self._scaling(None, None, None), 0).ways()
        return "\n".join([repr(self), *(f"  {way}" for way in ways)])

    # --- a call ---------------------------------------------------------------------------------------------

    def _new(self) -> list[Any]:
        """New arrays for B."""
        found: list[Any] = [None] * len(self)
        for ranked in self._blocks.ranked:
            for number, shape in zip(ranked.numbers.tolist(), ranked.extents.tolist(), strict=True):
                found[number] = np.empty(shape, self._blocks.to)
        return found

    def _move(self, a: Words, b: Words, scale: Scaling, threads: int | None) -> None:
        useful = self._useful(self._threads if threads is None else threads)
        if not self.nbytes:
            return
        if not assignment.has_kernels():
            check_apart(self._blocks, a, b)
            for number in np.flatnonzero(self._blocks.elements).tolist():
                move(views(self._blocks, number, (int(a[number]), int(b[number]))), scale, useful)
            return
        table = self._table(scale, 0)
        odd = self._checks.odd(table, a, b)
        if odd:
            table = self._table(scale, odd)
        table.run(a, b, scale, useful, self._effort)
        if table.owes:
            self._improve((scale.number, odd), table)

    def _useful(self, threads: int | None) -> int:
        if threads is not None:
            return runtime.thread_count(threads)
        return 1 if self.nbytes < ALONE_BYTES else runtime.num_threads()

    def _table(self, scale: Scaling, odd: int) -> Table:
        key = scale.number, odd
        if key not in self._tables:
            found = obtain(self._tables, key, partial(Table, self._blocks, scale, odd))
            if self._effort != 1:
                self._tables[key] = found.with_own_kernels(self._effort)
        return self._tables[key]

    def _improve(self, key: tuple[int, int], table: Table) -> None:
        """Give the layout that has moved most a kernel of its own, which the next calls run, unless others rest."""
        engine: Any = assignment.engine()
        if not engine.rests():
            with suppress(MemoryError), engine.resting_after():  # without memory, what has served goes on
                self._tables[key] = table.with_own_kernel(self._effort)
