"""IR that addresses the fields of the pool's memory."""

from __future__ import annotations

from llvmlite import ir

from . import pool_layout as pools
from .values import I32, I64, KERNEL_TYPE, PTR, beyond, i64

YIELD_TYPE = ir.FunctionType(I32, [])
_OF_SEMAPHORE = ir.FunctionType(I32, [PTR])


def lane_of(builder: ir.IRBuilder, pool: ir.Value, participant: ir.Value) -> ir.Value:
    """The address of a participant's lane."""
    return beyond(builder, beyond(builder, pool, pools.LANES), builder.mul(participant, i64(pools.LANE)))


def load_job(builder: ir.IRBuilder, pool: ir.Value, name: str) -> ir.Value:
    """The value of one of JOB_FIELDS."""
    kinds = {"kernel": KERNEL_TYPE.as_pointer(), "stride": I64, "tasks": I64}
    address = beyond(builder, pool, pools.JOB + 8 * pools.JOB_FIELDS.index(name))
    return builder.load(address, name, typ=kinds.get(name, PTR))


def load_config(builder: ir.IRBuilder, pool: ir.Value, name: str) -> ir.Value:
    """The value of one of CONFIG_FIELDS."""
    return builder.load(beyond(builder, pool, pools.CONFIG + 8 * pools.CONFIG_FIELDS.index(name)), name, typ=I64)


def call_semaphore(builder: ir.IRBuilder, pool: ir.Value, name: str, participant: ir.Value) -> None:
    """Call one of CONFIG_FIELDS, `wait` or `post`, with a participant's semaphore."""
    address = beyond(builder, pool, pools.CONFIG + 8 * pools.CONFIG_FIELDS.index(name))
    function = builder.load(address, name, typ=_OF_SEMAPHORE.as_pointer())
    builder.call(function, [beyond(builder, lane_of(builder, pool, participant), pools.SEMAPHORE)])


def generation_of(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The number of the job that a word is about."""
    return builder.ashr(word, i64(pools.PARTS_BITS))


def parts_of(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The number of parts of the job that a word is about."""
    return builder.shl(threads_of(builder, word), shares_of(builder, word), "parts")


def threads_of(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The number of threads, the submitter's included, that may claim parts of the job that a word is about."""
    most = (1 << pools.PARTS_BITS - pools.SHARES_BITS) - 1
    return builder.and_(builder.lshr(word, i64(pools.SHARES_BITS)), i64(most), "threads")


def shares_of(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The logarithm of the number of parts of a thread."""
    return builder.and_(word, i64((1 << pools.SHARES_BITS) - 1), "shares")
