"""The pool's memory: the places of its fields, and IR that addresses them. Their meaning: see `dispatch`."""

from __future__ import annotations

from llvmlite import ir

from .values import I32, I64, KERNEL_TYPE, PTR, beyond, i64

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

YIELD_TYPE = ir.FunctionType(I32, [])


def lane_of(builder: ir.IRBuilder, pool: ir.Value, participant: ir.Value) -> ir.Value:
    """The address of a participant's lane."""
    return beyond(builder, beyond(builder, pool, LANES), builder.mul(participant, i64(LANE)))


def load_job(builder: ir.IRBuilder, pool: ir.Value, name: str) -> ir.Value:
    """The value of one of JOB_FIELDS."""
    kinds = {"kernel": KERNEL_TYPE.as_pointer(), "stride": I64, "tasks": I64}
    return builder.load(beyond(builder, pool, JOB + 8 * JOB_FIELDS.index(name)), name, typ=kinds.get(name, PTR))


def load_config(builder: ir.IRBuilder, pool: ir.Value, name: str) -> ir.Value:
    """The value of one of CONFIG_FIELDS."""
    return builder.load(beyond(builder, pool, CONFIG + 8 * CONFIG_FIELDS.index(name)), name, typ=I64)


def generation_of(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The number of the job that a word is about."""
    return builder.ashr(word, i64(PARTS_BITS))


def parts_of(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The number of parts of the job that a word is about."""
    return builder.and_(word, i64((1 << PARTS_BITS) - 1))
