"""How blocks lie in registers, seen from one tensor."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.lowering.layout import (
    HOLE,
    RegisterCount,
    flatten,
    register_count,
    register_layout,
    run_axes,
    sources,
    unflatten,
)
from ttc_llvm.problem.canonical import Param

N = Param(0, "n")


@pytest.mark.parametrize(
    ("block", "strides", "run"),
    [
        ((8, 4), (1, 100), (0,)),
        ((8, 4), (100, 1), (1,)),
        ((8, 4), (1, 8), (0, 1)),
        ((8, 4), (4, 1), (1, 0)),
        ((8, 4), (-1, 100), (0,)),
        ((8, 4), (-1, 8), (0, 1)),
        ((8, 4), (1, -8), (0, 1)),
        ((3, 4, 2), (1, -3, -12), (0, 1, 2)),
        ((8, 4), (2, 16), ()),
        ((8, 4), (0, 1), (1,)),
        ((1, 4), (1, 1), (1,)),
        ((1, 4), (1, 7), ()),
        ((2, 3, 5), (1, 2, 6), (0, 1, 2)),
        ((2, 3, 5), (15, 5, 1), (2, 1, 0)),
        ((8, 4), (1, N), (0,)),
        ((8, 4), (N, N), ()),
    ],
)
def test_runs(block: tuple[int, ...], strides: tuple[int | Param, ...], run: tuple[int, ...]) -> None:
    assert run_axes(block, strides) == run


@pytest.mark.parametrize(
    ("block", "strides", "width", "lanes", "registers"),
    [
        ((16, 16), (1, 999), 16, 16, 16),
        ((16, 16), (1, 999), 4, 4, 64),
        ((5, 3), (1, 999), 16, 8, 3),
        ((20, 2), (1, 999), 16, 16, 4),
        ((3, 5), (1, 3), 16, 16, 1),
        ((6, 2), (2, 12), 16, 1, 12),
        ((6, 2), (0, 1), 16, 2, 1),
        ((6,), (0,), 16, 1, 1),
    ],
)
def test_registers(
    block: tuple[int, ...], strides: tuple[int, ...], width: int, lanes: int, registers: int
) -> None:
    s = register_layout(block, strides, width)
    assert (s.lanes, len(s.registers)) == (lanes, registers)


@pytest.mark.parametrize(
    ("block", "strides", "width", "lanes", "registers"),
    [
        ((64,), (3,), 64, 64, 3),
        ((64,), (-3,), 64, 64, 3),
        ((16, 2), (2, 99), 16, 16, 4),
        ((16,), (8,), 16, 16, 8),
        ((16,), (9,), 16, 1, 16),
        ((16, 4), (1, 16), 16, 16, 4),
    ],
)
def test_registers_with_gaps(
    block: tuple[int, ...], strides: tuple[int, ...], width: int, lanes: int, registers: int
) -> None:
    s = register_layout(block, strides, width, gaps=True)
    assert (s.lanes, len(s.registers)) == (lanes, registers)


@st.composite
def blocks(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """A block, strides without overlap (but for broadcasts), and a register width."""
    block = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 5, 8, 16)), min_size=1, max_size=4)))
    strides, step = [0] * len(block), draw(st.sampled_from((1, 1, 2)))
    for k in draw(st.permutations(range(len(block)))):
        if draw(st.integers(0, 5)) == 5:
            continue
        strides[k] = draw(st.sampled_from((step, step, -step)))
        step = step * block[k] + draw(st.sampled_from((0, 0, 7)))
    return block, tuple(strides), draw(st.sampled_from((1, 2, 4, 8, 16, 64)))


@examples(150)
@given(blocks(), st.booleans())
def test_lanes_are_neighbours_in_memory_and_cover_the_block(
    given_block: tuple[tuple[int, ...], tuple[int, ...], int], gaps: bool
) -> None:
    block, strides, width = given_block
    s = register_layout(block, strides, width, gaps=gaps)
    assert register_count(block, strides, width, gaps) == RegisterCount(s.run, s.lanes, len(s.registers))

    def address(element: int) -> int:
        return sum(i * stride for i, stride in zip(unflatten(element, block), strides, strict=True))

    seen: list[int] = []
    for register in s.registers:
        assert 1 <= len(register.elements) <= s.lanes <= width
        first = address(register.elements[0])
        places = [first + lane if e == HOLE else address(e) for lane, e in enumerate(register.elements)]
        assert places == list(range(first, first + len(register.elements)))
        assert flatten(register.start, block) == register.elements[0]
        assert register.elements[-1] != HOLE
        seen += [e for e in register.elements if e != HOLE]
    assert sorted(seen) == sorted(set(sources(block, strides)))
    assert all(address(e) == address(source) for e, source in enumerate(sources(block, strides)))
    assert len(sources(block, strides)) == prod(block)
