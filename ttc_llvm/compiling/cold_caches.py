"""Memory taken out of all caches before a run is timed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import locks
from ..machine.target import Target
from ..runtime import backend, linking, runtime
from ..runtime.once import once
from ..runtime.pool import Call
from ..tuning.search import buffers

SWEEP = 64 << 20  # bytes read to displace caches where no flush instruction exists


@once
def _flush_kernel(target: Target) -> tuple[linking.Loaded, int] | None:
    with locks.IMPORTS:
        from ..ir_builders import flush

    module = flush.build(target)
    if module is None:
        return None
    loaded = linking.load(backend.compile_object(str(module), target), ("flush",))
    return loaded, loaded.address("flush")


def flush(memory: npt.NDArray[np.uint8], target: Target, threads: int) -> None:
    """Take memory out of all caches. It ends within mapped memory up to the next huge page (`buffers.allocate`), so
    that whole blocks may be flushed."""
    with locks.IMPORTS:
        from ..ir_builders.flush import BLOCK

    found = _flush_kernel(target)
    if found is None:
        buffers.allocate(SWEEP).fill(1)
        return
    tasks = -(-len(memory) // BLOCK)
    runtime.run(Call(found[1], int(memory.ctypes.data), 0, 0, 0, 0, tasks), threads)
