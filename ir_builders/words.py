"""Memory, atomics and calls of native code, for the functions that `integer_code` compiles.

Every value is a signed integer of 64 bits; an address is one, too. In Python these functions do the same by ctypes, so
that code written with them can be tested, and debugged, without being compiled; `integer_code` has each as a few
instructions.
"""

from __future__ import annotations

import ctypes

BITS = 64
_HALF = 1 << BITS - 1
_blocks: list[ctypes.Array[ctypes.c_char]] = []


def wrapped(value: int) -> int:
    """The value modulo 2**64, as a signed integer: compiled arithmetic always wraps, Python's never does."""
    return (value + _HALF) % (1 << BITS) - _HALF


def load64(address: int) -> int:
    """The word at an address."""
    return ctypes.c_int64.from_address(address).value


def load32(address: int) -> int:
    """The signed 32 bits at an address."""
    return ctypes.c_int32.from_address(address).value


def load8(address: int) -> int:
    """The unsigned byte at an address."""
    return ctypes.c_uint8.from_address(address).value


def store64(address: int, value: int) -> None:
    """Write a word."""
    ctypes.c_int64.from_address(address).value = value


def store32(address: int, value: int) -> None:
    """Write the low 32 bits of a value."""
    ctypes.c_int32.from_address(address).value = value


def store8(address: int, value: int) -> None:
    """Write the low byte of a value."""
    ctypes.c_uint8.from_address(address).value = value & 0xFF


def rounded32(bits: int) -> int:
    """The bits of the nearest float of 32 bits; bits: of one of 64."""
    single = ctypes.c_float(ctypes.c_double.from_buffer_copy(ctypes.c_int64(bits)).value)
    return ctypes.c_uint32.from_buffer_copy(single).value


def local(size: int) -> int:
    """The address of `size` bytes, a constant, aligned to 16, which live until the function returns; in Python for
    good."""
    block = ctypes.create_string_buffer(size + 15)
    _blocks.append(block)
    return -(-ctypes.addressof(block) // 16) * 16


def call(function: int, *arguments: int) -> int:
    """Call the native function at an address, which returns a word or an address."""
    return _prototype(ctypes.c_int64, len(arguments))(function)(*arguments)  # type: ignore[no-any-return]


def call32(function: int, *arguments: int) -> int:
    """The same of a native function that returns a C int."""
    return _prototype(ctypes.c_int32, len(arguments))(function)(*arguments)  # type: ignore[no-any-return]


def compare_exchange(address: int, expected: int, value: int) -> int:
    """Write a word if it is as expected; 1 if it was. Atomic, sequentially consistent; in Python neither."""
    if load64(address) != expected:
        return 0
    store64(address, value)
    return 1


def fetch_add(address: int, value: int) -> int:
    """Add to a word; what it was before. Atomic, sequentially consistent; in Python neither."""
    before = load64(address)
    store64(address, wrapped(before + value))
    return before


def load_atomic(address: int) -> int:
    """The word at an address, read before whatever follows, and after atomics that went before: what other threads
    wrote is seen here, or they see what this one wrote."""
    return load64(address)


def store_release(address: int, value: int) -> None:
    """Write a word after whatever went before."""
    store64(address, value)


def copy_line_past(to: int, of: int) -> None:
    """Copy 64 bytes to a multiple of 64, by a store past the caches that only `fence` puts in order."""
    ctypes.memmove(to, of, 64)


def move(to: int, of: int, size: int) -> None:
    """Copy bytes, from anywhere to anywhere. size: a constant, a power of two up to 64."""
    ctypes.memmove(to, of, size)


def pick(to: int, of: int, width: int, step: int, first: int) -> None:
    """Copy 64 bytes, which are every `step`-th item of `width` bytes, from item `first` on, of `step` times as many,
    all of which are read; backwards where `step` is negative. What are no addresses are constants."""
    found, every = ctypes.string_at(of, 64 * abs(step)), abs(step) * width
    items = [found[at : at + width] for at in range(first * width, len(found), every)]
    ctypes.memmove(to, b"".join(items if step > 0 else reversed(items)), 64)


def prefetch(address: int) -> None:
    """Ask for the line at an address, which need be none of this process."""


def prefetch_behind(address: int) -> None:
    """The same, for the caches behind the first one."""


def touch(address: int) -> None:
    """Read the byte at an address: processors drop prefetches where many are waited for, no reads."""
    load8(address)


def fence(value: int) -> int:
    """The value; `copy_line_past` is done before whatever follows."""
    return value


def _prototype(result: type, count: int) -> type:
    return ctypes.PYFUNCTYPE(result, *[ctypes.c_int64] * count)
