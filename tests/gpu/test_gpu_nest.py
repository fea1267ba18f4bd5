"""GPU nests without LLVM: every element of A crosses shared memory once, and every element of B is written once."""

from __future__ import annotations

from itertools import product

from case import Case
from gpu_strategies import gpu_executions
from hypothesis import given
from tiers import examples

from ttc_llvm.lowering.gpu import trace as gpu_trace
from ttc_llvm.lowering.gpu.lower import lower, unaligned
from ttc_llvm.lowering.gpu.nest import GpuNest, Phase
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.lowering.gpu.trace import Index
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget


def walked(nest: GpuNest, phase: Phase, lengths: Index) -> list[Index]:
    """The indices of all elements that the threads of a block hold, in a tile of these lengths."""
    found: list[Index] = []
    for thread, turn in product(range(phase.threads), gpu_trace.rounds(phase)):
        first = gpu_trace.item(phase, nest.tile, lengths, thread, turn)
        if first is not None:
            for row in gpu_trace.rows(phase, first):
                found += gpu_trace.vector(phase, nest.tile, row)
    return found


def corners(nest: GpuNest) -> list[Index]:
    """Where the tiles of all blocks start; those beyond the end are left out, as the kernel leaves them."""
    found = []
    for steps in product(*(range(loop.count) for loop in nest.loops)):
        start = [0] * len(nest.tile)
        for loop, step in zip(nest.loops, steps, strict=True):
            start[loop.axis] += loop.step * step
        if all(s < e for s, e in zip(start, nest.canonical.extents, strict=True)):
            found.append(tuple(start))
    return found


@examples(75)
@given(gpu_executions(gpu_target.names(), 2000))
def test_every_element_once(found: tuple[Case, GpuPlan, GpuTarget]) -> None:
    case, plan, target = found
    c = case.placed.canonical
    for chosen in (plan, unaligned(c, plan)):
        nest = lower(c, chosen, target)
        written = []
        for corner in corners(nest):
            lengths = tuple(min(t, e - s) for t, e, s in zip(nest.tile, c.extents, corner, strict=True))
            body = nest.full if lengths == nest.tile else nest.edge
            assert body is not None
            box = sorted(product(*(range(length) for length in lengths)))
            if body.load is not None:
                assert sorted(walked(nest, body.load, lengths)) == box
            inside = walked(nest, body.store, lengths)
            assert sorted(inside) == box
            written += [tuple(i + s for i, s in zip(index, corner, strict=True)) for index in inside]
        assert len(set(written)) == len(written) == c.elements


@examples(75)
@given(gpu_executions(gpu_target.names(), 2000))
def test_elements_have_places_of_their_own_in_shared_memory(found: tuple[Case, GpuPlan, GpuTarget]) -> None:
    case, plan, target = found
    nest = lower(case.placed.canonical, plan, target)
    if nest.shared is not None:
        offsets = [nest.shared.offset(index) for index in product(*(range(e) for e in nest.tile))]
        assert len(set(offsets)) == len(offsets)
        assert min(offsets) == 0
        assert max(offsets) == nest.shared.elements - 1
