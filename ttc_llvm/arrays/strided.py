"""`to <- alpha * of + beta * to` for two arrays of one shape and any strides, planned once per layout.

What a layout needs is prepared on its first use and remembered (`layouts`), so that the next call of the same kind
costs a look-up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import locks
from ..ir_builders.planner_fields import IRREGULAR, OVERLAPS
from ..ir_builders.pool_layout import SERIAL_BYTES
from ..lazy_dataclasses import dataclass, replace
from ..operands.addresses import data_address
from ..operands.operand import Array
from ..runtime import runtime
from ..runtime.pool import Call
from .layout_keys import layout_of
from .layouts import Known, layouts
from .native_entry import MOVED, native_moves
from .overlaps import check_once, is_permuted, meet
from .scalings import PLAIN, Scaling

if TYPE_CHECKING:
    from ..runtime.executable import Executable

REST, LONG_REST = 3, 40  # times as long as a kernel took, others wait; the latter where as many have one as may


@dataclass(frozen=True, slots=True)
class Wanted:
    """The service that a layout gets. odd: address bits that are set and should not be; permuted: in place."""

    threads: int
    effort: int
    odd: int = 0
    permuted: bool = False


def assign(of: Array, to: Array, scale: Scaling, threads: int, effort: int, *, fresh: bool = False) -> None:
    """`to <- alpha * of + beta * to`, element by element, on at most `threads` threads.

    of, to: arrays of one shape and of the types of `scale`; fresh: `to` is new, nothing can overlap; effort: plans
    that are considered when a layout is new, timed where they are more than one. Raises ArrayError where the two share
    memory, unless they are the same elements, or where elements of `to` do.
    """
    if not to.nbytes:
        return
    permuted = not fresh and is_permuted(of, to)
    if effort == 1 and _moved_natively(of, to, scale, threads):
        return
    wanted = Wanted(threads, effort, permuted=permuted)
    known = _known(of, to, scale, wanted)
    address_of, address_to = data_address(of), data_address(to)
    if not (fresh or permuted) and _meet(of, to, address_of, address_to, known):
        _assign_in_place(of, to, scale, threads, effort)
        return
    odd = address_of & known.odd_of | address_to & known.odd_to
    if odd or not known.serves:
        _assign_odd(of, to, scale, replace(wanted, odd=odd))
        return
    _run(known, address_of, address_to, scale, threads)


def _moved_natively(of: Array, to: Array, scale: Scaling, threads: int) -> bool:
    kind = scale.number or of.dtype.itemsize
    return native_moves().arrays(of, to, kind, scale.address, threads) == MOVED


def memory_moved(*call: Any) -> bool:
    """A plain move at once, if possible, with the arguments of `memory_moved` in `ir_builders/array_layouts.py`."""
    return native_moves().memory(*call) == MOVED


def _run(known: Known, a: int, b: int, scale: Scaling, threads: int) -> None:
    if known.executable is not None:
        try:
            known.executable.run(a, b, scale.address, threads)
        except MemoryError:  # for code that this run would have been the first of
            family = layouts().planned(known.layout, checked=True)
            if not isinstance(family, Known):
                raise
            _run(family, a, b, scale, threads)
        else:
            layouts().note_call(known, a, b)
    else:
        a, b = a + known.offset_a, b + known.offset_b
        call = Call(known.kernel, a, b, scale.address, known.params, 0, known.tasks)
        runtime.run(call, min(threads, known.parts), moved=known.parts * SERIAL_BYTES)


# --- preparing a layout ---------------------------------------------------------------------------------


def _known(of: Array, to: Array, scale: Scaling, wanted: Wanted) -> Known:
    """What is known of a layout, which is prepared if it is new, and gets a kernel of its own if that pays by now."""
    layout, table = layout_of(of, to, scale, wanted.threads, wanted.effort, wanted.odd, wanted.permuted), layouts()
    known = table.recall(layout)
    if known is None:
        return _prepared(layout, of, to, scale, wanted)
    if known.left > 0:
        return known
    if rests():
        table.renew(layout)
        return known
    try:
        with resting_after():
            return _own(layout, of, to, scale, wanted)
    except MemoryError:  # what has served so far goes on
        table.renew(layout)
        return known


def rests() -> bool:
    """True while no layout that is known gets a kernel of its own."""
    return time.monotonic() < layouts().rests_until


@contextmanager
def resting_after() -> Iterator[None]:
    """Compile a kernel of a layout's own; then others wait."""
    table, start = layouts(), time.monotonic()
    rest = LONG_REST if table.is_full_of_kernels else REST if table.has_kernels else 0  # the first one loads LLVM
    yield
    end = time.monotonic()
    table.rests_until = end + (end - start) * rest


def _prepared(layout: bytes, of: Array, to: Array, scale: Scaling, wanted: Wanted) -> Known:
    table = layouts()
    found = table.planned(layout, checked=False)
    if isinstance(found, Known):
        return found
    check_once(to)
    if found == OVERLAPS:
        found = table.planned(layout, checked=True)
        if isinstance(found, Known):
            return found
    placing = _placing()
    reaches = placing.reaches(of, to)
    if found == IRREGULAR or not (scale is PLAIN or (placing.is_regular(of) and placing.is_regular(to))):
        return table.own(layout, None, reaches, (0, 0))
    if wanted.permuted and wanted.effort == 1:
        family = locks.imported(".in_place_family", __package__)
        form = placing.placed(of, to, scale, wanted).canonical
        found = family.planned(layout, form, reaches, placing.odd_bits(of, to, scale, wanted))
    return found if isinstance(found, Known) else _own(layout, of, to, scale, wanted)


def _own(layout: bytes, of: Array, to: Array, scale: Scaling, wanted: Wanted) -> Known:
    """A kernel of the layout's own, from now on known."""
    executable, placing = own_executable(of, to, scale, wanted), _placing()
    return layouts().own(layout, executable, placing.reaches(of, to), placing.odd_bits(of, to, scale, wanted))


def own_executable(of: Array, to: Array, scale: Scaling, wanted: Wanted) -> Executable:
    """A kernel of a layout's own."""
    placed, own_kernels = _placing().placed(of, to, scale, wanted), locks.imported(".own_kernels", __package__)
    return own_kernels.planned(placed, scale, wanted.threads, wanted.effort)  # type: ignore[no-any-return]


def _placing() -> Any:
    """What only layouts need that the native planner does not serve."""
    return locks.imported(".placing", __package__)


# --- odd addresses and strides --------------------------------------------------------------------------


def _assign_odd(of: Array, to: Array, scale: Scaling, wanted: Wanted) -> None:
    """Moves are made in smaller units, arithmetic between aligned copies."""
    threads, effort = wanted.threads, wanted.effort
    if scale is PLAIN:
        _run(_known(of, to, scale, wanted), data_address(of), data_address(to), scale, threads)
        return
    source, target = np.empty(of.shape, of.dtype), np.empty(to.shape, to.dtype)
    assign(of, source, PLAIN, threads, effort, fresh=True)
    if scale.beta != 0:
        assign(to, target, PLAIN, threads, effort, fresh=True)
    assign(source, target, scale, threads, effort, fresh=True)
    assign(target, to, PLAIN, threads, effort, fresh=True)


# --- overlaps -------------------------------------------------------------------------------------------


def _meet(of: Array, to: Array, address_of: int, address_to: int, known: Known) -> bool:
    """True where every element of `of` is the same one of `to`; ArrayError where they share memory otherwise."""
    low_of, end_of = address_of + known.low_of, address_of + known.end_of
    low_to, end_to = address_to + known.low_to, address_to + known.end_to
    return low_of < end_to and low_to < end_of and meet(of, to)


def _assign_in_place(of: Array, to: Array, scale: Scaling, threads: int, effort: int) -> None:
    """Nothing moves; scaled are copies, because kernels may write an element twice."""
    if scale is not PLAIN:
        source = np.empty_like(of, order="K")
        assign(of, source, PLAIN, threads, effort, fresh=True)
        assign(source, to, scale, threads, effort, fresh=True)
