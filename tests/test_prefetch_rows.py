"""The rows of a box, and the lines that a micro-tile prefetches of the rows of the next tile."""

from __future__ import annotations

import itertools
import re
from math import prod

import pytest

from ttc_llvm import Problem
from ttc_llvm.ir_builders import module
from ttc_llvm.ir_builders.prefetch.box_rows import BoxRows
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import canonicalise

LINE = 64
FLOAT = 4


@pytest.mark.parametrize(
    ("extents", "strides"),
    [
        ((4, 3, 5), (1, 4, 100)), ((4, 3, 5), (1, 7, 100)), ((6, 2), (-1, 9)), ((3, 5), (40, 1)), ((2, 3), (8, 24)),
        ((5, 1), (1, 1)),
    ],
)
@pytest.mark.parametrize("start", [0, 4, 60])
def test_rows_hold_every_element_once_in_the_order_of_memory(
    extents: tuple[int, ...], strides: tuple[int, ...], start: int
) -> None:
    rows = BoxRows.of(extents, strides, FLOAT, LINE)
    count, starts = prod(extents[k] for k in rows.run), list(rows.starts())
    found = [rows.element(one, position) for one in starts for position in range(count)]
    assert sorted(found) == sorted(itertools.product(*map(range, extents)))
    assert list(rows.starts(found)) == starts
    for number, one in enumerate(starts):
        address = [sum(i * s for i, s in zip(e, strides, strict=True)) * FLOAT for e in found[number * count :][:count]]
        low = sum(i * s for i, s in zip(one, strides, strict=True)) * FLOAT + rows.low
        assert address == [low + FLOAT * rows.step * position for position in range(count)]
        touched = {(start + byte) // LINE for byte in range(low, low + rows.length)}
        assert {(start + low + offset) // LINE for offset in rows.lines(LINE, closing=True)} == touched


@pytest.mark.parametrize("step", [2, 3, -2, 5, 15, 16])
def test_rows_with_gaps_are_prefetched_once_a_line(step: int) -> None:
    rows = BoxRows.of((7, 40), (1000, step), FLOAT, LINE)
    starts = list(rows.starts())
    if step == LINE // FLOAT:
        assert len(starts) == 7 * 40 and rows.length == FLOAT
        return
    assert starts == [(i, 0) for i in range(7)]
    assert rows.length == FLOAT * (39 * abs(step) + 1) and rows.low == min(0, 39 * step * FLOAT)
    touched = {FLOAT * step * i // LINE for i in range(40)}
    assert {(rows.low + offset) // LINE for offset in rows.lines(LINE, closing=True)} >= touched


def prefetched(problem: Problem, tile: tuple[int, ...], block: tuple[int, ...]) -> list[int]:
    """Byte offsets of all prefetches from their base, as the code of the first body has them."""
    plan = CpuPlan(tile, block, (1, 0), (1, 0), 2, prefetch=1, fetch=Fetch.ROWS)
    machine = lookup.find("avx512")
    text = str(module.build(lower(canonicalise(problem).canonical, plan, machine), machine))
    steps = {name: int(step) for name, step in re.findall(r"%\"(\S+)\" = getelementptr i8, ptr \S+, i64 (\d+)", text)}
    return [steps.get(name, 0) for name in re.findall(r'call void @"llvm.prefetch\.p0"\(ptr %"([^"]+)"', text)]


@pytest.mark.parametrize("rows", [1024, 1040])
def test_short_rows_are_prefetched_to_their_last_byte_wherever_the_tensor_begins(rows: int) -> None:
    """Strides are whole lines, so that all rows begin as the tensor does: 16 bytes after a line, as NumPy's do, rows
    of 64 bytes touch two lines."""
    found = set(prefetched(Problem((1, 0), (rows, rows), beta=1), (16, 16), (16, 16)))
    pitch = rows * FLOAT
    for off in range(0, LINE, 16):
        touched = {(off + row * pitch + byte) // LINE for row in range(16) for byte in range(LINE)}
        assert {(off + offset) // LINE for offset in found} == touched


def test_long_rows_that_begin_with_a_line_are_prefetched_once_a_line() -> None:
    """The hardware recognises the run, and brings the line in which it ends elsewhere."""
    found = prefetched(Problem((1, 0), (1024, 1024), beta=1), (16, 16), (16, 16))
    longer = prefetched(Problem((1, 0), (1024, 1024), beta=1), (256, 256), (16, 16))
    assert len(found) == 2 * 2 * 16  # both ends, of both sides
    assert len(longer) == 2 * 16  # 16 lines of 16 rows a side, shared by 16 micro-tiles
