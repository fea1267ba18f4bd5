"""`grouped`: one plan for many blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .. import locks
from ..arrays.casting import wanted_dtype
from ..errors import ArrayError, OptionError, states_memory
from ..operands.types import spelled
from ..runtime import runtime
from ..tuning import efforts
from .blocks import read
from .plan import GroupedPlan

if TYPE_CHECKING:
    from ..machine.gpu_target import GpuTarget
    from .device_plan import GpuGroupedPlan


@overload
def grouped(
    shapes: Any,
    axes: Any,
    dtype: Any,
    strides: Any = ...,
    *,
    out_strides: Any = ...,
    alpha: Any = ...,
    beta: Any = ...,
    conjugate: Any = ...,
    threads: int | None = ...,
    effort: int | str = ...,
    target: None = ...,
) -> GroupedPlan: ...


@overload
def grouped(
    shapes: Any,
    axes: Any,
    dtype: Any,
    strides: Any = ...,
    *,
    out_strides: Any = ...,
    alpha: Any = ...,
    beta: Any = ...,
    conjugate: Any = ...,
    threads: None = ...,
    effort: Literal[1] = ...,
    target: str | GpuTarget,
) -> GpuGroupedPlan: ...


@states_memory
def grouped(
    shapes: Any,
    axes: Any,
    dtype: Any,
    strides: Any = None,
    *,
    out_strides: Any = None,
    alpha: Any = 1,
    beta: Any = 0,
    conjugate: Any = False,
    threads: int | None = None,
    effort: int | str = 1,
    target: str | GpuTarget | None = None,
) -> GroupedPlan | GpuGroupedPlan:
    """A plan that transposes many blocks at once, of one shape or of many: `plan(list_a, list_b)`.

    shapes: of A's blocks. axes: as in `transpose`, of every block, None = reversed; or a sequence of them, one for each
    block. dtype: of all blocks; a pair (A's, B's) for float32 and float64, or complex64 and complex128.
    strides: of A's blocks, in bytes, a sequence for each, or None where a block is C-contiguous, as it is by default;
    out_strides: of B's, the same. alpha, beta, conjugate: as in `transpose`, unless a call has others. threads: at most
    so many, by default those of `set_num_threads`. effort: as in `transpose`, for blocks that are not of few elements;
    with more than 1 their kernels are compiled, and timed, here, else when they pay. target: `cuda`, or the name of an
    NVIDIA GPU, for blocks on a CUDA device, which one launch transposes; None = this machine.

    Blocks of equal layouts are planned once; those of few elements share one kernel, whatever their shapes. Raises
    ArrayError, which names the block, for shapes, axes and strides that do not fit together, ProblemError for scalars
    that the dtype does not admit, OptionError for threads and effort, TargetError for a target that is no NVIDIA GPU.
    """
    pair = dtype if isinstance(dtype, tuple) and len(dtype) == 2 else (dtype, dtype)
    types = _dtype(pair[0]), _dtype(pair[1])
    if threads is not None:
        runtime.thread_count(threads)
    plans = efforts.effort("effort", effort)
    blocks, scalars = read(shapes, axes, *types, strides, out_strides), (alpha, beta, conjugate)
    if target is None:
        return GroupedPlan(blocks, scalars, threads, plans)
    if threads is not None or plans != 1:
        raise OptionError("threads and effort are of groups on the host: a launch on a device has neither")
    with locks.IMPORTS:
        from .device_plan import on_device
    return on_device(blocks, scalars, target)


def _dtype(given: Any) -> np.dtype[Any]:
    """The type of elements, of NumPy or another library."""
    found = wanted_dtype(given)
    if found.hasobject:
        raise ArrayError(f"dtype {spelled(found)} holds Python objects, which have no address of their own")
    return found
