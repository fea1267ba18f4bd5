"""The native half of the thread runtime: claiming parts, waiting, and timing loops, as one IR module.

How a job travels. One submitter at a time owns the pool. It writes the job's fields, then publishes the word
`generation << 16 | threads << 2 | log2(parts of a thread)`. Every participant of a lower number than threads (the
submitter is number 0) claims parts by raising the part's claim word to the generation with compare-exchange,
beginning with its own parts. Whoever runs parts adds their number to `done`; the submitter returns when all parts are
done. Workers that are parked are woken after the job is published: a worker says PARKED before it looks for a job a
last time, so that either it sees the job or the submitter sees it parked, and posts its semaphore. Where one sleeps, a
thread has several parts: whoever comes late, and slowly, leaves most of its own to others.

Why a late participant does no harm. The generation and its number of parts arrive in one load, so both belong
together. A job ends only after each of its parts was claimed, hence a participant that still holds an old
generation finds every claim word of that job at least as high, claims nothing, and reads no field. A field
is read only between a successful claim and the count in `done`, when the submitter cannot leave the job.
Nobody ever waits for a participant that has claimed nothing.
"""

from __future__ import annotations

from llvmlite import ir

from .polling import build_pause, counted, function, wait_for
from .pool_fields import generation_of, load_config, parts_of
from .pool_layout import DONE, JOB, JOB_FIELDS, MAX_PARTICIPANTS, PARTS_BITS, SHARES, SHARES_BITS, WORD
from .values import I64, KERNEL_TYPE, PTR, beyond, i64
from .workers import build_any_parked, build_wake, build_workers


def build(triple: str) -> ir.Module:
    """The module of `work`, `submit`, `wake`, `repeat_call` and `pauses` for this machine.

    work(pool, participant): serve jobs until the pool stops; where none came for a while, wait for the participant's
    semaphore (state PARKED). submit(pool, kernel, a, b, scalars, params, scratch, stride, tasks, threads, repeats): run
    a job `repeats` times; scratch of participant p is at scratch + p * stride. wake(pool, threads): wake parked
    workers. repeat_call(kernel, a, b, scalars, params, scratch, begin, end, repeats): call a kernel on this thread.
    pauses(n): poll n times, for calibration.
    """
    module = ir.Module("dispatch")
    module.triple = triple
    pause = build_pause(module, triple)
    claim = build_workers(module, pause)
    _build_submit(module, pause, claim)
    _build_repeat_call(module)
    _build_pauses(module, pause)
    return module


def _build_submit(module: ir.Module, pause: ir.Function, claim: ir.Function) -> None:
    fields = [(I64 if name in ("stride", "tasks") else PTR, name) for name in JOB_FIELDS]
    arguments = [(PTR, "pool"), *fields, (I64, "threads"), (I64, "repeats")]
    any_parked, wake = build_any_parked(module), build_wake(module)
    builder = function(module, "submit", arguments, linkage="")
    pool, *values, threads, repeats = builder.function.args
    for name, value in zip(JOB_FIELDS, values, strict=True):
        builder.store(value, beyond(builder, pool, JOB + 8 * JOB_FIELDS.index(name)))
    patience, word_at = load_config(builder, pool, "submitter_yields"), beyond(builder, pool, WORD)
    most = builder.shl(threads, i64(SHARES))
    in_tasks, in_lanes = (builder.icmp_unsigned("<=", most, bound) for bound in (values[-1], i64(MAX_PARTICIPANTS)))
    can_share = builder.and_(in_tasks, in_lanes)
    with counted(builder, repeats, "round"):
        builder.store(i64(0), beyond(builder, pool, DONE))
        before = builder.load_atomic(word_at, "monotonic", 8, "before", typ=I64)
        generation = builder.add(generation_of(builder, before), i64(1), "generation")
        late = builder.and_(can_share, builder.call(any_parked, [pool, threads]), "late")
        division = builder.or_(builder.shl(threads, i64(SHARES_BITS)), builder.select(late, i64(SHARES), i64(0)))
        word = builder.or_(builder.shl(generation, i64(PARTS_BITS)), division, "word")
        # Publish first, then look who is parked: a worker that parks at this moment does it the other way round.
        builder.atomic_rmw("xchg", word_at, word, "seq_cst")
        builder.call(wake, [pool, threads])
        own = builder.call(claim, [pool, word, i64(0)], "own")
        wait_for(builder, pool, pause, builder.sub(parts_of(builder, word), own, "others"), patience)
    builder.ret_void()


def _build_repeat_call(module: ir.Module) -> None:
    names = ("a", "b", "scalars", "params", "scratch")
    arguments: list[tuple[ir.Type, str]] = [(KERNEL_TYPE.as_pointer(), "kernel")]
    arguments += [(PTR, name) for name in names]
    arguments += [(I64, "begin"), (I64, "end"), (I64, "repeats")]
    builder = function(module, "repeat_call", arguments, linkage="")
    kernel, *operands, repeats = builder.function.args
    with counted(builder, repeats, "repeat"):
        builder.call(kernel, operands)
    builder.ret_void()


def _build_pauses(module: ir.Module, pause: ir.Function) -> None:
    builder = function(module, "pauses", [(I64, "n")], linkage="")
    with counted(builder, builder.function.args[0], "pause"):
        builder.call(pause, [])
    builder.ret_void()
