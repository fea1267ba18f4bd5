"""Micro-tiles without shuffles: stores of segments (RISC-V's V) write one element of each of several registers side
by side, and step to the next row of B.

A register holds a run of A; lane by lane it belongs to as many rows of B. Up to eight registers that are neighbours
along B's run are stored by one instruction. Arithmetic runs on A's registers; B is read by the segments it is
written by. Remainders, where some elements may not exist, are stored register by register, under masks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from ttc_llvm.lowering.layout import Register
from ttc_llvm.lowering.operands import View
from ttc_llvm.machine.target import Exchange
from ttc_llvm.problem.kinds import Beta

from .carriers import carrier_type
from .conversion import convert
from .llvmlite_extensions import external, suffix
from .scale import apply
from .tuples import load_segments, store_segments
from .values import I32, I64, i32, i64, mul

if TYPE_CHECKING:
    from .micro_tile import MicroTile
    from .micro_tile_code import MicroTileCode

FIELDS = 8  # registers that one instruction stores, at most


def applies(tile: MicroTile) -> bool:
    """True where A's registers lie along one axis, B's along another, and elements are single lanes."""
    node, a, b = tile.node, tile.a.run, tile.b.run
    if node.further or node.op.term:  # sums need all terms in registers of B
        return False
    if tile.machine.exchange is not Exchange.SEGMENTS or node.op.compute.itemsize > 8:
        return False
    if len(a) != 1 or len(b) != 1 or a == b:
        return False
    return node.source.strides[a[0]] == 1 and node.target.strides[b[0]] == 1


def emit(e: MicroTileCode) -> None:
    """Load A's registers, scale them, and store them as segments of B."""
    for group in _groups(e.tile, 1 if e.tile.node.remainder_axes else FIELDS):
        if e.tile.node.remainder_axes:
            _emit_masked(e, group[0])
        else:
            _emit_segments(e, group)


def _groups(tile: MicroTile, most: int) -> list[list[Register]]:
    """Registers of A that are neighbours along B's run, so many at most."""
    run = tile.b.run[0]
    columns: dict[tuple[int, ...], list[Register]] = {}
    for register in tile.a.registers:
        rest = (*register.start[:run], *register.start[run + 1 :])
        columns.setdefault(rest, []).append(register)
    found = []
    for column in columns.values():
        ordered = sorted(column, key=lambda register: register.start[run])
        found += [ordered[first : first + most] for first in range(0, len(ordered), most)]
    return found


def _emit_segments(e: MicroTileCode, group: list[Register]) -> None:
    b, view, count = e.b, e.tile.node.target, len(group[0].elements)
    address, stride = e.address(e.target, view, group[0]), _stride(e)
    old: list[ir.Value | None] = [None] * len(group)
    if e.tile.node.op.beta is not Beta.ZERO:
        vector = carrier_type(view.dtype, e.tile.a.lanes)
        loaded = load_segments(b, vector, len(group), address, stride, count)
        old = [convert(b, value, view.dtype, e.tile.node.op.compute, e.tile.machine.half) for value in loaded]
    values = [_scaled(e, register, before) for register, before in zip(group, old, strict=True)]
    store_segments(b, values, address, stride, count)


def _emit_masked(e: MicroTileCode, register: Register) -> None:
    b, view, lanes = e.b, e.tile.node.target, e.tile.a.lanes
    vector = carrier_type(view.dtype, lanes)
    address, stride = e.address(e.target, view, register), _stride(e)
    masks = e.load_side.masks
    assert masks is not None
    mask, every = masks.mask(b, register, lanes, 1), i32(lanes)
    name = suffix(vector)
    old = None
    if e.tile.node.op.beta is not Beta.ZERO:
        load = external(
            e.module,
            f"llvm.experimental.vp.strided.load.{name}.p0.i64",
            vector,
            [address.type, I64, mask.type, I32],
        )
        raw = b.call(load, [address, stride, mask, every])
        old = convert(b, raw, view.dtype, e.tile.node.op.compute, e.tile.machine.half)
    store = external(
        e.module,
        f"llvm.experimental.vp.strided.store.{name}.p0.i64",
        ir.VoidType(),
        [vector, address.type, I64, mask.type, I32],
    )
    b.call(store, [_scaled(e, register, old), address, stride, mask, every])


def _scaled(e: MicroTileCode, register: Register, old: ir.Value | None) -> ir.Value:
    """A register of A, scaled and added to B's old value, in B's type."""
    node, b = e.tile.node, e.b
    raw = e.load_side.load(b, e.address(e.source, node.source, register), register)
    value = convert(b, raw, node.source.dtype, node.op.compute, e.tile.machine.half)
    result = apply(b, node.op, e.scalars, value, old, e.tile.a.lanes)
    return convert(b, result, node.op.compute, node.target.dtype, e.tile.machine.half)


def _stride(e: MicroTileCode) -> ir.Value:
    """Bytes from a row of B to the next one along A's run."""
    view: View = e.tile.node.target
    return i64(mul(e.b, e.sizes(view.strides[e.tile.a.run[0]]), view.dtype.itemsize))
