"""Any-size kernels of permutations in place: by the order of the axes, what they move, and the kinds of scalars.

They serve a layout's first calls, until one of its own pays. They live for ever, and are stored for later processes.
"""

from __future__ import annotations

from functools import cache, partial
from math import prod

from .. import locks
from ..ir_builders import planner_fields as fields
from ..ir_builders.pool_layout import HELD_BYTES, SERIAL_BYTES
from ..lazy_dataclasses import replace
from ..lowering import any_size
from ..lowering.any_size import Slots
from ..problem.canonical import Axis, Canonical, static
from ..problem.in_place import images
from ..problem.orbits import cycles
from ..runtime import backend, image, kernel
from ..runtime.mapping import Loaded
from ..runtime.stored_code import native
from .layouts import Known, Reach, layouts

REVISION = 1  # of their forms and plans: stored code of another is not run


def planned(layout: bytes, canonical: Canonical, reaches: tuple[Reach, Reach], odd: Reach) -> Known | None:
    """The call of the family's kernel, from now on known; None for what has a kernel of its own at once: large tensors,
    many axes, and those that are contiguous along none."""
    table, moved = layouts(), canonical.bytes_moved
    rank = len(canonical.axes)
    if not canonical.in_place or rank > fields.MOST_AXES or canonical.axes[0].stride_b != 1 or moved > table.payback:
        return None
    form = _form(canonical)
    grid = any_size.plan(form, backend.host_target()).grid(tuple(axis.extent for axis in form.axes))
    tasks = prod(-(-canonical.extents[k] // step) for k, step in grid)
    params = (*canonical.extents, *(static(stride) for side in "ab" for stride in canonical.strides(side)))
    with locks.CODE:
        address = _kernel(form).address(image.KERNEL)
    how = table.payback, moved, max(1, moved // SERIAL_BYTES), moved < HELD_BYTES, 0
    call = (0, 0, 0, *odd, *how, *reaches[0], *reaches[1], 0, 0, 0, address, tasks)
    return table.served(layout, call, params)


def _form(canonical: Canonical) -> Canonical:
    """The family: extents and strides are parameters, but for those along which memory is contiguous."""
    places, slots = images(canonical.axes) or (), Slots(len(canonical.axes))
    first = {k: min(cycle) for cycle in cycles(places) for k in cycle}
    axes = [
        Axis(slots.extent(first[k]), slots.stride_b(places.index(k)), slots.stride_b(k)) for k in range(len(places))
    ]
    axes[0] = replace(axes[0], stride_b=1)
    axes[places[0]] = replace(axes[places[0]], stride_a=1)
    return replace(canonical, axes=tuple(axes))


@cache
def _kernel(form: Canonical) -> Loaded:
    """The kernel of a family, stored or compiled."""
    how = f"in place {REVISION} code{image.REVISION}"
    return native(f"any-size kernel {form}", how, (image.KERNEL,), partial(_compiled, form))


def _compiled(form: Canonical) -> bytes:
    target = backend.host_target()
    return backend.compile_object(kernel.ir_text(form, any_size.plan(form, target), target), target)
