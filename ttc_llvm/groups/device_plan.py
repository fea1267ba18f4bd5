"""The plan of a group on a CUDA device: what `grouped` returns where it is given a GPU as its target."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import arguments, locks, paths
from ..arguments import shown
from ..arrays.checks import check_beta
from ..arrays.scalings import PLAIN, Scaling
from ..errors import ArrayError, TargetError, states_memory
from ..gpu import devices
from ..gpu import kernel as gpu_kernel
from ..gpu.driver import Context, Driver, driver
from ..gpu.executable import Loaded
from ..gpu.memory import DeviceWords
from ..machine.gpu_target import GpuTarget
from ..operands.device import empty_like
from ..operands.streams import stream_for
from ..runtime.once import obtain
from .blocks import Blocks
from .boxes import MOST_UNIT, Boxes, boxes_of, types_of
from .group import Group
from .ragged import Words
from .reading import Side
from .rows import check_apart

PIECE = 21  # bits of an address that tell places apart in a piece of memory, which has one owner


class GpuGroupedPlan(Group):
    """Transposes all blocks of a group on a CUDA device by one launch; as `grouped` made it. Safe in several threads.

    Calls are asynchronous: a launch is enqueued on a stream, and the memory of all blocks has to stay until it has run.
    """

    @states_memory
    def __init__(self, blocks: Blocks, scalars: tuple[Any, Any, Any], target: GpuTarget) -> None:
        super().__init__(blocks, scalars, on_device=True)
        self.target = target
        self._launches: dict[tuple[int, int, Context], _Launch] = {}
        self._boxes(self._scaling(None, None, None), 0)

    @states_memory
    def __call__(
        self,
        list_a: Any,
        list_b: Any = None,
        *,
        alpha: Any = None,
        beta: Any = None,
        conjugate: Any = None,
        stream: Any = None,
    ) -> Any:
        """Transpose the arrays of one list into those of another, which is returned; without it, into new arrays.

        list_a, list_b: an array for each block, of pycuda, CuPy, PyTorch, Numba or whatever has
        `__cuda_array_interface__` or `__dlpack__`, with the plan's dtype, shapes and strides. alpha, beta, conjugate:
        by default the plan's; stream: as of a `GpuSolution`.
        Raises ArrayError, which names the block, for arrays that are others, or on the host; where blocks of list_b
        share memory with each other, or with blocks of list_a; GpuError where the driver refuses.
        """
        scale = self._scaling(alpha, beta, conjugate)
        a = self._lists[0].read(list_a)
        if list_b is None:
            check_beta(scale.beta, "list_b")
            list_b = [empty_like(x, a.given[k].library, self._blocks.side(k, True)[0]) for k, x in enumerate(a.keep)]
        b: Side = self._lists[1].read(list_b)
        queue, after = stream_for(stream, *(x.stream for side in (a, b) for x in side.given.values()))
        self._move(a.addresses, b.addresses, scale, queue, after)
        b.note()
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
        stream: Any = None,
    ) -> None:
        """The same for blocks at these device addresses, arrays of integers: of each block's element 0, in bytes.

        Addresses of the call before take no copy to the device. One address in each 2 MiB is looked up, so that those
        of the host, and of other devices, are refused. Raises ArrayError for these, where a block has no address, or
        where blocks share memory as above.
        """
        a, b = self._addresses("a", addresses_a), self._addresses("b", addresses_b)
        queue, after = stream_for(stream)
        self._move(a, b, self._scaling(alpha, beta, conjugate), queue, after)

    def __reduce__(self) -> Any:
        """Pickled as it was asked for, and planned anew."""
        return GpuGroupedPlan, (self._blocks, self._scalars, self.target)

    def explain(self) -> str:
        """The launch, and what its blocks of threads move, for addresses that are multiples of 16 bytes."""
        found = self._boxes(self._scaling(None, None, None), 0)
        what = f"units of {found.unit} bytes" if found.unit else "elements"
        shape = f"{len(self)} blocks of {found.layouts} layouts in {found.tasks} boxes, {found.axes} axes of {what}"
        return f"{self!r}\n  {shape}, by one launch for {self.target}"

    @states_memory
    def write(
        self, directory: str | Path, name: str, emit: Sequence[str] | None = None, *, overwrite: bool = False
    ) -> tuple[Path, ...]:
        """Write the launch for native programs, with kernels for all kinds of alpha and beta; returns the paths.

        name: of the files, and what the names of functions begin with. emit: any of ptx, cubin, header, by default ptx
        and header. overwrite: replace files of these names that were not written by ttc_llvm. Raises OptionError for
        other words and names, for directories that cannot be written or hold such a file, ArtifactError where a tool
        is missing or refuses, ArrayError where elements that alpha may scale lie at odd distances.
        """
        with locks.IMPORTS:
            from .device_files import write

        given, replaces = paths.checked("directory", directory), arguments.flag("overwrite", overwrite)
        return write(self._blocks, self._scalars[2], self.target, name, given, emit, replaces)

    # --- a call ---------------------------------------------------------------------------------------------

    def _move(self, a: Words, b: Words, scale: Scaling, stream: int, after: tuple[int, ...]) -> None:
        filled = np.flatnonzero(self._blocks.elements * self._blocks.to.itemsize)
        if not len(filled):
            return
        found = driver()
        owner = self._owner(found, a, b, filled)
        with found.using(found.home(owner)):
            launch = self._launch(found, scale, self._odd(a, b, filled, scale))
            for other in after:
                found.order(other, stream)
            launch.run(found, self._blocks, (a, b), scale, stream)

    def _owner(self, found: Driver, a: Words, b: Words, filled: Words) -> int:
        """The owner of B's memory, in which a launch can read all of A. ArrayError for other memory, and for none."""
        for name, addresses in (("A", a), ("B", b)):
            if (lacks := addresses[filled] <= 0).any():
                number = int(filled[np.argmax(lacks)])
                raise ArrayError(
                    f"block {number} of {name} has elements, and the address {int(addresses[number])}"
                )
        pieces_a, pieces_b = (x[filled][np.unique(x[filled] >> PIECE, return_index=True)[1]].tolist() for x in (a, b))
        owner = found.owner(pieces_b[0])
        for address in (*pieces_b[1:], *pieces_a):
            found.check_reach(address, pieces_b[0], owner)
        return owner

    def _odd(self, a: Words, b: Words, filled: Words, scale: Scaling) -> int:
        """The bits of addresses that tell what is moved at a time. ArrayError for arithmetic on parts of elements."""
        of, to = (int(np.bitwise_or.reduce(x[filled])) for x in (a, b))
        if scale is PLAIN:
            return (of | to) & (MOST_UNIT - 1)
        for name, bits, dtype in (("A", of, self._blocks.of), ("B", to, self._blocks.to)):
            if bits & (dtype.itemsize - 1):
                needs = f"arithmetic needs multiples of {dtype.itemsize}"
                raise ArrayError(f"blocks of {name} lie at odd addresses: {needs}")
        return 0

    def _launch(self, found: Driver, scale: Scaling, odd: int) -> _Launch:
        context = found.identified(found.current())
        return obtain(self._launches, (scale.number, odd, context), partial(self._made, found, scale, odd))

    def _made(self, found: Driver, scale: Scaling, odd: int) -> _Launch:
        devices.running(self.target, found.current_ordinal())
        boxes = self._boxes(scale, odd)
        image = gpu_kernel.for_boxes(types_of(scale, boxes.unit), boxes.axes, boxes.tasks, self.target)
        return _Launch(found, Loaded(found, found.current(), image), boxes, len(self))

    def _boxes(self, scale: Scaling, odd: int) -> Boxes:
        return boxes_of(self._blocks, scale is PLAIN, odd)


def on_device(blocks: Blocks, scalars: tuple[Any, Any, Any], target: Any) -> GpuGroupedPlan:
    """The plan for a GPU by its name. TargetError for what is no NVIDIA GPU."""
    found = devices.resolve(target) if isinstance(target, (str, GpuTarget)) else None
    if found is None or not found.is_nvidia:
        raise TargetError(f"target {shown(target)} is no NVIDIA GPU: groups are for these, and for this machine (None)")
    return GpuGroupedPlan(blocks, scalars, found)


class _Launch:
    """The launch of a group in one context, which is current: its kernel, and its table on the device."""

    def __init__(self, found: Driver, kernel: Loaded, boxes: Boxes, blocks: int) -> None:
        self._kernel, self._table = kernel, DeviceWords(found, len(boxes.table))
        self._addresses, self._there = DeviceWords(found, 2 * blocks), np.zeros((0, 2), np.int64)
        self._table.fill(boxes.table, 0)
        self._table.used(0)

    def run(self, found: Driver, blocks: Blocks, addresses: tuple[Words, Words], scale: Scaling, stream: int) -> None:
        """Enqueue it. ArrayError where blocks do not lie apart: where they did at these addresses, nothing is asked."""
        pairs = np.stack(addresses, axis=1)
        with locks.CODE:  # threads take turns: addresses are those of one call at a time
            known = np.array_equal(pairs, self._there)
            if not known:
                check_apart(blocks, *addresses)
            self._table.await_use(stream)
            self._addresses.await_use(stream)
            if not known:
                self._there = np.zeros((0, 2), np.int64)  # until they are
                self._addresses.fill(pairs, stream)
                self._there = pairs
            self._kernel.enqueue(found, stream, self._table.address, self._addresses.address, scale.alpha, scale.beta)
            self._addresses.used(stream)
