"""Arguments of the native entries of arrays: which were given, and scalars. Functions for `integer_code`.

Each returns what it has found, or 0 (`NONE_SUCH` for integers) for what is left to Python, errors included.
"""

from __future__ import annotations

import math
import struct

from ttc_llvm.arguments import COUNT as MOST_THREADS
from ttc_llvm.operands.object_fields import COUNT, IMAG, REAL, TUPLE_ITEMS, TYPE
from ttc_llvm.problem.scalars import FLOAT_MAX

from .array_entry_fields import DTYPES, GIVEN_WORDS, NAMES, Given, State
from .layout_fields import ALPHA_ANY, ALPHA_ONE, ALPHA_ZERO, ARITHMETIC, BETA_ANY, BETA_ZERO, scaled_kind
from .words import call, load64, local, rounded32, store32, store64

NONE_SUCH = -1 << 63
MOST_POSITIONAL = 2
PARAMETERS, TYPES = len(GIVEN_WORDS), len(ARITHMETIC)


def bits_of(value: float) -> int:
    """A float's bits."""
    return int.from_bytes(struct.pack("<d", value), "little")


ONE, ONE32 = bits_of(1.0), 0x3F800000
TOO_LARGE, INFINITE = bits_of(FLOAT_MAX), bits_of(math.inf)  # what no float of 32 bits is near, from and up to
UNSIGNED, UNSIGNED32 = (1 << 63) - 1, (1 << 31) - 1


def type_of(thing: int) -> int:
    """The address of an object's type."""
    return load64(thing + TYPE)


def noted(state: int, given: int, allowed: int, second: int, args: int, count: int, names: int) -> int:
    """1 where all arguments could be noted in the block of `Given`. allowed: a bit for each name; second: the place of
    the second one by position; args, count, names: as CPython hands them over."""
    for k in range(PARAMETERS):
        store64(given + 8 * k, 0)
    if count > MOST_POSITIONAL:
        return 0
    if count > 0:
        store64(given + Given.A, load64(args))
    if count > 1:
        store64(given + second, load64(args + 8))
    if names != 0:
        for k in range(load64(names + COUNT)):
            place = _named(state, load64(names + TUPLE_ITEMS + 8 * k))
            if place < 0 or not allowed >> place & 1 or load64(given + 8 * place):
                return 0
            store64(given + 8 * place, load64(args + 8 * (count + k)))
    return load64(given + Given.A) != 0


def _named(state: int, name: int) -> int:
    for k in range(PARAMETERS):
        if load64(state + NAMES + 8 * k) == name:
            return k
    return -1


def is_left(state: int, thing: int) -> int:
    """1 for an argument that is not given, or None."""
    return thing == 0 or thing == load64(state + State.NONE)


def threads_fit(state: int, thing: int) -> int:
    """1 for a number of threads, or none."""
    if is_left(state, thing):
        return 1
    value = integer(state, thing)
    return value > 0 and value <= MOST_THREADS


def integer(state: int, thing: int) -> int:
    """The value of a Python integer; NONE_SUCH for anything else, and beyond 64 bits."""
    if type_of(thing) != load64(state + State.INT):
        return NONE_SUCH
    value = call(load64(state + State.AS_INTEGER), thing)
    if value == -1 and call(load64(state + State.ERROR)) != 0:
        call(load64(state + State.CLEAR))
        return NONE_SUCH
    return value


# --- scalars ----------------------------------------------------------------------------------------------


def scaled(state: int, given: int, of: int, to: int, scalars: int) -> int:
    """The kind of arithmetic between elements of two dtypes, 0 = plain moves, NONE_SUCH where Python has to decide.
    scalars: 32 bytes, which become alpha and beta as kernels read them."""
    first, second = _arithmetic(state, of), _arithmetic(state, to)
    if first < 0 or second < 0 or first >> 1 != second >> 1:
        return NONE_SUCH
    wide, conjugate = max(first, second), load64(given + Given.CONJUGATE) == load64(state + State.TRUE) and first > 1
    alpha = _scalar(state, load64(given + Given.ALPHA), ONE, wide, scalars)
    beta = _scalar(state, load64(given + Given.BETA), 0, wide, scalars + (4 << (wide & 1) + (wide >> 1)))
    if alpha < 0 or beta < 0:
        return NONE_SUCH
    kind_beta = BETA_ZERO if beta == ALPHA_ZERO else BETA_ANY
    if alpha == ALPHA_ONE and kind_beta == BETA_ANY:
        alpha = ALPHA_ANY
    if alpha == ALPHA_ONE and first == second and not conjugate:
        return 0
    return scaled_kind(first, second, alpha, kind_beta, conjugate)


def _arithmetic(state: int, dtype: int) -> int:
    """The dtype's place in ARITHMETIC; -1 where it is none of these."""
    for k in range(TYPES):
        if load64(state + DTYPES + 8 * k) == dtype:
            return k
    return -1


def _scalar(state: int, thing: int, default: int, wide: int, place: int) -> int:
    """Write a number as the type `wide` has it; ALPHA_ZERO, ALPHA_ONE or ALPHA_ANY, -1 where it is none. default: the
    bits of what stands for no argument."""
    parts = local(16)
    store64(parts, default)
    store64(parts + 8, 0)
    if thing != 0 and not _parts(state, thing, parts):
        return -1
    real, imag = load64(parts), load64(parts + 8)
    if wide & 1:
        store64(place, real)
    elif _fits(real) and _fits(imag):
        store32(place, rounded32(real))
    else:
        return -1
    if wide > 1:
        if wide & 1:
            store64(place + 8, imag)
        else:
            store32(place + 4, rounded32(imag))
    elif imag & UNSIGNED:
        return -1
    return _kind(real, imag) if wide & 1 else _kind32(rounded32(real), rounded32(imag))


def _parts(state: int, thing: int, parts: int) -> int:
    """1 where the real and imaginary part of a number are there."""
    kind = type_of(thing)
    if kind == load64(state + State.FLOAT):
        store64(parts, load64(thing + REAL))
    elif kind == load64(state + State.COMPLEX):
        store64(parts, load64(thing + REAL))
        store64(parts + 8, load64(thing + IMAG))
    elif kind == load64(state + State.INT):
        made = call(load64(state + State.AS_FLOAT), thing)
        if made == 0:
            call(load64(state + State.CLEAR))
            return 0
        store64(parts, load64(made + REAL))
        call(load64(state + State.RELEASE), made)
    else:
        return 0
    return 1


def _fits(bits: int) -> int:
    """1 for a number that does not become infinite as a float of 32 bits."""
    size = bits & UNSIGNED
    return size < TOO_LARGE or size >= INFINITE


def _kind(real: int, imag: int) -> int:
    if imag & UNSIGNED or (real & UNSIGNED and real != ONE):
        return ALPHA_ANY
    return ALPHA_ONE if real == ONE else ALPHA_ZERO


def _kind32(real: int, imag: int) -> int:
    if imag & UNSIGNED32 or (real & UNSIGNED32 and real != ONE32):
        return ALPHA_ANY
    return ALPHA_ONE if real == ONE32 else ALPHA_ZERO
