"""The native entries of `transpose`, `ascontiguousarray`, `asfortranarray` do what Python's do."""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from known_layouts import NATIVE, forget
from processes import PATIENCE

import ttc_llvm
from ttc_llvm.arrays import builtin_functions, public, transposing
from ttc_llvm.arrays.layouts import layouts
from ttc_llvm.arrays.orders import ORDERS
from ttc_llvm.ir_builders import planner_fields
from ttc_llvm.operands import object_fields
from ttc_llvm.operands.addresses import data_address

RNG = np.random.default_rng(34)
NAMES = ("transpose", "ascontiguousarray", "asfortranarray")
ARITHMETIC = ("f4", "f8", "c8", "c16")
MOVED = ("i1", "u2", "i4", "f2", "?", ">f8", ">i2", "S7", "U3", "M8[D]", "V37", "V16", "i8,f4,S5", "longdouble")
PARTNER = {"f4": "f8", "f8": "f4", "c8": "c16", "c16": "c8"}

Array = np.ndarray[Any, Any]
transpose: Any = ttc_llvm.transpose  # not only as type checkers allow


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path_factory.getbasetemp() / "native_entry.sqlite3"))
    forget()


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, Python serves nothing."""

    def begin() -> None:
        for name in ("transposed", "contiguous"):
            monkeypatch.setattr(transposing, name, lambda *_: pytest.fail("Python served a call"))

    return begin


def filled(shape: tuple[int, ...], dtype: str, low: int = 0) -> Array:
    """Random bits, numbers where the type has arithmetic; low: bytes that its first one is off a boundary."""
    t = np.dtype(dtype)
    raw = np.frombuffer(RNG.bytes(int(np.prod(shape)) * t.itemsize + low + 64), np.uint8).copy()
    start = low + -raw.ctypes.data % 64
    made: Array = raw[start:][: int(np.prod(shape)) * t.itemsize].view(t).reshape(shape)
    if dtype in ARITHMETIC:
        made[...] = RNG.integers(-99, 99, shape)
        if t.kind == "c":
            made += 1j * RNG.integers(-99, 99, shape)
    return made


def views(dtype: str) -> Iterator[Array]:
    """Arrays of many layouts."""
    whole = filled((5, 6, 7), dtype)
    yield from (whole, whole.T, whole[::-1], whole[:, ::2, ::-1], whole[1:, 1:, 1:], whole[2], whole[2, 3])
    yield from (whole[2, 3, 4:5], whole[:, None, :, 3], np.broadcast_to(whole[0, 0], (3, 7)))
    yield from (np.broadcast_to(whole[0, 0, :1], (4, 1)), filled((40, 50), dtype), filled((3, 2, 2, 2, 3, 2, 2), dtype))
    yield from (filled((1,) * 33, dtype), filled((9, 8), dtype, 1))


def same(got: Any, wanted: Any, told: object) -> None:
    """Bits, form and ownership."""
    assert type(got) is type(wanted), told
    assert (got.shape, got.strides, got.dtype) == (wanted.shape, wanted.strides, wanted.dtype), told
    assert got.tobytes() == wanted.tobytes(), told
    assert got.flags.writeable and got.flags.owndata and got.base is None, told


# --- results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", (*ARITHMETIC, *MOVED))
def test_results_are_those_of_numpy(dtype: str) -> None:
    for x in views(dtype):
        for axes in spelled(x.ndim):
            told = dtype, x.shape, x.strides, axes
            same(transpose(x, axes), np.transpose(x, axes).copy(), told)
            for order in ORDERS:
                same(transpose(x, axes, order=order), np.transpose(x, axes).copy(order.upper()), (*told, order))
            out = np.transpose(np.empty(x.shape, x.dtype), None).copy() if axes is None else None
            if out is not None:
                out[...] = np.zeros((), x.dtype)
                assert transpose(x, axes, out=out) is out
                assert out.tobytes() == x.T.copy().tobytes(), told
        for name in NAMES[1:]:
            got, wanted = getattr(ttc_llvm, name)(x), getattr(np, name)(x)
            assert (got is x) == (wanted is x)
            assert (got.strides, got.tobytes(), got.dtype) == (wanted.strides, wanted.tobytes(), wanted.dtype)


def spelled(rank: int) -> Iterator[Any]:
    """Axes in every way that they can be given."""
    yield from (None, tuple(range(rank)), [*range(rank)][::-1])
    order = [int(k) for k in RNG.permutation(rank)]
    yield from (order, tuple(k - rank for k in order), np.array(order, int), [np.int32(k) for k in order])


@pytest.mark.parametrize("dtype", ARITHMETIC)
def test_arithmetic_is_that_of_python(dtype: str) -> None:
    scalars: tuple[Any, ...] = (0, 1, 2, -1, 0.0, 1.0, -0.0, 2.5, 1 + 1e-12, 1e-50, 3 + 0j, 10**20, np.float32(2), True)
    if dtype.startswith("c"):
        scalars = (*scalars, 2 - 1j, 1j, complex(0, -0.0), complex(1, -0.0))
    x = filled((6, 5), dtype)
    for to in (dtype, PARTNER[dtype]):
        start = filled((5, 6), to)
        for alpha in scalars:
            for beta in (0, 1, 0.0, 2.5, -1):
                for conjugate in (False, True):
                    given = {"alpha": alpha, "beta": beta, "conjugate": conjugate}
                    outs = [start.copy(), start.copy()]
                    for function, out in zip((transpose, public.PYTHON["transpose"]), outs, strict=True):
                        assert function(x, out=out, **given) is out
                    assert outs[0].tobytes() == outs[1].tobytes(), (to, given)
        for alpha in scalars:
            got = [function(x, alpha=alpha, order="F") for function in (transpose, public.PYTHON["transpose"])]
            same(got[0], got[1], alpha)


@NATIVE
@pytest.mark.parametrize(
    "spelling", ["tuple", "list", "None", "contiguous", "fortran", "F", "alpha", "out", "beta", "threads"]
)
def test_usual_calls_are_native(spelling: str, native: Callable[[], None]) -> None:
    x, out = filled((8, 9), "f8"), np.zeros((9, 8))
    calls: dict[str, Callable[[], Any]] = {
        "tuple": lambda: transpose(x, (1, 0)),
        "list": lambda: transpose(x, [-1, 0]),
        "None": lambda: transpose(a=x, axes=None, stream=None, effort=1, conjugate=False, order="c"),
        "contiguous": lambda: ttc_llvm.ascontiguousarray(x.T),
        "fortran": lambda: ttc_llvm.asfortranarray(x).T,
        "F": lambda: transpose(x, order="F"),
        "alpha": lambda: transpose(x, alpha=2) / 2,
        "out": lambda: transpose(x, out=out),
        "beta": lambda: transpose(x, alpha=0.5, out=out, beta=0.5),
        "threads": lambda: transpose(x, threads=2),
    }
    transpose(x, out=out)
    calls[spelling]()
    native()
    for _ in range(3):
        assert (calls[spelling]() == x.T).all()
    y = filled((8, 10), "f8")
    assert (transpose(y) == y.T).all()  # a new layout of a known family


def test_interrupts_while_python_provides_a_kernel_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    x, families = filled((30, 20), "f8"), layouts().families
    out, none = np.zeros((20, 30)), np.zeros(planner_fields.FAMILY_COUNT, np.int64)
    transpose(x)

    def struck(_: int) -> None:
        raise KeyboardInterrupt

    for call in (transpose, lambda x: transpose(x, out=out), ttc_llvm.asfortranarray):
        layouts().reset()
        layouts()._set(planner_fields.FAMILIES, data_address(none))
        with monkeypatch.context() as patch:
            patch.setattr(type(families), "provide", lambda self, number: struck(number))
            with pytest.raises(KeyboardInterrupt):
                call(x)
        layouts()._set(planner_fields.FAMILIES, families.address)
        assert (transpose(x) == x.T).all()


def test_results_are_distinct() -> None:
    x = filled((8, 9), "f8")
    results = [transpose(x) for _ in range(50)]
    assert len({y.ctypes.data for y in results}) == 50


def test_empty_arrays_and_many_axes() -> None:
    for shape in ((0,), (3, 0), (0, 4), (2, 0, 5)):
        same(transpose(np.zeros(shape)), np.zeros(shape).T.copy(), shape)
    most = 64 if int(np.__version__[0]) > 1 else 32
    x = RNG.random((2, 3) + (1,) * (most - 2))
    for _ in range(3):
        same(transpose(x), x.T.copy(), most)
        same(transpose(x, [*range(1, most), 0]), x.transpose([*range(1, most), 0]).copy(), most)
    with pytest.raises(ttc_llvm.ArrayError):
        transpose(x, [0] * most)


# --- what is left to Python -------------------------------------------------------------------------------

LOCKED = np.zeros((4, 3))
LOCKED.flags.writeable = False
SQUARE = np.arange(9.0).reshape(3, 3)
X = np.arange(12.0).reshape(3, 4)
WRONG: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((X, None, None), {}),
    ((X, 1, 0), {}),
    ((X,), {"a": X}),
    ((X, None), {"axes": None}),
    ((X,), {"like": None}),
    ((X,), {"nothing": 1}),
    ((), {"axes": None}),
    ((X, (0, 0)), {}),
    ((X, (0, 2)), {}),
    ((X, (0, -3)), {}),
    ((X, (0,)), {}),
    ((X, (0, 1, 2)), {}),
    ((X, (1.0, 0)), {}),
    ((X, (True, False)), {}),
    ((X, [10**30, 0]), {}),
    ((X, "10"), {}),
    ((X,), {"out": LOCKED}),
    ((X,), {"out": np.zeros((3, 4))}),
    ((X,), {"out": np.zeros((4, 3), "i8")}),
    ((X,), {"out": np.broadcast_to(np.zeros(()), (4, 3))}),
    ((X,), {"out": X}),
    ((SQUARE[:2, :2],), {"out": SQUARE[1:, 1:]}),
    ((X,), {"out": np.lib.stride_tricks.as_strided(np.zeros(9), (4, 3), (8, 16))}),
    ((X,), {"alpha": "2"}),
    ((X,), {"alpha": 1j}),
    ((X,), {"alpha": 10**400}),
    ((X,), {"beta": 1}),
    ((X,), {"order": "Z"}),
    ((X,), {"order": None}),
    ((X,), {"threads": 0}),
    ((X,), {"threads": -1}),
    ((X,), {"threads": 2**31}),
    ((X,), {"threads": 10**30}),
    ((X,), {"effort": 0}),
    ((X,), {"effort": "much"}),
    ((X,), {"conjugate": "yes"}),
    ((X,), {"stream": 3}),
    ((X.astype("i4"),), {"alpha": 2}),
    ((X.astype("f4"),), {"alpha": 1e39}),
    ((X.astype("f4"),), {"alpha": 2, "beta": 1}),
    ((X.astype("O"),), {"alpha": 2}),
)  # fmt: skip


def said(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        function(*args, **named)
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_are_those_of_python(number: int) -> None:
    args, named = WRONG[number]
    transpose(X)
    for _ in range(2):
        assert said(transpose, args, named) == said(public.PYTHON["transpose"], args, named)


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize(("args", "named"), [
    ((), {}), ((X, None, None), {}), ((X,), {"threads": 0}), ((X,), {"dtype": "none such"}), ((X,), {"order": "C"}),
    ((X,), {"like": 3}), ((X, "f8"), {"dtype": "f8"}),
])  # fmt: skip
def test_errors_of_contiguous_are_those_of_python(name: str, args: Any, named: Any) -> None:
    transpose(X)
    assert said(getattr(ttc_llvm, name), args, named) == said(public.PYTHON[name], args, named)


def test_what_python_serves_is_as_before() -> None:
    class Own(Array):
        """A subclass."""

    x = filled((3, 4), "f8")
    own, masked = x.view(Own), np.ma.masked_array(x, x > 0)
    assert type(transpose(own)) is Own
    assert (transpose(masked).mask == masked.mask.T).all()
    assert transpose([[1, 2], [3, 4]]).tolist() == [[1, 3], [2, 4]]
    things = np.array([[object(), 1], ["x", None]], object)
    assert (transpose(things) == things.T).all()
    assert transpose(x, effort="estimate").tolist() == x.T.tolist()
    assert ttc_llvm.ascontiguousarray(np.float64(3)).shape == (1,)
    assert ttc_llvm.ascontiguousarray(x.T, "f4").dtype == "f4"
    moved = SQUARE.T.copy().T
    assert transpose(moved, out=moved.T) is not None  # exactly where the result belongs
    assert (moved == SQUARE).all()


# --- references -------------------------------------------------------------------------------------------


def test_references_are_counted() -> None:
    """None is lost or kept by any way through the entries, errors included."""
    x, y, out, dtype = filled((8, 9), "f8"), filled((200, 90), "f8"), np.empty((9, 8)), np.dtype("i8,f4,S5")
    odd, records = filled((8, 9), "f8", 1), np.zeros((5, 6), dtype)
    axes, alpha, number = [1, 0], 2.5, 10**25
    types = (np.dtype("f8"), dtype, np.float64, np.ndarray, float)
    held = (x, y, out, odd, records, axes, alpha, number, X, *types, public.PYTHON["transpose"])
    ways: tuple[Callable[[], Any], ...] = (
        lambda: transpose(x, axes), lambda: transpose(x, out=out), lambda: transpose(x, alpha=alpha),
        lambda: transpose(y, order="F"), lambda: transpose(y, axes, alpha=2), lambda: transpose(records),
        lambda: transpose(odd), lambda: ttc_llvm.ascontiguousarray(x), lambda: ttc_llvm.ascontiguousarray(x.T),
        lambda: ttc_llvm.asfortranarray(x), lambda: transpose(x, alpha=number), lambda: transpose(x, [number, 0]),
        lambda: transpose(x, axes, out=LOCKED), lambda: transpose(x, threads=number), lambda: transpose(),
    )  # fmt: skip
    for way in ways:
        quiet(way, 3)
        gc.collect()
        before = [sys.getrefcount(thing) for thing in held]
        quiet(way, 500)
        gc.collect()
        after = [sys.getrefcount(thing) for thing in held]
        assert all(abs(b - a) < 50 for a, b in zip(before, after, strict=True)), (before, after)


def quiet(way: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        with suppress(ttc_llvm.TtcError, TypeError):
            way()


GROWTH = """
import gc, numpy as np, ttc_llvm
x, y, out = np.ones((8, 9)), np.ones((200, 90)), np.empty((9, 8))
def calls(n):
    for k in range(n):
        ttc_llvm.transpose(x, [1, 0]); ttc_llvm.transpose(x, out=out, alpha=k + 0.5); ttc_llvm.ascontiguousarray(x.T)
        ttc_llvm.transpose(x, order="F", alpha=k); ttc_llvm.asfortranarray(x)
        if k % 50 == 0:
            ttc_llvm.transpose(y)
            try: ttc_llvm.transpose(x, (0, 0))
            except ValueError: pass
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096
sizes = []
for turn in range(6):
    calls(30_000)
    sizes.append(resident())
print(min(b - a for a, b in zip(sizes, sizes[1:])))
"""


def test_memory_does_not_grow() -> None:
    assert int(run(GROWTH)) < 1 << 18  # layouts get kernels of their own meanwhile


def run(program: str, **given: str) -> str:
    """What a fresh process says."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=os.environ | given,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- processes, threads, signals --------------------------------------------------------------------------

COLD = """
import threading, sys
import numpy as np, ttc_llvm
sys.setswitchinterval(1e-6)
start, wrong = threading.Barrier(8), []
def work(seed):
    rng = np.random.default_rng(seed)
    start.wait()
    for turn in range(150):
        shape = tuple(int(n) for n in rng.integers(1, 9 if turn % 5 else 90, rng.integers(1, 4)))
        x = rng.random(shape)
        axes = [int(k) for k in rng.permutation(len(shape))]
        wanted = x.transpose(axes).copy()
        out = np.empty_like(wanted)
        got = (
            ttc_llvm.transpose(x, axes), ttc_llvm.transpose(x, axes, out=out), ttc_llvm.transpose(x, axes, alpha=2) / 2,
            ttc_llvm.ascontiguousarray(x.transpose(axes)), ttc_llvm.transpose(x, tuple(axes), order="F"),
        )
        if not all(np.array_equal(y, wanted) for y in got):
            wrong.append((shape, axes))
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""


def test_threads_from_cold() -> None:
    for _ in range(3):
        assert run(COLD) == "[]\n"


EVICTING = """
import threading, sys
import numpy as np, ttc_llvm
from ttc_llvm.arrays.layouts import layouts
layouts().reset(capacity=4, payback=1 << 20, most_owned=2)
sys.setswitchinterval(1e-6)
start, wrong = threading.Barrier(4), []
def work(seed):
    arrays = [np.random.default_rng(seed + k).random((40 + k, 60)) for k in range(12)]
    start.wait()
    for turn in range(600):
        x = arrays[turn * 7 % 12]
        if not np.array_equal(ttc_llvm.transpose(x, threads=1), x.T):
            wrong.append(turn)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong, len(layouts()) <= 4)
"""


def test_layouts_are_evicted_while_others_run() -> None:
    """Kernels run without the interpreter lock while their layouts are forgotten."""
    assert run(EVICTING) == "[] True\n"


FORKED = """
import os
import numpy as np, ttc_llvm
x, y = np.random.random((8, 9)), np.random.random((5, 7, 3))
assert (ttc_llvm.transpose(x) == x.T).all()
child = os.fork()
assert (ttc_llvm.transpose(x, [1, 0]) == x.T).all() and (ttc_llvm.transpose(y, alpha=2) == 2 * y.T).all()
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forks() -> None:
    run(FORKED)


INTERRUPTED = """
import signal, numpy as np, ttc_llvm
x, out = np.random.random((200, 90)), np.empty((90, 200))
ttc_llvm.transpose(x, out=out)
struck = caught = 0
def strike(*_):
    global struck
    struck += 1
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, strike)
for turn in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        while struck == turn:
            ttc_llvm.transpose(x, out=out, threads=1)
            ttc_llvm.transpose(x, threads=1)
    except KeyboardInterrupt:
        caught += 1
    assert (ttc_llvm.transpose(x) == x.T).all()
print(struck, caught > 15)
"""


def test_interrupts_arrive_between_calls() -> None:
    """Python itself swallows those that strike in a finaliser."""
    assert run(INTERRUPTED) == "20 True\n"


ELSEWHERE = """
import numpy as np
from ttc_llvm.operands import object_fields
object_fields.ARRAY_SHAPE += 8
import ttc_llvm
x = np.random.random((8, 9))
for _ in range(3):
    assert (ttc_llvm.transpose(x, [1, 0]) == x.T).all() and (ttc_llvm.asfortranarray(x) == x).all()
    assert (ttc_llvm.transpose(x, out=np.empty((9, 8))) == x.T).all()
"""


def test_python_serves_where_objects_are_laid_out_otherwise() -> None:
    run(ELSEWHERE)


@pytest.mark.parametrize("field", [
    "TYPE", "COUNT", "TUPLE_ITEMS", "LIST_ITEMS", "REAL", "IMAG", "ARRAY_DATA", "ARRAY_RANK", "ARRAY_SHAPE",
    "ARRAY_STRIDES", "ARRAY_DTYPE", "ARRAY_FLAGS", "DTYPE_FLAGS", "DTYPE_SIZE", "HOME_STATE",
])  # fmt: skip
def test_every_offset_is_checked(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_fields, field, getattr(object_fields, field) + 8)
    assert not object_fields.agree()


def test_offsets_agree_here() -> None:
    assert object_fields.agree()


# --- one object -------------------------------------------------------------------------------------------


@NATIVE
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_those_of_the_package(name: str) -> None:
    function, python = getattr(ttc_llvm, name), public.PYTHON[name]
    assert function is getattr(public, name)
    assert (function.__name__, function.__qualname__, function.__module__) == (name, name, "ttc_llvm.arrays.public")
    assert inspect.getdoc(function) == inspect.getdoc(python)
    assert inspect.isbuiltin(function) and inspect.isroutine(function)
    assert pickle.loads(pickle.dumps(function)) is function
    theirs = [p for p in inspect.signature(python).parameters.values() if p.name != "apart"]
    ours = [*inspect.signature(function).parameters.values()]
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


SAME = """
import numpy as np, ttc_llvm
from ttc_llvm import transpose
x = np.random.random((8, 9))
first = transpose(x)
transpose(x, alpha=2)  # waits for native code
assert transpose is ttc_llvm.transpose and (transpose(x) == first).all()
import ttc_llvm.arrays.transposing as inner
def refused(*_): raise AssertionError("Python served a call")
inner.transposed = refused
assert (transpose(x) == first).all()
"""


@NATIVE
def test_functions_that_were_imported_before_the_first_call_become_native() -> None:
    run(SAME)


def test_functions_are_pythons_own_where_builtin_ones_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_functions, "supported", lambda: False)
    assert builtin_functions.builtin(said, pytest.fail) is said
