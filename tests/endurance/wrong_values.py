"""Values of wrong calls: bad ones of every kind, good ones by the name of a parameter, texts for command lines."""

from __future__ import annotations

import ctypes
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
from made_results import made

import ttc_llvm
from ttc_llvm.bench.result_line import to_line
from ttc_llvm.lowering.gpu.plan import Shared
from ttc_llvm.lowering.plan import DECISIONS, FALLBACKS, Fetch, Store
from ttc_llvm.machine import lookup
from ttc_llvm.problem.kinds import COPY

# --- objects ---------------------------------------------------------------------------------------------


class Hostile:
    """An object whose every use as a number, text, path or truth value fails."""

    def _fail(self, *_: Any) -> Any:
        raise TypeError("no such use")

    __index__ = __bool__ = __len__ = __iter__ = __fspath__ = __complex__ = __float__ = __repr__ = _fail
    __array__ = __eq__ = __lt__ = __gt__ = _fail
    __hash__ = None  # type: ignore[assignment]


class Unreadable:
    """What PyTorch's tensors are that NumPy cannot read: with a gradient, sparse, conjugated, of bfloat16."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.shape, self.ndim = (4, 5), 2

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self._error

    def __dlpack__(self, *_: Any, **__: Any) -> Any:
        raise self._error

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def _idle(*_: Any) -> None:
    """A function that may be called with anything, as a callback: what a caller's own raises is the caller's."""


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def _cyclic() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def _endless() -> Iterator[int]:
    while True:
        yield 1


def _on_device(**changed: Any) -> SimpleNamespace:
    described = {"shape": (4, 5), "typestr": "<f4", "data": (4096, False), "version": 3} | changed
    return SimpleNamespace(__cuda_array_interface__=described)


_PLAIN: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 1 << 31, 1 << 63, -(1 << 63), 1 << 64, 10**30, 1.5, 0.0, -1.5, 1e400, -1e400,
    1e400 - 1e400, 1e300, 1 + 2j, "", " ", "s", "cuda", "C", "host", "a\0b", "a\ud800b", "a\udc80b", "a\nb", "١٢", "12",
    "no/such/folder", "file/x", "/dev/full", b"", b"\x01\x00", (), (0, 1), (1, 1), (5,), ("a", "b"), (None,), ((1, 2),),
    (0.5, 1), (-1, 0), (1 << 63, 1), range(2), int, np, ..., Store.JOINED, Shared.A, COPY, np.int64(3), np.float32(2),
    np.float64("nan"), np.bool_(True), np.dtype("f4"), Path("out"), Path("a\0b"), object(),
)  # fmt: skip
BAD: Mapping[str, Callable[[], Any]] = {repr(value)[:60]: (lambda value=value: value) for value in _PLAIN} | {
    "10**5000": lambda: 10**5000, "-10**5000": lambda: -(10**5000), "(10**5000,)": lambda: (10**5000, 1),
    "long": lambda: "x" * 100_000, "deep": lambda: "d/" * 3000, "bytearray": lambda: bytearray(80), "[]": list,
    "{}": dict, "set()": set, "{1}": lambda: {1}, "{0, 1}": lambda: {0, 1}, "dict": lambda: {0: 1, 1: 0},
    "[1, 0]": lambda: [1, 0], "long range": lambda: range(10**7), "generator": lambda: (k for k in (1, 0)),
    "endless": _endless, "nested": lambda: _nested(50_000), "cyclic": _cyclic, "function": lambda: _idle,
    "hostile": Hostile, "(hostile,)": lambda: (Hostile(),), "array": lambda: np.ones((4, 5), np.float32),
    "array F": lambda: np.ones((4, 5), np.float32, order="F"), "array 0-d": lambda: np.array(2.0),
    "array [1]": lambda: np.array([1]), "array bool": lambda: np.array([True, False]),
    "array empty": lambda: np.empty((0, 3)), "array objects": lambda: np.array([object(), None]),
    "array text": lambda: np.array(["a", "b"]), "array fields": lambda: np.zeros(4, "i4,f8"),
    "array read-only": lambda: np.broadcast_to(np.float32(1), (5, 4)), "array perm": lambda: np.array([1, 0]),
    "array masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]), "array d": lambda: np.ones((5, 4)),
    "ragged": lambda: [[1, 2], [3]], "memoryview": lambda: memoryview(b"abcd"),
    "ctypes": lambda: (ctypes.c_float * 20)(),
    "pointer": lambda: ctypes.pointer(ctypes.c_float(1)), "error": lambda: ttc_llvm.TtcError("x"), "mock": Mock,
    "gradient": lambda: Unreadable(RuntimeError("Can't call numpy() on Tensor that requires grad.")),
    "sparse": lambda: Unreadable(TypeError("can't convert Sparse layout tensor to numpy.")),
    "no export": lambda: Unreadable(BufferError("Can't export tensors that require gradient")),
    "on device": _on_device, "on device, no type": lambda: _on_device(typestr=5),
    "on device, text": lambda: _on_device(shape="ab"),
    "on device, stream": lambda: _on_device(stream="x"), "on device, address": lambda: _on_device(data=None),
    "on device, none": lambda: SimpleNamespace(__cuda_array_interface__=5),
}  # fmt: skip


# --- good values -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def nouns() -> Mapping[str, Any]:
    """A valid value of each public type, and a few more."""
    problem = ttc_llvm.Problem((1, 0), (4, 5))
    solution, on_gpu = ttc_llvm.compile(problem, 1, 1), ttc_llvm.compile(problem, 1, target="sm_80")
    timings = ((str(solution.plan), (1e-6,)),)
    contraction = ttc_llvm.Contraction("ij,jk->ik", {"i": 3, "j": 4, "k": 5})
    return {
        "Problem": problem, "Solution": solution, "GpuSolution": on_gpu, "CpuPlan": solution.plan,
        "GpuPlan": on_gpu.plan, "Target": solution.target, "GpuTarget": on_gpu.target,
        "Forced": ttc_llvm.Forced(prefetch=(2,)), "GpuForced": ttc_llvm.GpuForced(64),
        "Library": ttc_llvm.Library("kernels", (solution,)),
        "Contraction": contraction, "ContractionSolution": ttc_llvm.compile(contraction, 1, 1),
        "Measurement": ttc_llvm.Measurement(1e-6, 1.0, 2.0, "copy", timings), "neon": lookup.find("neon"),
        "complex": ttc_llvm.Problem((1, 0), (4, 5), "zc", alpha=1j), "other plan": replace(solution.plan, block=(1, 1)),
        "GroupedPlan": ttc_llvm.grouped([(4, 5)] * 7, (1, 0), "f8"),  # no bad value has seven addresses
        "GpuGroupedPlan": ttc_llvm.grouped([(4, 5)] * 7, (1, 0), "f8", target="sm_80"),
    }  # fmt: skip


GOOD: Mapping[str, Sequence[Any]] = {  # by the name of a parameter; keys of `nouns` stand for them
    "problem": ("Problem", "complex"), "target": ("Target", "GpuTarget", "avx2", "sm_80", None, "neon"),
    "plan": ("CpuPlan", "GpuPlan"), "forced": ("Forced", "GpuForced"), "measurement": ("Measurement", None),
    "solutions": (("Solution",),), "max_implementations": (1, 2, -1), "threads": (1, 2), "time_limit": (0.01, None),
    "database": ("own.db", None), "perm": ((1, 0), (0, 1)), "size": ((4, 5), (3, 3), {"i": 3, "j": 4, "k": 5}),
    "dtype": ("s", "z", "sd", "i8", None),
    "lda": ((8, 8), None), "ldb": ((8, 8), None), "alpha": (1, 2.5, 0), "beta": (0, 1), "x": ([[1, 2], [3, 4]],),
    "axes": ((1, 0), None), "directory": ("out",), "emit": (("obj",), ("header",), "static", None),
    "name": ("kernels", "plans"),
    "operands": (("ij,jk->ik", np.ones((3, 4)), np.ones((4, 5))), ("ij->j", np.ones((3, 4)))),
    "spec": ("ij,jk->ik",), "operand": ("a", "c"), "index": ("i", "k"), "shape": ((4,), -1, (2, 2)),
    "pattern": ("a b -> b a", "a (b c) -> (a b) c"), "optimize": (True, "greedy"), "casting": ("safe", "unsafe"),
    "version": ("1.0",), "tile": ((5, 4), (2, 2), (1, 4)), "block": ((4, 4), (1, 1), (2, 2)),
    "order": ((0, 1), (1, 0), "C"),
    "inner": ((1, 0), (0, 1)), "stream": (None,), "a": (np.ones(20, np.float32),), "b": (np.ones(20, np.float32),),
    "effort": (1, 2), "kinds": (COPY,), "objects": ({}, None), "others": ((),), "count": (1,),
    "vector": ((1, 1), (2, 4)),
    "padding": (0, 1), "panel": ((), (5, 4), (2, 4)), "extents": ((5, 4),), "itemsize": (4, 8), "side": ("a",),
    "parallel": (0, 1, 2), "prefetch": (0, 1, 7, (0, 2)), "streaming": (False, True), "store": DECISIONS,
    "fetch": tuple(Fetch), "fallback": (None, *FALLBACKS), "shared": tuple(Shared),
    "blockings": (((4, 4),), ((1, 1), (100, 1))), "orders": (((1, 0),), ((0, 1), (1, 0))),
}  # fmt: skip


def good(value: Any) -> Any:
    """A value of `GOOD`, with the nouns that it names."""
    if isinstance(value, tuple):
        return tuple(map(good, value))
    return nouns().get(value, value) if isinstance(value, str) else value


# --- command lines ---------------------------------------------------------------------------------------

TEXTS = (
    "", "-", "--", "---", "-1", "0", "1", "2", "1,0", "0,1", "4,5", "1,,0", "1x1", "4x4,1x1", "0,1-1,0", "s", "zc",
    "nan",
    "inf", "-inf", "1e999", "9" * 5000, "-" + "9" * 5000, "1e9", "0.01", "1+2j", "nan+nanj", "1,2,3", "\u0661",
    "\uff11",
    "\u00b2", "\0", "a\0b", "\ud800", "\udc80\udc81", " ", "\n", "a\nb", "\t", "x=y", "\u00e9", "=", "%", "%s", "%(x)s",
    "{}", "*",
    "[", "[a", "::0", "::10", "**", "?" * 50, "a/b", "/dev/full", "/proc/version", "no/such/folder/x", ".", "/",
    "file", "file/x", "json", "deep.json", "lines", "made", "made.json", "made.jsonl", "x" * 5000, "none", "auto",
    "all",
    "both", "native", "avx2", "cuda", "sm_80", "gfx90a", "sm_", "neon", "x86_64-unknown-linux-gnu",
    "haswell,sandybridge",
    ",", ";", "'",
    '"', "g++=-O2;'", "llvm", "g++", "g++-99", "/bin/false", "obj", "obj,header", "static", "ptx", "numpy",
    "hptt", "ttc57", "ragged", "copy", "8K", "0K", "1Z", "Inf", "1_000", "0x10", "+1", "1.5", "True", "problem",
    "plans",
    "cpu2", "cpu2 tile=1", "cpu3", "cpu3 tile=1", "compact", "0-", "1-0", "99999", "0-99999999999",
)  # fmt: skip
JSON: tuple[Any, ...] = (
    None, True, 0, -1, 1, 1 << 70, 1.5, 1e308, "", "s", "\ud800", "\0", "x" * 300, [], {}, [1, 0], [[1, 0]], ["a"],
    {"a": 1},
    [1e999], float("nan"),
)  # fmt: skip
_LINE = {
    "perm": [1, 0], "size": [4, 5], "alpha": 2, "maxImplementations": 1, "hotA": True, "dataType": "s", "beta": [1, 2],
}  # fmt: skip


@lru_cache(maxsize=1)
def _result() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(to_line(next(made())))
    return found


def _changed(value: Any, draw: random.Random) -> Any:
    """The value with something wrong somewhere in it."""
    if isinstance(value, Mapping) and value and draw.random() < 0.9:
        key = draw.choice(tuple(value))
        if draw.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: _changed(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.5:
        k = draw.randrange(len(value))
        return [*value[:k], _changed(value[k], draw), *value[k + 1 :]]
    return draw.choice(JSON)


def write_files(folder: Path, draw: random.Random) -> None:
    """Files that options may name: a manifest as text and as JSON, and results, each with something wrong in it."""
    (folder / "made.json").write_text(json.dumps([_LINE, _changed(_LINE, draw)]))
    (folder / "made.jsonl").write_text(f"{json.dumps(_result())}\n{json.dumps(_changed(_result(), draw))}\n")
    flags = [f"--{key}={draw.choice(TEXTS)}" for key in draw.sample(tuple(_LINE), 2)]
    lines = ("--perm=1,0 --size=4,5 --maxImplementations=1", " ".join(flags))
    (folder / "made").write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
