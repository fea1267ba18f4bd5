"""C entries in this process: every kind of alpha and beta, any leading dimensions, parts, alignment."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import re

import machine
import numpy as np
import pytest
import strategies
from emissions import module_text
from entry_calls import Call, check, every_kind, invoke, other_outer
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.errors import PlanError
from ttc_llvm.ir_builders import entries
from ttc_llvm.lowering.bodies import Version, choose, default_plan
from ttc_llvm.lowering.items import placed
from ttc_llvm.lowering.plan import DECISIONS as STORES
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact
from ttc_llvm.problem import interface, orbits
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, linking

SHAPES = {
    "paper": Problem((2, 1, 0), (8, 16, 16), "s", (32, 32, 32)),
    "double": Problem((1, 0), (33, 17), "d"),
    "complex": Problem((0, 2, 1), (5, 7, 9), "c", None, (6, 9, 8), conjugate=True),
    "double complex": Problem((1, 2, 0), (9, 5, 6), "z"),
    "widening": Problem((2, 0, 1), (7, 11, 5), "sd"),
    "narrowing": Problem((1, 0), (19, 23), "zc"),
    "bytes": Problem((1, 0), (37, 70), "i8"),
    "half": Problem((3, 2, 1, 0), (9, 3, 4, 10), "f16"),
    "RGB": Problem((1, 0, 2), (13, 9, 3), "v3"),
    "large items": Problem((1, 0), (6, 5), "v37"),
    "no index": Problem((), (), "z"),
    "to floats": Problem((2, 0, 1), (9, 3, 14), "u8,s", (9, 5, 14)),
    "saturating": Problem((1, 0), (21, 34), "d,i16", saturate=True),
    "one index": Problem((0,), (45,), "ds"),
    "empty": Problem((1, 0), (5, 0), "d"),
    "extents of 1": Problem((2, 0, 1), (1, 6, 1), "s", (4, 7, 3)),
    "identity": Problem((0, 1, 2), (17, 4, 3), "c"),
    "pixels": Problem((0, 2, 1), (4, 9, 21), "s"),
    "pixels in rows": Problem((0, 2, 1), (2, 9, 13), "i8", (2, 11, 13), (2, 14, 9)),
    "in place": Problem((1, 0), (37, 37), "d", (40, 37), inplace=True),
    "cycle in place": Problem((1, 2, 0), (11, 11, 11), "c", conjugate=True, inplace=True),
    "odd items in place": Problem((2, 1, 0), (9, 4, 9), "v3", inplace=True),
    "swaps in place": Problem((1, 0, 3, 2), (5, 5, 7, 7), "s", alpha=0.5, beta=0.5, inplace=True),
    "rows in place": Problem((0, 2, 1), (6, 9, 9), "i16", alpha=1, inplace=True),
    "alpha = 0": Problem((1, 0), (12, 30), "s", (16, 30), (33, 12), alpha=0.0, beta=2.0),
}


DECISIONS: tuple[dict[str, object], ...] = (
    *(dict[str, object](store=store) for store in STORES),
    {"store": Store.COMBINED, "parallel": 0},
    {"prefetch": 2},
)


def plain_plan(problem: Problem, target: Target) -> CpuPlan:
    """The default plan of the problem's own kinds."""
    return default_plan(placed(problem, target).canonical, target)


def compiled(problem: Problem, target: Target, plan: CpuPlan) -> linking.Loaded:
    """The problem's object, linked into this process."""
    text = module_text(artifact.Spec(problem, target, plan))
    symbols = [entry.name for entry in interface.entries(problem)]
    return linking.load(backend.compile_object(text, target), symbols)


def check_all(problem: Problem, target: Target, plan: CpuPlan, seed: int = 0) -> None:
    """Every kind, with NULL, the generated and two other leading dimensions, whole and in parts."""
    loaded = compiled(problem, target, plan)
    outer = [
        (None, None),
        (problem.outer_a, problem.outer_b),
        (other_outer(problem.outer_a, 1), None),
        (other_outer(problem.size, 0), other_outer(problem.outer_b, 3)),
    ]
    for number, (alpha, beta, through_beta) in enumerate(every_kind(problem)):
        for lda, ldb in outer:
            for parts in (0, 1 + (seed + number) % 4):
                flush = "start" if (seed + number + parts) % 2 else "end"
                call = Call(alpha, beta, lda, ldb, parts, through_beta, "end", flush, seed)
                check(loaded.address, problem, call)
            check(loaded.address, problem, Call(alpha, beta, lda, ldb, number % 3, through_beta, seed=seed, wide=True))
        for size in other_sizes(problem, seed + number):
            parts = (seed + number) % 4
            permuted = tuple(size[p] for p in problem.perm)
            own = [(problem.outer_a, problem.outer_b), (problem.outer_a, None)] if size == problem.size else []
            for lda, ldb in ((None, None), (other_outer(size, 1), other_outer(permuted, 2)), *own):
                for wide in (False, True):
                    call = Call(alpha, beta, lda, ldb, parts, through_beta, "end", "end", seed, size, wide=wide)
                    check(loaded.address, problem, call)


def other_sizes(problem: Problem, seed: int) -> list[tuple[int, ...]]:
    """Extents for entries of any size: the generated ones, larger, smaller, ones, and one without elements."""
    size, rank = problem.size, len(problem.size)
    if not rank:
        return [()]
    larger = tuple(extent + 1 + (seed + k) % 3 for k, extent in enumerate(size))
    swapped = tuple(reversed(size))
    ones = tuple(1 if (seed + k) % 2 else min(extent, 40) for k, extent in enumerate(size))
    none = tuple(0 if k == seed % rank else extent for k, extent in enumerate(size))
    if problem.inplace:
        owner = {k: min(cycle) for cycle in orbits.cycles(problem.perm) for k in cycle}
        larger, swapped, ones, none = (tuple(x[owner[k]] for k in range(rank)) for x in (larger, swapped, ones, none))
    return [size, larger if math.prod(larger) < 1 << 16 else size, swapped, ones, none]


@pytest.mark.parametrize("row", machine.ROWS)
@pytest.mark.parametrize("name", SHAPES)
def test_entries_compute_the_transposition(name: str, row: str) -> None:
    target = machine.found(row)
    check_all(SHAPES[name], target, plain_plan(SHAPES[name], target))


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("dtype", ["s", "z", "i16"])
def test_every_decision_of_a_plan_reaches_the_entries(dtype: str, decision: dict[str, object]) -> None:
    target = backend.host_target()
    problem = Problem((2, 1, 0), (48, 5, 63), dtype, None, (64, 5, 48))  # B is aligned at one end only
    check_all(problem, target, dataclasses.replace(plain_plan(problem, target), **decision))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["s", "d", "z", "i32"])
def test_rows_of_a_b_off_the_vector_boundary_are_streamed_to(dtype: str) -> None:
    """By B's address, micro-tiles have non-temporal stores, long rows' shifted ones or short rows' joined ones
    do, ordinary stores."""
    target = backend.resolve("avx512")
    problem = Problem((1, 0), (48, 150), dtype, None, (160, 48))
    plan = dataclasses.replace(plain_plan(problem, target), store=Store.ALIGNED)
    (copy, *_) = choose(problem, target, plan).specialised
    assert [nest.alignment for nest in copy.nests] == [64, problem.b.itemsize, 1]
    assert ("peeled to" if dtype in "dz" else "streaming chained") in str(copy.non_temporal[1])
    if backend.runs_here(target):
        check_all(problem, target, plan)


def random_entries(data: st.DataObject, elements: int) -> None:
    """A random problem with a random plan for a random target."""
    problem = data.draw(strategies.problems(elements, (0, 8)))
    target = data.draw(st.sampled_from(machine.runnable()))
    plan = data.draw(strategies.plans(placed(problem, target).canonical, target, room=64))
    check_all(problem, target, plan, data.draw(st.integers(0, 1 << 20)))


@examples(12)
@given(st.data())
def test_random_entries(data: st.DataObject) -> None:
    random_entries(data, 2000)


@pytest.mark.full
@examples(200)
@given(st.data())
def test_many_random_entries(data: st.DataObject) -> None:
    random_entries(data, 6000)


def test_rank_26() -> None:
    target = backend.host_target()
    size = tuple(2 if k % 2 else 1 for k in range(26))
    problem = Problem(tuple(reversed(range(26))), size, "s")
    check_all(problem, target, plain_plan(problem, target))


@pytest.mark.full
def test_26_axes_of_extent_2() -> None:
    target = backend.host_target()
    problem = Problem(tuple(reversed(range(26))), (2,) * 26, "i8")
    loaded = compiled(problem, target, plain_plan(problem, target))
    for lda in (None, (3, *(2,) * 25)):
        check(loaded.address, problem, Call(lda=lda, parts=3))


OWN_SHAPES = {
    "padded A": Problem((2, 1, 0), (8, 16, 12), "s", (32, 17, 12)),
    "padded B": Problem((1, 0), (13, 17), "d", None, (20, 13)),
    "unpadded": Problem((0, 2, 1), (4, 9, 5), "c"),
    "to floats": Problem((2, 0, 1), (9, 3, 14), "u8,s", (9, 5, 14)),
    "saturating": Problem((1, 0), (21, 34), "d,i16", saturate=True),
    "one index": Problem((0,), (45,), "s"),
}


@pytest.mark.parametrize("name", OWN_SHAPES)
def test_the_specialised_body_runs_at_its_own_shape_however_that_is_spelled(name: str) -> None:
    """Here it is the only one there is: whatever is taken for another shape is left undone."""
    problem, target = OWN_SHAPES[name], backend.host_target()
    bodies = choose(problem, target, plain_plan(problem, target))
    alone = Version(target, dataclasses.replace(bodies, any_size=()))
    text = str(entries.build(problem, (alone,)))
    loaded = linking.load(backend.compile_object(text, target), [entry.name for entry in interface.entries(problem)])
    size, lda, ldb = problem.size, problem.outer_a, problem.outer_b
    plain = dataclasses.replace(problem, lda=None, ldb=None)
    for outer_a, outer_b in itertools.product((None, lda), (None, ldb)):
        check(loaded.address, problem, Call(lda=outer_a, ldb=outer_b))
        as_generated = (outer_a or plain.outer_a, outer_b or plain.outer_b) == (lda, ldb)
        for parts in (0, 3):
            call = Call(lda=outer_a, ldb=outer_b, parts=parts, size=size)
            with contextlib.nullcontext() if as_generated else pytest.raises(AssertionError, match="B is wrong"):
                check(loaded.address, problem, call)
    others = (Call(size=(*size[:-1], size[-1] - 1)), Call(lda=other_outer(lda, 1)), Call(ldb=other_outer(ldb, 1)))
    for call in others[: 1 if len(size) == 1 else 3]:  # with one index, no outer size is ever read
        with pytest.raises(AssertionError, match="B is wrong"):
            check(loaded.address, problem, call)


# Strides of A and of B: sparse, dense in one of them only, negative, not nested, of A 0, dense again.
STEPS = (
    ((2, 11, 90), (3, 25, 200)), ((1, 7, 61), (5, 50, 310)), ((3, 40, 400), (1, 9, 80)), ((-1, 9, 80), (1, 9, -80)),
    ((1, 6, 37), (1, 11, 71)), ((1, 0, 9), (1, 9, 81)), ((72, 1, 9), (81, 9, 1)), ((1, 8, 64), (1, 9, 72)),
)  # fmt: skip


@pytest.mark.parametrize("steps", [(1, 9, 80), (80, 9, 1), (3, 40, 400), (-1, 9, 80)])
def test_entries_in_place_take_any_strides(steps: tuple[int, ...]) -> None:
    problem, target = Problem((2, 1, 0), (7, 6, 7), "c", inplace=True), backend.host_target()
    loaded = compiled(problem, target, plain_plan(problem, target))
    for number, (alpha, beta, through_beta) in enumerate(every_kind(problem)):
        for size in (None, (8, 3, 8), (1, 8, 1)):
            call = Call(alpha, beta, None, None, number % 3, through_beta, size=size, wide=True, steps=(steps, steps))
            check(loaded.address, problem, call)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("dtype", ["s", "z", "v3"])
def test_entries_of_64_bits_take_any_strides(dtype: str, steps: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Whole and in parts; strides along extents of 1 mean nothing."""
    problem = Problem((2, 0, 1), (5, 6, 7), dtype)
    loaded = strided_object(dtype)
    for number, (alpha, beta, through_beta) in enumerate(every_kind(problem)):
        for size in (None, (3, 8, 9), (1, 8, 5), (1, 3, 1), (4, 1, 1)):
            call = Call(alpha, beta, None, None, number % 3, through_beta, size=size, wide=True, steps=steps)
            check(loaded.address, problem, call)


def test_entries_in_place_leave_shapes_that_are_not_kept() -> None:
    problem, target = Problem((1, 0, 2), (9, 9, 3), "d", inplace=True), backend.host_target()
    loaded = compiled(problem, target, plain_plan(problem, target))
    for wide in (False, True):
        call = Call(size=(9, 8, 3), wide=wide)
        memory = np.arange(9 * 9 * 3, dtype="f8")
        before = memory.copy()
        invoke(loaded.address, problem, call, None, memory.ctypes.data)
        np.testing.assert_array_equal(memory, before)


@functools.cache
def strided_object(dtype: str) -> linking.Loaded:
    problem, target = Problem((2, 0, 1), (5, 6, 7), dtype), backend.host_target()
    return compiled(problem, target, plain_plan(problem, target))


def test_extents_beyond_int() -> None:
    """Generated for more elements than an int counts, called for few."""
    target = backend.resolve("sse2")
    large = Problem((1, 0), (3_000_000_000, 2), "i8")
    loaded = compiled(large, target, plain_plan(large, target))
    for wide in (False, True):
        check(loaded.address, large, Call(size=(40, 3), wide=wide))
    check(loaded.address, large, Call(size=(1, 2), wide=True, steps=((3_000_000_000, 1), (1, 1))))


def test_rows_of_panels_are_copied_whole() -> None:
    """Panels of four floats are full micro-tiles of any-size bodies, too; longer vectors would be masked."""
    target = backend.resolve("avx512")
    for width, edge in ((2, 16), (4, 4), (8, 8), (16, 16), (5, 16)):
        problem = Problem((0, 2, 1), (width, 6, 32), "s", (width, 12, 32))
        bodies = choose(problem, target, plain_plan(problem, target))
        assert f"micro {edge}x" in str(bodies.any_size[0].nest)


def test_streaming_stores_are_used_and_only_where_the_plan_says_so() -> None:
    target = backend.resolve("avx512")
    problem = Problem((1, 0), (64, 64), "s")
    plan = plain_plan(problem, target)
    plain = backend.assembly(module_text(artifact.Spec(problem, target, plan)), target)
    streaming = dataclasses.replace(plan, store=Store.ALIGNED)
    text = backend.assembly(module_text(artifact.Spec(problem, target, streaming)), target)
    full_width = re.findall(r"vmovnt\w+\t%zmm", text)
    rows = 16  # of a micro-tile, for copying and for scaling, of the generated size and of any, and where B begins off
    assert "movnt" not in plain and len(full_width) == 6 * rows and "sfence" in text  # the boundary


def test_module_is_deterministic_and_calls_nothing_outside() -> None:
    target = backend.resolve("avx2")
    for problem in SHAPES.values():
        bodies = choose(problem, target, plain_plan(problem, target))
        module = entries.build(problem, (Version(target, bodies),))
        assert str(module) == str(entries.build(problem, (Version(target, bodies),)))
        outside = [f.name for f in module.functions if f.is_declaration]
        assert all(name.startswith("llvm.") for name in outside)


def test_plans_for_other_kinds_are_asked_for() -> None:
    target = backend.resolve("avx2")
    problem = Problem((1, 0), (8, 8), "s", alpha=0.0, beta=2.0)
    asked = []

    def plan_for(canonical: Canonical, machine: Target) -> CpuPlan:
        asked.append(canonical)
        return default_plan(canonical, machine)

    module_text(artifact.Spec(problem, target, plain_plan(problem, target), plan_for=plan_for))
    assert [str(form).split()[1] for form in asked] == ["one-zero", "any-zero", "any-any"]


def test_plan_that_does_not_fit_is_refused() -> None:
    target = backend.resolve("avx2")
    wrong = CpuPlan((1,), (1,), (0,), (0,))
    with pytest.raises(PlanError, match="needs 2 positive extents"):
        module_text(artifact.Spec(Problem((1, 0), (8, 8)), target, wrong))
