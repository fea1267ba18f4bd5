"""The pool's memory: the places of its fields, which need no LLVM. Their meaning: see `dispatch`."""

from __future__ import annotations

REVISION = 1  # of `dispatch`, with any change of which stored code is another
SERIAL_BYTES = 512 << 10  # moved per thread, at least: below, a second thread costs more than it gains
HELD_BYTES = 16 << 10  # moved in about a microsecond: to give the interpreter lock away would take as long
MAX_PARTICIPANTS = 1024  # of one pool, the submitter included; parts must fit the word's 16 bits
PARTS_BITS = 16
STOP = -1  # the word that ends every worker

# Byte offsets in the pool. Fields that different participants write are 128 bytes apart: processors fetch cache
# lines in pairs.
WORD = 0
DONE = 128
PENDING = 192  # 1: a job is published whose submitter went to wake workers
JOB = 256  # the addresses kernel, a, b, scalars, params, scratch; scratch bytes per part; tasks
CONFIG = 384  # polls before a worker parks, polls before it yields, polls before a submitter yields, yield()
STATES = 512  # one byte per participant
LANES = STATES + MAX_PARTICIPANTS  # per participant: claim word at 0, last word seen at 64
LANE = 128
POOL_BYTES = LANES + LANE * MAX_PARTICIPANTS

ACTIVE, PARKED = 0, 1  # a worker's state; PARKED = about to block, or blocking, in Python

JOB_FIELDS = ("kernel", "a", "b", "scalars", "params", "scratch", "stride", "tasks")
CONFIG_FIELDS = ("worker_polls", "worker_yields", "submitter_yields", "yield")
