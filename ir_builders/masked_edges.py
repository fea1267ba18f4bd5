"""Masked edges: one function serves every remainder of a kind of micro-tile, by lengths known at run time."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, field, replace
from ttc_llvm.lowering.nodes import Micro
from ttc_llvm.machine.target import Target

from .frame import internal
from .micro_tile import MicroTile, Sizes
from .micro_tile_code import MicroTileCode
from .scale import load_scalars
from .values import I64, PTR, VOID, Int, at, i64


@dataclass(slots=True)
class MaskedEdges:
    """The functions of one kernel's masked edges. arguments: the kernel's; sizes: strides."""

    module: ir.Module
    machine: Target
    sizes: Sizes
    arguments: dict[str, ir.Value]
    bodies: dict[Micro, ir.Function] = field(default_factory=dict)

    def call(
        self,
        b: ir.IRBuilder,
        node: Micro,
        pointers: tuple[ir.Value, ir.Value],
        lengths: tuple[Int, ...],
        further: tuple[ir.Value, ...] = (),
    ) -> None:
        """Call a micro-tile at these pointers, of these lengths along its remainder axes."""
        every = tuple(k for k, extent in enumerate(node.block) if extent > 1)
        body = self._body(replace(node, remainder_axes=every, prefetch=None, non_temporal=False))
        known = [i64(lengths[k] if k in node.remainder_axes else node.block[k]) for k in every]
        b.call(body, [*pointers, self.arguments["scalars"], self.arguments["params"], *known, *further])

    def _body(self, node: Micro) -> ir.Function:
        if node in self.bodies:
            return self.bodies[node]
        given = [*[PTR] * 4, *[I64] * len(node.remainder_axes), *[PTR] * len(node.further)]
        name = self.module.get_unique_name(f"ragged{len(self.bodies)}")
        body = internal(self.module, ir.FunctionType(VOID, given), name)
        source, target, scalars, params, *rest = body.args
        lengths, further = rest[: len(node.remainder_axes)], rest[len(node.remainder_axes) :]
        for argument in (source, target):
            argument.add_attribute("noalias")
        b = ir.IRBuilder(body.append_basic_block("entry"))
        sizes = load_params(b, params, tuple(self.sizes.values))
        by_axis: dict[int, ir.Value] = dict(zip(node.remainder_axes, lengths, strict=True))
        tile = MicroTile.of(node, self.machine)
        loaded = {one.op: load_scalars(b, scalars, one.op) for one in node.sources}
        code = MicroTileCode(self.module, b, tile, (source, target), loaded, sizes, by_axis, further=further)
        code.emit([])
        b.ret_void()
        self.bodies[node] = body
        return body


def load_params(b: ir.IRBuilder, pointer: ir.Value, slots: tuple[int, ...]) -> Sizes:
    """Load run-time sizes from their slots of the parameter array."""
    return Sizes({slot: b.load(at(b, pointer, 8 * slot), typ=I64, align=8, name=f"p{slot}") for slot in slots})
