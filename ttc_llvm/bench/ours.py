"""Our own contenders: the solution, the ceilings (the same bytes without permutation), and the tiles' own limits."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from ..compiling.stored_plans import Planned
from ..lazy_dataclasses import replace
from ..lowering.lower import lower
from ..lowering.nodes import Micro, Node
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem.canonical import Canonical, Placed, canonicalise
from ..problem.dtypes import Kind
from ..problem.kinds import UPDATE, Beta
from ..runtime import backend, kernel, linking
from ..runtime.executable import Executable
from ..runtime.kernel import Kernel
from ..tuning.search import buffers
from ..tuning.space import peak
from ..tuning.space.peak import Ceiling
from .contender import OURS, Contender
from .workspace import Workspace, foreign, native

MEMCPY, TILED, PATTERN = "memcpy", "tiled copy", "pattern"
CEILING_SCALARS = (2.0, 0.5)  # repeated, y <- 2 x + y / 2 neither grows nor vanishes


def solution(workspace: Workspace, planned: Planned[CpuPlan]) -> Contender:
    """Our plan: as Python calls it where cold, in a native loop where hot."""
    addresses = workspace.source.address, workspace.b.address
    if workspace.case.hot:
        code = planned.objects.get(str(planned.plan))
        built = kernel.cache.obtain(workspace.canonical, planned.plan, workspace.target, code)
        return native(OURS, workspace.canonical, built, addresses, workspace.scalars, workspace.threads)
    executable = Executable(Placed(workspace.canonical, 0, 0), planned.plan, workspace.target, planned.objects)
    values = workspace.values
    at = 0 if values is None else int(values.ctypes.data)

    def run(repeats: int, keep: object = values) -> None:
        for _ in range(repeats):
            executable.run(*addresses, at, workspace.threads)

    return Contender(OURS, workspace.canonical.bytes_moved, run)


def main_ceiling(workspace: Workspace) -> str:
    """The name of the ceiling that the case is compared with."""
    if workspace.case.hot and workspace.canonical.kinds.beta is Beta.ZERO and workspace.threads == 1:
        return MEMCPY
    return peak.of(workspace.canonical, hot=workspace.case.hot).value


def ceilings(workspace: Workspace) -> list[Contender]:
    """SAXPY, streaming and ordinary copy of as many elements, of the problem's own types; memcpy where hot."""
    found = [contender for which in Ceiling for contender in _walks(workspace, which)]
    if (workspace.case.hot or workspace.canonical.in_place) and workspace.threads == 1:
        found += _memcpy(workspace)
    return found


def _walks(workspace: Workspace, which: Ceiling) -> Iterator[Contender]:
    problem = workspace.case.problem
    if which is Ceiling.SAXPY and problem.compute.kind is Kind.OPAQUE:
        return
    kinds = UPDATE if which is Ceiling.SAXPY else None
    form = canonicalise(replace(problem, alpha=1.0, beta=0.0, inplace=False), kinds).canonical
    addresses = _starts(workspace)
    for variant, (flat, plan) in enumerate(peak.walks(form, which, workspace.target)):
        if _fits(workspace, flat):
            built = kernel.cache.obtain(flat, plan, workspace.target)
            if addresses[1] % built.alignment:  # hot tensors begin where the case has them
                built = kernel.cache.obtain(flat, plan.ordinary, workspace.target)
            yield native(which.value, flat, built, addresses, CEILING_SCALARS, workspace.threads, variant)


def _starts(workspace: Workspace) -> tuple[int, int]:
    """Where copies begin: aligned, unless the case is hot and its tensors are kept apart."""
    if workspace.case.hot:
        return workspace.base("a"), workspace.base("b")
    return int(workspace.a.memory.ctypes.data), int(workspace.b.memory.ctypes.data)


def _fits(workspace: Workspace, flat: Canonical) -> bool:
    """True where both buffers hold what a form addresses."""
    ends = [int(tensor.memory.ctypes.data) + len(tensor.memory) for tensor in (workspace.a, workspace.b)]
    sides = zip(("a", "b"), (flat.a, flat.b), _starts(workspace), ends, strict=True)
    return all(end - start >= buffers.span(flat, side).elements * t.itemsize > 0 for side, t, start, end in sides)


def _memcpy(workspace: Workspace) -> Iterator[Contender]:
    """The C library's memcpy of A's bytes, called by the native loop that calls our kernels."""
    try:
        address = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value
    except (AttributeError, OSError, TypeError):
        return
    size = workspace.canonical.elements * min(workspace.canonical.a.itemsize, workspace.canonical.b.itemsize)
    if address:
        a, b = _starts(workspace)
        copy = foreign(MEMCPY, workspace, address, (b, a, size), None)
        yield replace(copy, bytes_moved=2 * size, foreign=False)


def tiled(workspace: Workspace, plan: CpuPlan) -> Iterator[Contender]:
    """The plan's own tiles in the same order, but over tensors of one layout: nothing is permuted; none in place
    and of sums."""
    for side in () if workspace.canonical.in_place or workspace.canonical.terms else ("b", "a"):
        steps = workspace.canonical.strides(side)
        pairs = zip(workspace.canonical.axes, steps, strict=True)
        axes = tuple(replace(axis, stride_a=step, stride_b=step) for axis, step in pairs)
        flat = replace(workspace.canonical, axes=axes)
        if _fits(workspace, flat):
            wanted = plan if side == "b" else plan.ordinary
            built = kernel.cache.obtain(flat, wanted, workspace.target)
            yield native(TILED, flat, built, _starts(workspace), CEILING_SCALARS, workspace.threads)
            return


# --- the tiles without the permutation: micro-tiles read and write the same rows but permute nothing ----------


def pattern(workspace: Workspace, plan: CpuPlan) -> Iterator[Contender]:
    """The plan's own tiles on the problem's own layouts: the same rows read and written, nothing permuted inside; none
    of sums."""
    if workspace.canonical.terms:
        return
    addresses = workspace.source.address, workspace.b.address
    aligned = addresses[1] % (workspace.target.vector_bits // 8) == 0
    built = _straight(workspace.canonical, plan if aligned else plan.ordinary, workspace.target)
    yield native(PATTERN, workspace.canonical, built, addresses, CEILING_SCALARS, workspace.threads)


def _straight(canonical: Canonical, plan: CpuPlan, target: Target) -> Kernel:
    """The kernel of this plan without its permutation."""
    from ..ir_builders import module

    nest = lower(canonical, plan, target)
    nest = replace(nest, body=tuple(map(straightened, nest.body)))
    code = backend.compile_object(str(module.build(nest, target, kernel.NAME)), target)
    loaded = linking.load(code, (kernel.NAME,))
    return Kernel(loaded.address(kernel.NAME), nest.tasks, nest.scratch, nest.alignment, code, loaded)


def straightened(node: Node) -> Node:
    """The same node with straight micro-tiles."""
    return replace(node, straight=True) if isinstance(node, Micro) else node.map(straightened)
