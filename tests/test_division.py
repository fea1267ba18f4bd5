"""How threads share a task grid, by the plan alone, against nests that are run with every write recorded."""

from __future__ import annotations

import itertools

import machine
import numpy as np
import pytest
import reference
import strategies
from case import Case, storages, windows
from hypothesis import given
from hypothesis import strategies as st
from interpreter import Interpreter
from machine import part_range
from reference import Array
from tiers import examples

from ttc_llvm.lowering import sharing
from ttc_llvm.lowering.division import Division, boxes, volume
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.operands import Space
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import static
from ttc_llvm.problem.kinds import Alpha

TARGETS = tuple(map(lookup.find, machine.ROWS))


@given(st.lists(st.integers(1, 5), max_size=4), st.data())
def test_boxes_are_the_positions_of_a_range(counts: list[int], data: st.DataObject) -> None:
    whole = int(np.prod(counts, dtype=int))
    begin, end = sorted((data.draw(st.integers(0, whole)), data.draw(st.integers(0, whole))))
    numbers = np.arange(whole).reshape(counts)
    found = [
        int(n)
        for box in boxes(counts, begin, end)
        for n in numbers[tuple(itertools.starmap(slice, box))].flat
    ]
    assert sorted(found) == list(range(begin, end))
    assert len(list(boxes(counts, begin, end))) <= max(1, 2 * len(counts))


@st.composite
def divided(draw: st.DrawFn) -> tuple[Case, CpuPlan, Target, int]:
    """A small case, a plan, a target, and a number of threads."""
    case, chosen = draw(strategies.cases(1_500)), draw(st.sampled_from(TARGETS))
    return case, draw(strategies.plans(case.placed.canonical, chosen)), chosen, draw(st.integers(1, 9))


def written_by(case: Case, plan: CpuPlan, target: Target, division: Division) -> Array:
    """The part that writes each element of B's storage when a nest runs; -1 where there is none."""
    placed, (a, b) = case.placed, storages(case)
    c, (window_a, window_b) = placed.canonical, windows(case)
    units = case.a.itemsize // c.a.itemsize, case.b.itemsize // c.b.itemsize
    offsets = window_a.origin * units[0] + placed.offset_a, window_b.origin * units[1] + placed.offset_b
    memory = {Space.A: a.view(reference.numpy_type(c.a)), Space.B: b.view(reference.numpy_type(c.b)).copy()}
    found = np.full(len(memory[Space.B]), -1)
    for part in range(division.parts):
        run = Interpreter(lower(c, plan, target), dict(memory), case.alpha, case.beta)
        assert run.tasks() == division.tasks
        run.run(offsets, range(*part_range(division.tasks, part, division.parts)))
        mine = run.writes[Space.B] > 0
        assert (found[mine] == -1).all(), "two parts write one element"
        found[mine] = part
    return found[offsets[1] :]


@examples(150)
@given(divided(), st.sampled_from((16, 64, 256)), st.sampled_from((1, 2, 3, 4)))
def test_writers_are_those_that_the_plan_tells(
    drawn: tuple[Case, CpuPlan, Target, int], unit: int, nodes: int
) -> None:
    case, plan, target, threads = drawn
    c = case.placed.canonical
    division = Division(c, plan.grid(c.extents), threads)
    if c.elements == 0:
        return
    part = written_by(case, plan, target, division)
    counts = np.bincount(part[part >= 0], minlength=threads)
    assert division.imbalance == pytest.approx(counts.max() * threads / c.elements)
    assert 1 <= division.least <= division.imbalance * (1 + 1e-12)
    assert [division.before(edge) for edge in division.edges] == [0, *np.cumsum(counts)[: division.parts]]
    of_unit = np.arange(len(part)) * c.b.itemsize // unit
    writers = {(int(u), int(p)) for u, p in zip(of_unit[part >= 0], part[part >= 0], strict=True)}
    wanted = len(writers) - len({u for u, _ in writers})
    several = sum(
        len(list(group)) > 1 for _, group in itertools.groupby(sorted(writers), key=lambda one: one[0])
    )
    assert several <= wanted
    assert sharing.shared(division, unit) == min(several, sharing.units(division, unit))
    for side in "ab":
        assert sharing.remote(division, side, nodes, unit) == remote(division, part, side, nodes, unit), side


def remote(division: Division, part: Array, side: str, nodes: int, page: int) -> int:
    """Elements on other nodes than their movers', one by one."""
    c, threads = division.canonical, division.threads
    if side == "a" and c.kinds.alpha is Alpha.ZERO:
        return 0
    node = np.array([thread * nodes // threads for thread in range(threads)])
    at = {which: where(division, which) for which in "ab"}
    size = (c.a if side == "a" else c.b).itemsize
    first = at[side].min()
    begins = (at[side] - first) * size // page * page
    span = int(at[side].max() - first + 1) * size
    touched_by = np.array([max(t for t in range(threads) if -(-span * t // threads) <= b) for b in begins])
    return int((node[touched_by] != node[part[at["b"]]]).sum())


def where(division: Division, side: str) -> Array:
    """The place of every element in a tensor, in elements from canonical index 0."""
    c = division.canonical
    index = np.indices(c.extents).reshape(len(c.axes), -1)
    return np.asarray([static(stride) for stride in c.strides(side)]) @ index


def test_volume_of_nothing() -> None:
    assert volume(((3, 2), (0, 9))) == 0 and volume(()) == 1
