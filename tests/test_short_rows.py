"""Kernels of short rows: every byte arrives, none beside them is written, however tasks are divided."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from itertools import pairwise
from math import prod

import known_layouts
import numpy as np
import pytest
from test_integer_code import compiled

import ttc_llvm
from ttc_llvm.arrays import layout_code
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.ir_builders import short_rows as rows
from ttc_llvm.operands.addresses import data_address

CASES = 25
NEVER = 1 << 60
POISON = 0xEE
KINDS = "S3", "S5", "V6", "V7", "V12", "V24", "U8", "V77", "3u1", "2f8", "16f8", "130f8", "256f8", "2000f8"
MEMCPY = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value


def shapes(draw: random.Random) -> Iterator[list[int]]:
    """Extents of the axes beside the rows: below, at and above a tile's edges."""
    while True:
        shape = [draw.choice((1, 2, 3, 5, 15, 16, 17, 33)) for _ in range(draw.randint(rows.TILED, rows.MOST_AXES))]
        if prod(shape) <= 4000:
            yield shape


def strided(draw: random.Random, shape: list[int], size: int) -> tuple[list[int], int]:
    """Strides in bytes of rows that lie apart, in any order of the axes, and the bytes that they span."""
    strides, step = [0] * len(shape), size + draw.choice((0, 0, 1, 5))
    for k in draw.sample(range(len(shape)), len(shape)):
        strides[k], step = step, step * shape[k] + draw.choice((0, 0, 3))
    return strides, step


@pytest.mark.parametrize("name", (*layout_code.ROWS, *layout_code.SINGLE))
def test_rows_of_every_length_arrive(name: str) -> None:
    source, draw = getattr(rows, name), random.Random(name)
    width = int(name.rpartition("_")[2]) if name[-1].isdigit() else rows.SHORT
    native, given = compiled(source)[0], shapes(draw)
    most = rows.MOST_AXES - (name == "copied_rows")
    for _ in range(CASES):
        unit = width if name in layout_code.SINGLE else draw.randint(width, 2 * width)
        row = [draw.randint(2, 5) for _ in range(draw.randint(1, 4))] if "gathered" in name else []
        shape, edge = next(given)[: most - len(row)], draw.choice((1, 16, 20, 512))
        size, nearest = unit * prod(row), [unit * prod(row[:k]) for k in range(len(row))]
        (steps_a, span_a), (steps_b, span_b) = strided(draw, [*shape, *row], unit), strided(draw, shape, size)
        x = np.random.default_rng(draw.randrange(99)).integers(0, 256, span_a + 64, np.uint8)
        axes = zip([*shape, *row], steps_a, [*steps_b, *nearest], strict=True)
        words = [size, len(shape), edge, *np.ravel([*axes])]
        params = np.array([*words, *[MEMCPY] * (rows.COPY // 8 + 1 - len(words))], np.int64)
        tasks = prod(-(-n // rows.step_of(data_address(params), k)) for k, n in enumerate(shape))
        edges = sorted({0, tasks, *(draw.randrange(tasks + 1) for _ in range(4))})
        of = np.lib.stride_tricks.as_strided(x[7:], (*shape, *row, unit), (*steps_a, 1))
        for function in (native, source) if prod(shape) < 400 else (native,):
            y, wanted = (np.full(span_b + 64, POISON, np.uint8) for _ in range(2))
            np.lib.stride_tricks.as_strided(wanted[9:], of.shape, (*steps_b, *nearest, 1))[...] = of
            for begin, end in pairwise(edges):
                function(data_address(x) + 7, data_address(y) + 9, 0, data_address(params), 0, begin, end)
            assert (y == wanted).all(), (shape, size, edge, steps_a, steps_b)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_odd_items_and_short_rows(kind: str, threads: int) -> None:
    """A digit first: a last axis of so many elements, which stays the last."""
    draw, row, item = random.Random(kind), (), np.dtype(kind)
    if item.subdtype:
        item, row = item.subdtype
    with known_layouts.forgotten(NEVER):
        for shape in ((60, 70), (3, 40, 2, 9), (2, 3, 2, 3, 2, 5), (1500, 33)):
            content = np.random.default_rng(1).integers(0, 256, prod((*shape, *row)) * item.itemsize, np.uint8)
            x = content.view(item).reshape((*shape, *row))
            axes = (*draw.sample(range(len(shape)), len(shape)), *range(len(shape), x.ndim))
            for view in (x, x[::-1], x[:, ::2]):
                wanted = view.transpose(axes)
                out = np.zeros(wanted.shape, item)
                ttc_llvm.transpose(view, axes, out=out, threads=threads)
                assert out.tobytes() == wanted.tobytes(), (shape, axes, view.strides)
        assert layouts()._word(fields.OWNED) == 0


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["u1", "f2", "f4", "c8", "c16", "U4", "S8"])
def test_items_that_lie_apart_from_each_other(kind: str, threads: int) -> None:
    """Axes too short for vectors, in any order, mirrored and with gaps."""
    draw, item = random.Random(kind), np.dtype(kind)
    with known_layouts.forgotten(NEVER):
        for shape in ((7, 6, 7, 4, 5, 2), (2, 3, 6, 3, 2, 3), (4, 40, 5, 20, 3), (3, 2, 5, 4, 5, 4), (90, 7, 70)):
            content = np.random.default_rng(2).integers(0, 256, 2 * prod(shape) * item.itemsize, np.uint8)
            x = content.view(item).reshape((*shape, 2))
            for view in (x[..., 0], x[:, ::-1, ..., 1], x[..., ::-1, 0], x[1:, ..., :2, 1]):
                axes = draw.sample(range(view.ndim), view.ndim)
                wanted = view.transpose(axes)
                out = np.zeros(wanted.shape, item)
                ttc_llvm.transpose(view, axes, out=out, threads=threads)
                assert out.tobytes() == wanted.tobytes(), (shape, axes, view.strides)
        assert layouts()._word(fields.OWNED) == 0
