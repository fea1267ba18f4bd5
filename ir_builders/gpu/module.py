"""A GPU kernel as a module: the tile of a block, its place, and the choice between full tiles and remainders."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.gpu.launch import parameters
from ttc_llvm.lowering.gpu.nest import GpuNest
from ttc_llvm.lowering.gpu.residency import blocks_for_assembler
from ttc_llvm.lowering.operands import Op
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Axis, static
from ttc_llvm.problem.kinds import Alpha

from ..scale import Scalars
from ..values import I8, I32, I64
from .body import emit
from .intrinsics import Machine, machine, scalar
from .tile import BlockTile


def build(nest: GpuNest, target: GpuTarget, entry: str) -> ir.Module:
    """The kernel `entry` of a nest. Its parameters are those of `gpu.launch.parameters`."""
    c, (count_a, count_b) = nest.canonical, nest.align
    found = machine(target, entry, nest.threads, blocks_for_assembler(nest, target))
    b = found.begun(parameters(c), (count_a * c.a.itemsize, count_b * c.b.itemsize))
    _bodies(b, found, nest)
    b.ret_void()
    return found.module


def _bodies(b: ir.IRBuilder, machine: Machine, nest: GpuNest) -> None:
    """The full body, and the one of remainders."""
    tile, corner = _tile(b, machine, nest)
    limits = {k: corner.limit(b, k) for k in (nest.edge.remainder_axes if nest.edge else ())}
    if nest.edge is None:
        emit(b, tile, nest.full, {})
        return
    is_full: ir.Value | None = None
    for k, length in limits.items():
        whole = b.icmp_unsigned("==", length, ir.Constant(I32, nest.tile[k]))
        is_full = whole if is_full is None else b.and_(is_full, whole)
    assert is_full is not None
    with b.if_else(is_full) as (full, remainder):
        with full:
            emit(b, tile, nest.full, {})
        with remainder:
            emit(b, tile, nest.edge, limits)


@dataclass(frozen=True, slots=True)
class _Corner:
    """Where a block's tile starts: per axis, which step of each loop it is in."""

    nest: GpuNest
    steps: tuple[tuple[int, int, int, ir.Value], ...]  # axis, step, count, index

    def offset(self, b: ir.IRBuilder, strides: tuple[int, ...]) -> ir.Value:
        """Bytes from a tensor's first element to the tile's, for strides in bytes: 64 bits wide."""
        total: ir.Value = ir.Constant(I64, 0)
        for axis, step, _, index in self.steps:
            wide = b.zext(index, I64)
            total = b.add(
                total, b.mul(wide, ir.Constant(I64, step * strides[axis]), flags=("nsw",)), flags=("nsw",)
            )
        return total

    def limit(self, b: ir.IRBuilder, axis: int) -> ir.Value:
        """Length of the tile along a remainder axis, 0 where it starts beyond the end."""
        tile, extent = self.nest.tile[axis], self.nest.canonical.extents[axis]
        mine = [step for step in self.steps if step[0] == axis]
        if len(mine) == 1:
            _, _, count, index = mine[0]
            last = b.icmp_unsigned("==", index, ir.Constant(I32, count - 1))
            return b.select(last, ir.Constant(I32, extent % tile), ir.Constant(I32, tile))
        left = self.left(b, axis)
        whole = b.icmp_signed(">=", left, ir.Constant(I64, tile))
        return b.select(whole, ir.Constant(I32, tile), b.trunc(left, I32))

    def left(self, b: ir.IRBuilder, axis: int) -> ir.Value:
        """Elements along an axis from the tile's first one on."""
        unit = tuple(int(k == axis) for k in range(len(self.nest.tile)))
        return b.sub(ir.Constant(I64, self.nest.canonical.extents[axis]), self.offset(b, unit))


def _tile(b: ir.IRBuilder, machine: Machine, nest: GpuNest) -> tuple[BlockTile, _Corner]:
    function = b.function
    c = nest.canonical
    corner = _corner(b, machine, nest)
    _leave_overshoots(b, nest, corner)
    bases = []
    for pointer, side, t in zip(function.args[:2], ("a", "b"), (c.a, c.b), strict=True):
        offset = corner.offset(b, _bytes(c.axes, side, t.itemsize))
        bases.append(b.gep(pointer, [offset], inbounds=True, source_etype=I8, name=side))
    shared = nest.shared
    storage = None if shared is None else machine.tile(b, shared.elements * c.a.itemsize)
    thread = machine.thread(b)
    source = None if c.kinds.alpha is Alpha.ZERO else bases[0]
    op = Op(c.kinds.alpha, c.kinds.beta, c.conjugate, c.between)
    scalars = Scalars(c.compute, scalar(function, "alpha"), scalar(function, "beta"))
    return BlockTile(machine, nest, op, scalars, thread, source, bases[1], storage), corner


def _bytes(axes: tuple[Axis, ...], side: str, size: int) -> tuple[int, ...]:
    return tuple(static(axis.stride_a if side == "a" else axis.stride_b) * size for axis in axes)


def _corner(b: ir.IRBuilder, machine: Machine, nest: GpuNest) -> _Corner:
    """Decode the block's number, the innermost loop fastest."""
    steps = []
    rest = machine.block(b, max(1, nest.grid)) if nest.loops else None
    for number, loop in enumerate(reversed(nest.loops)):
        assert rest is not None
        index, count = rest, ir.Constant(I32, loop.count)
        if number + 1 < len(nest.loops):
            index, rest = b.urem(rest, count), b.udiv(rest, count)
        steps.append((loop.axis, loop.step, loop.count, index))
    return _Corner(nest, tuple(steps))


def _leave_overshoots(b: ir.IRBuilder, nest: GpuNest, corner: _Corner) -> None:
    """Blocks whose tile lies beyond the end have nothing to do."""
    for k in nest.overshoots:
        beyond = b.icmp_signed("<=", corner.left(b, k), ir.Constant(I64, 0))
        with b.if_then(beyond):
            b.ret_void()
