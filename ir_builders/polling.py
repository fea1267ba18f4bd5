"""Parts of the thread runtime's functions: loops, pauses, waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from .pool_fields import YIELD_TYPE
from .pool_layout import CONFIG, CONFIG_FIELDS, DONE
from .values import I32, I64, VOID, beyond, i64

_HINTS = {"x86_64": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.hint", (1,))}


def build_pause(module: ir.Module, triple: str) -> ir.Function:
    """`pause()`: tells the processor that this is a polling loop."""
    builder = function(module, "pause", [])
    architecture = triple.partition("-")[0]
    if architecture in _HINTS:
        name, values = _HINTS[architecture]
        hint = ir.Function(module, ir.FunctionType(VOID, [I32] * len(values)), name)
        builder.call(hint, [ir.Constant(I32, value) for value in values])
    builder.ret_void()
    return builder.function


def relax(
    builder: ir.IRBuilder, pool: ir.Value, pause: ir.Function, polls: ir.Value, patience: ir.Value
) -> None:
    """One pause and, when patience is over, a yield of this CPU to other threads."""
    builder.call(pause, [])
    with builder.if_then(builder.icmp_signed(">=", polls, patience), likely=False):
        address = beyond(builder, pool, CONFIG + 8 * CONFIG_FIELDS.index("yield"))
        builder.call(builder.load(address, "yield", typ=YIELD_TYPE.as_pointer()), [])


def wait_for(
    builder: ir.IRBuilder, pool: ir.Value, pause: ir.Function, others: ir.Value, patience: ir.Value
) -> None:
    """Poll until the other participants have finished this many parts."""
    before = builder.block
    poll, idle, leave = (builder.append_basic_block(name) for name in ("done.poll", "done.idle", "done.all"))
    builder.branch(poll)
    builder.position_at_end(poll)
    polls = builder.phi(I64, "polls")
    done = builder.load_atomic(beyond(builder, pool, DONE), "acquire", 8, "done", typ=I64)
    builder.cbranch(builder.icmp_signed("==", done, others), leave, idle)
    builder.position_at_end(idle)
    relax(builder, pool, pause, polls, patience)
    polls.add_incoming(i64(0), before)
    polls.add_incoming(builder.add(polls, i64(1)), builder.block)
    builder.branch(poll)
    builder.position_at_end(leave)


def function(
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
def counted(builder: ir.IRBuilder, end: ir.Value, name: str, begin: int = 0) -> Iterator[ir.Value]:
    """The body runs for every index in begin .. end - 1; the builder ends after the loop."""
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


def merged(builder: ir.IRBuilder, name: str, *incoming: tuple[ir.Value, ir.Block]) -> ir.PhiInstr:
    """The value that comes from whichever of these blocks was left."""
    phi = builder.phi(I64, name)
    for value, block in incoming:
        phi.add_incoming(value, block)
    return phi
