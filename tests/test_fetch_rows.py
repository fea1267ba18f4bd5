"""Which lines a micro-tile asks for where rows of the next tile are fetched."""

from __future__ import annotations

import re

import pytest

from ttc_llvm import Problem
from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Fetch
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import canonicalise

LINE = 64
FLOAT = 4


def asked(problem: Problem, tile: tuple[int, ...], block: tuple[int, ...]) -> list[int]:
    """Byte offsets of all requests from where they are counted, as the code of the first body has them."""
    plan = CpuPlan(tile, block, (1, 0), (1, 0), 2, prefetch=1, fetch=Fetch.ROWS)
    machine = lookup.find("avx512")
    text = str(module.build(lower(canonicalise(problem).canonical, plan, machine), machine))
    steps = {name: int(step) for name, step in re.findall(r"%\"(\S+)\" = getelementptr i8, ptr \S+, i64 (\d+)", text)}
    return [steps.get(name, 0) for name in re.findall(r'call void @"llvm.prefetch\.p0"\(ptr %"([^"]+)"', text)]


@pytest.mark.parametrize("rows", [1024, 1040])
def test_short_rows_are_asked_for_to_their_last_byte_wherever_the_tensor_begins(rows: int) -> None:
    """Strides are whole lines, so that all rows begin as the tensor does: 16 bytes behind a line, as NumPy's do, rows
    of 64 bytes touch two lines."""
    found = set(asked(Problem((1, 0), (rows, rows), beta=1), (16, 16), (16, 16)))
    pitch = rows * FLOAT
    for behind in range(0, LINE, 16):
        touched = {(behind + row * pitch + byte) // LINE for row in range(16) for byte in range(LINE)}
        assert {(behind + offset) // LINE for offset in found} == touched


def test_long_rows_that_begin_with_a_line_are_asked_for_once_a_line() -> None:
    """The hardware recognises the run, and brings the line in which it ends elsewhere."""
    found = asked(Problem((1, 0), (1024, 1024), beta=1), (16, 16), (16, 16))
    longer = asked(Problem((1, 0), (1024, 1024), beta=1), (256, 256), (16, 16))
    assert len(found) == 2 * 2 * 16  # both ends, of both sides
    assert len(longer) == 2 * 16  # 16 lines of 16 rows a side, shared by 16 micro-tiles
