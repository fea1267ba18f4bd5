"""`to <- alpha * of + beta * to` for two arrays of one shape and any strides, planned once per layout.

What a layout needs is prepared on its first use and remembered, a bounded number of layouts, so that the
next call of the same kind costs a look-up.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiling import compiler, options
from ..compiling.stored_plans import open_database
from ..compiling.trial import Mode
from ..lowering.items import as_items
from ..operands.addresses import data_address
from ..problem.canonical import Placed
from ..runtime import backend
from ..runtime.executable import SERIAL_BYTES, Executable
from ..runtime.once import Recent
from ..tuning.cost.model import model_plan
from ..tuning.space.choices import FREE, Forced
from . import family
from .checks import check_once, meet
from .general import General
from .pairs import ALIGNED, PLAIN, Array, Scaling, elements, is_regular, moves, unit_of

_log = logging.getLogger(__name__)
CAPACITY = 512  # layouts and shortcuts remembered, with their machine code
CACHED_BYTES = 1 << 20  # a smaller result stays in the caches: nothing is gained by storing past them
PAYBACK_BYTES = 32 << 20  # moved by any-size kernels before a layout gets its own: a third of what compiling takes
ORDINARY = Forced(streaming=False)


@dataclass(frozen=True, slots=True)
class Ready:
    """A prepared layout.

    executable: None where these strides need a detour through aligned memory; reach_of, reach_to: the bytes from
    element 0 to the lowest byte, and to the end, of each side; odd_of, odd_to: address bits that must be clear.
    """

    executable: Executable | General | None
    reach_of: tuple[int, int]
    reach_to: tuple[int, int]
    odd_of: int = 0
    odd_to: int = 0

    @property
    def is_spent(self) -> bool:
        """True where the layout has moved so much on its family's kernel that one of its own pays."""
        return self.executable is not None and self.executable.left <= 0

    def renewed(self) -> Ready:
        """The same, to be looked at anew once as much has been moved again."""
        if self.executable is not None:
            self.executable.left = PAYBACK_BYTES
        return self


recent: Recent[Any] = Recent(CAPACITY)  # what keys of `assign` find is a Ready; `shortcut` has keys of its own


def assign(of: Array, to: Array, scale: Scaling, threads: int, effort: int, *, fresh: bool = False) -> Ready | None:
    """`to <- alpha * of + beta * to`, element by element, on at most `threads` threads.

    of, to: arrays of one shape and of the types of `scale`; fresh: `to` is new, nothing can overlap; effort: plans
    that are considered when a layout is new, timed where they are more than one. Returns what the next call of this
    layout finds, None where it made a detour. Raises ArrayError where the two share memory, unless they are the same
    elements, or where elements of `to` do.
    """
    if not to.nbytes:
        return None
    key = (of.shape, of.strides, of.dtype, to.strides, to.dtype, scale.name, threads, effort)
    ready: Ready | None = recent.find(key)
    if ready is None:
        ready = recent.put(key, _prepared(of, to, scale, _Wanted(threads, effort)))
    elif ready.is_spent:
        try:
            return _assign_anew(key, of, to, scale, threads, effort, fresh)
        except MemoryError:  # what has served so far goes on
            ready = recent.put(key, ready.renewed())
    address_of, address_to = data_address(of), data_address(to)
    if not fresh and _meet(of, to, address_of, address_to, ready):
        _assign_in_place(of, to, scale, threads, effort)
        return None
    odd = address_of & ready.odd_of | address_to & ready.odd_to
    if odd or ready.executable is None:
        _assign_odd(of, to, scale, threads, effort, odd)
        return None
    ready.executable.run(address_of, address_to, scale.address, threads)
    return ready


def _assign_anew(
    key: Hashable, of: Array, to: Array, scale: Scaling, threads: int, effort: int, fresh: bool
) -> Ready | None:
    """`assign` for a layout that has paid for a kernel of its own, which is made by its first run."""
    recent.put(key, _prepared(of, to, scale, _Wanted(threads, effort, returns=True)))
    return assign(of, to, scale, threads, effort, fresh=fresh)


# --- preparing a layout ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How a layout is to be served. returns: it has paid for a kernel of its own."""

    threads: int
    effort: int
    returns: bool = False


def _prepared(of: Array, to: Array, scale: Scaling, wanted: _Wanted) -> Ready:
    check_once(to)
    reaches = _reach(of), _reach(to)
    if scale is PLAIN:
        unit = unit_of(of, to)
        executable = _executable(_moved(of, to, unit), scale, wanted)
        return Ready(executable, *reaches, *[min(unit, ALIGNED) - 1] * 2)
    if not is_regular(of) or not is_regular(to):
        return Ready(None, *reaches)
    executable = _executable(elements(of, to, scale), scale, wanted)
    return Ready(executable, *reaches, *(min(x.dtype.itemsize, ALIGNED) - 1 for x in (of, to)))


def _moved(of: Array, to: Array, unit: int) -> Placed:
    return as_items(moves(of, to, unit), backend.host_target())


def _executable(placed: Placed, scale: Scaling, wanted: _Wanted) -> Executable | General:
    canonical = placed.canonical
    if wanted.effort == 1 and not wanted.returns:
        shared, target = family.of(canonical), backend.host_target()
        if shared is not None and family.weight(shared, canonical, target) < PAYBACK_BYTES:
            _log.debug("layout %s runs on the any-size kernel of %s", canonical, shared)
            return General(placed, shared, target, PAYBACK_BYTES)
    return _specialised(placed, scale, wanted)


def _specialised(placed: Placed, scale: Scaling, wanted: _Wanted) -> Executable:
    canonical = placed.canonical
    small = canonical.elements * canonical.b.itemsize < CACHED_BYTES
    useful = min(wanted.threads, max(1, canonical.bytes_moved // SERIAL_BYTES))
    mode = Mode.HOT if small else Mode.COLD
    choice = options.checked(wanted.effort, useful, mode=mode, forced=ORDINARY if small else FREE)
    if choice.max_implementations == 1:
        plan = model_plan(canonical, choice.target, useful, choice.forced)
        _log.debug("layout %s has a kernel of its own: %s", canonical, plan)
        return Executable(placed, plan, choice.target)
    found = compiler.plan_canonical(
        canonical, choice, (scale.alpha, scale.beta), open_database(None)
    )
    return Executable(placed, found.plan, choice.target, found.objects)


def _reach(x: Array) -> tuple[int, int]:
    spans = [(extent - 1) * stride for extent, stride in zip(x.shape, x.strides, strict=True)]
    return sum(s for s in spans if s < 0), sum(s for s in spans if s > 0) + x.dtype.itemsize


# --- odd addresses and strides --------------------------------------------------------------------------


def _assign_odd(of: Array, to: Array, scale: Scaling, threads: int, effort: int, odd: int) -> None:
    """Moves are made in smaller units, arithmetic between aligned copies."""
    if scale is PLAIN:
        _move_odd(of, to, odd, threads, effort)
        return
    source, target = np.empty(of.shape, of.dtype), np.empty(to.shape, to.dtype)
    assign(of, source, PLAIN, threads, effort, fresh=True)
    if scale.beta != 0:
        assign(to, target, PLAIN, threads, effort, fresh=True)
    assign(source, target, scale, threads, effort, fresh=True)
    assign(target, to, PLAIN, threads, effort, fresh=True)


def _move_odd(of: Array, to: Array, odd: int, threads: int, effort: int) -> None:
    key = (of.shape, of.strides, of.dtype, to.strides, "odd", odd, threads, effort)
    ready: Ready | None = recent.find(key)
    if ready is None or ready.is_spent:
        wanted = _Wanted(threads, effort, ready is not None)
        executable = _executable(_moved(of, to, unit_of(of, to, odd)), PLAIN, wanted)
        ready = recent.put(key, Ready(executable, _reach(of), _reach(to)))
    assert ready.executable is not None
    ready.executable.run(data_address(of), data_address(to), 0, threads)


# --- overlaps -------------------------------------------------------------------------------------------


def _meet(of: Array, to: Array, address_of: int, address_to: int, ready: Ready) -> bool:
    """True where every element of `of` is the same one of `to`; ArrayError where they share memory otherwise."""
    low_of, end_of = address_of + ready.reach_of[0], address_of + ready.reach_of[1]
    low_to, end_to = address_to + ready.reach_to[0], address_to + ready.reach_to[1]
    return low_of < end_to and low_to < end_of and meet(of, to)


def _assign_in_place(of: Array, to: Array, scale: Scaling, threads: int, effort: int) -> None:
    """Nothing moves; scaled are copies, because kernels may write an element twice."""
    if scale is not PLAIN:
        source = np.empty_like(of, order="K")
        assign(of, source, PLAIN, threads, effort, fresh=True)
        assign(source, to, scale, threads, effort, fresh=True)
