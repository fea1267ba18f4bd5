"""`ttc_llvm.transpose` for arrays on a device: asynchronous, on the streams of their own libraries."""

from __future__ import annotations

from typing import Any

from ..compiling import gpu_compiling as compiling
from ..errors import ArrayError
from ..gpu import kernel as gpu_kernel
from ..gpu.array_arguments import Array, DeviceArray, device_array, stream_for
from ..gpu.devices import device
from ..gpu.driver import driver
from ..gpu.executable import Executable
from ..gpu.results import empty_like
from ..problem.canonical import Placed
from ..problem.dtypes import NATIVE
from ..runtime.once import Recent
from . import pairs
from .checks import check_beta, check_result, overlaps_itself, permuted, scaled, share
from .pairs import ALIGNED, PLAIN, Scaling

CAPACITY = 256  # layouts remembered, with their kernels
recent: Recent[Executable] = Recent(CAPACITY)


def transpose(x: Any, axes: Any, out: Any, scale: tuple[Any, Any, Any], stream: Any, effort: int) -> Any:
    """`alpha * transpose(x, axes) + beta * out` on the device that x is on; returns out, or a new C-contiguous array of
    x's own library, before the device has finished.

    scale: alpha, beta and whether to conjugate; stream: to launch on, by default the libraries' own current one.
    Raises ArrayError, ProblemError or OptionError as for arrays of the host, GpuError where the driver refuses.
    """
    source = device_array(x, "x")
    view = permuted(source.view, axes)
    if out is None:
        check_beta(scale[1])
    result = empty_like(x, source, view.shape) if out is None else out
    target = device_array(result, "out")
    if out is not None:
        _check_out(target, view)
    scaling = scaled(view.dtype, target.view.dtype, *scale)
    if not view.size:
        return result
    executable = _executable(view, target.view, scaling, effort)
    if out is not None:
        _check_apart(source, target)
    queue, after = stream_for(stream, source, target)
    executable.run(source.address, target.address, scaling.alpha, scaling.beta, queue, after)
    return result


def _check_out(target: DeviceArray, view: Array) -> None:
    check_result(target.view.shape, target.writeable, view)
    if overlaps_itself(target.view):
        raise ArrayError(f"elements of out share memory (strides {target.view.strides}): which value wins?")


def _check_apart(source: DeviceArray, target: DeviceArray) -> None:
    if share(source.view, target.view):
        raise ArrayError("out shares memory with the array: the transposition is out of place")


# --- layouts ----------------------------------------------------------------------------------------------


def _executable(of: Array, to: Array, scale: Scaling, effort: int) -> Executable:
    """The kernel of a layout, planned when the layout is new. Addresses matter by their lowest bits only."""
    address_of, address_to = (int(x.__array_interface__["data"][0]) for x in (of, to))
    odd = (address_of | address_to) & _mask(max(of.dtype.itemsize, to.dtype.itemsize))
    found = driver()
    with found.using(found.home(address_to)):
        here = device()
    key = (of.shape, of.strides, of.dtype, to.strides, to.dtype, scale.name, odd, effort, here.ordinal)
    known = recent.find(key)
    if known is not None:
        return known
    placed = _placed(of, to, scale, odd)
    planned = compiling.plan(placed.canonical, here.target, (scale.alpha, scale.beta), effort, here)
    image = gpu_kernel.stored(placed.canonical, planned.plan, here.target, planned.objects)
    made = Executable(placed, planned.plan, here.target, image)  # loaded by its first run: of two, none is yet
    return recent.obtain(key, lambda: made)


def _mask(itemsize: int) -> int:
    """The address bits that have to be clear for whole items to be moved."""
    return itemsize - 1 if itemsize in NATIVE else ALIGNED - 1


def _placed(of: Array, to: Array, scale: Scaling, odd: int) -> Placed:
    if scale is PLAIN:
        return pairs.moves(of, to, pairs.unit_of(of, to, odd))
    for name, x in (("x", of), ("out", to)):
        if odd or not pairs.is_regular(x):
            raise ArrayError(
                f"{name} has elements of {x.dtype} at odd distances or addresses (strides {x.strides}):"
                " arithmetic needs whole elements"
            )
    return pairs.elements(of, to, scale)
