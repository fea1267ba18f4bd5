"""All that a call of a group needs: a record for each layout, the walk over the blocks, and which are moved apart."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import assignment
from ..arrays.layouts import layouts
from ..arrays.scalings import Scaling
from ..ir_builders import group_fields as fields
from ..ir_builders import planner_fields as known
from ..ir_builders.group_fields import Planning
from ..ir_builders.layout_fields import KERNEL, OFFSET_A, OFFSET_B, PARAMS, REACH_OF, REACH_TO, TASKS, WEIGHT
from ..ir_builders.pool_layout import SERIAL_BYTES
from ..operands.addresses import data_address
from ..operands.operand import Array, described
from ..runtime import runtime
from ..runtime.pool import Call
from . import code
from .blocks import PLACE, Blocks
from .ragged import Words, addresses_of, block

ARENA_BYTES = 1 << 20  # of memory for records at a time; one takes 300 KiB at most
LARGE_BYTES = 2 << 20  # what moves more may be written past the caches, by a call of its own that all threads share
MOST_OWN = 256  # layouts of a group with a kernel of their own: some 70 KiB each
TASK_BYTES = 32 << 10  # moved by a task of the walk, which is what threads share; the more, the more tasks there are
MOST_TASKS = 1 << 12
PAST_BYTES = 64 << 20  # moved by a group whose blocks no cache keeps: they are written past them
SLACK = 256  # bytes of scratch beside a block, which begins where in a line the block of B does
MIB = 1 << 20


class Table:
    """The moves of all blocks with some types and kinds of scalars. odd: address bits that are set and should not be.

    records: addresses of what is known of each block (`ir_builders.group_fields`); moved: bytes that the walk moves;
    apart: numbers of the blocks that it leaves out; low: bytes from each block's element 0 to its first one, by side
    (REACH_OF, REACH_TO). Only its count of calls ever changes.
    """

    def __init__(self, blocks: Blocks, scale: Scaling, odd: int) -> None:
        self._blocks, self._scale, self._odd = blocks, scale, odd
        self._keep: list[Any] = []
        self._arenas: list[Words] = []
        self._calls, self._own = 0, 0
        self._views: dict[int, tuple[Any, Any]] = {}  # of blocks that are moved apart: where they were last, and arrays
        self.records = np.zeros(blocks.total, np.int64)
        self._plan(scale.number or blocks.of.itemsize | odd << known.ODD_BITS)
        status, moved = self.words(fields.STATUS), self.words(fields.MOVED)
        walks = (status == known.PLANNED) & (moved < LARGE_BYTES) & (not (odd and scale.number))
        self.apart: list[int] = np.flatnonzero(~walks & (status != fields.EMPTY)).tolist()
        self._describe(np.flatnonzero((status != known.PLANNED) & (status != fields.EMPTY)))
        self.low = {reach: self.words(reach) for reach in (REACH_OF, REACH_TO)}
        self._walks = walks
        self._arrange()

    def _arrange(self) -> None:
        """Lay out the walk over the blocks by their records."""
        tasks, moved = self.words(TASKS), self.words(fields.MOVED)
        steps = np.flatnonzero(self._walks & (tasks > 0))
        self._pays = np.where(self._walks & (self.words(WEIGHT) > 0), moved * self.words(fields.BLOCKS), 0)
        self._most = int(self._pays.max(initial=0)) if self._own < MOST_OWN else 0
        self.moved = int(moved[steps].sum())
        past = self.words(fields.PAST)[steps].max(initial=0) if self.moved >= PAST_BYTES else 0
        self._scratch = int(past) + SLACK if past else 0
        self._walk, self._tasks = self._walked(steps, moved[steps], tasks[steps])

    def words(self, word: int) -> Words:
        """A word of each block's record."""
        found = np.zeros(len(self.records), np.int64)
        for arena in self._arenas:
            places = self.records - data_address(arena)
            here = (places >= 0) & (places < arena.nbytes)
            found[here] = arena[(places[here] + word) // 8]
        return found

    def run(self, a: Words, b: Words, scale: Scaling, threads: int, effort: int = 1) -> None:
        """Move all blocks, whose addresses have been checked. effort: of calls of their own."""
        self._calls += 1
        call = Call(code.walk(), data_address(a), data_address(b), scale.address, data_address(self._walk),
                    self._scratch, self._tasks)  # fmt: skip
        if self._tasks:
            runtime.run(call, min(threads, max(1, self.moved // SERIAL_BYTES)), moved=self.moved)
        for number, *addresses in zip(self.apart, a[self.apart].tolist(), b[self.apart].tolist(), strict=True):
            kept = self._views.get(number)  # another thread may put others there
            if kept is None or kept[0] != addresses:
                self._views[number] = kept = addresses, views(self._blocks, number, addresses)
            move(kept[1], scale, threads, effort)

    @property
    def owes(self) -> bool:
        """True where a kernel of its own would have paid for a layout by now."""
        return self._most > 0 and self._calls * self._most >= layouts().payback

    def with_own_kernel(self, effort: int) -> Table:
        """The same, with a kernel of its own for the layout that moves most by an any-size one."""
        made = copy.copy(self)
        made.records, made._arenas, made._keep = self.records.copy(), [*self._arenas], [*self._keep]
        made._give_own(int(np.argmax(self._pays)), effort)
        made._arrange()
        return made

    def with_own_kernels(self, effort: int) -> Table:
        """The same, with kernels of their own for all layouts that any-size kernels move, up to MOST_OWN."""
        made = self
        while made._most:
            made = made.with_own_kernel(effort)
        return made

    def ways(self) -> list[str]:
        """A line for each way in which blocks are moved."""
        kernels, status = self.words(KERNEL), self.words(fields.STATUS)
        left, indexed = np.isin(np.arange(len(status)), self.apart), np.isin(kernels, code.kernels())
        empty, own = status == fields.EMPTY, self.words(fields.OWN) > 0
        found = []
        for name, chosen in (
            ("indexed runs", indexed & ~left), ("kernels of their own", own & ~left),
            ("any-size kernels", ~indexed & ~own & ~left & ~empty),
            ("calls of their own", left), ("nothing: they are empty", empty),
        ):  # fmt: skip
            if chosen.any():
                layouts_of, size = len(np.unique(self.records[chosen])), int(self._blocks.sizes[chosen].sum())
                found.append(f"{int(chosen.sum())} blocks of {layouts_of} layouts by {name}, {size / MIB:.1f} MiB")
        return found

    # --- planning -------------------------------------------------------------------------------------------

    def _give_own(self, number: int, effort: int) -> None:
        """Let blocks with the layout of this one run a kernel of their own, if it needs no scratch."""
        old = int(self.records[number])
        arena = next(one for one in self._arenas if 0 <= old - data_address(one) < one.nbytes)
        record = arena[(old - data_address(arena)) // 8 :][: fields.RECORD_BYTES // 8].copy()
        engine: Any = assignment.engine()
        of, to = views(self._blocks, number, (PLACE, PLACE))
        direct = engine.own_executable(of, to, self._scale, engine.Wanted(1, effort, self._odd)).ordinary()
        record[WEIGHT // 8] = 0  # it is not asked for again
        if direct is not None:
            values = {KERNEL: direct.kernel.address, OFFSET_A: direct.offset_a, OFFSET_B: direct.offset_b, PARAMS: 0,
                      TASKS: direct.tasks, fields.OWN: 1, fields.RUNS: 0}  # fmt: skip
            for word, value in values.items():
                record[word // 8] = value
        self._own += 1
        self._keep.append(direct)
        self._arenas.append(record)
        self.records[self.records == old] = data_address(record)

    def _plan(self, kind: int) -> None:
        """Give every block a record."""
        words = self._planning(kind)
        self._keep.append(words)
        plan, planning = code.functions()["plan_blocks"], data_address(words)
        lacks: int = fields.MORE_MEMORY
        while lacks:
            if lacks == fields.MORE_MEMORY:
                self._arenas.append(arena := np.empty(ARENA_BYTES // 8, np.int64))
                words[Planning.AT // 8] = data_address(arena)
                words[Planning.END // 8] = data_address(arena) + arena.nbytes
            else:
                layouts().families.provide(lacks - 1)
            lacks = plan(planning)

    def _planning(self, kind: int) -> Words:
        count = self._blocks.total
        asked, slots = np.zeros(count, np.int64), np.zeros(2 << count.bit_length(), np.int64)
        for ranked in self._blocks.ranked:
            rows = ranked.layouts(kind)
            asked[ranked.numbers] = addresses_of(rows)
            self._keep.append(rows)
        self._keep += [asked, slots]
        words = block(fields.PLANNING_BYTES, {
            Planning.PLANNER: layouts().address, Planning.COUNT: count, Planning.LAYOUTS: data_address(asked),
            Planning.RECORDS: data_address(self.records), Planning.SLOTS: data_address(slots),
            Planning.MASK: len(slots) - 1,
        })  # fmt: skip
        words[Planning.KERNELS // 8 :] = code.kernels()
        return words

    def _describe(self, numbers: Words) -> None:
        """Write where the elements are of blocks that the planner refused."""
        for number in numbers.tolist():
            record = int(self.records[number])
            arena = next(one for one in self._arenas if 0 <= record - data_address(one) < one.nbytes)
            at = (record - data_address(arena)) // 8
            for reach, side in ((REACH_OF, self._blocks.permuted(number)), (REACH_TO, self._blocks.side(number, True))):
                spans = [(extent - 1) * stride for extent, stride in zip(*side, strict=True)]
                size = (self._blocks.to if reach == REACH_TO else self._blocks.of).itemsize
                arena[at + reach // 8] = sum(span for span in spans if span < 0)
                arena[at + reach // 8 + 1] = sum(span for span in spans if span > 0) + size

    def _walked(self, steps: Words, moved: Words, tasks: Words) -> tuple[Words, int]:
        """The parameters of the walk (`group_fields.Walk`), and its tasks, each of about as many bytes."""
        ends = np.cumsum(moved)
        total = int(ends[-1]) if len(ends) else 0
        count = min(MOST_TASKS, max(1, total // TASK_BYTES)) if total else 0
        cuts = np.arange(count + 1) * (total / max(1, count))
        step = np.minimum(np.searchsorted(ends, cuts, side="right"), len(steps))
        within = np.zeros(count + 1, np.int64)
        inside = step < len(steps)
        at = step[inside]
        within[inside] = (cuts[inside] - (ends[at] - moved[at])) / moved[at] * tasks[at]
        bounds = np.stack([step, within], axis=1)
        bounds[-1:] = len(steps), 0
        order = np.concatenate([steps, steps[-1:], steps[-1:]])  # at the last step its own lines are asked for
        kept = self.records[order], order, bounds
        self._keep += kept
        copy = layouts().copy_past if self._scratch else 0
        return np.array([*map(data_address, kept), copy], np.int64), count


def move(views: tuple[Array, Array], scale: Scaling, threads: int, effort: int = 1) -> None:
    """Move one block by itself."""
    assign: Any = assignment.engine().assign
    assign(*views, scale, threads, effort)


def views(blocks: Blocks, number: int, addresses: Sequence[int]) -> tuple[Array, Array]:
    """A block of A, its axes permuted, and the one of B, at these addresses."""
    of = described(addresses[0], *blocks.permuted(number), blocks.of)
    return of, described(addresses[1], *blocks.side(number, True), blocks.to)


