"""The micro-kernel: a tile of C = A B in registers, from packed panels, and its way to memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, replace
from ttc_llvm.lowering.micro_kernel import MicroKernel

from ..frame import words_function
from ..llvmlite_extensions import met, reference, shuffle
from ..memory import prefetch, store
from ..values import I64, PTR, at, guarded, i64, operated, splat
from ..vector_loads import load
from .arithmetic import CROSSED, OLD, SUM, Arithmetic, vector
from .calls import ADD, PIECES, SET
from .fields import LINE

ARGUMENTS = ("depth", "a", "b", "c", "rows", "columns", "scalars", "way")


@dataclass(frozen=True, slots=True)
class Tile:
    """All that a function of a tile has at hand. packed: bytes of a term's rows in a panel; read: offsets in C, by the
    block that has read them, their table and their place in it."""

    module: ir.Module
    kernel: MicroKernel
    packed: int
    b: ir.IRBuilder
    arguments: dict[str, ir.Value]
    read: dict[tuple[ir.Block, str, int], ir.Value]


def add_micro_kernels(module: ir.Module, kernel: MicroKernel) -> tuple[ir.Function, ir.Function]:
    """The function of whole tiles, and one of the first registers of each column: `(registers, ...)`."""
    whole = add_micro_kernel(module, kernel, "multiply_tile")
    b = words_function(module, "multiply_part", ("registers", *ARGUMENTS))
    registers, *others = b.function.args
    every = b.append_basic_block("whole")
    choice = b.switch(registers, every)
    made = {every: whole}
    for vectors in range(1, kernel.vectors):
        block = b.append_basic_block(f"registers{vectors}")
        choice.add_case(i64(vectors), block)
        made[block] = add_micro_kernel(module, kernel, f"multiply_{vectors}", vectors)
    for block, function in made.items():
        b.position_at_end(block)
        b.ret(b.call(function, others))
    return whole, b.function


def add_micro_kernel(module: ir.Module, full: MicroKernel, name: str, vectors: int | None = None) -> ir.Function:
    """The function `(depth, a, b, c, rows, columns, scalars, way)`, of words and addresses.

    vectors: the registers of a column that are computed, None = all; depth: terms; a, b: packed panels; c: C's first
    element, or where a tile is kept; rows, columns: the offsets in C, in bytes, of a tile's rows, which follow each
    other, and of its columns; scalars: see `Arithmetic`.
    """
    tile = begun(module, name, full, full if vectors is None else replace(full, vectors=vectors), ARGUMENTS)
    _fetch(tile)
    _finish(tile, products(tile))
    return tile.b.function


def begun(module: ir.Module, name: str, full: MicroKernel, kernel: MicroKernel, arguments: Sequence[str]) -> Tile:
    """The beginning of an internal function of words and addresses. kernel: of the registers that are computed."""
    b = words_function(module, name, arguments)
    given: dict[str, ir.Value] = {}
    for label, argument in zip(arguments, b.function.args, strict=True):
        given[label] = argument if label in ("depth", "way") else b.inttoptr(argument, PTR)
    return Tile(module, kernel, full.vectors * kernel.lanes * kernel.dtype.real_bits // 8, b, given, {})


def _fetch(tile: Tile) -> None:
    """Prefetch the tile of C, which is read, or of which lines are read as parts of them are written."""
    b, kernel = tile.b, tile.kernel
    near = b.icmp_signed("<=", tile.arguments["way"], i64(ADD))
    with guarded(b, near, "fetch"):
        size = kernel.lanes * kernel.dtype.real_bits // 8
        for column in range(kernel.columns):
            place = column_at(tile, column)
            for offset in (*range(0, kernel.vectors * size, LINE), kernel.vectors * size - 1):
                prefetch(tile.module, b, at(b, place, offset))
    with guarded(b, b.icmp_signed("==", tile.arguments["way"], i64(SET | PIECES)), "fetch_pieces"):
        for column in range(kernel.columns):
            for row in range(0, kernel.vectors * kernel.group, kernel.piece):
                prefetch(tile.module, b, column_at(tile, column, row))


def column_at(tile: Tile, column: int, row: int = 0) -> ir.Value:
    """The address of a row of a column in C."""
    first, step = _offset(tile, "rows", row), _offset(tile, "columns", column)
    return at(tile.b, tile.arguments["c"], operated(tile.b, "add", first, step))


def _offset(tile: Tile, table: str, number: int) -> ir.Value:
    """An offset in C. Nothing that a tile writes changes it: a block reads it once."""
    b, key = tile.b, (tile.b.block, table, number)
    if key not in tile.read:
        tile.read[key] = load(b, at(b, tile.arguments[table], 8 * number), I64, 8)
    return tile.read[key]


def products(tile: Tile) -> list[list[ir.Value]]:
    """The sums, by column and register."""
    b, kernel, kind = tile.b, tile.kernel, vector(tile.kernel)
    size = kernel.dtype.real_bits // 8
    zero = ir.Constant(kind, None)
    before, body, done = b.block, b.append_basic_block("terms"), b.append_basic_block("summed")
    b.cbranch(b.icmp_signed(">", tile.arguments["depth"], i64(0)), body, done)
    b.position_at_end(body)
    term, a, panel = b.phi(I64, name="term"), b.phi(PTR, name="row"), b.phi(PTR, name="column")
    places = [(j, v) for j in range(kernel.width) for v in range(kernel.vectors)]
    none = reference(zero), before
    sums = {(j, v): met(b, kind, (none, (f'%"next{j}.{v}"', body)), f"sum{j}.{v}") for j, v in places}
    rows = [load(b, at(b, a, v * kernel.lanes * size), kind, size) for v in range(kernel.vectors)]
    arithmetic, added = Arithmetic(tile.module, b, kernel, tile.arguments["scalars"]), {}
    for column in range(kernel.width):
        factor = _factor(tile, panel, column)
        for v, row in enumerate(rows):
            added[column, v] = arithmetic.added(row, factor, sums[column, v], f"next{column}.{v}")
    following = b.sub(term, i64(1))
    for value, first, then in (
        (term, tile.arguments["depth"], following),
        (a, tile.arguments["a"], at(b, a, tile.packed)),
        (panel, tile.arguments["b"], at(b, panel, kernel.width * size)),
    ):
        value.add_incoming(first, before)
        value.add_incoming(then, body)
    b.cbranch(b.icmp_signed(">", following, i64(0)), body, done)
    b.position_at_end(done)
    totals = [met(b, kind, (none, (reference(added[j, v]), body)), f"total{j}.{v}") for j, v in places]
    return [totals[start : start + kernel.vectors] for start in range(0, len(totals), kernel.vectors)]


def _factor(tile: Tile, panel: ir.Value, column: int) -> ir.Value:
    b, kernel = tile.b, tile.kernel
    kind, size = vector(kernel), kernel.dtype.real_bits // 8
    if kernel.by_lanes:
        lane = column % kernel.lanes
        several = load(b, at(b, panel, (column - lane) * size), kind, size)
        return shuffle(b, several, None, [lane] * kernel.lanes)
    return splat(b, load(b, at(b, panel, column * size), kind.element, size), kernel.lanes)


def _finish(tile: Tile, sums: list[list[ir.Value]]) -> None:
    """Write the tile in each of the ways."""
    b = tile.b
    names = ((SET, "set"), (ADD, "add"), (SET | PIECES, "pieces"))
    ways = {way: b.append_basic_block(name) for way, name in names}
    keep = b.append_basic_block("keep")
    choice = b.switch(tile.arguments["way"], keep)
    for way, block in ways.items():
        choice.add_case(i64(way), block)
        b.position_at_end(block)
        _write(tile, sums, way)
        b.ret(i64(0))
    b.position_at_end(keep)
    size = tile.kernel.lanes * tile.kernel.dtype.real_bits // 8
    for number, column in enumerate(sums):
        for v, value in enumerate(column):
            store(b, value, at(b, tile.arguments["c"], number * tile.packed + v * size), size)
    b.ret(i64(0))


def _write(tile: Tile, sums: list[list[ir.Value]], way: int) -> None:
    b, arithmetic = tile.b, Arithmetic(tile.module, tile.b, tile.kernel, tile.arguments["scalars"])
    values = list(scaled(tile, arithmetic, sums, way & PIECES))
    if way != ADD:
        _store(tile, values, way)
        return
    old = arithmetic.factor(OLD)
    with b.if_else(arithmetic.is_one(OLD)) as (plain, other):
        with plain:
            _store(tile, values, way, arithmetic.plus)
        with other:
            _store(tile, values, way, lambda before, value: arithmetic.added(old, before, value))


def _store(
    tile: Tile, values: list[list[ir.Value]], way: int, both: Callable[[ir.Value, ir.Value], ir.Value] | None = None
) -> None:
    """Write the registers, or what a function makes of those of C and of these."""
    b, kernel = tile.b, tile.kernel
    size, part = kernel.lanes * kernel.dtype.real_bits // 8, kernel.dtype.real_bits // 8
    for column, of_column in enumerate(values):
        place = column_at(tile, column)
        for v, value in enumerate(of_column):
            where = at(b, place, v * size)
            if way & PIECES:
                _write_pieces(tile, value, column, v)
            else:
                found = value if both is None else both(load(b, where, vector(kernel), part), value)
                store(b, found, where, part)


def scaled(
    tile: Tile, arithmetic: Arithmetic, sums: list[list[ir.Value]], always: int = 0
) -> Iterator[list[ir.Value]]:
    """The registers of each column of alpha A B. always: also where alpha is one they are multiplied by it."""
    parts, vectors = tile.kernel.parts, tile.kernel.vectors
    found = _times(tile, arithmetic, [value for column in sums[::parts] for value in column], always)
    crossed = arithmetic.factor(CROSSED) if parts > 1 else None
    for column in range(tile.kernel.columns):
        values = found[column * vectors : (column + 1) * vectors]
        if crossed is not None:
            others = map(arithmetic.swapped, sums[column * parts + 1])
            values = [arithmetic.added(crossed, *pair) for pair in zip(others, values, strict=True)]
        yield values


def _times(tile: Tile, arithmetic: Arithmetic, values: list[ir.Value], always: int) -> list[ir.Value]:
    """The registers times their factor, which is one as a rule."""
    b, factor = tile.b, arithmetic.factor(SUM)
    if always:  # other registers than the sums': KNL has halves of half of its registers only
        return [arithmetic.times(factor, value) for value in values]
    is_one, before = arithmetic.is_one(SUM), b.block
    with guarded(b, b.not_(is_one), "scale"):
        times, inside = [arithmetic.times(factor, value) for value in values], b.block
    pairs = zip(values, times, strict=True)
    return [met(b, vector(tile.kernel), ((reference(x), before), (reference(y), inside))) for x, y in pairs]


def _write_pieces(tile: Tile, value: ir.Value, column: int, register: int) -> None:
    """A register, each piece at the offset of its own first row."""
    b, kernel = tile.b, tile.kernel
    lanes = kernel.piece * kernel.parts
    for first in range(0, kernel.lanes, lanes):
        part = shuffle(b, value, None, list(range(first, first + lanes)))
        place = column_at(tile, column, register * kernel.group + first // kernel.parts)
        store(b, part, place, kernel.dtype.real_bits // 8)
