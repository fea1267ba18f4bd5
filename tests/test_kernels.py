"""Kernels on the host: random problems under random plans against NumPy, between guard pages."""

from __future__ import annotations

import pytest
from case import Case
from hypothesis import given, seed, settings
from machine import Run, check, runnable
from strategies import executions

SLICES, FULL_SLICES, PROBLEMS = 10, 50, 100


@pytest.mark.parametrize(
    "part", [pytest.param(n, marks=[] if n < SLICES else [pytest.mark.full]) for n in range(FULL_SLICES)]
)
def test_random_problems(part: int) -> None:
    """Each part is a fixed list of problems, so that parts can run in parallel and every failure comes back."""

    @seed(part)
    @settings(max_examples=PROBLEMS, derandomize=False)
    @given(executions(runnable()))
    def every(execution: tuple[Case, Run]) -> None:
        check(*execution)

    every()
