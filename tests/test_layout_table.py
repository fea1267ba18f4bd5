"""The table of layouts: finds what was put, forgets what was not used, stays within bounds, and owns what it should."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import struct
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import known_layouts
import numpy as np
import pytest
from processes import PATIENCE

import ttc_llvm
from ttc_llvm.arrays import layout_keys, strided
from ttc_llvm.arrays.layout_code import functions
from ttc_llvm.arrays.layout_keys import layout_of
from ttc_llvm.arrays.layouts import MOST_BYTES, Layouts, layouts
from ttc_llvm.arrays.native_entry import NO_MOVES
from ttc_llvm.arrays.scalings import PLAIN
from ttc_llvm.ir_builders import layout_fields, layout_table
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.ir_builders.prepared_calls import LEAST_BYTES
from ttc_llvm.operands.addresses import data_address

WORDS = layout_fields.PREPARED_BYTES // 8
OWNER, TASKS, LEFT = (at // 8 for at in (layout_fields.OWNER, layout_fields.TASKS, layout_fields.LEFT))


@pytest.fixture
def table() -> Any:
    made = Layouts()
    yield made
    made.clear()


def some(number: int, rank: int = 3) -> bytes:
    """A layout like no other."""
    return struct.pack(f"{2 + 3 * rank}q", 8, rank, number, *range(3 * rank - 1))


def put(table: Layouts, layout: bytes, mark: int, owner: Any = None) -> int:
    words = np.zeros(WORDS, np.int64)
    words[TASKS], words[LEFT], words[OWNER] = mark, 1 << 40, 0 if owner is None else id(owner)
    return int(functions()["put"](table.address, layout, data_address(words)))


def found(table: Layouts, layout: bytes) -> int | None:
    """The mark under which it was put."""
    at = functions()["find"](table.address, layout)
    return ctypes.c_int64.from_address(at + layout_fields.TASKS).value if at else None


class Owner:
    """Something to be kept."""

    alive = 0

    def __init__(self, last: Callable[[], Any] = lambda: None) -> None:
        Owner.alive += 1
        self.last = last

    def __del__(self) -> None:
        Owner.alive -= 1
        self.last()


# --- finding --------------------------------------------------------------------------------------------


def test_what_was_put_is_found(table: Layouts) -> None:
    draw, known = random.Random(3), dict[bytes, int]()
    for step in range(20_000):
        layout = some(draw.randrange(3000), draw.choice((0, 1, 2, 3, 5, 64)) or 1)
        if draw.random() < 0.5:
            known[layout] = step
            assert put(table, layout, step)
        assert found(table, layout) == known.get(layout)
        if step == 9_000:
            table.clear()
            known.clear()
    assert len(table) == len(known)
    assert all(found(table, layout) == mark for layout, mark in known.items())


def test_layouts_that_differ_in_one_word_are_different(table: Layouts) -> None:
    words = list(range(1, 12))
    variants = [words] + [[*words[:k], words[k] + (1 << b), *words[k + 1 :]] for k in range(2, 11) for b in (0, 31, 62)]
    variants = [[8, 3, *variant[2:]] for variant in variants] + [[9, 3, *words[2:]], [8, 2, *words[2:8]]]
    for mark, variant in enumerate(variants):
        put(table, struct.pack(f"{len(variant)}q", *variant), mark)
    for mark, variant in enumerate(variants):
        assert found(table, struct.pack(f"{len(variant)}q", *variant)) == mark
    assert found(table, struct.pack("8q", 8, 2, *words[2:7], 99)) is None


def test_the_table_is_the_same_in_python(table: Layouts) -> None:
    table.reset(capacity=20)
    draw = random.Random(4)
    for step in range(200):
        layout, words = np.frombuffer(some(draw.randrange(40)), np.int64), np.zeros(WORDS, np.int64)
        words[TASKS] = step
        in_python = layout_table.find(table.address, data_address(layout))
        assert in_python == functions()["find"](table.address, layout.tobytes())
        if not in_python:
            assert layout_table.put(table.address, data_address(layout), data_address(words))
        assert len(table) <= 20
    layout_table.clear(table.address)
    assert len(table) == table.nbytes == 0


# --- bounds ---------------------------------------------------------------------------------------------


def test_what_is_used_stays(table: Layouts) -> None:
    table.reset(capacity=300)
    for number in range(3000):
        put(table, some(number), number)
        assert found(table, some(7 if number >= 7 else 0)) is not None
        assert len(table) <= 300
    assert found(table, some(2)) is None
    assert sum(found(table, some(number)) == number for number in range(3000)) == 300


def test_bytes_are_bounded(table: Layouts) -> None:
    table.reset(most_bytes=100_000)
    for number in range(3000):
        put(table, some(number, 1 + number % 64), number)
        assert table.nbytes <= 100_000 + 16 * 1024
    assert len(table) > 50


def test_twenty_thousand_of_any_rank_are_remembered(table: Layouts) -> None:
    largest = fields.LAYOUT + layout_fields.LAYOUT_BYTES + fields.PARAMS_BYTES
    assert largest <= 2048
    assert 20_000 * largest <= MOST_BYTES
    for number in range(20_000):
        assert put(table, some(number, 64), number)
    assert len(table) == 20_000
    assert all(found(table, some(number, 64)) == number for number in range(20_000))
    assert table.nbytes <= 20_000 * 2048


def test_those_with_an_owner_have_a_bound_of_their_own(table: Layouts) -> None:
    table.reset(most_owned=10)
    for number in range(400):
        put(table, some(number), number, Owner() if number % 4 == 0 else None)
        assert Owner.alive <= 11  # one is released by the next change
    assert sum(found(table, some(number)) is not None for number in range(0, 400, 4)) == 10
    assert all(found(table, some(number)) == number for number in range(400) if number % 4)
    table.clear()
    assert Owner.alive == 0


# --- owners ---------------------------------------------------------------------------------------------


def test_owners_live_as_long_as_their_layout_or_its_user(table: Layouts) -> None:
    executable: Any = Owner()
    put(table, some(1), 5, executable)
    before = sys.getrefcount(executable)
    known = table.recall(some(1))
    assert known is not None and known.executable is executable and known.tasks == 5
    assert sys.getrefcount(executable) == before + 1
    del executable
    put(table, some(1), 6)
    table.clear()
    assert Owner.alive == 1
    del known
    assert Owner.alive == 0


def _use(table: Layouts, number: int) -> None:
    put(table, some(1000 + number), number)
    if number % 50 == 0:
        table.clear()


def test_destructors_of_owners_may_use_the_table(table: Layouts) -> None:
    table.reset(capacity=8)
    for number in range(500):
        owner = Owner(partial(_use, table, number))
        put(table, some(number), number, owner)
        del owner
        assert found(table, some(number)) in (number, None)
        assert len(table) <= 8
    table.clear()
    table.clear()
    assert Owner.alive == 0


# --- memory ---------------------------------------------------------------------------------------------


def test_layouts_are_served_where_there_is_no_memory_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Layouts()
    monkeypatch.setattr(strided, "layouts", lambda: table)
    monkeypatch.setattr(strided, "native_moves", lambda: NO_MOVES)  # which have the table of this process
    x = np.random.default_rng(1).random((6, 7, 9))
    refused = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda _: None)
    kept = table._word(fields.ALLOCATE)
    for memory in (refused, None):
        table._set(fields.ALLOCATE, ctypes.cast(refused, ctypes.c_void_p).value or 0 if memory else kept)
        for axes in ((2, 0, 1), (1, 2, 0), (0, 2, 1)):
            for _ in range(3):
                view = x.transpose(axes)
                out = np.full(view.shape, np.nan)
                strided.assign(view, out, PLAIN, 1, 1, fresh=True)
                assert (out == view).all()
        assert len(table) == (0 if memory else 3)


def test_a_list_that_cannot_grow_evicts(table: Layouts) -> None:
    for number in range(256):
        put(table, some(number), number)
    allocate = ctypes.pythonapi.PyMem_RawMalloc
    allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    small = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda size: allocate(size) if size < 4096 else None)
    table._set(fields.ALLOCATE, ctypes.cast(small, ctypes.c_void_p).value or 0)
    for number in range(256, 1000):
        assert put(table, some(number), number)
    assert len(table) == 256


# --- transposing ----------------------------------------------------------------------------------------


def arrays(count: int, seed: int) -> list[tuple[Any, tuple[int, ...]]]:
    """Small arrays and axes."""
    draw, made = random.Random(seed), []
    for _ in range(count):
        rank = draw.randint(2, 6)
        shape = [draw.randint(1, 12) for _ in range(rank)]
        while prod(shape) > 3000:
            shape[draw.randrange(rank)] = 2
        x = np.frombuffer(draw.randbytes(8 * prod(shape)), draw.choice(("i8", "V8"))).reshape(shape)
        made.append((x, tuple(draw.sample(range(rank), rank))))
    return made


def agree(x: Any, axes: Any, **given: Any) -> None:
    assert ttc_llvm.transpose(x, axes, **given).tobytes() == x.transpose(axes).tobytes()


def test_every_element_is_right_under_pressure() -> None:
    """More layouts than are remembered, from several threads, some of which get kernels of their own."""
    cases, wrong = arrays(400, 5), list[BaseException]()
    with known_layouts.forgotten(LEAST_BYTES * 6):
        layouts().reset(capacity=100, most_owned=4, payback=LEAST_BYTES * 6)

        def work(seed: int) -> None:
            draw = random.Random(seed)
            try:
                for _ in range(1500):
                    x, axes = cases[int(len(cases) * draw.random() ** 3)]
                    agree(x, draw.choice((axes, [*axes])))
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert len(layouts()) <= 100


def test_layouts_that_are_used_in_turn_do_not_all_wait_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided, "REST", 1 << 30)
    cases = [(np.random.default_rng(1).random((n, 3)), (1, 0)) for n in range(2, 42)]
    with known_layouts.forgotten(3 * LEAST_BYTES):
        for _ in range(10):
            for x, axes in cases:
                agree(x, [*axes])
        served = [known_layouts.served_by(*case) for case in cases]
        assert (served.count("own"), served.count("family")) == (2, 38)  # the first one lets others follow at once


def test_efforts_and_threads_have_layouts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.zeros((400, 500)), np.zeros((400, 500))

    def layout(threads: int, effort: int, odd: int = 0) -> bytes:
        return layout_of(x, y, PLAIN, threads, effort, odd)

    assert len({layout(1, 1), layout(2, 1), layout(3, 1), layout(1, 2), layout(1, -1), layout(1, 1, 3)}) == 6
    assert layout(100, 1) == layout(200, 1)  # more than are worth their while
    assert layout_of(x[:2, :2], y[:2, :2], PLAIN, 8, 1, 0) == layout_of(x[:2, :2], y[:2, :2], PLAIN, 1, 1, 0)
    monkeypatch.setattr(layout_keys, "MOST_NUMBERS", 3)
    monkeypatch.setattr(layout_keys, "_numbers", {(1, 1): 0})
    with known_layouts.forgotten():
        agree(x, (1, 0), threads=1)
        assert len({layout(1, effort) for effort in range(2, 5)}) == len(layouts()) + 2
        assert layout(1, 77) not in (layout(1, 1), layout(2, 1))  # numbers begin anew, and so does what has them
        assert len(layouts()) == 0


PROGRAM = """
import os, random, sys, threading
import numpy as np
import ttc_llvm
gate, wrong = threading.Barrier(8), []
def work(seed):
    draw = random.Random(seed)
    gate.wait()
    for _ in range(100):
        rank = draw.randint(2, 4)
        x = np.frombuffer(draw.randbytes(8 * 6 ** rank), "i8").reshape((6,) * rank)
        x = x[tuple(slice(0, draw.randint(1, 6), draw.choice((1, 2))) for _ in range(rank))]
        axes = tuple(draw.sample(range(rank), rank))
        if ttc_llvm.transpose(x, axes).tobytes() != x.transpose(axes).tobytes():
            wrong.append(x.shape)
def together():
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads: thread.start()
    if FORKS:
        child = os.fork()
        if child == 0:
            work_alone()
        wrong.extend([] if os.waitpid(child, 0)[1] == 0 else ["child"])
    for thread in threads: thread.join()
def work_alone():
    global gate
    gate = threading.Barrier(1)
    work(99)
    os._exit(len(wrong))
together()
print(wrong)
"""


@pytest.mark.parametrize("forks", [False, True])
def test_threads_begin_at_once_in_a_new_process(tmp_path: Path, forks: bool) -> None:
    if forks and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    environment = {**os.environ, "TTC_DATABASE": str(tmp_path / "solutions"), "PYTHONWARNINGS": "ignore"}
    for _ in range(2):  # without code in the database, and with it
        program = textwrap.dedent(PROGRAM).replace("FORKS", str(forks))
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)
        assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_a_table_of_tests_leaves_nothing() -> None:
    gc.collect()
    assert Owner.alive == 0
