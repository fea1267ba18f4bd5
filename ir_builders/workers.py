"""The workers' side of the thread runtime: claiming parts, running them, and waiting for jobs. See `dispatch`."""

from __future__ import annotations

from llvmlite import ir

from .polling import counted, function, merged, relax
from .pool_fields import (
    call_semaphore,
    generation_of,
    lane_of,
    load_config,
    load_job,
    parts_of,
    shares_of,
    threads_of,
)  # fmt: skip
from .pool_layout import ACTIVE, DONE, JOB_FIELDS, PARKED, STATES, STOP, WORD
from .values import I1, I8, I64, PTR, beyond, i64


def build_workers(module: ir.Module, pause: ir.Function) -> ir.Function:
    """Add `work` to the module, and `claim`, which is returned: a submitter claims parts, too."""
    claim = _build_claim(module, _build_run_part(module))
    _build_work(module, pause, claim)
    return claim


def _build_run_part(module: ir.Module) -> ir.Function:
    """`run_part(pool, part, parts, participant)`: run the tasks of one part, as `edge` divides them."""
    arguments = [(PTR, "pool"), (I64, "part"), (I64, "parts"), (I64, "participant")]
    builder = function(module, "run_part", arguments)
    pool, part, parts, participant = builder.function.args
    job = {name: load_job(builder, pool, name) for name in JOB_FIELDS}
    tasks = job["tasks"]
    begin = builder.udiv(builder.mul(tasks, part), parts, "begin")
    end = builder.udiv(builder.mul(tasks, builder.add(part, i64(1))), parts, "end")
    scratch = beyond(builder, job["scratch"], builder.mul(participant, job["stride"]))
    builder.call(job["kernel"], [job["a"], job["b"], job["scalars"], job["params"], scratch, begin, end])
    builder.ret_void()
    return builder.function


def _build_claim(module: ir.Module, run_part: ir.Function) -> ir.Function:
    """`claim(pool, word, participant) -> i64`: claim and run parts of the word's job, one's own first; how many."""
    builder = function(module, "claim", [(PTR, "pool"), (I64, "word"), (I64, "participant")], I64)
    pool, word, participant = builder.function.args
    generation, parts = generation_of(builder, word), parts_of(builder, word)
    first = builder.shl(participant, shares_of(builder, word), "first")
    entry = builder.block
    head, attempt, run, step, leave = (
        builder.append_basic_block(name) for name in ("parts", "attempt", "run", "step", "leave")
    )
    builder.cbranch(builder.icmp_unsigned("<", participant, threads_of(builder, word)), head, leave)

    builder.position_at_end(head)
    turn, ran = builder.phi(I64, "turn"), builder.phi(I64, "ran")
    part = builder.urem(builder.add(first, turn), parts, "part")
    lane = lane_of(builder, pool, part)
    old = builder.load_atomic(lane, "monotonic", 8, "old", typ=I64)
    builder.cbranch(builder.icmp_signed("<", old, generation), attempt, step)

    builder.position_at_end(attempt)
    outcome = builder.cmpxchg(lane, old, generation, "acq_rel", "monotonic", "outcome")
    builder.cbranch(builder.extract_value(outcome, 1), run, step)

    builder.position_at_end(run)
    builder.call(run_part, [pool, part, parts, participant])
    more = builder.add(ran, i64(1), "more")
    builder.branch(step)

    builder.position_at_end(step)
    total = merged(builder, "total", (ran, head), (ran, attempt), (more, run))
    following = builder.add(turn, i64(1), "following")
    builder.cbranch(builder.icmp_unsigned("<", following, parts), head, leave)
    for phi, begin, again in ((turn, i64(0), following), (ran, i64(0), total)):
        phi.add_incoming(begin, entry)
        phi.add_incoming(again, step)

    builder.position_at_end(leave)
    builder.ret(merged(builder, "result", (i64(0), entry), (total, step)))
    return builder.function


def _build_work(module: ir.Module, pause: ir.Function, claim: ir.Function) -> None:
    builder = function(module, "work", [(PTR, "pool"), (I64, "participant")], linkage="")
    pool, participant = builder.function.args
    state = beyond(builder, beyond(builder, pool, STATES), participant)
    seen_at = beyond(builder, lane_of(builder, pool, participant), 64)
    limit, patience = load_config(builder, pool, "worker_polls"), load_config(builder, pool, "worker_yields")
    # An exchange, not a store: llvmlite cannot say an atomic store through an opaque pointer.
    builder.atomic_rmw("xchg", state, ir.Constant(I8, ACTIVE), "seq_cst")
    wait, poll, idle, park, sleep, unpark, job, leave = (
        builder.append_basic_block(name)
        for name in ("wait", "poll", "idle", "park", "sleep", "unpark", "job", "leave")
    )
    builder.branch(wait)

    builder.position_at_end(wait)
    seen = builder.load(seen_at, "seen", typ=I64)
    builder.branch(poll)

    builder.position_at_end(poll)
    polls = builder.phi(I64, "polls")
    word = builder.load_atomic(beyond(builder, pool, WORD), "acquire", 8, "word", typ=I64)
    builder.cbranch(builder.icmp_signed("==", word, seen), idle, job)

    builder.position_at_end(idle)
    relax(builder, pool, pause, polls, patience)
    more = builder.add(polls, i64(1), "more")
    polls.add_incoming(i64(0), wait)
    polls.add_incoming(more, builder.block)
    builder.cbranch(builder.icmp_signed("<", more, limit), poll, park)

    # Say PARKED first, then look once more: a job published in between is seen here or wakes the worker.
    builder.position_at_end(park)
    builder.atomic_rmw("xchg", state, ir.Constant(I8, PARKED), "seq_cst")
    last = builder.load_atomic(beyond(builder, pool, WORD), "seq_cst", 8, "last", typ=I64)
    builder.cbranch(builder.icmp_signed("==", last, seen), sleep, unpark)
    builder.position_at_end(sleep)
    call_semaphore(builder, pool, "wait", participant)
    builder.branch(unpark)
    builder.position_at_end(unpark)
    builder.atomic_rmw("xchg", state, ir.Constant(I8, ACTIVE), "seq_cst")
    builder.branch(wait)

    builder.position_at_end(job)
    serve = builder.append_basic_block("serve")
    builder.cbranch(builder.icmp_signed("==", word, i64(STOP)), leave, serve)
    builder.position_at_end(serve)
    builder.store(word, seen_at)
    ran = builder.call(claim, [pool, word, participant], "ran")
    with builder.if_then(builder.icmp_unsigned(">", ran, i64(0))):
        builder.atomic_rmw("add", beyond(builder, pool, DONE), ran, "release")
    builder.branch(wait)

    builder.position_at_end(leave)
    builder.ret_void()


def build_any_parked(module: ir.Module) -> ir.Function:
    """`any_parked(pool, threads) -> i1`: whether one of the workers 1 .. threads - 1 is parked."""
    builder = function(module, "any_parked", [(PTR, "pool"), (I64, "threads")], I1)
    pool, threads = builder.function.args
    states = beyond(builder, pool, STATES)
    with counted(builder, threads, "worker", 1) as worker:
        state = builder.load_atomic(beyond(builder, states, worker), "monotonic", 1, "state", typ=I8)
        with builder.if_then(builder.icmp_signed("==", state, ir.Constant(I8, PARKED)), likely=False):
            builder.ret(ir.Constant(I1, 1))
    builder.ret(ir.Constant(I1, 0))
    return builder.function


def build_wake(module: ir.Module) -> ir.Function:
    """`wake(pool, threads)`: wake those of the workers 1 .. threads - 1 that are parked."""
    builder = function(module, "wake", [(PTR, "pool"), (I64, "threads")], linkage="")
    pool, threads = builder.function.args
    states = beyond(builder, pool, STATES)
    with counted(builder, threads, "worker", 1) as worker:
        at = beyond(builder, states, worker)
        state = builder.load_atomic(at, "seq_cst", 1, "state", typ=I8)
        with builder.if_then(builder.icmp_signed("==", state, ir.Constant(I8, PARKED)), likely=False):
            # Nobody else writes ACTIVE for a worker that waits; for one that does not yet, the semaphore counts.
            builder.atomic_rmw("xchg", at, ir.Constant(I8, ACTIVE), "seq_cst")
            call_semaphore(builder, pool, "post", worker)
    builder.ret_void()
    return builder.function
