"""A data handler of NumPy's (NEP 49) for large results: functions for `integer_code`, as `result_blocks`."""

from __future__ import annotations

from ttc_llvm.operands import object_fields as objects

from . import result_fields as f
from .result_blocks import mapped, populate, size_class, unmap_block
from .result_pool import bound, forget, kept, release, stop, taken, watch
from .words import call, load32, load64, local, store32, store64

SMALL_HEAD = 64  # bytes before a block in the C library's heap, at least
MOST = 1 << 46


def allocate(state: int, size: int) -> int:
    """`malloc`."""
    if size > MOST:
        return 0
    block = _allocated(state, size)
    if block == 0 and release(state, f.EVER):
        block = _allocated(state, size)
    return block


def _allocated(state: int, size: int) -> int:
    if size < f.LEAST:
        start = call(load64(state + f.LIBC["malloc"]), size + SMALL_HEAD + f.LINE)
        if start == 0:
            return 0
        block = (start + SMALL_HEAD + f.LINE - 1) & -f.LINE
        store64(block - f.START, start)
        store64(block - f.SIZE, -size)
        store64(block - f.FRESH, 0)
        return block
    block = taken(state, size_class(size))
    return block if block else mapped(state, size)


def allocate_zeros(state: int, count: int, size: int) -> int:
    """`calloc`."""
    if size and count > MOST // size:
        return 0
    block = allocate(state, count * size)
    if block and load64(state + f.UNFILLED) != count * size:
        call(load64(state + f.LIBC["memset"]), block, 0, count * size)
    return block


def reallocate(state: int, block: int, size: int) -> int:
    """`realloc`."""
    if block == 0:
        return allocate(state, size)
    before = load64(block - f.SIZE)
    if before > 0 and f.LEAST <= size <= before and size_class(size) == before:
        return block
    other = allocate(state, size)
    if other:
        call(load64(state + f.LIBC["memcpy"]), other, block, min(abs(before), size))
        free(state, block, size)
    return other


def free(state: int, block: int, _: int) -> None:
    """`free`; NumPy's number of bytes is not needed."""
    if block == 0:
        return
    size = load64(block - f.SIZE)
    if size <= 0:
        call(load64(state + f.LIBC["free"]), load64(block - f.START))
    elif not kept(state, block, size):
        unmap_block(state, block, size)


def new_like(state: int, prototype: int, order: int, fresh: int, unfilled: int) -> int:
    """NumPy's array like another one, of its class, in memory of this handler; called with the interpreter lock.

    Where the program has set a handler of its own, that one serves. fresh: the address of a word, which is set to 1
    where no page of the memory has been touched. unfilled: so many bytes need no zeros, which NumPy asks for where
    elements are strings or raw bytes: for NumPy's own class only, whose first request is surely the array's. Returns
    0, with Python's exception set, where NumPy refuses.
    """
    before = _entered(state, unfilled)
    if before == 0:
        return 0
    return _left(state, before, call(load64(state + f.NUMPY["NewLikeArray"]), prototype, order, 0, 1), fresh)


def new_array(state: int, kind: int, dtype: int, rank: int, shape: int, in_f: int, fresh: int, size: int) -> int:
    """The same of a class, NumPy's own, a dtype, to which a reference is taken over, and a shape of so many bytes: in F
    order, or else in C order. Setting a handler and NumPy's again takes 0.4 us: the array is made around its memory,
    and given that and the handler then, as NumPy's structure of arrays, which is public, has them."""
    made_by, before = load64(state + f.NUMPY["NewFromDescr"]), call(load64(state + f.NUMPY["GetHandler"]))
    if before != 0:
        call(load64(state + f.PYTHON["Py_DecRef"]), before)
    if before != load64(load64(state + f.NUMPY["DefaultHandler"])):
        return call(made_by, kind, dtype, rank, shape, 0, 0, in_f, 0)
    block = allocate(state, size)
    if block == 0:
        call(load64(state + f.PYTHON["Py_DecRef"]), dtype)
        return 0
    flags = objects.ALIGNED | objects.WRITEABLE | (objects.F_CONTIGUOUS if in_f else objects.C_CONTIGUOUS)
    made = call(made_by, kind, dtype, rank, shape, 0, block, flags, 0)
    if made == 0:
        free(state, block, size)
        return 0
    store32(made + objects.ARRAY_FLAGS, load32(made + objects.ARRAY_FLAGS) | objects.OWNS_DATA)
    store64(made + objects.ARRAY_HANDLER, load64(state + f.CAPSULE))
    call(load64(state + f.PYTHON["Py_IncRef"]), load64(state + f.CAPSULE))
    call(load64(state + f.PYTHON["PyTraceMalloc_Track"]), f.TRACED, block, size)
    store64(fresh, load64(block - f.FRESH))
    return made


def _entered(state: int, unfilled: int) -> int:
    """The handler that was set, in whose place ours is now where it was NumPy's own; 0 with an exception."""
    before = call(load64(state + f.NUMPY["GetHandler"]))
    if before == 0 or before != load64(load64(state + f.NUMPY["DefaultHandler"])):
        return before
    replaced = call(load64(state + f.NUMPY["SetHandler"]), load64(state + f.CAPSULE))
    call(load64(state + f.PYTHON["Py_DecRef"]), replaced)
    if replaced == 0:
        call(load64(state + f.PYTHON["Py_DecRef"]), before)
        return 0
    store64(state + f.UNFILLED, unfilled)
    return before


def _left(state: int, before: int, made: int, fresh: int) -> int:
    """The array that was made, or 0. before: the handler to set again."""
    release_object = load64(state + f.PYTHON["Py_DecRef"])
    if before == load64(load64(state + f.NUMPY["DefaultHandler"])):
        store64(state + f.UNFILLED, 0)
        error = local(24)
        call(load64(state + f.PYTHON["PyErr_Fetch"]), error, error + 8, error + 16)
        call(release_object, call(load64(state + f.NUMPY["SetHandler"]), before))
        call(load64(state + f.PYTHON["PyErr_Restore"]), load64(error), load64(error + 8), load64(error + 16))
        if made == 0:  # NumPy 1 may have given back a reference to the handler that it did not own
            call(load64(state + f.PYTHON["Py_IncRef"]), load64(state + f.CAPSULE))
        else:
            store64(fresh, load64(load64(made + objects.ARRAY_DATA) - f.FRESH))
    call(release_object, before)
    return made


HANDLER_FUNCTIONS = ("allocate", "allocate_zeros", "reallocate", "free")  # in the order of NumPy's structure
FUNCTIONS = (
    allocate, allocate_zeros, reallocate, free, new_like, new_array, populate, release, bound, watch, stop, forget
)  # fmt: skip
NAMES = tuple(function.__name__ for function in FUNCTIONS)
