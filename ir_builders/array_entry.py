"""Native entries of `transpose`, `ascontiguousarray` and `asfortranarray`: functions for `integer_code`.

CPython calls them as it calls a builtin function (METH_FASTCALL | METH_KEYWORDS). They serve the calls that programs
make most: NumPy's arrays of one class, layouts that the table knows or plans, on this thread and on workers that are
awake. Whatever else is asked, and every error, is left to the Python function of the same name, which is called with
the same arguments.

The interpreter lock is held but while a kernel runs that takes longer than giving it away.
"""

from __future__ import annotations

from ttc_llvm.operands import object_fields as objects

from .array_arguments import NONE_SUCH, is_left, noted, scaled, threads_fit, type_of
from .array_entry_fields import GIVEN_BYTES, Given, State
from .array_layouts import item_bytes, packed, permuted_array, set_result, set_source, state_of
from .layout_calls import done, is_ready, known_still, looked_up, moved, populated, run, threads_of
from .layout_fields import AXES, AXIS_BYTES, EXTENT, KIND, LAYOUT_BYTES, MAX_RANK, RANK, WEIGHT
from .result_fields import LEAST, ON_LINES
from .shared_calls import elements
from .words import call, load32, load64, local, store64

CONTIGUOUS_NAMES = sum(1 << given // 8 for given in (Given.A, Given.DTYPE, Given.LIKE, Given.THREADS))
FIRST_BYTES = 32 << 20  # a smaller first result is written by this thread before there were others to help
TRANSPOSE_NAMES = sum(1 << k for k in range(GIVEN_BYTES // 8)) & ~sum(1 << k // 8 for k in (Given.DTYPE, Given.LIKE))


def transpose(home: int, args: int, count: int, names: int) -> int:
    """`ttc_llvm.transpose`. home: what the function is bound to."""
    state, given = state_of(home), local(GIVEN_BYTES)
    result = 0
    if noted(state, given, TRANSPOSE_NAMES, Given.AXES, args, count, names):
        result = _transposed(state, given)
    return result if result != 0 else _by_python(state, State.TRANSPOSE, args, count, names)


def ascontiguousarray(home: int, args: int, count: int, names: int) -> int:
    """`ttc_llvm.ascontiguousarray`."""
    result = _contiguous(state_of(home), args, count, names, objects.C_CONTIGUOUS)
    return result if result != 0 else _by_python(state_of(home), State.ASCONTIGUOUSARRAY, args, count, names)


def asfortranarray(home: int, args: int, count: int, names: int) -> int:
    """`ttc_llvm.asfortranarray`."""
    result = _contiguous(state_of(home), args, count, names, objects.F_CONTIGUOUS)
    return result if result != 0 else _by_python(state_of(home), State.ASFORTRANARRAY, args, count, names)


def _by_python(state: int, function: int, args: int, count: int, names: int) -> int:
    if call(load64(state + State.ERROR)) != 0:  # an interrupt, while Python provided a kernel
        return 0
    return call(load64(state + State.VECTORCALL), load64(state + function), args, count, names)


# --- what is asked ----------------------------------------------------------------------------------------


def _transposed(state: int, given: int) -> int:
    """The result, which the caller owns, or 0."""
    array, out = load64(given + Given.A), load64(given + Given.OUT)
    layout, scalars = local(LAYOUT_BYTES), local(32)
    ndarray = load64(state + State.NDARRAY)
    if type_of(array) != ndarray or not _usual(state, given):
        return 0
    is_fresh = is_left(state, out)
    if not is_fresh and type_of(out) != ndarray:
        return 0
    of, to = load64(array + objects.ARRAY_DTYPE), load64((array if is_fresh else out) + objects.ARRAY_DTYPE)
    kind = _kind(state, given, of, to, scalars)
    if kind <= 0 or not permuted_array(state, layout, array, load64(given + Given.AXES)):
        return 0
    store64(layout + KIND, kind)
    if is_fresh:
        order = load64(given + Given.ORDER)
        in_f = order == load64(state + State.F_ORDER) or order == load64(state + State.SMALL_F)
        return _fresh(state, layout, array, in_f, scalars, load64(given + Given.THREADS))
    return _into(state, layout, array, out, scalars, load64(given + Given.THREADS))


def _usual(state: int, given: int) -> int:
    """1 where the arguments that native code leaves to Python have their default values."""
    order, effort = load64(given + Given.ORDER), load64(given + Given.EFFORT)
    conjugate = load64(given + Given.CONJUGATE)
    if not is_left(state, load64(given + Given.STREAM)) or not threads_fit(state, load64(given + Given.THREADS)):
        return 0
    if effort != 0 and effort != load64(state + State.ONE):
        return 0
    if conjugate != 0 and conjugate != load64(state + State.FALSE) and conjugate != load64(state + State.TRUE):
        return 0
    if order == 0 or order == load64(state + State.C_ORDER) or order == load64(state + State.SMALL_C):
        return 1
    return order == load64(state + State.F_ORDER) or order == load64(state + State.SMALL_F)


def _kind(state: int, given: int, of: int, to: int, scalars: int) -> int:
    """The layout's kind: bytes of items that are moved, or a kind of arithmetic; 0 or less where Python decides."""
    alpha, beta, conjugate = load64(given + Given.ALPHA), load64(given + Given.BETA), load64(given + Given.CONJUGATE)
    if (
        (of != to)
        or (alpha != 0 and alpha != load64(state + State.ONE))
        or (beta != 0 and beta != load64(state + State.ZERO))
        or (conjugate != 0 and conjugate != load64(state + State.FALSE))
    ):
        kind = scaled(state, given, of, to, scalars)
        if kind != 0:
            is_fresh = is_left(state, load64(given + Given.OUT))
            return NONE_SUCH if is_fresh and beta != 0 and beta != load64(state + State.ZERO) else kind
    return item_bytes(state, of)


def _contiguous(state: int, args: int, count: int, names: int, wanted: int) -> int:
    """The array itself where it is contiguous, or a copy; 0 where Python decides. wanted: the flag."""
    given, layout = local(GIVEN_BYTES), local(LAYOUT_BYTES)
    if not noted(state, given, CONTIGUOUS_NAMES, Given.DTYPE, args, count, names):
        return 0
    array, dtype = load64(given + Given.A), load64(given + Given.DTYPE)
    if type_of(array) != load64(state + State.NDARRAY) or load32(array + objects.ARRAY_RANK) == 0:
        return 0
    if not is_left(state, dtype) and dtype != load64(array + objects.ARRAY_DTYPE):
        return 0
    if not is_left(state, load64(given + Given.LIKE)) or not threads_fit(state, load64(given + Given.THREADS)):
        return 0
    if load32(array + objects.ARRAY_FLAGS) & wanted:
        call(load64(state + State.TAKE), array)
        return array
    kind = item_bytes(state, load64(array + objects.ARRAY_DTYPE))
    if kind == 0:
        return 0
    store64(layout + KIND, kind)
    set_source(layout, array)
    return _fresh(state, layout, array, wanted == objects.F_CONTIGUOUS, 0, load64(given + Given.THREADS))


# --- results ----------------------------------------------------------------------------------------------


def _fresh(state: int, layout: int, array: int, in_f: int, scalars: int, threads: int) -> int:
    """A new array of the array's dtype."""
    dtype, shape = load64(array + objects.ARRAY_DTYPE), local(8 * MAX_RANK)
    size = load32(dtype + load64(state + State.DTYPE_SIZE))
    if not packed(layout, size, in_f):
        return 0
    size = size * elements(layout)
    prepared = looked_up(state, layout, threads)
    most = threads_of(layout)
    if prepared != 0 and size >= LEAST and load64(state + State.RESULTS) == 0:
        prepared, most = _first_large(state, layout), 1 if size < FIRST_BYTES else most
    if prepared == 0 or not is_ready(state, prepared, most):
        return 0
    rank, is_new = load64(layout + RANK), local(8)
    for k in range(rank):
        store64(shape + 8 * k, load64(layout + AXES + AXIS_BYTES * k + EXTENT))
    call(load64(state + State.TAKE), dtype)  # which the new array keeps
    ndarray, memory = load64(state + State.NDARRAY), load64(state + State.RESULTS)
    store64(is_new, 0)
    if _is_numpys(state, prepared, size):
        made = call(load64(state + State.NEW_ARRAY), ndarray, dtype, rank, shape, 0, 0, in_f, 0)
    else:
        made = call(load64(state + State.NEW_LARGE), memory, ndarray, dtype, rank, shape, in_f, is_new, size)
    if made == 0:
        call(load64(state + State.CLEAR))
        return 0
    if load64(is_new):  # other threads may run Python code meanwhile
        populated(state, load64(made + objects.ARRAY_DATA), size, most)
        prepared = known_still(state, layout)
    a, b = load64(array + objects.ARRAY_DATA), load64(made + objects.ARRAY_DATA)
    if prepared == 0 or run(state, prepared, a, b, scalars, most):
        call(load64(state + State.RELEASE), made)
        return 0
    return made


def _first_large(state: int, layout: int) -> int:
    """The prepared call when Python has made the memory of large results; 0 where it could not."""
    if not done(state, State.MAKE_RESULTS, 0) or load64(state + State.RESULTS) == 0:
        return 0
    return known_still(state, layout)


def _is_numpys(state: int, prepared: int, size: int) -> int:
    """1 where nothing is gained by a result in other memory than NumPy's: it is small, or copied as it is."""
    if size >= LEAST:
        return 0
    return size < ON_LINES or load64(state + State.RESULTS) == 0 or load64(prepared + WEIGHT) == 0


def _into(state: int, layout: int, array: int, out: int, scalars: int, threads: int) -> int:
    """The caller's own array, with a reference of its own."""
    if not load32(out + objects.ARRAY_FLAGS) & objects.WRITEABLE or not set_result(layout, out):
        return 0
    if moved(state, layout, load64(array + objects.ARRAY_DATA), load64(out + objects.ARRAY_DATA), scalars, threads):
        return 0
    call(load64(state + State.TAKE), out)
    return out
