"""The native half of the thread runtime: claiming parts, waiting, and timing loops, as one IR module.

How a job travels. One submitter at a time owns the pool. It writes the job's fields, then publishes the word
`generation << 16 | parts`. Every participant (the submitter is number 0) claims parts by raising the part's
claim word to the generation with compare-exchange, beginning with the part of its own number. Whoever runs
parts adds their number to `done`; the submitter returns when all parts are done.

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

MAX_PARTICIPANTS = 1024  # of one pool, the submitter included; parts must fit the word's 16 bits
PARTS_BITS = 16
STOP = -1  # the word that ends every worker

# Byte offsets in the pool. What different participants write lies 128 bytes apart: processors fetch cache
# lines in pairs.
WORD = 0
DONE = 128
JOB = 256  # the addresses kernel, a, b, scalars, params, scratch; scratch bytes per part; tasks
CONFIG = 384  # polls before a worker parks, polls before it yields, polls before a submitter yields, yield()
STATES = 512  # one byte per participant
LANES = STATES + MAX_PARTICIPANTS  # per participant: claim word at 0, last word seen at 64
LANE = 128
POOL_BYTES = LANES + LANE * MAX_PARTICIPANTS

ACTIVE, PARKED = 0, 1  # a worker's state; PARKED = about to block, or blocking, in Python

JOB_FIELDS = ("kernel", "a", "b", "scalars", "params", "scratch", "stride", "tasks")
CONFIG_FIELDS = ("worker_polls", "worker_yields", "submitter_yields", "yield")

_VOID, _I8, _I32, _I64, _PTR = ir.VoidType(), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType()
KERNEL_TYPE = ir.FunctionType(_VOID, [_PTR] * 5 + [_I64] * 2)
_YIELD_TYPE = ir.FunctionType(_I32, [])


def build(triple: str) -> ir.Module:
    """The module of `work`, `submit`, `repeat_call` and `pauses` for this machine.

    work(pool, participant): serve jobs until none came for a while (state PARKED) or the pool stops.
    submit(pool, kernel, a, b, scalars, params, scratch, stride, tasks, parts, repeats): run a job, `repeats`
    times; scratch of part p is at scratch + p * stride. repeat_call(kernel, a, b, scalars, params, scratch,
    begin, end, repeats): call a kernel on this thread. pauses(n): poll n times, for calibration.
    """
    module = ir.Module("dispatch")
    module.triple = triple
    pause = _build_pause(module, triple)
    run_part = _build_run_part(module)
    claim = _build_claim(module, run_part)
    _build_work(module, pause, claim)
    _build_submit(module, pause, claim)
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
        hint = ir.Function(module, ir.FunctionType(_VOID, [_I32] * len(values)), name)
        builder.call(hint, [ir.Constant(_I32, value) for value in values])
    builder.ret_void()
    return builder.function


def _build_run_part(module: ir.Module) -> ir.Function:
    """`run_part(pool, part, parts)`: run the tasks of one part, as `nest.part_range` divides them."""
    builder = _function(module, "run_part", [(_PTR, "pool"), (_I64, "part"), (_I64, "parts")])
    pool, part, parts = builder.function.args
    job = {name: _job_field(builder, pool, name) for name in JOB_FIELDS}
    tasks = job["tasks"]
    begin = builder.udiv(builder.mul(tasks, part), parts, "begin")
    end = builder.udiv(builder.mul(tasks, builder.add(part, _int(1))), parts, "end")
    scratch = _at(builder, job["scratch"], builder.mul(part, job["stride"]))
    builder.call(job["kernel"], [job["a"], job["b"], job["scalars"], job["params"], scratch, begin, end])
    builder.ret_void()
    return builder.function


def _build_claim(module: ir.Module, run_part: ir.Function) -> ir.Function:
    """`claim(pool, word, first) -> i64`: claim and run parts of the word's job, from `first` on; how many."""
    builder = _function(module, "claim", [(_PTR, "pool"), (_I64, "word"), (_I64, "first")], _I64)
    pool, word, first = builder.function.args
    generation, parts = _generation(builder, word), _parts(builder, word)
    entry = builder.block
    head, attempt, run, step, leave = (
        builder.append_basic_block(name) for name in ("parts", "attempt", "run", "step", "leave")
    )
    builder.cbranch(builder.icmp_unsigned(">", parts, _int(0)), head, leave)

    builder.position_at_end(head)
    turn, ran = builder.phi(_I64, "turn"), builder.phi(_I64, "ran")
    part = builder.urem(builder.add(first, turn), parts, "part")
    lane = _lane(builder, pool, part)
    old = builder.load_atomic(lane, "monotonic", 8, "old", typ=_I64)
    builder.cbranch(builder.icmp_signed("<", old, generation), attempt, step)

    builder.position_at_end(attempt)
    outcome = builder.cmpxchg(lane, old, generation, "acq_rel", "monotonic", "outcome")
    builder.cbranch(builder.extract_value(outcome, 1), run, step)

    builder.position_at_end(run)
    builder.call(run_part, [pool, part, parts])
    more = builder.add(ran, _int(1), "more")
    builder.branch(step)

    builder.position_at_end(step)
    total = _phi(builder, "total", (ran, head), (ran, attempt), (more, run))
    following = builder.add(turn, _int(1), "following")
    builder.cbranch(builder.icmp_unsigned("<", following, parts), head, leave)
    for phi, begin, again in ((turn, _int(0), following), (ran, _int(0), total)):
        phi.add_incoming(begin, entry)
        phi.add_incoming(again, step)

    builder.position_at_end(leave)
    builder.ret(_phi(builder, "result", (_int(0), entry), (total, step)))
    return builder.function


def _build_work(module: ir.Module, pause: ir.Function, claim: ir.Function) -> None:
    builder = _function(module, "work", [(_PTR, "pool"), (_I64, "participant")], linkage="")
    pool, participant = builder.function.args
    state = _at(builder, _at(builder, pool, STATES), participant)
    lane = _lane(builder, pool, participant)
    seen_at = _at(builder, lane, 64)
    limit, patience = _config(builder, pool, "worker_polls"), _config(builder, pool, "worker_yields")
    # An exchange, not a store: llvmlite cannot say an atomic store through an opaque pointer.
    builder.atomic_rmw("xchg", state, ir.Constant(_I8, ACTIVE), "seq_cst")
    wait, poll, idle, park, unpark, job, leave = (
        builder.append_basic_block(name)
        for name in ("wait", "poll", "idle", "park", "unpark", "job", "leave")
    )
    builder.branch(wait)

    builder.position_at_end(wait)
    seen = builder.load(seen_at, "seen", typ=_I64)
    builder.branch(poll)

    builder.position_at_end(poll)
    polls = builder.phi(_I64, "polls")
    word = builder.load_atomic(_at(builder, pool, WORD), "acquire", 8, "word", typ=_I64)
    builder.cbranch(builder.icmp_signed("==", word, seen), idle, job)

    builder.position_at_end(idle)
    _relax(builder, pool, pause, polls, patience)
    more = builder.add(polls, _int(1), "more")
    polls.add_incoming(_int(0), wait)
    polls.add_incoming(more, builder.block)
    builder.cbranch(builder.icmp_signed("<", more, limit), poll, park)

    # Say PARKED first, then look once more: a job published in between is seen here or wakes the worker.
    builder.position_at_end(park)
    builder.atomic_rmw("xchg", state, ir.Constant(_I8, PARKED), "seq_cst")
    last = builder.load_atomic(_at(builder, pool, WORD), "seq_cst", 8, "last", typ=_I64)
    builder.cbranch(builder.icmp_signed("==", last, seen), leave, unpark)
    builder.position_at_end(unpark)
    builder.atomic_rmw("xchg", state, ir.Constant(_I8, ACTIVE), "seq_cst")
    builder.branch(job)

    builder.position_at_end(job)
    current = _phi(builder, "current", (word, poll), (last, unpark))
    serve = builder.append_basic_block("serve")
    builder.cbranch(builder.icmp_signed("==", current, _int(STOP)), leave, serve)
    builder.position_at_end(serve)
    builder.store(current, seen_at)
    ran = builder.call(claim, [pool, current, participant], "ran")
    with builder.if_then(builder.icmp_unsigned(">", ran, _int(0))):
        builder.atomic_rmw("add", _at(builder, pool, DONE), ran, "release")
    builder.branch(wait)

    builder.position_at_end(leave)
    builder.ret_void()


def _build_submit(module: ir.Module, pause: ir.Function, claim: ir.Function) -> None:
    fields = [(_I64 if name in ("stride", "tasks") else _PTR, name) for name in JOB_FIELDS]
    arguments = [(_PTR, "pool"), *fields, (_I64, "parts"), (_I64, "repeats")]
    builder = _function(module, "submit", arguments, linkage="")
    pool, *values, parts, repeats = builder.function.args
    for name, value in zip(JOB_FIELDS, values, strict=True):
        builder.store(value, _at(builder, pool, JOB + 8 * JOB_FIELDS.index(name)))
    patience = _config(builder, pool, "submitter_yields")
    word_at, done_at = _at(builder, pool, WORD), _at(builder, pool, DONE)
    with _counted(builder, repeats, "repeat"):
        builder.store(_int(0), done_at)
        before = builder.load_atomic(word_at, "monotonic", 8, "before", typ=_I64)
        generation = builder.add(_generation(builder, before), _int(1), "generation")
        word = builder.or_(builder.shl(generation, _int(PARTS_BITS)), parts, "word")
        builder.atomic_rmw("xchg", word_at, word, "seq_cst")
        own = builder.call(claim, [pool, word, _int(0)], "own")
        _await(builder, pool, pause, builder.sub(parts, own, "others"), patience)
    builder.ret_void()


def _await(
    builder: ir.IRBuilder, pool: ir.Value, pause: ir.Function, others: ir.Value, patience: ir.Value
) -> None:
    """Poll until the other participants have finished this many parts."""
    before = builder.block
    poll, idle, leave = (builder.append_basic_block(name) for name in ("done.poll", "done.idle", "done.all"))
    builder.branch(poll)
    builder.position_at_end(poll)
    polls = builder.phi(_I64, "polls")
    done = builder.load_atomic(_at(builder, pool, DONE), "acquire", 8, "done", typ=_I64)
    builder.cbranch(builder.icmp_signed("==", done, others), leave, idle)
    builder.position_at_end(idle)
    _relax(builder, pool, pause, polls, patience)
    polls.add_incoming(_int(0), before)
    polls.add_incoming(builder.add(polls, _int(1)), builder.block)
    builder.branch(poll)
    builder.position_at_end(leave)


def _relax(
    builder: ir.IRBuilder, pool: ir.Value, pause: ir.Function, polls: ir.Value, patience: ir.Value
) -> None:
    """One pause and, when patience is over, an offer of this CPU to whoever is waiting for one."""
    builder.call(pause, [])
    with builder.if_then(builder.icmp_signed(">=", polls, patience), likely=False):
        address = _at(builder, pool, CONFIG + 8 * CONFIG_FIELDS.index("yield"))
        builder.call(builder.load(address, "yield", typ=_YIELD_TYPE.as_pointer()), [])


def _build_repeat_call(module: ir.Module) -> None:
    names = ("a", "b", "scalars", "params", "scratch")
    arguments = [(KERNEL_TYPE.as_pointer(), "kernel"), *((_PTR, name) for name in names)]
    arguments += [(_I64, "begin"), (_I64, "end"), (_I64, "repeats")]
    builder = _function(module, "repeat_call", arguments, linkage="")
    kernel, *operands, repeats = builder.function.args
    with _counted(builder, repeats, "repeat"):
        builder.call(kernel, operands)
    builder.ret_void()


def _build_pauses(module: ir.Module, pause: ir.Function) -> None:
    builder = _function(module, "pauses", [(_I64, "n")], linkage="")
    with _counted(builder, builder.function.args[0], "pause"):
        builder.call(pause, [])
    builder.ret_void()


def _function(
    module: ir.Module,
    name: str,
    arguments: Sequence[tuple[ir.Type, str]],
    result: ir.Type = _VOID,
    linkage: str = "internal",
) -> ir.IRBuilder:
    """A builder at the start of a new function whose arguments have these types and names."""
    function = ir.Function(module, ir.FunctionType(result, [kind for kind, _ in arguments]), name)
    function.linkage = linkage
    for argument, (_, spelling) in zip(function.args, arguments, strict=True):
        argument.name = spelling
    return ir.IRBuilder(function.append_basic_block("entry"))


@contextmanager
def _counted(builder: ir.IRBuilder, count: ir.Value, name: str) -> Iterator[None]:
    """The body runs `count` times; the builder ends behind the loop."""
    before = builder.block
    body, leave = builder.append_basic_block(name), builder.append_basic_block(f"{name}.end")
    builder.cbranch(builder.icmp_signed(">", count, _int(0)), body, leave)
    builder.position_at_end(body)
    index = builder.phi(_I64, f"{name}.index")
    yield
    following = builder.add(index, _int(1))
    index.add_incoming(_int(0), before)
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), body, leave)
    builder.position_at_end(leave)


def _int(value: int) -> ir.Constant:
    return ir.Constant(_I64, value)


def _at(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value | int) -> ir.Value:
    """The address `offset` bytes behind base."""
    step = _int(offset) if isinstance(offset, int) else offset
    return builder.gep(base, [step], source_etype=_I8)


def _lane(builder: ir.IRBuilder, pool: ir.Value, participant: ir.Value) -> ir.Value:
    return _at(builder, _at(builder, pool, LANES), builder.mul(participant, _int(LANE)))


def _job_field(builder: ir.IRBuilder, pool: ir.Value, name: str) -> ir.Value:
    kinds = {"kernel": KERNEL_TYPE.as_pointer(), "stride": _I64, "tasks": _I64}
    return builder.load(_at(builder, pool, JOB + 8 * JOB_FIELDS.index(name)), name, typ=kinds.get(name, _PTR))


def _config(builder: ir.IRBuilder, pool: ir.Value, name: str) -> ir.Value:
    return builder.load(_at(builder, pool, CONFIG + 8 * CONFIG_FIELDS.index(name)), name, typ=_I64)


def _generation(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    return builder.ashr(word, _int(PARTS_BITS))


def _parts(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    return builder.and_(word, _int((1 << PARTS_BITS) - 1))


def _phi(builder: ir.IRBuilder, name: str, *incoming: tuple[ir.Value, ir.Block]) -> ir.PhiInstr:
    phi = builder.phi(_I64, name)
    for value, block in incoming:
        phi.add_incoming(value, block)
    return phi
