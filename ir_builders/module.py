"""A loop nest becomes an LLVM module with one kernel: `(A, B, scalars*, params*, scratch*, begin, end)`.

The kernel runs tasks [begin, end) of the nest's task grid; streaming stores are fenced before it returns.
"""

from __future__ import annotations

from dataclasses import replace

from llvmlite import ir

from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Loop, Micro, Node, Rest, Row, every
from ttc_llvm.lowering.operands import Op, Space, View
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Size

from . import attributes
from .ahead import Step
from .box import Box
from .edges import Edges, load_params
from .loops import Emitter, is_task
from .scale import load_scalars
from .values import I64, PTR, Int, counted, i64, minimum, mul

ARGUMENTS = ("a", "b", "scalars", "params", "scratch", "begin", "end")
KERNEL_TYPE = ir.FunctionType(ir.VoidType(), [PTR] * 5 + [I64] * 2)


def build(nest: LoopNest, target: Target, name: str = "kernel") -> ir.Module:
    """A module with the nest's kernel under this name. Deterministic: equal input, equal text."""
    module = new_module(target)
    add_kernel(module, nest, target, name)
    attributes.length_known(module.functions, target)
    return module


def new_module(target: Target, name: str = "ttc_llvm") -> ir.Module:
    """An empty module for this machine."""
    module = ir.Module(name, context=ir.Context())
    module.triple = target.triple
    return module


def add_kernel(
    module: ir.Module, nest: LoopNest, target: Target, name: str, internal: bool = False
) -> ir.Function:
    """Add the nest's kernel to a module; internal: visible inside the module only."""
    kernel = ir.Function(module, KERNEL_TYPE, name)
    kernel.linkage = "internal" if internal else ""
    kernel.attributes.add("nounwind")
    for argument, label in zip(kernel.args, ARGUMENTS, strict=True):
        argument.name = label
        if label in ("a", "b", "scratch"):
            argument.add_attribute("noalias")
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    _fill(module, b, nest, target, dict(zip(ARGUMENTS, kernel.args, strict=True)))
    b.ret_void()
    return kernel


def _fill(
    module: ir.Module, b: ir.IRBuilder, nest: LoopNest, target: Target, arguments: dict[str, ir.Value]
) -> None:
    sizes = load_params(b, arguments["params"], tuple(p.index for p in nest.params))
    edges = Edges(module, target, sizes, arguments)
    emitter = Emitter(module, target, nest.canonical.axes, sizes, arguments, edges)
    for op in _operations(nest.body):
        emitter.scalars[op] = load_scalars(b, arguments["scalars"], op)
    views = {view.space: view for view in _outer_views(nest)}
    extents = _extents(nest, emitter)
    nominal = tuple(extent if isinstance(extent, int) else 0 for extent in extents)
    box = Box({Space.A: arguments["a"], Space.B: arguments["b"]}, extents, nominal)
    grid = nest.grid
    inner = grid[-1].body if grid else tuple(n for n in nest.body if not is_task(n))
    with counted(b, arguments["end"], 1, "task", first=arguments["begin"]) as task:
        inside = _task_box(b, emitter, grid, task, box, views) if grid else box
        emitter.nodes(b, inner, inside, views)
    if grid:
        emitter.nodes(b, nest.body[1:], box, views)


def _extents(nest: LoopNest, emitter: Emitter) -> tuple[Int, ...]:
    return tuple(emitter.sizes(axis.extent) for axis in nest.canonical.axes)


def _outer_views(nest: LoopNest) -> tuple[View, View]:
    c = nest.canonical
    return View(Space.A, c.a, c.strides("a")), View(Space.B, c.b, c.strides("b"))


def _operations(nodes: tuple[Node, ...]) -> list[Op]:
    """Every operation of the nest, once, in order."""
    return list(dict.fromkeys(node.op for node in every(nodes) if isinstance(node, Micro | Row | Rest)))


def _task_box(
    b: ir.IRBuilder,
    emitter: Emitter,
    grid: tuple[Loop, ...],
    task: ir.Value,
    box: Box,
    views: dict[Space, View],
) -> Box:
    """Split a task number into the iterations of the grid's loops, row-major, and move there."""
    rest = task
    steps: list[Step] = []
    for number, loop in reversed(list(enumerate(grid))):
        trips = _trips(b, emitter, loop.extent, loop.step)
        index = rest
        if number > 0:
            rest = b.udiv(index, i64(trips))
            index = b.sub(index, b.mul(rest, i64(trips)))
        first = mul(b, index, loop.step)
        length = emitter.sizes(loop.extent)
        exact = isinstance(length, int) and length % loop.step == 0
        chunk = loop.step if exact else minimum(b, b.sub(i64(length), i64(first)), loop.step)
        box = emitter.moved(b, box, views, loop.axis, first, chunk).tiled(loop.axis, loop.step)
        steps.append(Step(loop.axis, i64(first), length, loop.step, trips if isinstance(trips, int) else 0))
    return replace(box, trail=tuple(reversed(steps)))


def _trips(b: ir.IRBuilder, emitter: Emitter, extent: Size, step: int) -> Int:
    length = emitter.sizes(extent)
    if isinstance(length, int):
        return -(-length // step)
    return b.udiv(b.add(length, i64(step - 1)), i64(step))
