"""Offsets in the block of state of the memory of results; they need no LLVM. Their meaning: see `result_handler`."""

from __future__ import annotations

HEAD = 64 << 10  # bytes before a mapped block: pages of no system are larger
LEAST = 1 << 20  # smaller requests are the C library's heap's
ON_LINES = 32 << 10  # smaller results are NumPy's own; larger ones begin on a line, where stores take half of the time
LINE = 64
HUGE = 2 << 20  # a huge page
LEAST_HUGE = 8 << 20  # smaller blocks have ordinary pages: the system has them at hand, huge ones it may have to make
CHUNK = 4 << 20  # bytes of a task of `populate`
EVER = 1 << 62
TRACED = 389047  # tracemalloc's domain of NumPy's arrays

# Words right before a block, as bytes back from it.
SIZE = 16  # of the block; negative where it lies in the C library's heap
FRESH = 8  # 1: it was just mapped, and no page of it has been touched
START = 24  # where its memory in the C library's heap begins

# Words of the state, as bytes from its start.
BOUND = 0  # bytes that freed blocks may take
HELD = 8  # bytes that they take
CLOCK = 16  # blocks that were put into the pool
PHASE = 24  # of the background thread
THREAD = 32  # its handle
ENTRY = 40  # the address of the function that it runs
FUTEX = 48  # the number of that system call
CAPSULE = 56  # NumPy's object for our handler
UNFILLED = 464  # bytes of the array that `new_like` makes, which need no zeros; else 0
_LIBC_FUNCTIONS = (
    "free", "madvise", "malloc", "memcpy", "memset", "mmap", "munmap", "pthread_attr_init",
    "pthread_attr_setstacksize", "pthread_create", "pthread_detach", "pthread_join", "pthread_self", "pthread_sigmask",
    "sched_yield", "syscall",
)  # fmt: skip
_PYTHON_FUNCTIONS = ("Py_DecRef", "PyErr_Fetch", "PyErr_Restore", "Py_IncRef", "PyTraceMalloc_Track")
LIBC = {name: 64 + 8 * k for k, name in enumerate(_LIBC_FUNCTIONS)}  # addresses
PYTHON = {name: 256 + 8 * k for k, name in enumerate(_PYTHON_FUNCTIONS)}
_NUMPY_FUNCTIONS = ("NewLikeArray", "NewFromDescr", "SetHandler", "GetHandler", "DefaultHandler")
NUMPY = {name: 320 + 8 * k for k, name in enumerate(_NUMPY_FUNCTIONS)}
SLOTS = 1024
WORDS = 512  # of each slot: its block's address, with its size in the lowest bits; 0: it is free
STAMPS = WORDS + 8 * SLOTS  # of each slot: what the clock was when its block came
HANDLER = STAMPS + 8 * SLOTS  # NumPy's structure: name and version, and from ALLOCATOR on the context and functions
ALLOCATOR = 128
CAPSULE_NAME = HANDLER + 256
STATE_BYTES = CAPSULE_NAME + 64

NONE, STARTING, RUNNING, STOPPING = range(4)  # phases of the thread
SECONDS = 2  # between its rounds: a block goes in the second round after it came at the latest
