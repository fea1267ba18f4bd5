"""A loop nest as an LLVM module with one kernel: `(A, B, scalars*, params*, scratch*, begin, end)`.

The kernel runs tasks [begin, end) of the nest's task grid; non-temporal stores are fenced before it returns.
"""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import FROM_BOTH_ENDS, FlushSlot, Loop, Micro, Node, Row, every
from ttc_llvm.lowering.operands import Op, Place, RowOrder, Space, View
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical

from . import attributes, row_order
from .box import Box, RunEnds
from .context import Context
from .frame import reserved
from .joined_rows import JoinedRows
from .llvmlite_extensions import spent
from .loops import displaced, emit, existing
from .masked_edges import MaskedEdges, load_params
from .micro_tile import Sizes
from .prefetch.odometer import LoopState
from .scale import load_scalars
from .values import I1, I64, KERNEL_TYPE, Int, add, at, counted, i64, minimum, mul, steps

SCRATCH_ALIGN = 64
ARGUMENTS = ("a", "b", "scalars", "params", "scratch", "begin", "end")


def build(nest: LoopNest, target: Target, name: str = "kernel") -> ir.Module:
    """A module with the nest's kernel under this name. Deterministic: equal input, equal text."""
    module = attributes.new_module(target)
    add_kernel(module, nest, target, name)
    attributes.length_known(module.functions, target)
    return module


def text(nest: LoopNest, target: Target, name: str) -> str:
    """The text of that module."""
    return spent(build(nest, target, name))


def add_kernel(
    module: ir.Module, nest: LoopNest, target: Target, name: str, internal: bool = False
) -> ir.Function:
    """Add the nest's kernel to a module; internal: visible inside the module only."""
    kernel = ir.Function(module, KERNEL_TYPE, name)
    kernel.linkage = "internal" if internal else ""
    kernel.attributes.add("nounwind")
    for argument, label in zip(kernel.args, ARGUMENTS, strict=True):
        argument.name = label
        if label == "scratch" or (label in ("a", "b") and not nest.canonical.in_place):
            argument.add_attribute("noalias")
    b = ir.IRBuilder(kernel.append_basic_block("entry"))
    _fill(module, b, nest, target, dict(zip(ARGUMENTS, kernel.args, strict=True)))
    b.ret_void()
    return kernel


def _fill(
    module: ir.Module, b: ir.IRBuilder, nest: LoopNest, target: Target, arguments: dict[str, ir.Value]
) -> None:
    c = nest.canonical
    sizes = load_params(b, arguments["params"], tuple(p.index for p in nest.params))
    edges, ahead = MaskedEdges(module, target, sizes, arguments), _ahead(b, nest, target, arguments["b"])
    kernel = Context(module, target, c.axes, sizes, arguments, edges, JoinedRows(module), ahead=ahead)
    for op in _operations(nest.body):
        kernel.scalars[op] = load_scalars(b, arguments["scalars"], op)
    if nest.scratch > nest.passed:
        arguments["scratch"] = reserved(b, nest.scratch, SCRATCH_ALIGN, "scratch")
    pointers, views = _operands(b, c, arguments)
    extents = tuple(sizes(axis.extent) for axis in c.axes)
    nominal = tuple(extent if isinstance(extent, int) else 0 for extent in extents)
    box = Box(pointers, views, extents, nominal)
    grid = nest.grid
    inner = grid[-1].body if grid else nest.body
    with counted(b, arguments["end"], 1, "task", first=arguments["begin"]) as task:
        place = _task_box(b, sizes, grid, task, box, ahead) if grid else box
        if nest.order is not None:
            place = replace(place, task=_task_ends(kernel, b, nest.order, place, task))
        with existing(b, place, [loop.axis for loop in grid if loop.grain]):
            emit(kernel, b, inner, place)
    if grid:
        emit(kernel, b, nest.body[1:], box)


def _ahead(b: ir.IRBuilder, nest: LoopNest, target: Target, start: ir.Value) -> Int:
    """Elements of B between the line that it begins in and its first one, where loops ask for them."""
    if not any(isinstance(node, Loop) and node.grain for node in every(nest.body)):
        return 0
    inside = b.and_(b.ptrtoint(start, I64), i64(target.line - 1))
    return b.udiv(inside, i64(nest.canonical.b.itemsize), name="ahead")


def _operands(
    b: ir.IRBuilder, c: Canonical, arguments: dict[str, ir.Value]
) -> tuple[dict[Place, ir.Value], dict[Place, View]]:
    """The pointers to the first elements of A, as every term of a sum reads it, and of B; and their views."""
    source, sink = (View(s, t, c.strides(s.value)) for s, t in ((Space.A, c.a), (Space.B, c.b)))
    views = {view.place: view for view in (source, sink)}
    pointers = {source.place: arguments["a"], sink.place: arguments["b"]}
    for number, term in enumerate(c.terms, 1):
        view = View(Space.A, c.a, term.strides, number)
        views[view.place] = view
        pointers[view.place] = at(b, arguments["a"], term.offset * c.a.itemsize)
    return pointers, views


def _operations(nodes: tuple[Node, ...]) -> list[Op]:
    """Every operation of the nest, once, in order."""
    found = [node.op for node in every(nodes) if isinstance(node, Micro | Row | FlushSlot)]
    further = [source.op for node in every(nodes) if isinstance(node, Micro) for source in node.further]
    return list(dict.fromkeys(found + further))


def _task_ends(k: Context, b: ir.IRBuilder, order: RowOrder, box: Box, task: ir.Value) -> RunEnds:
    """Whether a task is the first, and the last, of its runs of B, or of all."""
    places = [box.position(b, axis) for axis in order.axes]
    first = row_order.are_all(b, k.sizes, order, row_order.start(k.module, b, k.sizes, order, places))
    last = row_order.are_all(b, k.sizes, order, row_order.carry(k.module, b, k.sizes, order, k.axes, places))
    begins = b.icmp_signed("==", task, k.arguments["begin"])
    ends = b.icmp_signed("==", b.add(task, i64(1)), k.arguments["end"])
    return RunEnds(b.or_(first, begins), b.or_(last, ends))


def _task_box(b: ir.IRBuilder, sizes: Sizes, grid: tuple[Loop, ...], task: ir.Value, box: Box, ahead: Int) -> Box:
    """Split a task number into the iterations of the grid's loops, row-major, and move there."""
    rest = task
    loops: list[LoopState] = []
    for number, loop in reversed(list(enumerate(grid))):
        length = sizes(loop.extent)
        trips = steps(b, add(b, length, loop.early), loop.step)
        index = rest
        if number > 0:
            rest = b.udiv(index, i64(trips))
            index = b.sub(index, b.mul(rest, i64(trips)))
        if loop.stride == FROM_BOTH_ENDS:
            half = b.lshr(index, i64(1))
            last = b.sub(b.sub(i64(trips), i64(1)), half)
            index = b.select(b.trunc(index, I1), last, half)
        elif loop.stride != 1:
            index = b.urem(b.mul(index, i64(loop.stride)), i64(trips))
        first = mul(b, index, loop.step)
        exact = isinstance(length, int) and length % loop.step == 0
        if loop.grain:
            first, chunk = displaced(b, first, ahead, length, loop.step)
        else:
            chunk = loop.step if exact else minimum(b, b.sub(i64(length), i64(first)), loop.step)
        box = box.moved(b, sizes, loop.axis, first, chunk).tiled(loop.axis, loop.step)
        loops.append(LoopState(loop.axis, i64(first), length, loop.step, trips if isinstance(trips, int) else 0))
    return replace(box, loops=tuple(reversed(loops)))
