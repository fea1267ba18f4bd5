"""The pattern ceiling: a plan's own nest, whose micro-tiles read and write the same rows but permute nothing."""

from __future__ import annotations

from dataclasses import replace

from .. import backend, kernel
from ..canonical import Canonical
from ..kernel import Kernel
from ..lower import lower
from ..nest import Keep, Loop, Micro, Node, Shifted, Stage
from ..plan import CpuPlan
from ..target import Target


def build(canonical: Canonical, plan: CpuPlan, target: Target) -> Kernel:
    """The kernel of this plan without its permutation."""
    from ..ir_builders import module

    nest = lower(canonical, plan, target)
    nest = replace(nest, body=straightened(nest.body))
    code = backend.compile_object(str(module.build(nest, target, kernel.NAME)), target)
    loaded = backend.load(code, (kernel.NAME,))
    return Kernel(loaded.address(kernel.NAME), nest.tasks, nest.scratch, nest.alignment, code, loaded)


def straightened(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same nodes with straight micro-tiles."""
    return tuple(map(_straightened, nodes))


def _straightened(node: Node) -> Node:
    if isinstance(node, Micro):
        return replace(node, straight=True)
    if isinstance(node, Loop):
        tail = None if node.tail is None else straightened(node.tail)
        return replace(node, body=straightened(node.body), tail=tail)
    if isinstance(node, Keep):
        return replace(node, body=straightened(node.body))
    if isinstance(node, Shifted):
        return replace(node, body=replace(node.body, straight=True), edge=replace(node.edge, straight=True))
    if isinstance(node, Stage):
        return replace(node, fill=straightened(node.fill), drain=straightened(node.drain))
    return node
