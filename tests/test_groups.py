"""`ttc_llvm.grouped`: blocks of all kinds at once, refused where they do not fit, from cold, in threads and forks."""

from __future__ import annotations

import itertools
import pickle
import sys
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import fuzz_groups
import numpy as np
import pytest
from forks import forked
from known_layouts import forgotten
from processes import attempt, together

import ttc_llvm
from ttc_llvm import ArrayError, TtcError
from ttc_llvm.arrays import assignment, without_kernels
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.arrays.scalings import PLAIN
from ttc_llvm.groups import checks, code, rows
from ttc_llvm.groups.blocks import Blocks, read
from ttc_llvm.groups.table import Table
from ttc_llvm.ir_builders import group_fields as fields
from ttc_llvm.ir_builders import group_planner, group_walk
from ttc_llvm.ir_builders.layout_fields import KERNEL, PARAMS

F8 = np.dtype("f8")
SMALL = {"SERIAL_BYTES": 1 << 10, "TASK_BYTES": 1 << 9, "LARGE_BYTES": 48 << 10, "PAST_BYTES": 24 << 10}
SHAPES = [(3, 4, 5), (1, 16, 2), (40, 33, 9), (7,) * 3, (3, 4, 5)]
AXES = (2, 0, 1)


def arrays(shapes: Sequence[tuple[int, ...]], dtype: Any = "f8", seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 100, shape).astype(dtype) for shape in shapes]


def results(list_a: list[Any], axes: Any = AXES, dtype: Any = None) -> list[Any]:
    return [np.full(x.transpose(axes).shape, 77, dtype or x.dtype) for x in list_a]


def check(list_a: list[Any], list_b: list[Any], axes: Any = AXES) -> None:
    for x, y in zip(list_a, list_b, strict=True):
        np.testing.assert_array_equal(x.transpose(axes), y)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Small groups are shared by threads, and written past the caches."""
    for name, value in SMALL.items():
        monkeypatch.setattr(f"ttc_llvm.groups.table.{name}", value)


@pytest.mark.parametrize("seed", range(24))
def test_any_blocks(seed: int, small: Any) -> None:
    """Every element, and everything around: blocks lie between guard pages."""
    goals = ("", "", "way=calls of their own", "scaling=mixed", "strides=odd", "kinds=any-any")
    with forgotten():
        fuzz_groups.attack(Random(f"groups {seed}"), goals[seed % len(goals)])


def test_addresses_of_one_buffer() -> None:
    a, offsets = np.random.default_rng(1).random(10_000), np.array([0, 800, 4000, 100, 60_000])
    shapes = [(5, 20), (2, 3, 4), (6, 1), (10, 10), (2, 2, 2, 2)]
    ends = np.cumsum([0, *(8 * int(np.prod(shape)) for shape in shapes)])
    b = np.zeros(int(ends[-1]) // 8)
    ttc_llvm.grouped(shapes, None, "f8").run(a.ctypes.data + offsets, b.ctypes.data + ends[:-1])
    for shape, offset, end in zip(shapes, offsets, ends[1:], strict=True):
        size = int(np.prod(shape))
        wanted = np.ndarray(shape, buffer=a, offset=offset).T  # one of them at an odd address
        np.testing.assert_array_equal(b[end // 8 - size : end // 8], wanted.ravel())


def test_new_results_and_defaults_of_a_plan() -> None:
    list_a = arrays(SHAPES, "f4")
    plan = ttc_llvm.grouped(SHAPES, AXES, "f4", alpha=2)
    check([2 * x for x in list_a], plan(list_a))
    check(list_a, plan(tuple(list_a), alpha=1))
    list_b = results(list_a)
    assert plan(list_a, list_b, alpha=-1, beta=0.5) is list_b
    check([np.float32(38.5) - x for x in list_a], list_b)
    check([x.astype("f8") for x in list_a], ttc_llvm.grouped(SHAPES, AXES, ("f4", "f8"))(list_a))


def test_no_blocks_and_empty_blocks() -> None:
    assert ttc_llvm.grouped([], (1, 0), "f8")([], []) == []
    plan = ttc_llvm.grouped([(0, 3), (2, 0), (2, 3)], (1, 0), "f8")
    list_a = arrays([(0, 3), (2, 0), (2, 3)])
    check(list_a, plan(list_a), (1, 0))
    b = np.empty(6)
    plan.run([0, 0, list_a[2].ctypes.data], [0, b.ctypes.data, b.ctypes.data])
    np.testing.assert_array_equal(b, list_a[2].T.ravel())


@pytest.mark.parametrize("count", [1, 3])
def test_tiles_of_one_matrix_interleave(count: int) -> None:
    """A's tiles come from elsewhere at each call: rows are compared once, and an overlap is found all the same."""
    whole, tiles = np.zeros((64, 96)), list(itertools.product(range(0, 64, 16), range(0, 96, 24)))
    list_b = [whole[i : i + 16, k : k + 24] for i, k in tiles]
    plan = ttc_llvm.grouped([(24, 16)] * len(tiles), (1, 0), F8, out_strides=[whole.strides] * len(tiles))
    for seed in range(count):
        list_a = arrays([(24, 16)] * len(tiles), seed=seed)
        plan(list_a, list_b)
        check(list_a, list_b, (1, 0))
        with pytest.raises(ArrayError, match="blocks 0 and 1 of B share memory"):
            plan(list_a, [list_b[0], whole[8:24, :24], *list_b[2:]])


def test_a_and_b_may_interleave() -> None:
    whole = np.random.default_rng(0).random((8, 40))
    before, halves = whole.copy(), [whole[:, 5 * k : 5 * k + 5] for k in range(8)]
    plan = ttc_llvm.grouped([(8, 5)] * 4, None, "f8", [whole.strides] * 4, out_strides=[whole.T.strides] * 4)
    plan(halves[::2], [half.T for half in halves[1::2]])
    check([before[:, 10 * k : 10 * k + 5] for k in range(4)], [half.T for half in halves[1::2]], None)
    with pytest.raises(ArrayError, match="block 1 of A shares memory with block 3 of B"):
        plan([halves[0], halves[7], *halves[4::2]], [half.T for half in halves[1::2]])


def a_list(change: Any) -> Any:
    """A call with changed lists."""

    def called() -> None:
        list_a = arrays(SHAPES)
        list_b = results(list_a)
        change(list_a, list_b)
        ttc_llvm.grouped(SHAPES, AXES, "f8")(list_a, list_b)

    return called


def an_address(change: Any) -> Any:
    """A call with changed addresses."""

    def called() -> None:
        list_a = arrays(SHAPES)
        list_b = results(list_a)
        a, b = (np.array([x.ctypes.data for x in arrays]) for arrays in (list_a, list_b))
        change(a, b)
        ttc_llvm.grouped(SHAPES, AXES, "f8").run(a, b)

    return called


class Derived(np.ndarray[Any, Any]):
    """An array of another class."""


def locked(x: Any) -> Any:
    x.flags.writeable = False
    return x


REFUSED = {
    r"shapes\[1\] 5 is not a sequence": lambda: ttc_llvm.grouped([(2, 3), 5], (1, 0), "f8"),
    r"shapes\[0\]\[1\] 2.5 is not an integer": lambda: ttc_llvm.grouped([(2, 2.5)], (1, 0), "f8"),
    r"block 1 has shape \(2, -3\): extents": lambda: ttc_llvm.grouped([(2, 3), (2, -3)], (1, 0), "f8"),
    r"block 0 has shape .*: no memory": lambda: ttc_llvm.grouped([(1 << 40, 1 << 40)], (1, 0), "f8"),
    r"axes \(1, 0\) do not permute the 3 axes of block 1": lambda: ttc_llvm.grouped([(2, 3), (2, 3, 4)], (1, 0), "f8"),
    r"axes \(1, 1\) do not permute the 2 axes of block 0": lambda: ttc_llvm.grouped([(2, 3)], (1, 1), "f8"),
    r"axes \(0, 2\) do not permute the 2 axes of block 1": lambda: ttc_llvm.grouped(
        [(2, 3)] * 2, [(1, 0), (0, 2)], "f8"),
    r"axes are those of 1 blocks: there are 2": lambda: ttc_llvm.grouped([(2, 3)] * 2, [(1, 0)], "f8"),
    r"axes\[0\] 'a' is not a sequence": lambda: ttc_llvm.grouped([(2, 3)], "ab", "f8"),
    r"strides are those of 1 blocks": lambda: ttc_llvm.grouped([(2, 3)] * 2, (1, 0), "f8", [(8, 16)]),
    r"strides\[1\] has 1 items: block 1 has 2": lambda: ttc_llvm.grouped([(2, 3)] * 2, None, "f8", [None, (8,)]),
    r"elements of block 1 of B share memory": lambda: ttc_llvm.grouped(
        [(2, 3)] * 2, None, "f8", out_strides=[None, (8, 8)]),
    r"dtype object holds Python objects": lambda: ttc_llvm.grouped([(2, 3)], None, "O"),
    r"dtype 'f9' is none": lambda: ttc_llvm.grouped([(2, 3)], None, "f9"),
    r"groups do not convert float64 to int8": lambda: ttc_llvm.grouped([(2, 3)], None, ("f8", "i1")),
    r"list_a has 4 arrays: the plan has 5": a_list(lambda a, b: a.pop()),
    r"list_a\[2\] has dtype float32: the plan is for float64": a_list(
        lambda a, b: a.__setitem__(2, a[2].astype("f4"))),
    r"list_b\[4\] has shape \(5, 4, 3\): block 4 has \(5, 3, 4\)": a_list(
        lambda a, b: b.__setitem__(4, np.empty((5, 4, 3)))),
    r"list_a\[3\] has strides \(8, 56, 392\): the plan is for \(392, 56, 8\); `strides`": a_list(
        lambda a, b: a.__setitem__(3, a[3].T)),
    r"list_b\[0\] is read-only": a_list(lambda a, b: locked(b[0])),
    r"list_b\[1\] is a int: it must be an array": a_list(lambda a, b: b.__setitem__(1, 5)),
    r"list_a\[2\] is a masked array": a_list(lambda a, b: a.__setitem__(2, np.ma.masked_array(a[2]))),
    r"blocks 0 and 4 of B share memory": a_list(lambda a, b: b.__setitem__(4, b[0])),
    r"block 4 of A shares memory with block 0 of B": a_list(
        lambda a, b: a.__setitem__(4, b[0].reshape(3, 4, 5))),
    r"block 1 of A has elements, and the address 0": an_address(lambda a, b: a.__setitem__(1, 0)),
    r"block 3 of B has elements, and the address -8": an_address(lambda a, b: b.__setitem__(3, -8)),
    r"blocks 0 and 2 of B share": an_address(lambda a, b: b.__setitem__(0, b[2] + 8 * 40 * 33 * 9 - 1)),
    r"addresses_a have dtype float64": lambda: ttc_llvm.grouped(SHAPES, AXES, "f8").run([0.5] * 5, [1] * 5),
    r"the plan takes 5 integers": lambda: ttc_llvm.grouped(SHAPES, AXES, "f8").run([1] * 4, [1] * 5),
    r"effort 0 is neither": lambda: ttc_llvm.grouped(SHAPES, AXES, "f8", effort=0),
    r"beta = 2.0 without list_b": lambda: ttc_llvm.grouped(SHAPES, AXES, "f8")(arrays(SHAPES), beta=2),
}  # fmt: skip


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_does_not_fit_is_refused_in_a_sentence(wrong: str) -> None:
    with pytest.raises(TtcError, match=wrong) as refused:
        REFUSED[wrong]()
    assert "\n" not in str(refused.value)


def test_objects_that_numpy_reads_are_read_one_by_one() -> None:
    list_a = arrays(SHAPES)
    mixed = [list_a[0], memoryview(list_a[1]), list_a[2].view(Derived), list_a[3].tolist(), list_a[4]]
    check(list_a, ttc_llvm.grouped(SHAPES, AXES, "f8")(mixed))


def test_a_plan_says_what_it_does() -> None:
    plan = ttc_llvm.grouped([*SHAPES, (0, 1, 2), (100, 30, 35)], AXES, "f8")
    assert repr(plan) == "<GroupedPlan: 7 blocks of float64, 1.8 MiB>"
    assert plan.explain().splitlines()[1:] == [
        "  5 blocks of 4 layouts by indexed runs, 0.2 MiB", "  1 blocks of 1 layouts by any-size kernels, 1.6 MiB",
        "  1 blocks of 1 layouts by nothing: they are empty, 0.0 MiB",
    ]  # fmt: skip
    assert len(plan) == 7


def ways(plan: Any) -> set[str]:
    return {line.rpartition(" by ")[2].partition(",")[0] for line in plan.explain().splitlines()[1:]}


LONG = [(9, 5, 81), (3, 7, 83), (9, 5, 81), (8, 8, 7)]
LONG_AXES = [(1, 0, 2)] * 3 + [(2, 1, 0)]


@pytest.mark.parametrize(("dtype", "alpha"), [("f8", 1), ("f4", 1), ("c16", -2), ("i1", 1)])
def test_layouts_have_kernels_of_their_own_where_effort_asks(dtype: str, alpha: int) -> None:
    """All of them, at any address, on threads, and again after pickling."""
    plan = pickle.loads(pickle.dumps(ttc_llvm.grouped(LONG, LONG_AXES, dtype, alpha=alpha, effort=2)))
    assert ways(plan) == {"kernels of their own"}
    for odd, threads in itertools.product((0, 1), (1, 2)):
        memory = [np.ndarray(shape, dtype, np.zeros(1 << 16, np.uint8), odd) for shape in LONG]
        for x, y in zip(memory, arrays(LONG, dtype, seed=threads), strict=True):
            x[...] = y
        for x, y, axes in zip(memory, plan(memory, threads=threads), LONG_AXES, strict=True):
            np.testing.assert_array_equal(alpha * x.transpose(axes), y)


def test_layouts_get_kernels_of_their_own_when_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, the heaviest first, and no more than may be; new tables stand beside those that run."""
    with forgotten():
        plan, list_a = ttc_llvm.grouped(LONG, LONG_AXES, "f8", threads=2), arrays(LONG)
        plan(list_a)
        assert "kernels of their own" not in ways(plan)
        first = next(iter(plan._tables.values()))
        layouts().reset(payback=1 << 10)
        monkeypatch.setattr("ttc_llvm.groups.table.MOST_OWN", 1)
        for _ in range(3):
            layouts().rests_until = 0.0
            for x, y, axes in zip(list_a, plan(list_a), LONG_AXES, strict=True):
                np.testing.assert_array_equal(x.transpose(axes), y)
        assert {"kernels of their own", "any-size kernels"} <= ways(plan)
        assert first.ways() != next(iter(plan._tables.values())).ways()
        assert "  2 blocks of 1 layouts by kernels of their own" in plan.explain()


def test_blocks_that_crowd_a_cache_take_tiles() -> None:
    """Rows that lie 4 KiB apart share the sets of a cache: runs would fetch each line eight times."""
    assert ways(ttc_llvm.grouped([(32, 32, 32)], (2, 1, 0), "f8")) == {"any-size kernels"}
    assert ways(ttc_llvm.grouped([(32, 32, 31)], (2, 1, 0), "f8")) == {"indexed runs"}


def test_where_no_kernel_runs_numpy_moves_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignment, "_chosen", without_kernels)
    list_a = arrays(SHAPES)
    plan = ttc_llvm.grouped(SHAPES, AXES, "f8")
    check(list_a, plan(list_a))
    with pytest.raises(ArrayError, match="blocks 0 and 4 of B share memory"):
        plan(list_a, [*(b := results(list_a))[:4], b[0]])
    assert "by NumPy" in plan.explain()


# --- native code, and the same functions in Python --------------------------------------------------------


def test_records_are_the_same_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(3)
    shapes = [tuple(rng.choice((1, 2, 3, 5, 40)) for _ in range(rng.randrange(5))) for _ in range(40)]
    blocks = read(shapes, None, F8, F8)
    native = Table(blocks, PLAIN, 0)
    functions = dict(code.functions()) | {"plan_blocks": group_planner.plan_blocks}
    monkeypatch.setattr(code, "functions", lambda: functions)
    python = Table(blocks, PLAIN, 0)
    for word in range(0, fields.RECORD_BYTES, 8):
        if word not in (PARAMS, fields.LAYOUT):  # addresses
            np.testing.assert_array_equal(native.words(word), python.words(word), err_msg=str(word))
    indexed = np.isin(native.words(KERNEL), code.kernels())
    assert 10 < indexed.sum() < len(shapes)
    runs = native.words(fields.RECORD_BYTES + fields.RUN)
    for k in range(int(runs[indexed].max()) // 2):  # two offsets in a word
        here, place = indexed & (2 * k < runs - 1), fields.RECORD_BYTES + fields.RUN_PARAMS_BYTES + 8 * k
        np.testing.assert_array_equal(native.words(place)[here], python.words(place)[here])


def test_the_check_of_addresses_finds_what_rows_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random places, of which half overlap: compared with all rows, natively and in Python."""
    rng = Random(5)
    shapes = [(rng.randrange(4), rng.randrange(1, 6)) for _ in range(7)]
    blocks = read(shapes, None, F8, F8)
    table, found = Table(blocks, PLAIN, 0), set[str]()
    functions = [dict(code.functions()), {"check_blocks": group_walk.check_blocks}]
    for turn in range(300):
        a, b = (np.array([4096 + 8 * rng.randrange(200) for _ in shapes]) for _ in "ab")
        monkeypatch.setattr(code, "functions", lambda turn=turn: functions[turn % 2])
        one, other = outcome(rows.check_rows, blocks, a, b), outcome(odd, blocks, table, a, b)
        assert one == other
        found.add(one)
    assert len(found) > 20


def odd(blocks: Blocks, table: Table, a: Any, b: Any) -> None:
    assert checks.Checks(blocks).odd(table, a, b) == 0


def outcome(call: Any, *given: Any) -> str:
    try:
        call(*given)
    except ArrayError as error:
        return str(error)
    return ""


# --- processes and threads --------------------------------------------------------------------------------

COLD = """
import random, sys, threading
import numpy as np, ttc_llvm
shapes = [tuple(random.Random(k).randrange(1, 9) for _ in range(3)) for k in range(60)]
plans, barrier, wrong = [], threading.Barrier(8), []
def work(seed):
    rng = np.random.default_rng(seed)
    barrier.wait()
    plan = ttc_llvm.grouped(shapes, (2, 0, 1), "f4" if seed % 2 else "c16")
    plans.append(plan)
    barrier.wait()
    plan = plans[seed]
    for _ in range(20):
        xs = [rng.random(shape).astype(plan._blocks.of) for shape in shapes]
        if not all(np.array_equal(x.transpose(2, 0, 1), y) for x, y in zip(xs, plan(xs, threads=2))):
            wrong.append(seed)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
sys.exit(len(wrong))
"""


def test_threads_of_a_fresh_process_share_code_and_plans(tmp_path: Path) -> None:
    for _ in range(2):  # the second of which finds the code of the first
        ran = attempt(sys.executable, "-c", COLD, env={"TTC_DATABASE": str(tmp_path / "db.sqlite3")})
        assert (ran.returncode, ran.stderr) == (0, "")


def test_forked_children_run_plans_of_their_parents(small: Any) -> None:
    list_a = arrays(SHAPES)
    plan = ttc_llvm.grouped(SHAPES, AXES, "f8", threads=2)
    plan(list_a)

    def right() -> bool:
        return all(np.array_equal(x.transpose(AXES), y) for x, y in zip(list_a, plan(list_a), strict=True))

    assert forked(right) == 0 and right()


def test_threads_share_one_plan(small: Any) -> None:
    plan = ttc_llvm.grouped(SHAPES, AXES, "f8", threads=2)
    barrier, wrong = threading.Barrier(4), list[int]()

    def work(seed: int) -> None:
        barrier.wait()
        for turn in range(50):
            list_a = arrays(SHAPES, seed=100 * seed + turn)
            for x, y in zip(list_a, plan(list_a, alpha=1 + turn % 2), strict=True):
                wrong.extend([seed] * (not np.array_equal((1 + turn % 2) * x.transpose(AXES), y)))

    together(work, range(4))
    assert wrong == []


def test_orders_live_while_native_code_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = read(SHAPES, AXES, F8, F8)
    found, native = checks.Checks(blocks), dict(code.functions())
    orders = [weakref.ref(order) for order in found._orders.values()]
    alive = list[bool]()

    def check_blocks(words: int) -> int:
        found._orders = {side: order.copy() for side, order in found._orders.items()}  # as another thread does
        alive.extend(order() is not None for order in orders)
        return fields.APART

    monkeypatch.setattr(code, "functions", lambda: {**native, "check_blocks": check_blocks})
    places = np.arange(len(SHAPES))
    found.odd(Table(blocks, PLAIN, 0), places, places)
    assert alive == [True, True]


def test_other_orders_read_no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are many, and lie apart: where blocks begin is known when the plan is made."""
    blocks = [np.arange(12.0).reshape(3, 4) + k for k in range(20)]
    made = [np.zeros((4, 3)) for _ in blocks]
    plan = ttc_llvm.grouped([(3, 4)] * 20, None, "f8")
    a, b = ([x.ctypes.data for x in arrays] for arrays in (blocks, made))
    plan.run(a, b)
    monkeypatch.setattr(Table, "words", None)
    for order in (range(19, -1, -1), Random(1).sample(range(20), 20)):
        plan.run([a[k] for k in order], [b[k] for k in order])
        assert all(np.array_equal(x.T, y) for x, y in zip(blocks, made, strict=True))
        for y in made:
            y[:] = 0


def test_a_plan_outlives_forgotten_layouts() -> None:
    list_a = arrays(SHAPES)
    plan = ttc_llvm.grouped(SHAPES, AXES, "f8")
    layouts().clear()
    check(list_a, plan(list_a))


def test_plans_are_pickled() -> None:
    list_a = arrays(SHAPES)
    strides = [None, *(x.strides for x in list_a[1:])]
    plan = ttc_llvm.grouped(SHAPES, [AXES, None, AXES, AXES, AXES], "f8", strides, alpha=2.0)
    again = pickle.loads(pickle.dumps(plan))
    for x, y in zip(plan(list_a), again(list_a), strict=True):
        np.testing.assert_array_equal(x, y)


