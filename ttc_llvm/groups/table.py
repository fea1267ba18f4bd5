"""All that a call of a group needs: a record for each layout, the walk over the blocks, and which are moved apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import assignment
from ..arrays.layouts import layouts
from ..arrays.pairs import Scaling
from ..ir_builders import group_fields as fields
from ..ir_builders import planner_fields as known
from ..ir_builders.group_fields import Planning
from ..ir_builders.layout_fields import KERNEL, REACH_OF, REACH_TO, TASKS
from ..ir_builders.pool_layout import SERIAL_BYTES
from ..operands.addresses import data_address
from ..operands.operand import described
from ..runtime import runtime
from ..runtime.pool import Call
from . import code
from .blocks import Blocks
from .ragged import Words, addresses_of, block

ARENA_BYTES = 1 << 20  # of memory for records at a time; one takes 300 KiB at most
LARGE_BYTES = 4 << 20  # what moves more is worth a call of its own, which all threads share
TASK_BYTES = 32 << 10  # moved by a task of the walk, which is what threads share; the more, the more tasks there are
MOST_TASKS = 1 << 12
PAST_BYTES = 64 << 20  # moved by a group whose blocks no cache keeps: they are written past them
SLACK = 256  # bytes of scratch beside a block, which begins where in a line the block of B does
MIB = 1 << 20


class Table:
    """The moves of all blocks with some types and kinds of scalars. odd: address bits that are set and should not be.

    records: addresses of what is known of each block (`ir_builders.group_fields`); moved: bytes that the walk moves;
    apart: numbers of the blocks that it leaves out. It never changes.
    """

    def __init__(self, blocks: Blocks, scale: Scaling, odd: int) -> None:
        self._blocks = blocks
        self._keep: list[Words] = []
        self._arenas: list[Words] = []
        self.records = np.zeros(blocks.total, np.int64)
        self._plan(scale.number or blocks.of.itemsize | odd << known.ODD_BITS)
        status, tasks, moved = (self.words(word) for word in (fields.STATUS, TASKS, fields.MOVED))
        walks = (status == known.PLANNED) & (moved < LARGE_BYTES) & (not (odd and scale.number))
        self.apart: list[int] = np.flatnonzero(~walks & (status != fields.EMPTY)).tolist()
        self._describe(np.flatnonzero((status != known.PLANNED) & (status != fields.EMPTY)))
        steps = np.flatnonzero(walks & (tasks > 0))
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

    def run(self, a: Words, b: Words, scale: Scaling, threads: int) -> None:
        """Move all blocks, whose addresses have been checked."""
        call = Call(code.walk(), data_address(a), data_address(b), scale.address, data_address(self._walk),
                    self._scratch, self._tasks)  # fmt: skip
        if self._tasks:
            runtime.run(call, min(threads, max(1, self.moved // SERIAL_BYTES)), moved=self.moved)
        for number in self.apart:
            move(self._blocks, number, (int(a[number]), int(b[number])), scale, threads)

    def ways(self) -> list[str]:
        """A line for each way in which blocks are moved."""
        kernels, status = self.words(KERNEL), self.words(fields.STATUS)
        left, indexed = np.isin(np.arange(len(status)), self.apart), np.isin(kernels, code.kernels())
        empty = status == fields.EMPTY
        found = []
        for name, chosen in (
            ("indexed runs", indexed & ~left), ("any-size kernels", ~indexed & ~left & ~empty),
            ("calls of their own", left), ("nothing: they are empty", empty),
        ):  # fmt: skip
            if chosen.any():
                layouts_of, size = len(np.unique(self.records[chosen])), int(self._blocks.sizes[chosen].sum())
                found.append(f"{int(chosen.sum())} blocks of {layouts_of} layouts by {name}, {size / MIB:.1f} MiB")
        return found

    # --- planning -------------------------------------------------------------------------------------------

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
        kept = self.records[steps], steps, bounds
        self._keep += kept
        copy = layouts().copy_past if self._scratch else 0
        return np.array([*map(data_address, kept), copy], np.int64), count


def move(blocks: Blocks, number: int, addresses: tuple[int, int], scale: Scaling, threads: int) -> None:
    """Move one block by itself."""
    of = described(addresses[0], *blocks.permuted(number), blocks.of)
    to = described(addresses[1], *blocks.side(number, True), blocks.to)
    assign: Any = assignment.engine().assign
    assign(of, to, scale, threads, 1)


