"""Copies that permute nothing: every byte, and none beside them, however tasks are divided."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from test_integer_code import compiled

import ttc_llvm
from ttc_llvm.arrays import layout_code
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.ir_builders.contiguous_copy import copy_bytes, copy_bytes_past
from ttc_llvm.ir_builders.layout_fields import PREPARED_BYTES
from ttc_llvm.operands.addresses import data_address
from ttc_llvm.runtime import backend

SIZES = (1, 2, 63, 64, 65, 127, 200, 255, 256, 257, 4095, 70_001)
MEMCPY = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0


@pytest.mark.parametrize("source", [copy_bytes, copy_bytes_past])
def test_every_byte_is_copied_and_no_other_one_written(source: object) -> None:
    functions = (source, compiled(source)[0])  # type: ignore[arg-type]
    draw, content = random.Random(1), np.random.default_rng(1).integers(0, 256, 80_000, np.uint8)
    for size in SIZES:
        for _ in range(12):
            step, odd_a, odd_b = draw.choice((1, 40, 64, 1000, size)), draw.randrange(70), draw.randrange(70)
            params = np.array([size, step, MEMCPY], np.int64)
            tasks = -(-size // step)
            edges = sorted({0, tasks, *(draw.randrange(tasks + 1) for _ in range(3))})
            for function in functions:
                to = np.full(size + 200, 0xEE, np.uint8)
                for begin, end in zip(edges, [*edges[1:], tasks + 5], strict=True):
                    function(  # type: ignore[operator]
                        data_address(content) + odd_a, data_address(to) + odd_b, 0, data_address(params), 0, begin, end
                    )
                assert (to[odd_b:][:size] == content[odd_a:][:size]).all(), (size, step, odd_a, odd_b)
                assert (to[:odd_b] == 0xEE).all() and (to[odd_b + size :] == 0xEE).all()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 1000, 300_001, 2_000_003])
def test_arrays_are_copied_so_and_get_no_kernel_of_their_own(count: int, threads: int) -> None:
    table = layouts()
    table.reset(payback=1 << 16)
    x = np.random.default_rng(count).integers(-99, 99, count + 3).astype("i2")[3:]
    for _ in range(5):
        y = np.full(count + 20, 77, "i2")
        ttc_llvm.transpose(x, out=y[9 : 9 + count], threads=threads)
        assert (y[9 : 9 + count] == x).all() and (y[:9] == 77).all() and (y[9 + count :] == 77).all()
        assert (ttc_llvm.transpose(x.reshape(1, count), (1, 0), threads=threads).ravel() == x).all()
    assert table._word(fields.OWNED) == 0
    table.reset()


def test_one_thread_copies_what_the_caches_hold_and_several_what_they_do_not() -> None:
    table, target = layouts(), backend.host_target()
    l2, past = target.l2, max(4 * target.l2, target.kept)
    addresses = layout_code.entries()
    streams = "copy_bytes_past" if target.streams else "copy_bytes"
    half = target.kept * 9 // 16  # moves more than other results that the last cache keeps
    cases = [(l2 // 2, "copy_bytes", 1), (half, "copy_bytes", half >> 19), (past, streams, past >> 19)]
    for size, kernel, parts in cases if half else cases[::2]:
        words = np.array([1, 1, size, 1, 1], np.int64)
        found = table.planned(words.tobytes(), checked=True)
        assert not isinstance(found, int)
        assert (found.kernel, found.parts, found.weight) == (addresses[kernel], parts, 0)
        assert found.words[PREPARED_BYTES // 8] == size
