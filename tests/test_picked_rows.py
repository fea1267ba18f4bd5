"""Every second, third or fourth item of rows, forwards or backwards, arrives; no byte beside a row is touched."""

from __future__ import annotations

import random
from itertools import pairwise
from math import prod

import known_layouts
import numpy as np
import pytest
from guards import Guarded
from test_integer_code import compiled

import ttc_llvm
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.ir_builders import picked_rows as rows
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.ir_builders.short_rows import step_of
from ttc_llvm.operands.addresses import data_address

NEVER = 1 << 60
POISON = 0xEE


@pytest.mark.parametrize("flush", ["start", "end"])
@pytest.mark.parametrize("name", fields.PICKED)
def test_items_of_every_width_arrive(name: str, flush: str) -> None:
    source, draw = getattr(rows, name), random.Random(name)
    width, step = fields.PICKED[name]
    native, item = compiled(source)[0], f"V{width}"
    for extra in (1, 2, 63 // width, 64 // width, 64 // width + 1, 200):
        n, shape = 64 // width + extra, [draw.choice((1, 2, 3, 17)) for _ in range(draw.choice((3, 4)))]
        steps_a, steps_b = ([0] * len(shape) for _ in range(2))
        row = (n - 1) * abs(step) * width
        span_a, span_b = row + width, n * width
        for k in draw.sample(range(len(shape)), len(shape)):
            steps_a[k], steps_b[k] = span_a + draw.choice((0, 5)), span_b + draw.choice((0, 3))
            span_a, span_b = steps_a[k] * (shape[k] - 1) + span_a, steps_b[k] * (shape[k] - 1) + span_b
        a, b = Guarded(span_a, flush), Guarded(span_b, flush)
        x, y = a.elements(np.dtype(np.uint8)), b.elements(np.dtype(np.uint8))
        x[:] = np.random.default_rng(n).integers(0, 256, span_a, np.uint8)
        first = row if step < 0 else 0
        of = np.ndarray((*shape, n), item, x, first, (*steps_a, step * width))
        wanted = np.full(span_b, POISON, np.uint8)
        np.ndarray((*shape, n), item, wanted, 0, (*steps_b, width))[...] = of
        words = np.ravel([*zip(shape, steps_a, steps_b, strict=True)])
        params = np.array([n * width, len(shape), draw.choice((1, 4)), *words], np.int64)
        tasks = prod(-(-extent // step_of(data_address(params), k)) for k, extent in enumerate(shape))
        edges = sorted({0, tasks, *(draw.randrange(tasks + 1) for _ in range(3))})
        for function in (native, source) if prod(shape) < 10 else (native,):
            y[:] = POISON
            for begin, end in pairwise(edges):
                function(a.address + first, b.address, 0, data_address(params), 0, begin, end)
            assert a.intact() and b.intact()
            assert y.tobytes() == wanted.tobytes(), (n, shape, steps_a, steps_b)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["c8", "c16", "u1", "u2", "f4", "f8"])
def test_parts_of_arrays(kind: str, threads: int) -> None:
    with known_layouts.forgotten(NEVER):
        for shape in ((70_001,), (300, 130), (7, 9, 402)):
            x = np.random.default_rng(1).integers(-99, 99, shape).astype(kind)
            forwards = (x.real, x[..., ::2], x[..., 1::3], x[..., 3::4], x[..., ::5], x[::-1][..., ::2])
            for view in (*forwards, x[..., ::-2], x[..., -2::-3], x[::-1][..., ::-4]):
                for axes in (None, range(view.ndim)):
                    wanted = np.transpose(view, axes)
                    out = np.zeros(wanted.shape, view.dtype, "F" if axes is None else "C")
                    assert ttc_llvm.transpose(view, axes, out=out, threads=threads) is out
                    assert (out == wanted).all()
        assert layouts()._word(fields.OWNED) == 0
