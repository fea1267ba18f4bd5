"""The native half of the thread runtime: claiming parts, waiting, and timing loops, as one IR module.

How a job travels. One submitter at a time owns the pool. It writes the job's fields, then publishes the word
`generation << 16 | parts`. Every participant (the submitter is number 0) claims parts by raising the part's
claim word to the generation with compare-exchange, beginning with the part of its own number. Whoever runs
parts adds their number to `done`; the submitter returns when all parts are done. Workers that are parked
are woken by Python after the job is published: a worker says PARKED before it looks for a job a last time, so
that either it sees the job or the submitter sees it parked.

Why a late participant does no harm. The generation and its number of parts arrive in one load, so both belong
together. A job ends only after each of its parts was claimed, hence a participant that still holds an old
generation finds every claim word of that job at least as high, claims nothing, and reads no field. A field
is read only between a successful claim and the count in `done`, when the submitter cannot leave the job.
Nobody ever waits for a participant that has claimed nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from .pool_layout import (
    ACTIVE,
    BIT,
    CONFIG,
    CONFIG_FIELDS,
    DONE,
    I8,
    I32,
    I64,
    JOB,
    JOB_FIELDS,
    KERNEL_TYPE,
    PARKED,
    PARTS_BITS,
    PENDING,
    PTR,
    STATES,
    STOP,
    VOID,
    WORD,
    YIELD_TYPE,
    at,
    generation_of,
    i64,
    lane_of,
    load_config,
    load_job,
    parts_of,
)


def build(triple: str) -> ir.Module:
    """The module of `work`, `submit`, `resume`, `repeat_call` and `pauses` for this machine.

    work(pool, participant): serve jobs until none came for a while (state PARKED) or the pool stops.
    submit(pool, kernel, a, b, scalars, params, scratch, stride, tasks, parts, repeats) -> left: run a job
    `repeats` times; scratch of part p is at scratch + p * stride. A result other than 0 says that a job is
    published and that workers have to be woken for it; what is left is then done by resume(pool, parts, left)
    -> left. resume does nothing where no job is pending. repeat_call(kernel, a, b, scalars, params, scratch,
    begin, end, repeats): call a kernel on this thread. pauses(n): poll n times, for calibration.
    """
    module = ir.Module("dispatch")
    module.triple = triple
    pause = _build_pause(module, triple)
    run_part = _build_run_part(module)
    claim = _build_claim(module, run_part)
    _build_work(module, pause, claim)
    rounds = _build_rounds(module, pause, claim)
    _build_submit(module, rounds)
    _build_resume(module, rounds)
    _build_repeat_call(module)
    _build_pauses(module, pause)
    return module


_HINTS = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}


def _build_pause(module: ir.Module, triple: str) -> ir.Function:
    """`pause()`: tells the processor that this is a polling loop."""
    builder = _function(module, "pause", [])
    architecture = triple.partition("-")[0]
    if architecture in _HINTS:
        name, values = _HINTS[architecture]
        hint = ir.Function(module, ir.FunctionType(VOID, [I32] * len(values)), name)
        builder.call(hint, [ir.Constant(I32, value) for value in values])
    builder.ret_void()
    return builder.function


def _build_run_part(module: ir.Module) -> ir.Function:
    """`run_part(pool, part, parts)`: run the tasks of one part, as `nest.part_range` divides them."""
    builder = _function(module, "run_part", [(PTR, "pool"), (I64, "part"), (I64, "parts")])
    pool, part, parts = builder.function.args
    job = {name: load_job(builder, pool, name) for name in JOB_FIELDS}
    tasks = job["tasks"]
    begin = builder.udiv(builder.mul(tasks, part), parts, "begin")
    end = builder.udiv(builder.mul(tasks, builder.add(part, i64(1))), parts, "end")
    scratch = at(builder, job["scratch"], builder.mul(part, job["stride"]))
    builder.call(job["kernel"], [job["a"], job["b"], job["scalars"], job["params"], scratch, begin, end])
    builder.ret_void()
    return builder.function


def _build_claim(module: ir.Module, run_part: ir.Function) -> ir.Function:
    """`claim(pool, word, first) -> i64`: claim and run parts of the word's job, from `first` on; how many."""
    builder = _function(module, "claim", [(PTR, "pool"), (I64, "word"), (I64, "first")], I64)
    pool, word, first = builder.function.args
    generation, parts = generation_of(builder, word), parts_of(builder, word)
    entry = builder.block
    head, attempt, run, step, leave = (
        builder.append_basic_block(name) for name in ("parts", "attempt", "run", "step", "leave")
    )
    builder.cbranch(builder.icmp_unsigned(">", parts, i64(0)), head, leave)

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
    builder.call(run_part, [pool, part, parts])
    more = builder.add(ran, i64(1), "more")
    builder.branch(step)

    builder.position_at_end(step)
    total = _phi(builder, "total", (ran, head), (ran, attempt), (more, run))
    following = builder.add(turn, i64(1), "following")
    builder.cbranch(builder.icmp_unsigned("<", following, parts), head, leave)
    for phi, begin, again in ((turn, i64(0), following), (ran, i64(0), total)):
        phi.add_incoming(begin, entry)
        phi.add_incoming(again, step)

    builder.position_at_end(leave)
    builder.ret(_phi(builder, "result", (i64(0), entry), (total, step)))
    return builder.function


def _build_work(module: ir.Module, pause: ir.Function, claim: ir.Function) -> None:
    builder = _function(module, "work", [(PTR, "pool"), (I64, "participant")], linkage="")
    pool, participant = builder.function.args
    state = at(builder, at(builder, pool, STATES), participant)
    lane = lane_of(builder, pool, participant)
    seen_at = at(builder, lane, 64)
    limit, patience = load_config(builder, pool, "worker_polls"), load_config(builder, pool, "worker_yields")
    # An exchange, not a store: llvmlite cannot say an atomic store through an opaque pointer.
    builder.atomic_rmw("xchg", state, ir.Constant(I8, ACTIVE), "seq_cst")
    wait, poll, idle, park, unpark, job, leave = (
        builder.append_basic_block(name)
        for name in ("wait", "poll", "idle", "park", "unpark", "job", "leave")
    )
    builder.branch(wait)

    builder.position_at_end(wait)
    seen = builder.load(seen_at, "seen", typ=I64)
    builder.branch(poll)

    builder.position_at_end(poll)
    polls = builder.phi(I64, "polls")
    word = builder.load_atomic(at(builder, pool, WORD), "acquire", 8, "word", typ=I64)
    builder.cbranch(builder.icmp_signed("==", word, seen), idle, job)

    builder.position_at_end(idle)
    _relax(builder, pool, pause, polls, patience)
    more = builder.add(polls, i64(1), "more")
    polls.add_incoming(i64(0), wait)
    polls.add_incoming(more, builder.block)
    builder.cbranch(builder.icmp_signed("<", more, limit), poll, park)

    # Say PARKED first, then look once more: a job published in between is seen here or wakes the worker.
    builder.position_at_end(park)
    builder.atomic_rmw("xchg", state, ir.Constant(I8, PARKED), "seq_cst")
    last = builder.load_atomic(at(builder, pool, WORD), "seq_cst", 8, "last", typ=I64)
    builder.cbranch(builder.icmp_signed("==", last, seen), leave, unpark)
    builder.position_at_end(unpark)
    builder.atomic_rmw("xchg", state, ir.Constant(I8, ACTIVE), "seq_cst")
    builder.branch(job)

    builder.position_at_end(job)
    current = _phi(builder, "current", (word, poll), (last, unpark))
    serve = builder.append_basic_block("serve")
    builder.cbranch(builder.icmp_signed("==", current, i64(STOP)), leave, serve)
    builder.position_at_end(serve)
    builder.store(current, seen_at)
    ran = builder.call(claim, [pool, current, participant], "ran")
    with builder.if_then(builder.icmp_unsigned(">", ran, i64(0))):
        builder.atomic_rmw("add", at(builder, pool, DONE), ran, "release")
    builder.branch(wait)

    builder.position_at_end(leave)
    builder.ret_void()


def _build_any_parked(module: ir.Module) -> ir.Function:
    """`any_parked(pool, parts) -> i1`: whether one of the workers 1 .. parts - 1 is parked."""
    builder = _function(module, "any_parked", [(PTR, "pool"), (I64, "parts")], BIT)
    pool, parts = builder.function.args
    states = at(builder, pool, STATES)
    found = builder.append_basic_block("found")
    with _counted(builder, parts, "worker", 1) as worker:
        state = builder.load_atomic(at(builder, states, worker), "seq_cst", 1, "state", typ=I8)
        awake = builder.append_basic_block("awake")
        builder.cbranch(builder.icmp_signed("==", state, ir.Constant(I8, PARKED)), found, awake)
        builder.position_at_end(awake)
    builder.ret(ir.Constant(BIT, 0))
    builder.position_at_end(found)
    builder.ret(ir.Constant(BIT, 1))
    return builder.function


def _build_rounds(module: ir.Module, pause: ir.Function, claim: ir.Function) -> ir.Function:
    """`rounds(pool, parts, left, published) -> i64`: run a job `left` times; the result as of `submit`."""
    arguments = [(PTR, "pool"), (I64, "parts"), (I64, "left"), (BIT, "published")]
    any_parked = _build_any_parked(module)
    builder = _function(module, "rounds", arguments, I64)
    pool, parts, left, published = builder.function.args
    patience = load_config(builder, pool, "submitter_yields")
    word_at, pending_at = at(builder, pool, WORD), at(builder, pool, PENDING)
    entry = builder.block
    publish, early, run, leave = (
        builder.append_basic_block(name) for name in ("publish", "early", "run", "leave")
    )
    builder.cbranch(published, run, publish)

    builder.position_at_end(publish)
    upcoming = builder.phi(I64, "upcoming")
    builder.store(i64(0), at(builder, pool, DONE))
    before = builder.load_atomic(word_at, "monotonic", 8, "before", typ=I64)
    generation = builder.add(generation_of(builder, before), i64(1), "generation")
    # Publish first, then look who is parked: a worker that parks at this moment does it the other way round.
    word = builder.or_(builder.shl(generation, i64(PARTS_BITS)), parts)
    builder.atomic_rmw("xchg", word_at, word, "seq_cst")
    builder.cbranch(builder.call(any_parked, [pool, parts], "parked"), early, run)

    builder.position_at_end(early)
    builder.store(i64(1), pending_at)
    builder.ret(upcoming)

    builder.position_at_end(run)
    current = _phi(builder, "current", (left, entry), (upcoming, publish))
    word = builder.load_atomic(word_at, "monotonic", 8, "word", typ=I64)
    own = builder.call(claim, [pool, word, i64(0)], "own")
    _await(builder, pool, pause, builder.sub(parts, own, "others"), patience)
    builder.store(i64(0), pending_at)
    remaining = builder.sub(current, i64(1), "remaining")
    upcoming.add_incoming(left, entry)
    upcoming.add_incoming(remaining, builder.block)
    builder.cbranch(builder.icmp_signed(">", remaining, i64(0)), publish, leave)

    builder.position_at_end(leave)
    builder.ret(i64(0))
    return builder.function


def _build_submit(module: ir.Module, rounds: ir.Function) -> None:
    fields = [(I64 if name in ("stride", "tasks") else PTR, name) for name in JOB_FIELDS]
    arguments = [(PTR, "pool"), *fields, (I64, "parts"), (I64, "repeats")]
    builder = _function(module, "submit", arguments, I64, linkage="")
    pool, *values, parts, repeats = builder.function.args
    for name, value in zip(JOB_FIELDS, values, strict=True):
        builder.store(value, at(builder, pool, JOB + 8 * JOB_FIELDS.index(name)))
    builder.ret(builder.call(rounds, [pool, parts, repeats, ir.Constant(BIT, 0)]))


def _build_resume(module: ir.Module, rounds: ir.Function) -> None:
    builder = _function(module, "resume", [(PTR, "pool"), (I64, "parts"), (I64, "left")], I64, linkage="")
    pool, parts, left = builder.function.args
    pending = builder.load(at(builder, pool, PENDING), "pending", typ=I64)
    with builder.if_then(builder.icmp_signed("==", pending, i64(0))):
        builder.ret(i64(0))
    builder.ret(builder.call(rounds, [pool, parts, left, ir.Constant(BIT, 1)]))


def _await(
    builder: ir.IRBuilder, pool: ir.Value, pause: ir.Function, others: ir.Value, patience: ir.Value
) -> None:
    """Poll until the other participants have finished this many parts."""
    before = builder.block
    poll, idle, leave = (builder.append_basic_block(name) for name in ("done.poll", "done.idle", "done.all"))
    builder.branch(poll)
    builder.position_at_end(poll)
    polls = builder.phi(I64, "polls")
    done = builder.load_atomic(at(builder, pool, DONE), "acquire", 8, "done", typ=I64)
    builder.cbranch(builder.icmp_signed("==", done, others), leave, idle)
    builder.position_at_end(idle)
    _relax(builder, pool, pause, polls, patience)
    polls.add_incoming(i64(0), before)
    polls.add_incoming(builder.add(polls, i64(1)), builder.block)
    builder.branch(poll)
    builder.position_at_end(leave)


def _relax(
    builder: ir.IRBuilder, pool: ir.Value, pause: ir.Function, polls: ir.Value, patience: ir.Value
) -> None:
    """One pause and, when patience is over, an offer of this CPU to whoever is waiting for one."""
    builder.call(pause, [])
    with builder.if_then(builder.icmp_signed(">=", polls, patience), likely=False):
        address = at(builder, pool, CONFIG + 8 * CONFIG_FIELDS.index("yield"))
        builder.call(builder.load(address, "yield", typ=YIELD_TYPE.as_pointer()), [])


def _build_repeat_call(module: ir.Module) -> None:
    names = ("a", "b", "scalars", "params", "scratch")
    arguments: list[tuple[ir.Type, str]] = [(KERNEL_TYPE.as_pointer(), "kernel")]
    arguments += [(PTR, name) for name in names]
    arguments += [(I64, "begin"), (I64, "end"), (I64, "repeats")]
    builder = _function(module, "repeat_call", arguments, linkage="")
    kernel, *operands, repeats = builder.function.args
    with _counted(builder, repeats, "repeat"):
        builder.call(kernel, operands)
    builder.ret_void()


def _build_pauses(module: ir.Module, pause: ir.Function) -> None:
    builder = _function(module, "pauses", [(I64, "n")], linkage="")
    with _counted(builder, builder.function.args[0], "pause"):
        builder.call(pause, [])
    builder.ret_void()


def _function(
    module: ir.Module,
    name: str,
    arguments: Sequence[tuple[ir.Type, str]],
    result: ir.Type = VOID,
    linkage: str = "internal",
) -> ir.IRBuilder:
    """A builder at the start of a new function whose arguments have these types and names."""
    function = ir.Function(module, ir.FunctionType(result, [kind for kind, _ in arguments]), name)
    function.linkage = linkage
    for argument, (_, spelling) in zip(function.args, arguments, strict=True):
        argument.name = spelling
    return ir.IRBuilder(function.append_basic_block("entry"))


@contextmanager
def _counted(builder: ir.IRBuilder, end: ir.Value, name: str, begin: int = 0) -> Iterator[ir.Value]:
    """The body runs for every index in begin .. end - 1; the builder ends behind the loop."""
    before = builder.block
    body, leave = builder.append_basic_block(name), builder.append_basic_block(f"{name}.end")
    builder.cbranch(builder.icmp_signed(">", end, i64(begin)), body, leave)
    builder.position_at_end(body)
    index = builder.phi(I64, f"{name}.index")
    yield index
    following = builder.add(index, i64(1))
    index.add_incoming(i64(begin), before)
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, end), body, leave)
    builder.position_at_end(leave)


def _phi(builder: ir.IRBuilder, name: str, *incoming: tuple[ir.Value, ir.Block]) -> ir.PhiInstr:
    phi = builder.phi(I64, name)
    for value, block in incoming:
        phi.add_incoming(value, block)
    return phi
