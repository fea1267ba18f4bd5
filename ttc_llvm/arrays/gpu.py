"""`ttc_llvm.transpose` for arrays on a device: asynchronous, on the streams of their own libraries."""

from __future__ import annotations

from typing import Any

from ..compiling import gpu_compiling as compiling
from ..errors import ArrayError
from ..gpu import kernel as gpu_kernel
from ..gpu.devices import device
from ..gpu.driver import driver
from ..gpu.executable import Executable
from ..operands.addresses import data_address
from ..operands.device import empty_like
from ..operands.operand import Array, Operand
from ..operands.reading import operand, result_place
from ..operands.streams import stream_for
from ..problem.canonical import Placed
from ..problem.dtypes import NATIVE
from ..runtime.once import Recent
from . import placing
from .call import C_ORDER, Call
from .checks import check_beta, check_result, permuted, scaled
from .overlaps import check_once, meet
from .placing import ALIGNED
from .repeated_calls import remember
from .scalings import PLAIN, Scaling

CAPACITY = 256  # layouts remembered, with their kernels
recent: Recent[Executable] = Recent(CAPACITY)


def transpose(a: Any, source: Operand, call: Call) -> Any:
    """`alpha * transpose(a, axes) + beta * out` on the device that a is on; returns out, or a new C-contiguous array of
    a's own library, before the device has finished.

    source: a, as it was read. Raises ArrayError, ProblemError or OptionError as for arrays of the host, GpuError where
    the driver refuses.
    """
    if call.placed() != C_ORDER:
        raise ArrayError(f"order {call.order!r} is for arrays on the host: results on a device are C-contiguous")
    view, out = permuted(source.view, call.axes), call.out
    if out is None:
        check_beta(call.beta)
    result = empty_like(a, source.library, view.shape) if out is None else out
    target = operand(result, "the result") if out is None else result_place(out, "out")
    if not target.on_device:
        raise ArrayError(f"out is a {type(out).__name__}: an array on a CUDA device is expected")
    if out is not None:
        check_result(target.view.shape, view)
        check_once(target.view)
    scale = scaled(view.dtype, target.view.dtype, call.alpha, call.beta, call.conjugate, source.conjugated)
    if not view.size or (out is not None and _is_there(view, target.view, scale)):
        return result
    executable, queue = launch(view, target.view, scale, call.plans(), call.stream, (source, target))
    remember(a, call, (source, target), executable, scale, _mask(view, target.view))
    if target.written is not None and out is not None:
        target.written()
    if target.locked:  # nothing of an immutable array's library would wait for us
        driver().finish(queue, data_address(target.view))
    return result


def launch(
    of: Array, to: Array, scaling: Scaling, effort: int, stream: Any, given: tuple[Operand, ...]
) -> tuple[Executable, int]:
    """`to <- alpha * of + beta * to` for arrays of one shape that have nothing in common; the kernel, and the stream's
    handle. given: what they are views of, whose streams matter."""
    executable = _executable(of, to, scaling, effort)
    queue, after = stream_for(stream, *(x.stream for x in given))
    executable.run(data_address(of), data_address(to), scaling.alpha, scaling.beta, queue, after)
    return executable, queue


def _is_there(view: Array, to: Array, scale: Scaling) -> bool:
    """True where the result is the transposed array itself already."""
    there = meet(view, to)
    if there and scale is not PLAIN:
        raise ArrayError("out is the transposed array itself, which is scaled in place on the host only")
    return there


# --- layouts ----------------------------------------------------------------------------------------------


def _executable(of: Array, to: Array, scale: Scaling, effort: int) -> Executable:
    """The kernel of a layout, planned when the layout is new. Addresses matter by their lowest bits only."""
    address = data_address(to)
    odd = (data_address(of) | address) & _mask(of, to)
    ordinal = driver().ordinal(address)
    key = (of.shape, of.strides, of.dtype, to.strides, to.dtype, scale.number, odd, effort, ordinal)
    known = recent.find(key)
    if known is not None:
        return known
    here = device(ordinal)
    placed = _placed(of, to, scale, odd)
    planned = compiling.plan(placed.canonical, here.target, (scale.alpha, scale.beta), effort, here)
    image = gpu_kernel.stored(placed.canonical, planned.plan, here.target, planned.objects)
    made = Executable(placed, planned.plan, here.target, image)  # loaded by its first run: of two, none is yet
    return recent.obtain(key, lambda: made)


def _mask(of: Array, to: Array) -> int:
    """The address bits that have to be clear for whole items to be moved."""
    itemsize = max(of.dtype.itemsize, to.dtype.itemsize)
    return itemsize - 1 if itemsize in NATIVE else ALIGNED - 1


def _placed(of: Array, to: Array, scale: Scaling, odd: int) -> Placed:
    if scale is PLAIN:
        return placing.moves(of, to, placing.unit_of(of, to, odd))
    for name, x in (("a", of), ("out", to)):
        if odd or not placing.is_regular(x):
            raise ArrayError(
                f"{name} has elements of {x.dtype} at odd distances or addresses (strides {x.strides}):"
                " arithmetic needs whole elements"
            )
    return placing.elements(of, to, scale)
