"""The table of known layouts as functions for `integer_code`: what `prepare` planned, or what Python `put` there.

Entries are pieces of the heap, found through chains by the hash of their layout, and listed in a ring. Where their
number, their bytes, or the number of those with an owner would exceed its bound, a hand goes round the ring and evicts
the first that was not used since it last passed.

Everything happens with the interpreter lock held. Whoever gives it away, or changes the table, has copied what it needs
of an entry before, and holds a reference to the owner. The destructor of an owner may run any code, and use the table:
what has been unlinked is therefore released at the beginning of the next change, before anything is looked up.
"""

from __future__ import annotations

from . import layout_fields as fields
from . import planner_fields as known
from .canonical_axes import end
from .native_planner import plan
from .words import call, load64, local, store64, wrapped

FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)  # odd, its bits without pattern: 2**64 / golden ratio
LEAST_ROOM = 256


def find(table: int, layout: int) -> int:
    """The prepared call of a layout, 0 where none is known."""
    entry = _entry(table, layout, hashed(layout))
    if entry == 0:
        return 0
    store64(entry + known.USED, 1)
    return entry + known.PREPARED


def prepare(table: int, layout: int) -> int:
    """The prepared call of a layout that `find` did not find, planned onto its family's kernel and put into the table;
    0 where Python has to see to it, or minus what `plan` returns where something of its family is not there."""
    prepared, params = local(fields.PREPARED_BYTES), local(known.PARAMS_BYTES)
    status = plan(table, layout, prepared, params, 0)
    return put(table, layout, prepared) if status == known.PLANNED else min(0, -status)


def put(table: int, layout: int, prepared: int) -> int:
    """Remember a prepared call, in place of what was known of its layout, with a reference to its owner. The result is
    its place in the table, 0 where there is no memory. Parameters without an owner are those of `plan`, and copied."""
    release(table)
    code = hashed(layout)
    old = _entry(table, layout, code)
    if old:
        _unlink(table, old)
    owner = load64(prepared + fields.OWNER)
    params = known.PARAMS_BYTES if load64(prepared + fields.PARAMS) and owner == 0 else 0
    length = end(layout) - layout
    size = known.LAYOUT + length + params
    entry = _room(table, size, owner)
    if entry == 0:
        return 0
    store64(entry + known.SIZE, size)
    store64(entry + known.USED, 1)
    store64(entry + known.HASH, code)
    _copy(entry + known.PREPARED, prepared, fields.PREPARED_BYTES if owner else fields.CALL_BYTES)
    _copy(entry + known.LAYOUT, layout, length)
    if params:
        _copy(entry + known.LAYOUT + length, load64(prepared + fields.PARAMS), params)
        store64(entry + known.PREPARED + fields.PARAMS, entry + known.LAYOUT + length)
    if owner:
        call(load64(table + known.TAKE), owner)
    _link(table, entry)
    return entry + known.PREPARED


def release(table: int) -> None:
    """Give back what has been unlinked."""
    while load64(table + known.DEAD):
        entry = load64(table + known.DEAD)
        store64(table + known.DEAD, load64(entry + known.NEXT))
        owner = load64(entry + known.PREPARED + fields.OWNER)
        call(load64(table + known.FREE), entry)
        if owner:
            call(load64(table + known.RELEASE), owner)


def clear(table: int) -> None:
    """Forget everything."""
    while load64(table + known.COUNT):
        _unlink(table, load64(load64(table + known.RING)))
    if load64(table + known.ROOM):
        call(load64(table + known.FREE), load64(table + known.BUCKETS))
    store64(table + known.ROOM, 0)
    release(table)


# --- for Python -----------------------------------------------------------------------------------------


def recall(table: int, layout: int, copy: int) -> int:
    """Copy the prepared call of a layout and its parameters, and count a call.

    The result is a new reference: to the owner, or the object NO_OWNER or UNKNOWN of the table.
    """
    prepared = find(table, layout)
    found = load64(table + known.UNKNOWN)
    if prepared:
        _copy(copy, prepared, fields.PREPARED_BYTES)
        found = load64(prepared + fields.OWNER)
        if found == 0:
            found = load64(table + known.NO_OWNER)
            if load64(prepared + fields.PARAMS):
                _copy(copy + fields.PREPARED_BYTES, load64(prepared + fields.PARAMS), known.PARAMS_BYTES)
                store64(copy + fields.PARAMS, copy + fields.PREPARED_BYTES)
        store64(prepared + fields.LEFT, max(0, load64(prepared + fields.LEFT) - load64(prepared + fields.WEIGHT)))
    call(load64(table + known.TAKE), found)
    return found


def renew(table: int, layout: int, left: int) -> None:
    """Let a layout, if it is known, move so many bytes until Python looks at it anew."""
    prepared = find(table, layout)
    if prepared:
        store64(prepared + fields.LEFT, left)


# --- chains and ring ------------------------------------------------------------------------------------


def hashed(layout: int) -> int:
    """A number whose bits all depend on all of a layout."""
    code = load64(layout)
    for at in range(layout + 8, end(layout), 8):
        code = wrapped((code ^ load64(at)) * FACTOR)
        code = code ^ (code >> 32 & 0xFFFFFFFF)
    return code


def _entry(table: int, layout: int, code: int) -> int:
    """The entry of a layout with this hash, or 0."""
    if load64(table + known.ROOM) == 0:
        return 0
    entry = load64(_chain(table, code))
    while entry:
        if load64(entry + known.HASH) == code and is_same(entry + known.LAYOUT, layout):
            return entry
        entry = load64(entry + known.NEXT)
    return 0


def _chain(table: int, code: int) -> int:
    """The address of the chain's first link for this hash."""
    return load64(table + known.BUCKETS) + 8 * (code & load64(table + known.ROOM) - 1)


def is_same(known_layout: int, layout: int) -> int:
    """1 for equal layouts: ranks lie within both."""
    length = end(layout) - layout
    for at in range(0, length, 8):
        if load64(known_layout + at) != load64(layout + at):
            return 0
    return 1


def _link(table: int, entry: int) -> None:
    chain, place = _chain(table, load64(entry + known.HASH)), load64(table + known.COUNT)
    store64(entry + known.NEXT, load64(chain))
    store64(chain, entry)
    store64(entry + known.PLACE, place)
    store64(load64(table + known.RING) + 8 * place, entry)
    _count(table, entry, 1)


def _unlink(table: int, entry: int) -> None:
    """Take an entry out of its chain and of the ring, where the last one takes its place; `release` does the rest."""
    link = _chain(table, load64(entry + known.HASH))
    while load64(link) != entry:
        link = load64(link) + known.NEXT
    store64(link, load64(entry + known.NEXT))
    ring, place = load64(table + known.RING), load64(entry + known.PLACE)
    last = load64(ring + 8 * (load64(table + known.COUNT) - 1))
    store64(ring + 8 * place, last)
    store64(last + known.PLACE, place)
    _count(table, entry, -1)
    store64(entry + known.NEXT, load64(table + known.DEAD))
    store64(table + known.DEAD, entry)


def _count(table: int, entry: int, sign: int) -> None:
    owned = load64(entry + known.PREPARED + fields.OWNER) != 0
    store64(table + known.COUNT, load64(table + known.COUNT) + sign)
    store64(table + known.OWNED, load64(table + known.OWNED) + sign * owned)
    store64(table + known.BYTES, load64(table + known.BYTES) + sign * load64(entry + known.SIZE))


def _copy(to: int, of: int, size: int) -> None:
    for at in range(0, size, 8):
        store64(to + at, load64(of + at))


# --- room -----------------------------------------------------------------------------------------------


def _room(table: int, size: int, owner: int) -> int:
    """Memory for one more entry, 0 where there is none."""
    if load64(table + known.COUNT) == load64(table + known.ROOM):
        _grow(table)
    most = min(load64(table + known.MOST), load64(table + known.ROOM))
    if most == 0 or size > load64(table + known.MOST_BYTES):
        return 0
    while load64(table + known.COUNT) >= most or load64(table + known.BYTES) + size > load64(table + known.MOST_BYTES):
        _evict(table, known.HAND, 0)
    if owner and load64(table + known.OWNED) >= load64(table + known.MOST_OWNED):
        _evict(table, known.OWNED_HAND, 1)
    return call(load64(table + known.ALLOCATE), size)


def _evict(table: int, hand: int, owned: int) -> None:
    """Unlink the first entry that was not used since the hand passed it. owned: among those that have an owner."""
    place = load64(table + hand)
    while True:
        place = place + 1 if place + 1 < load64(table + known.COUNT) else 0
        entry = load64(load64(table + known.RING) + 8 * place)
        if owned and load64(entry + known.PREPARED + fields.OWNER) == 0:
            continue
        if load64(entry + known.USED) == 0:
            break
        store64(entry + known.USED, 0)
    store64(table + hand, place)
    _unlink(table, entry)


def _grow(table: int) -> None:
    """Double the lists of chains and of entries; where there is no memory, they stay as they are."""
    room = max(LEAST_ROOM, 2 * load64(table + known.ROOM))
    if load64(table + known.COUNT) >= load64(table + known.MOST):
        return
    lists = call(load64(table + known.ALLOCATE), 16 * room)
    if lists == 0:
        return
    old, count = load64(table + known.BUCKETS), load64(table + known.COUNT)
    ring = load64(table + known.RING)
    for at in range(lists, lists + 8 * room, 8):
        store64(at, 0)
    store64(table + known.BUCKETS, lists)
    store64(table + known.RING, lists + 8 * room)
    for place in range(count):
        entry = load64(ring + 8 * place)
        chain = lists + 8 * (load64(entry + known.HASH) & room - 1)
        store64(entry + known.NEXT, load64(chain))
        store64(chain, entry)
        store64(lists + 8 * (room + place), entry)
    if load64(table + known.ROOM):
        call(load64(table + known.FREE), old)
    store64(table + known.ROOM, room)
