"""The facts that all code of one kernel shares."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass, field
from ttc_llvm.lowering.operands import Op
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Axis

from .joined_rows import JoinedRows
from .masked_edges import MaskedEdges
from .micro_tile import Sizes
from .scale import Scalars
from .values import Int


@dataclass(frozen=True, slots=True)
class Context:
    """One kernel. sizes: strides of A and B; arguments: scalars, params, scratch; edges: functions of masked edges;
    joined: of rows that are joined to lines; ahead: elements of B between the line that B begins in and its first one,
    0 where no loop asks."""

    module: ir.Module
    machine: Target
    axes: tuple[Axis, ...]
    sizes: Sizes
    arguments: dict[str, ir.Value]
    edges: MaskedEdges
    joined: JoinedRows
    scalars: dict[Op, Scalars] = field(default_factory=dict)
    ahead: Int = 0
