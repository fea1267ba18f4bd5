"""Tiles of C by non-temporal stores of whole lines, wherever these begin: registers are joined to lines, and the rest
of a line waits for the tile that goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.machine.target import Target

from ..llvmlite_extensions import external, shuffle, vector_type
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
    labels = (*ARGUMENTS, "carry")
    function = ir.Function(module, ir.FunctionType(I64, [I64] * len(labels)), "stream_tile")
    tile = begun(module, function, kernel, kernel, labels)
    if not kernel.streams(target):
        tile.b.ret(i64(0))
        return function
    _fetch(tile)
    arithmetic = Arithmetic(module, tile.b, kernel, tile.arguments["scalars"])
    sums = products(tile)
    values = list(scaled(tile, arithmetic, sums))
    _switch(tile, lambda way: _write(tile, values, way))
    return function


def add_flush(module: ir.Module, kernel: MicroKernel, target: Target) -> ir.Function:
    """The function `(c, rows, columns, how, carry)`: what is left of the lines of the tile at these offsets."""
    labels = ("c", "rows", "columns", "way", "carry")
    function = ir.Function(module, ir.FunctionType(I64, [I64] * len(labels)), "flush_tile")
    tile = begun(module, function, kernel, kernel, labels)
    if not kernel.streams(target):
        tile.b.ret(i64(0))
        return function
    _switch(tile, lambda way: _flush(tile, way))
    return function


@dataclass(frozen=True, slots=True)
class _Run:
    """Registers that follow each other in C, from an address on."""

    place: ir.Value
    registers: Sequence[ir.Value]


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
    """Prefetch the lines that are written in part, of tiles that begin some or that others do not go on from."""
    b = tile.b
    starts, ends = (
        b.icmp_signed("!=", load(b, at(b, tile.arguments["carry"], field), I64, 8), i64(0))
        for field in (f.STARTS, f.ENDS)
    )
    with guarded(b, b.or_(starts, ends), "fetch"):
        for way in (BY_ROWS, BY_COLUMNS, BY_HALVES):
            with guarded(b, b.icmp_signed("==", tile.arguments["way"], i64(way)), "fetch"):
                for run in _runs(tile, _unknown(tile.kernel), way):
                    size = len(run.registers) * f.LINE
                    for is_met, offset, other in ((starts, 0, size), (ends, size, 0)):
                        prefetch(tile.module, b, at(b, run.place, b.select(is_met, i64(offset), i64(other))))


def _unknown(kernel: MicroKernel) -> list[list[ir.Value]]:
    """Registers of a tile, for their places alone."""
    return [[ir.Constant(vector(kernel), ir.Undefined)] * kernel.vectors for _ in range(kernel.columns)]


def _write(tile: Tile, values: list[list[ir.Value]], way: int) -> None:
    runs = _runs(tile, values, way)
    if way == BY_LINES:
        for run in runs:
            for k, value in enumerate(run.registers):
                store_non_temporal(tile.module, tile.b, value, at(tile.b, run.place, k * f.LINE), f.LINE)
        return
    b, past = tile.b, _past(tile, runs[0].place)
    starts = b.icmp_signed("!=", load(b, at(b, tile.arguments["carry"], f.STARTS), I64, 8), i64(0))
    numbers = b.add(_counted(), splat(b, b.trunc(b.sub(i64(WORDS), past), I32), WORDS))
    for slot, run in enumerate(runs):
        line, before = at(b, run.place, b.mul(past, i64(-WORD))), _partial(tile, slot)
        for k, value in enumerate(run.registers):
            words = b.bitcast(value, before.type)
            joined, where = _joined(tile, before, numbers, words), at(b, line, k * f.LINE)
            if k > 0:
                store_non_temporal(tile.module, b, joined, where, f.LINE)
            else:
                with b.if_else(starts) as (then, otherwise):
                    with then:
                        mask = b.icmp_signed(">=", _counted(), splat(b, b.trunc(past, I32), WORDS))
                        masked_store(tile.module, b, joined, where, mask, WORD)
                    with otherwise:
                        store_non_temporal(tile.module, b, joined, where, f.LINE)
            before = words
        store(b, before, at(b, tile.arguments["carry"], f.PARTIAL + slot * f.LINE), f.LINE)


def _flush(tile: Tile, way: int) -> None:
    """The first words of each line that is not whole."""
    b = tile.b
    if way == BY_LINES:
        return
    runs = _runs(tile, _unknown(tile.kernel), way)
    past = _past(tile, runs[0].place)
    numbers = b.add(_counted(), splat(b, b.trunc(b.sub(i64(WORDS), past), I32), WORDS))
    mask = b.icmp_signed("<", _counted(), splat(b, b.trunc(past, I32), WORDS))
    for slot, run in enumerate(runs):
        end = at(b, run.place, len(run.registers) * f.LINE)
        before = _partial(tile, slot)
        rest = _joined(tile, before, numbers, before)
        with guarded(b, b.icmp_signed(">", past, i64(0)), "rest"):
            masked_store(tile.module, b, rest, at(b, end, b.mul(past, i64(-WORD))), mask, WORD)


def _runs(tile: Tile, values: list[list[ir.Value]], way: int) -> list[_Run]:
    """The runs of a tile, which all begin so far behind a line."""
    if way in (BY_LINES, BY_ROWS):
        return [_Run(column_at(tile, column), registers) for column, registers in enumerate(values)]
    if way == BY_COLUMNS:
        return [_Run(column_at(tile, 0), [value for column in values for value in column])]
    lanes = tile.kernel.lanes // 2
    halves = [[(value, first) for value in column for first in (0, lanes)] for column in values]
    middle = tile.kernel.vectors
    parts = [[x for column in halves for x in column[cut]] for cut in (slice(middle), slice(middle, None))]
    rows = 0, middle * tile.kernel.group // 2
    return [
        _Run(column_at(tile, 0, row), [_both(tile, *pair) for pair in zip(part[::2], part[1::2], strict=True)])
        for row, part in zip(rows, parts, strict=True)
    ]


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
    name = "llvm.x86.avx512.vpermi2var.d.512"
    return tile.b.call(external(tile.module, name, before.type, [before.type] * 3), [before, numbers, after])
