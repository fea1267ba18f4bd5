"""The blocks of the native entries of arrays: the state and what is known of a solution, which Python fills, and the
arguments of a call."""

from __future__ import annotations

from .layout_fields import ARITHMETIC, LAYOUT_BYTES, MAX_RANK, PREPARED_BYTES

MOVED, UNKNOWN, SPENT = 0, 1, 2
"""What became of a call. But for MOVED nothing has moved, and Python has to see to it: SPENT where the layout is to get
a kernel of its own."""


class State:
    """Offsets of the state's words. They are addresses of objects and functions, but for DTYPE_FLAGS and DTYPE_SIZE,
    which say where NumPy keeps these in a dtype."""

    NDARRAY = 0
    TUPLE = 8
    LIST = 16
    INT = 24
    FLOAT = 32
    COMPLEX = 40
    NONE = 48
    TRUE = 56
    FALSE = 64
    ZERO = 72
    ONE = 80
    C_ORDER = 88  # "C", and so on: of a text of one letter there is one object
    F_ORDER = 96
    SMALL_C = 104
    SMALL_F = 112
    DTYPE_FLAGS = 120
    DTYPE_SIZE = 128
    NEW_ARRAY = 136
    VECTORCALL = 144
    AS_INTEGER = 152
    AS_FLOAT = 160
    NEW_INTEGER = 168
    TUPLE_LENGTH = 176
    ERROR = 184  # PyErr_Occurred
    CLEAR = 192
    TAKE = 200  # a reference
    RELEASE = 208
    UNLOCK = 216  # the interpreter
    LOCK = 224
    TABLE = 232  # of layouts
    PROVIDE = 240  # Python's function that adds what the planner lacks of a family
    TRANSPOSE = 248  # Python's functions, for whatever is not served here
    ASCONTIGUOUSARRAY = 256
    ASFORTRANARRAY = 264
    SHARED = 272  # words of the pool of workers: `pool_layout.Shared`
    RESULTS = 280  # state of the memory of large results, 0 = Python makes them
    NEW_LARGE = 288  # its functions
    POPULATE = 296
    COUNT_THREADS = 304  # Python's function that sets their default number
    MAKE_RESULTS = 312  # Python's function that makes the memory of large results


class Given:
    """Offsets of the arguments that a call gives: objects, which the caller keeps, and 0 for those that it does not."""

    A = 0
    AXES = 8
    OUT = 16
    ALPHA = 24
    BETA = 32
    CONJUGATE = 40
    ORDER = 48
    THREADS = 56
    EFFORT = 64
    STREAM = 72
    DTYPE = 80
    LIKE = 88


STATE_WORDS = tuple(name for name in vars(State) if name.isupper())
GIVEN_WORDS = tuple(name for name in vars(Given) if name.isupper())
GIVEN_BYTES = 8 * len(GIVEN_WORDS)
DTYPES = 8 * len(STATE_WORDS)  # behind the words of the state: the dtypes of ARITHMETIC, and the names of arguments
NAMES = DTYPES + 8 * len(ARITHMETIC)
STATE_BYTES = NAMES + GIVEN_BYTES


class Side:
    """Offsets of what is known of A or B of a solution."""

    DTYPE = 0  # address, 0 = any that holds no objects
    SIZE = 8  # bytes of an element
    IN_F = 16  # 1: contiguous arrays of these extents are its storage
    IN_C = 24  # 1: those of the extents in reverse are
    ELEMENTS = 32  # that storage of one dimension has at least
    RANK = 40
    OUTER = 48  # extents of its storage


SIDE_BYTES = Side.OUTER + 8 * MAX_RANK


class Bound:
    """Offsets of what is known of a solution with given scalars."""

    STATE = 0  # address of the state
    AXES = 8  # a tuple: the axis of the array A that is each of the array B
    KIND = 16  # of layouts, where the arrays' strides are not the problem's; 0: Python serves these
    SCALARS = 24  # address of alpha and beta
    PREPARED = 32  # its own call; without a kernel Python makes it
    LAYOUT = PREPARED + PREPARED_BYTES  # its own, KIND apart
    A = LAYOUT + LAYOUT_BYTES
    B = A + SIDE_BYTES


BOUND_BYTES = Bound.B + SIDE_BYTES
