"""The tensors of one problem on a device: sets that are used in turns so that caches are cold, and their check."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import GpuError
from ..gpu.session import MIB, Bytes, Session
from ..lazy_dataclasses import dataclass, field
from ..problem import dtypes
from ..problem.canonical import Canonical, static
from ..problem.dtypes import DType
from ..problem.kinds import Beta
from ..tuning.search import buffers, verify
from .trial import Mode

BLOCK = (1 << 20) - 3  # elements after which a tensor's content repeats: odd, so that no stride of a problem divides it
BOX = 1 << 20  # elements that are compared at a time
SWEEPS = 4  # bytes between two uses of a set, in sizes of the device's L2 cache
MOST_SETS = 64
MARGIN = 64 * MIB  # of memory that is left to others
WHOLE = 1 << 26  # elements up to which every one is compared; beyond, so many boxes are drawn at random:
DRAWN = 48
LOOSE = {32: 1e-5, 64: 1e-13}

Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class DeviceTensor:
    """One tensor of a set. memory: owns it; address: of canonical index 0; start, size: of its bytes."""

    memory: Any
    start: int
    size: int
    address: int


@dataclass(slots=True)
class TensorSets:
    """A canonical form's tensors on a device, in as many sets as caches need to be cold. Used inside `session.active`.

    filled: the types whose values fill A and B where they are not the form's own. Raises GpuError where the device has
    too little memory for one set.
    """

    session: Session
    canonical: Canonical
    mode: Mode = Mode.COLD
    filled: tuple[DType, DType] | None = None
    sets: list[tuple[DeviceTensor, DeviceTensor]] = field(init=False)
    blocks: dict[str, Bytes] = field(init=False)
    _turn: int = 0

    def __post_init__(self) -> None:
        needed = buffers.footprint(self.canonical)
        free = self.session.free - MARGIN
        if needed > free:
            raise GpuError(
                f"{self.session.device} has too little memory to time this: the tensors take {-(-needed // MIB)} MiB,"
                f" {max(free, 0) // MIB} MiB are free; a search of 1 candidate takes the cost model's plan"
            )
        self.blocks = {
            which: block(t, seed, buffers.span(self.canonical, which).elements) for which, t, seed in self._sides()
        }
        self.sets = []
        for _ in range(self._count(needed, free)):
            self.sets.append((self._side("a"), self._side("b")))

    def _sides(self) -> Iterator[tuple[str, DType, int]]:
        own = self.canonical.a, self.canonical.b
        for which, t, other, seed in zip("ab", own, self.filled or own, (1, 2), strict=True):
            yield which, other if other.itemsize == t.itemsize else t, seed

    def _count(self, needed: int, free: int) -> int:
        wanted = 1 if self.mode is Mode.HOT else 1 + -(-SWEEPS * self.session.device.l2 // max(needed, 1))
        return max(1, min(wanted, MOST_SETS, free // max(needed, 1)))

    def _side(self, which: str) -> DeviceTensor:
        t = self.canonical.a if which == "a" else self.canonical.b
        span = buffers.span(self.canonical, which)
        size = span.elements * t.itemsize
        memory = self.session.allocate(size)
        self.session.repeat(int(memory), size, self.blocks[which])
        return DeviceTensor(memory, int(memory), size, int(memory) + span.origin * t.itemsize)

    def next(self) -> tuple[DeviceTensor, DeviceTensor]:
        """The tensors for the next run: those that were used longest ago, unless the mode wants them in the caches."""
        self._turn = (self._turn + 1) % len(self.sets)
        a, b = self.sets[self._turn]
        kept = self.sets[0]
        return (kept[0] if self.mode is Mode.HOT_A else a), (kept[1] if self.mode is Mode.HOT_B else b)

    # --- the check ---

    def prepare(self) -> tuple[DeviceTensor, DeviceTensor]:
        """The first set with B as it was in the beginning, or poisoned where it is not read."""
        a, b = self.sets[0]
        if self.canonical.kinds.beta is Beta.ZERO:
            self.session.poison(b.start, b.size)
        else:
            self.session.repeat(b.start, b.size, self.blocks["b"])
        return a, b

    def wrong(
        self, scalars: tuple[complex, complex], boxes: Sequence[Box], loose: bool = False
    ) -> tuple[int, ...] | None:
        """The canonical index of a wrong element of the first set's B among these boxes, after a run on what `prepare`
        left; None where all are right. loose: sums may be rounded otherwise, as other libraries do."""
        found = (self._wrong_in(box, scalars, loose) for box in boxes)
        return next((index for index in found if index is not None), None)

    def _wrong_in(self, box: Box, scalars: tuple[complex, complex], loose: bool) -> tuple[int, ...] | None:
        c = self.canonical
        before = self._content("b", box)
        wanted = verify.expected(c, self._content("a", box), before, *scalars)
        got = self._result(box)
        wrong = ~verify.same(wanted, got)
        if loose and c.a.real_bits:
            close = LOOSE[min(c.a.real_bits, c.b.real_bits)]
            wrong &= ~np.isclose(wanted, got, rtol=close, atol=close)
        if not wrong.any():
            return None
        first = np.argwhere(wrong)[0]
        return tuple(int(i) + low for i, (low, _) in zip(first, box, strict=True))

    def _content(self, which: str, box: Box) -> npt.NDArray[Any]:
        """What a tensor held in the beginning: its elements repeat the block."""
        t = self.canonical.a if which == "a" else self.canonical.b
        values = self.blocks[which].view(dtypes.to_numpy(t))
        return values[self._offsets(which, box) % len(values)]

    def _offsets(self, which: str, box: Box) -> npt.NDArray[np.int64]:
        """Elements from a tensor's first one to those of a box, with the box's shape."""
        total: Any = np.int64(buffers.span(self.canonical, which).origin)
        for k, ((low, high), stride) in enumerate(zip(box, self.canonical.strides(which), strict=True)):
            steps = np.arange(low, high, dtype=np.int64) * static(stride)
            total = total + steps.reshape([-1 if axis == k else 1 for axis in range(len(box))])
        return np.asarray(total)

    def _result(self, box: Box) -> npt.NDArray[Any]:
        """A box of B as it is now. B's strides are positive: it lies between its first and its last element."""
        t = self.canonical.b
        first, last = (
            sum(static(s) * at for s, at in zip(self.canonical.strides("b"), corner, strict=True))
            for corner in ([low for low, _ in box], [high - 1 for _, high in box])
        )
        content = self.session.read(self.sets[0][1].start + first * t.itemsize, (last - first + 1) * t.itemsize)
        values = content.view(dtypes.to_numpy(t))
        strides = tuple(static(s) * t.itemsize for s in self.canonical.strides("b"))
        return np.lib.stride_tricks.as_strided(values, tuple(high - low for low, high in box), strides)


def block(t: DType, seed: int, most: int) -> Bytes:
    """Random elements that a tensor's content repeats, at most so many."""
    made = buffers.Tensor(np.empty(max(1, min(BLOCK, most)) * t.itemsize, np.uint8), t, 0)
    made.fill(seed, 1)
    return made.memory


def boxes(canonical: Canonical, count: int | None = None, limit: int = BOX, seed: int = 0) -> list[Box]:
    """The index space in boxes of at most `limit` elements, each as contiguous in B as can be.

    count: at most so many, the first and the last one among them, the others drawn at random; None = all.
    """
    extents = canonical.extents
    total = prod(-(-extent // side) for extent, side in zip(extents, _box_sides(extents, limit), strict=True))
    if count is None or total <= count:
        return [_box(extents, limit, number) for number in range(total)]
    draws = random.Random(seed)
    numbers = {0, total - 1, *(draws.randrange(total) for _ in range(count - 2))}
    return [_box(extents, limit, number) for number in sorted(numbers)]


def _box_sides(extents: tuple[int, ...], limit: int) -> tuple[int, ...]:
    """Extents of every box but those at the ends."""
    sides, room = [], limit
    for extent in extents:
        sides.append(max(1, min(extent, room)))
        room = room // max(1, extent)
    return tuple(sides)


def _box(extents: tuple[int, ...], limit: int, number: int) -> Box:
    found = []
    for extent, side in zip(extents, _box_sides(extents, limit), strict=True):
        number, at = divmod(number, -(-extent // side))
        found.append((at * side, min((at + 1) * side, extent)))
    return tuple(found)
