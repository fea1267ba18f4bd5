"""The pool's memory: the places of its fields, which need no LLVM. Their meaning: see `dispatch`."""

from __future__ import annotations

REVISION = 2  # of `dispatch`, with any change of which stored code is another
SERIAL_BYTES = 512 << 10  # moved per thread, at least: below, a second thread costs more than it gains
BURST_SECONDS = 100e-6  # calls that begin so soon after others find workers awake, once they are woken
LASTING = 1_000_000  # nanoseconds for which calls have followed each other so when workers are woken for small ones
WAKING_BYTES = 12 << 20  # one thread moves less by the time that one that sleeps is of use: 0.1 ms on virtual machines
LATELY = 2_000_000  # nanoseconds after a call in which waking is quicker, so that half as many bytes pay
PAGE = 4096
GAP = 4 * PAGE  # bytes between scratch of two threads: what hardware fetches ahead of one is not the other's
HELD_BYTES = 16 << 10  # moved in about a microsecond: to give the interpreter lock away would take as long
MAX_PARTICIPANTS = 1024  # of one pool, the submitter included; parts must fit the word's 16 bits
PARTS_BITS = 16
SHARES_BITS = 2  # of these: the logarithm of the parts of a thread
SHARES = 2  # that, where a worker sleeps, which comes late: others then do most of its parts
STOP = -1  # the word that ends every worker

# Byte offsets in the pool. Fields that different participants write are 128 bytes apart: processors fetch cache
# lines in pairs.
WORD = 0
DONE = 128
CALLED = 200  # when the last call ended, in nanoseconds of `time.perf_counter`
BEGUN = 208  # when the first of the calls began that have followed each other at once
JOB = 256  # the addresses kernel, a, b, scalars, params, scratch; scratch bytes per part; tasks
CONFIG = 384  # polls before a worker parks, polls before it yields, polls before a submitter yields; the C library's
# sched_yield, sem_wait and sem_post
STATES = 512  # one byte per participant
LANES = STATES + MAX_PARTICIPANTS  # per participant: claim word at 0, last word seen at 64, its semaphore
SEMAPHORE = 80
LANE = 128
POOL_BYTES = LANES + LANE * MAX_PARTICIPANTS

ACTIVE, PARKED = 0, 1  # a worker's state; PARKED = about to wait, or waiting, for its semaphore

JOB_FIELDS = ("kernel", "a", "b", "scalars", "params", "scratch", "stride", "tasks")
CONFIG_FIELDS = ("worker_polls", "worker_yields", "submitter_yields", "yield", "wait", "post")
MASK_BYTES = 128  # a mask of CPUs, as the system writes it


class Shared:
    """Offsets of the words through which native code finds the process' pool: addresses, unless said. All are 0, and
    Python makes every call, where the system lacks a function."""

    POOL = 0  # of the memory, 0 = there is no pool that serves
    PARTICIPANTS = 8  # their number
    SUBMIT = 16
    GET_CPU = 24  # sched_getcpu
    ACQUIRE = 32  # Python's methods of the lock that the pool's caller holds
    RELEASE = 40
    AT_ONCE = 48  # the arguments of the first
    TRUE = 56
    CALL = 64  # PyObject_CallObject
    DROP = 72  # Py_DecRef
    CLEAR = 80
    CLOCK = 88  # clock_gettime
    GET_MASK = 96  # sched_getaffinity
    BURST = 104  # nanoseconds, see `runtime.pool`
    WAKING = 112  # bytes
    THREADS = 120  # by default, 0 = nobody has asked
    MASK = 128  # the CPUs that they were counted by
    KEPT_OFF = MASK + MASK_BYTES  # 1 + the CPU that workers are kept off, 0 = Python has to see to it, or ANYWHERE
    KEPT = KEPT_OFF + 8  # participants of whom that is so


ANYWHERE = -1
SHARED_BYTES = Shared.KEPT + 8


def scratch_stride(size: int) -> int:
    """Bytes from one thread's scratch of this size to the next one's; also a function for `integer_code`."""
    return (size + PAGE - 1) // PAGE * PAGE + GAP if size else 0
