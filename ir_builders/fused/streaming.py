"""Tiles of C by non-temporal stores of whole lines, wherever these begin: registers are joined to lines, and the rest
of a line waits for the tile that goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.machine.target import Target

from ..llvmlite_extensions import bitcast, external, reference, shuffle, vector_type, written
from ..memory import masked_store, prefetch, store, store_non_temporal
from ..values import I32, I64, at, guarded, i64, splat
from ..vector_loads import load
from . import fields as f
from .arithmetic import Arithmetic, vector
from .calls import BY_COLUMNS, BY_HALVES, BY_LINES, BY_ROWS
from .micro_kernel import ARGUMENTS, Tile, begun, column_at, products, scaled

WORD = 4  # bytes of what joining moves
WORDS = f.LINE // WORD
WAYS = ((BY_LINES, "lines"), (BY_ROWS, "rows"), (BY_COLUMNS, "columns"), (BY_HALVES, "halves"))


def add_stream(module: ir.Module, kernel: MicroKernel, target: Target) -> ir.Function:
    """The function `(depth, a, b, c, rows, columns, scalars, how, carry)`: a whole tile as of `add_micro_kernel`, by
    one of the ways `BY_LINES` ... It does nothing on machines that stream nothing.

    carry: see `fields.STARTS`."""
    tile = begun(module, "stream_tile", kernel, kernel, (*ARGUMENTS, "carry"))
    if not kernel.streams(target):
        tile.b.ret(i64(0))
        return tile.b.function
    _fetch(tile)
    arithmetic = Arithmetic(module, tile.b, kernel, tile.arguments["scalars"])
    sums = products(tile)
    values = list(scaled(tile, arithmetic, sums))
    _switch(tile, lambda way: _write(tile, values, way))
    return tile.b.function


def add_flush(module: ir.Module, kernel: MicroKernel, target: Target) -> ir.Function:
    """The function `(c, rows, columns, how, carry)`: what is left of the lines of the tile at these offsets."""
    tile = begun(module, "flush_tile", kernel, kernel, ("c", "rows", "columns", "way", "carry"))
    if not kernel.streams(target):
        tile.b.ret(i64(0))
        return tile.b.function
    _switch(tile, lambda way: _flush(tile, way))
    return tile.b.function


@dataclass(frozen=True, slots=True)
class _Run:
    """Registers that follow each other in C, from an address on."""

    place: ir.Value
    registers: Sequence[ir.Value]

    def end(self, b: ir.IRBuilder) -> ir.Value:
        """The address behind them."""
        return at(b, self.place, len(self.registers) * f.LINE)


def _switch(tile: Tile, body: Callable[[int], None]) -> None:
    """What is done for each way, and the end of the function."""
    b = tile.b
    done = b.append_basic_block("done")
    choice = b.switch(tile.arguments["way"], done)
    for way, name in WAYS:
        block = b.append_basic_block(name)
        choice.add_case(i64(way), block)
        b.position_at_end(block)
        body(way)
        b.branch(done)
    b.position_at_end(done)
    b.ret(i64(0))


def _fetch(tile: Tile) -> None:
    """Prefetch the lines that are written in part, of tiles that begin some, or that others do not go on from, or one
    of whose columns begins elsewhere."""
    b = tile.b
    starts, ends = (load(b, at(b, tile.arguments["carry"], field), I64, 8) for field in (f.STARTS, f.ENDS))
    with guarded(b, b.icmp_signed("!=", b.or_(starts, ends), i64(0)), "fetch"):
        starting, ending = (b.icmp_signed("!=", b.and_(flags, i64(1)), i64(0)) for flags in (starts, ends))
        for way in (BY_ROWS, BY_COLUMNS, BY_HALVES):
            with guarded(b, b.icmp_signed("==", tile.arguments["way"], i64(way)), "fetch"):
                for runs in _slots(tile, _unknown(tile.kernel), way):
                    first, last = runs[0].place, runs[-1].end(b)
                    for is_met, place, other in ((starting, first, last), (ending, last, first)):
                        prefetch(tile.module, b, b.select(is_met, place, other))
                    for run, following in pairwise(runs):
                        end = run.end(b)
                        with guarded(b, b.icmp_unsigned("!=", end, following.place), "broken"):
                            prefetch(tile.module, b, end)
                            prefetch(tile.module, b, following.place)


def _unknown(kernel: MicroKernel) -> list[list[ir.Value]]:
    """Registers of a tile, for their places alone."""
    return [[ir.Constant(vector(kernel), ir.Undefined)] * kernel.vectors for _ in range(kernel.columns)]


def _write(tile: Tile, values: list[list[ir.Value]], way: int) -> None:
    slots = _slots(tile, values, way)
    if way == BY_LINES:
        for (run,) in slots:
            for k, value in enumerate(run.registers):
                store_non_temporal(tile.module, tile.b, value, at(tile.b, run.place, k * f.LINE), f.LINE)
        return
    b, past = tile.b, _past(tile, slots[0][0].place)
    starts = b.icmp_signed("!=", load(b, at(b, tile.arguments["carry"], f.STARTS), I64, 8), i64(0))
    numbers = b.add(_counted(), splat(b, b.trunc(b.sub(i64(WORDS), past), I32), WORDS))
    for slot, runs in enumerate(slots):
        before, end = _partial(tile, slot), None
        for run in runs:
            begins = starts if end is None else b.icmp_unsigned("!=", run.place, end)
            before = _write_run(tile, run, (before, numbers, past), begins, end)
            end = run.end(b)
        store(b, before, at(b, tile.arguments["carry"], f.PARTIAL + slot * f.LINE), f.LINE)


def _write_run(
    tile: Tile, run: _Run, joined: tuple[ir.Value, ir.Value, ir.Value], begins: ir.Value, end: ir.Value | None
) -> ir.Value:
    """Write a run, whose first line begins with what is left of the register before, if it does not begin some itself:
    the rest of those behind this tile's run before is written then, which ended there. The last register is left."""
    b, (before, numbers, past) = tile.b, joined
    line = at(b, run.place, b.mul(past, i64(-WORD)))
    for k, value in enumerate(run.registers):
        words, where = bitcast(b, value, before.type), at(b, line, k * f.LINE)
        whole = _joined(tile, before, numbers, words)
        if k > 0:
            store_non_temporal(tile.module, b, whole, where, f.LINE)
        else:
            with b.if_else(begins) as (then, otherwise):
                with then:
                    if end is not None:
                        _write_rest(tile, (before, numbers, past), end)
                    mask = b.icmp_signed(">=", _counted(), splat(b, b.trunc(past, I32), WORDS))
                    masked_store(tile.module, b, whole, where, mask, WORD)
                with otherwise:
                    store_non_temporal(tile.module, b, whole, where, f.LINE)
        before = words
    return before


def _write_rest(tile: Tile, joined: tuple[ir.Value, ir.Value, ir.Value], end: ir.Value) -> None:
    """The first words of the line in which a run ends, if it is not whole."""
    b, (before, numbers, past) = tile.b, joined
    mask = b.icmp_signed("<", _counted(), splat(b, b.trunc(past, I32), WORDS))
    rest = _joined(tile, before, numbers, before)
    with guarded(b, b.icmp_signed(">", past, i64(0)), "rest"):
        masked_store(tile.module, b, rest, at(b, end, b.mul(past, i64(-WORD))), mask, WORD)


def _flush(tile: Tile, way: int) -> None:
    """The first words of each line that is not whole."""
    b = tile.b
    if way == BY_LINES:
        return
    slots = _slots(tile, _unknown(tile.kernel), way)
    past = _past(tile, slots[0][0].place)
    numbers = b.add(_counted(), splat(b, b.trunc(b.sub(i64(WORDS), past), I32), WORDS))
    for slot, runs in enumerate(slots):
        _write_rest(tile, (_partial(tile, slot), numbers, past), runs[-1].end(b))


def _slots(tile: Tile, values: list[list[ir.Value]], way: int) -> list[list[_Run]]:
    """The runs of a tile, which all begin so far behind a line: those that go on from each other, but for one."""
    if way in (BY_LINES, BY_ROWS):
        return [[_Run(column_at(tile, column), registers)] for column, registers in enumerate(values)]
    if way == BY_COLUMNS:
        return [[_Run(column_at(tile, column), registers) for column, registers in enumerate(values)]]
    lanes, middle = tile.kernel.lanes // 2, tile.kernel.vectors
    slots: list[list[_Run]] = [[], []]
    for number in range(0, len(values), 2):
        pair = values[number : number + 2]
        halves = [[(value, first) for value in column for first in (0, lanes)] for column in pair]
        for slot, cut in enumerate((slice(middle), slice(middle, None))):
            parts = [x for column in halves for x in column[cut]]
            registers = [_both(tile, *both) for both in zip(parts[::2], parts[1::2], strict=True)]
            place = column_at(tile, number, slot * middle * tile.kernel.group // 2)
            slots[slot].append(_Run(place, registers))
    return slots


def _both(tile: Tile, one: tuple[ir.Value, int], other: tuple[ir.Value, int]) -> ir.Value:
    """Two halves of registers as one."""
    (x, first), (y, second), lanes = one, other, tile.kernel.lanes
    if x is y and (first, second) == (0, lanes // 2):
        return x
    numbers = [range(start, start + lanes // 2) for start in (first, lanes + second)]
    return shuffle(tile.b, x, y, [*numbers[0], *numbers[1]])


def _past(tile: Tile, place: ir.Value) -> ir.Value:
    """Words from a line's start to an address."""
    return tile.b.and_(tile.b.udiv(tile.b.ptrtoint(place, I64), i64(WORD)), i64(WORDS - 1))


def _counted() -> ir.Constant:
    return ir.Constant(vector_type(I32, WORDS), list(range(WORDS)))


def _partial(tile: Tile, slot: int) -> ir.Value:
    """The register that a run's last tile ended with."""
    b = tile.b
    return load(b, at(b, tile.arguments["carry"], f.PARTIAL + slot * f.LINE), vector_type(I32, WORDS), f.LINE)


def _joined(tile: Tile, before: ir.Value, numbers: ir.Value, after: ir.Value) -> ir.Value:
    """Words of two registers, by their numbers."""
    kind, given = before.type, ", ".join([f"{x.type} {reference(x)}" for x in (before, numbers, after)])
    f = reference(external(tile.module, "llvm.x86.avx512.vpermi2var.d.512", kind, [kind] * 3))
    return written(tile.b, kind, f"call {kind} {f}({given})")
