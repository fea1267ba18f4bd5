"""Groups of emitted libraries: blocks of any shapes by one call of native code."""

from __future__ import annotations

import ctypes
import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import plan_calls
import pytest
import wrong_plan_calls
from native_build import building
from plan_calls import Plans, ints, words
from processes import together

import ttc_llvm
from ttc_llvm.compiling.library import Library
from ttc_llvm.ir_builders.plan_objects import fields
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

FAMILIES = (("s",), ("sd",), ("i8", "v12"))  # types that may be in one group
OWN = Problem((1, 0), (5, 7))

pytestmark = pytest.mark.usefixtures("own_place")


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Plans:
    """A library where small blocks are divided, and few are sorted on the stack."""
    with building(tmp_path_factory) as (folder, patch):
        patch.setattr(fields, "DIVIDED_BYTES", 8 << 10)
        patch.setattr(fields, "NEAR_PAIRS", 8)
        problems = [replace(OWN, dtype=name) for family in FAMILIES for name in family]
        solutions = [ttc_llvm.compile(problem, 1, target=backend.host_target()) for problem in problems]
        Library("grouped", solutions).write(folder, ("shared", "plan"))
    return Plans(folder / "lib" / "libgrouped.so", "grouped")


def pointers(values: Sequence[int | None]) -> Any:
    return (ctypes.c_void_p * max(1, len(values)))(*values)


def group_of(plans: Plans, chosen: Sequence[ctypes.c_void_p], threads: int = 1) -> ctypes.c_void_p:
    group = ctypes.c_void_p()
    given = pointers([one.value for one in chosen])
    assert plans.group_create(ctypes.byref(group), len(chosen), given, threads) == fields.OK
    return group


def plan_of(plans: Plans, perm: tuple[int, ...], size: tuple[int, ...], b: Any = None, types: str = "s") -> Any:
    plan = ctypes.c_void_p()
    shape = (len(perm), ints(perm), words(size), None, words(b), types.encode())
    assert plans.create(ctypes.byref(plan), *shape, 1) == fields.OK
    return plan


def test_random_groups(plans: Plans) -> None:
    """Blocks of all ranks and strides, in parts that run in any order; every byte is compared."""
    draw, seen = random.Random(1), Counter[str]()
    for number in range(120):
        family = draw.choice(FAMILIES)
        calls = [plan_calls.drawn(draw, family, 1 << 12) for _ in range(draw.choice((0, 1, 3, 6, 12)))]
        calls = [replace(call, alpha=calls[0].alpha, beta=calls[0].beta) for call in calls]
        blocks = [plan_calls.made(plans, call, 1000 * number + k) for k, call in enumerate(calls)]
        group = group_of(plans, [one.plan for one in blocks], draw.choice((1, 2, 7)))
        parts, scalars = draw.choice((1, 2, 5)), blocks[0].given[2:] if blocks else (None, None)
        given = (pointers([one.given[0] for one in blocks]), pointers([one.given[1] for one in blocks]), *scalars)
        assert plans.group_check(group, *given, None) == fields.OK
        for part in draw.sample(range(parts), parts):
            assert plans.group_execute_part(group, *given, part, parts) == fields.OK
        for call, one in zip(calls, blocks, strict=True):
            one.check(call)
            plans.destroy(one.plan)
            seen["divided"] += one.b.nbytes > 16 << 10
        plans.group_destroy(group)
        seen["unsorted"] += len(blocks) > 8
    assert min(seen.values()) > 5


def test_blocks_that_share_memory_are_refused(plans: Plans) -> None:
    """Random places in one memory: exactly those that certainly meet, by the bytes of blocks without gaps and of first
    elements; nothing is written then, and what meets is named."""
    draw, seen = random.Random(3), Counter[int]()
    shapes = [((1, 0), (3, 2), None), ((1, 0), (2, 5), (1, 9)), ((0,), (7,), (-1,)), ((), (), None), ((0,), (0,), None)]
    made = [plan_of(plans, *shape) for shape in shapes]
    for _ in range(400):
        count, memory = draw.choice((2, 3, 12)), np.arange(1000, dtype="f4")
        which = [draw.randrange(len(shapes)) for _ in range(count)]
        reach = draw.choice((60, 300, 900))
        a, b = ([draw.randrange(10, 10 + reach) for _ in range(count)] for _ in range(2))
        if draw.random() < 0.3:
            b.sort()
        group = group_of(plans, [made[k] for k in which])
        given = [pointers([memory.ctypes.data + 4 * place for place in side]) for side in (a, b)]
        wrong = ctypes.c_int64(7)
        code = plans.group_check(group, *given, None, None, ctypes.byref(wrong))
        before = memory.copy()
        assert plans.group_execute(group, *given, None, None) == code
        own = [k for k in range(count) if elements(shapes[which[k]], a[k], 1) & elements(shapes[which[k]], b[k], 2)]
        sure_a, sure_b = ([sure(shapes[k], at, n) for k, at in zip(which, side, strict=True)]
                          for n, side in ((1, a), (2, b)))  # fmt: skip
        shared = any(x & y for x, y in combinations(sure_b, 2)) or any(x & y for x in sure_a for y in sure_b)
        if own:
            assert (code, wrong.value) == (fields.OVERLAP, own[0])
        else:
            assert code == (fields.SHARED if shared else fields.OK)
            others = set().union(*(sure_b[n] for n in range(count) if n != wrong.value)) if shared else set()
            assert (sure_a[wrong.value] | sure_b[wrong.value]) & others if shared else wrong.value == -1
        assert code == fields.OK or np.array_equal(before, memory)
        seen[code] += 1
        plans.group_destroy(group)
    for one in made:
        plans.destroy(one)
    assert min(seen[code] for code in (fields.OK, fields.SHARED, fields.OVERLAP)) > 30


def elements(shape: Any, at: int, side: int) -> set[int]:
    """The places of a block's elements. side: 1 for A, 2 for B."""
    perm, size, b = shape
    extents = size if side == 1 else [size[k] for k in perm]
    strides = [int(np.prod(extents[:k])) for k in range(len(extents))] if side == 1 or b is None else b
    found = {at}
    for n, stride in zip(extents, strides, strict=True):
        found = {place + k * stride for place in found for k in range(n)}
    return found


def sure(shape: Any, at: int, side: int) -> set[int]:
    found = elements(shape, at, side)
    return found if not found or max(found) - min(found) + 1 == len(found) else {at}


def test_what_create_and_check_refuse(plans: Plans) -> None:
    plan, other = plan_of(plans, (1, 0), (3, 4)), plan_of(plans, (1, 0), (3, 4), types="i8")
    group, one = ctypes.c_void_p(1), pointers([plan.value])
    given: tuple[Any, ...]
    for code, given in (
        (fields.COUNT, (-1, one, 1)), (fields.COUNT, (1 << 31, one, 1)), (fields.THREADS, (1, one, 0)),
        (fields.NULL, (1, None, 1)), (fields.NULL, (1, pointers([None]), 1)),
        (fields.MIXED, (2, pointers([plan.value, other.value]), 1)),
    ):  # fmt: skip
        assert plans.group_create(ctypes.byref(group), *given) == code and group.value is None
        assert plans.group_create(None, *given) == fields.NULL
    group, moved = group_of(plans, [plan]), group_of(plans, [other])
    memory, scalar = np.zeros(64, "f4"), np.ones(1, "f4")
    a, b = pointers([memory.ctypes.data]), pointers([memory.ctypes.data + 100])
    for code, given in (
        (fields.NULL, (None, a, b, None, None)), (fields.NULL, (group, None, b, None, None)),
        (fields.NULL, (group, a, None, None, None)), (fields.NULL, (group, a, pointers([None]), None, None)),
        (fields.ALIGNMENT, (group, a, pointers([b[0] + 1]), None, None)), (fields.OVERLAP, (group, a, a, None, None)),
        (fields.SCALARS, (moved, a, b, scalar.ctypes.data, None)), (fields.OK, (group, a, b, None, None)),
    ):  # fmt: skip
        assert plans.group_execute(*given) == plans.group_check(*given, None) == code
    assert plans.group_execute_part(group, a, b, None, None, 1, 1) == fields.PART
    zero = np.zeros(1, "f4")
    assert plans.group_execute(group, None, b, zero.ctypes.data, None) == fields.OK  # A is not read
    assert plans.group_parts(None) == 0 and plans.group_destroy(None) is None
    for one in (group, moved):
        plans.group_destroy(one)
    for one in (plan, other):
        plans.destroy(one)


def test_a_group_serves_many_threads_at_once(plans: Plans) -> None:
    """Each with parts of its own memory, whose blocks lie in another order than their numbers."""
    shapes = [(5, 7), (33, 20), (64, 50), (1, 9)] * 5
    made = {shape: plan_of(plans, (1, 0), shape) for shape in shapes}
    group, start, wrong = group_of(plans, [made[shape] for shape in shapes], 4), threading.Barrier(4), list[int]()

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        xs = [rng.random(shape, "f4") for shape in shapes]
        ys = [np.empty(shape[::-1], "f4") for shape in shapes]
        a, b = (pointers([one.ctypes.data for one in side]) for side in (xs, ys))
        start.wait()
        for _ in range(20):
            codes = [plans.group_execute_part(group, a, b, None, None, part, 3) for part in range(3)]
            if any(codes) or not all(np.array_equal(x.ravel().reshape(x.shape[::-1]).T.ravel(), y.ravel())
                                     for x, y in zip(xs, ys, strict=True)):  # fmt: skip
                wrong.append(seed)

    together(work, range(4))
    assert not wrong


def test_wrong_calls_return_codes(plans: Plans) -> None:
    draw, memory = random.Random(6), np.zeros(1 << 18, np.uint8)
    shapes = [((1, 0), (3, 4)), ((2, 1, 0), (5, 6, 7)), ((0,), (0,)), ((0,), (8,))]
    known = [plan_of(plans, *shape, types=types) for shape in shapes for types in ("s", "i8", "v12")]
    seen = [wrong_plan_calls.fuzz_group(plans, draw, memory, known) for _ in range(3000)]
    created, executed = (Counter(codes) for codes in zip(*seen, strict=True))
    assert {fields.OK, fields.NULL, fields.COUNT, fields.THREADS, fields.MIXED} <= set(created)
    assert {fields.OK, fields.NULL, fields.ALIGNMENT, fields.SHARED, fields.SCALARS, fields.PART} <= set(executed)
