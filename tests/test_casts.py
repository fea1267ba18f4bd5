"""Conversions between numbers of all pairs of types: the rule against NumPy's and ml_dtypes' own, kernels against the
rule."""

from __future__ import annotations

import importlib
import itertools
import re
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import reference
from tiers import FULL

import ttc_llvm
from ttc_llvm import ArrayError, Problem, ProblemError
from ttc_llvm.arrays import without_kernels
from ttc_llvm.machine import lookup
from ttc_llvm.operands.types import spelled
from ttc_llvm.problem import dtypes, names
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.conversion import converted, values
from ttc_llvm.problem.dtypes import DType, dtype
from ttc_llvm.problem.formats import FLOATS, Integer
from ttc_llvm.tuning.cost.conversions import conversion

REALS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "s", "d", "e4m3fn", "e5m2")
NUMPY = {"f16": "f2", "s": "f4", "d": "f8", **{f"{k}{n}": f"{k}{n // 8}" for k in "iu" for n in (8, 16, 32, 64)}}
SMALL = {"bf16": "bfloat16", "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2"}
ml_dtypes: Any = importlib.import_module("ml_dtypes") if find_spec("ml_dtypes") else None
ML = {name: np.dtype(getattr(ml_dtypes, full)) for name, full in SMALL.items()} if ml_dtypes else {}
EVERY = [(a, b) for a, b in itertools.product(REALS, REALS) if a != b]
WIDE = ("u32", "i32", "u64", "i64", "d")  # which ml_dtypes rounds to single precision first
KNOWN = {**NUMPY, **ML}
COMPARED = [(a, b) for a, b in EVERY if {a, b} <= {*KNOWN} and (b not in ML or a not in WIDE)]
FEW = ("u8,s", "f16,s", "s,f16", "bf16,s", "s,bf16", "s,e4m3fn", "e4m3fn,d", "d,e5m2", "i64,s", "i64,bf16", "d,bf16",
       "s,u8", "d,i32", "s,i64", "d,u64", "i16,u8", "u32,f16", "e5m2,i8", "i8,u64", "u64,i16")  # fmt: skip
RANDOM = 10_000_000 if FULL else 30_000


def theirs(name: str) -> Any:
    """NumPy's or ml_dtypes' own type."""
    return np.dtype(KNOWN[name])


def numbers(t: DType, rng: np.random.Generator, count: int = RANDOM) -> Any:
    """All numbers of a small type; of others those near powers of two and ties, and random bits of them."""
    bits = 8 * t.itemsize
    if bits <= 16:
        return np.arange(1 << bits).astype(f"u{t.itemsize}").view(dtypes.to_numpy(t))
    found = [rng.integers(0, 1 << bits, count, f"u{t.itemsize}").view(dtypes.to_numpy(t))]
    powers = np.concatenate([2.0 ** np.arange(-151, 129), [0.0, np.inf, 3.4e38, 5e-324, 464, 65520, 61440]])
    halves = (1, 1.5, 1.0625, 1.1875, 1 + 2**-9, 1 + 3 * 2**-8, 1 + 2**-11, 1 - 2**-13)
    ties = np.concatenate([powers * k for k in halves])
    near = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf), [np.nan]])
    with np.errstate(all="ignore"):
        signed = np.concatenate([near, -near, rng.standard_normal(count) * 2.0 ** rng.integers(-20, 70, count)])
        found.append(signed.astype(dtypes.to_numpy(t)))
    return np.concatenate(found)


def agree(got: Any, wanted: Any, t: DType) -> bool:
    return reference.same(np.ravel(got), np.ravel(wanted), t, False)


# --- the rule -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), COMPARED)
def test_numbers_within_the_range_are_those_of_numpy(a: str, b: str) -> None:
    of, to = map(dtype, (a, b))
    x = numbers(of, np.random.default_rng(1), 3_000)
    known = values(x, of)
    if isinstance(to.format, Integer) and known.dtype.kind == "f":
        low, high = float(to.format.least), float(to.format.greatest)
        x = x[(known > low - 1) & (known < (high + 1 if high < 2**53 else high))]
    with np.errstate(all="ignore"):
        wanted = x.view(theirs(a)).astype(theirs(b)).view(dtypes.to_numpy(to))
    assert agree(converted(x, of, to), wanted, to)


@pytest.mark.parametrize("b", [*SMALL, "f16"])
@pytest.mark.parametrize("a", WIDE)
def test_wide_numbers_are_rounded_once(a: str, b: str) -> None:
    form, of = FLOATS[b], dtype(a)
    x = numbers(of, np.random.default_rng(2), 200)[-2_000:]
    x = x[np.isfinite(x.astype("f8"))]
    every = np.arange(form.beyond).astype(f"u{dtype(b).itemsize}").view(dtypes.to_numpy(dtype(b)))
    exact = values(every, dtype(b)).astype("f8")
    got = np.abs(values(converted(x, of, dtype(b)), dtype(b)).astype("f8"))
    for given, found in zip(x.tolist(), got.tolist(), strict=True):
        size = abs(Fraction(given))
        if size >= Fraction(form.greatest):
            continue
        place = int(np.searchsorted(exact, float(size)))
        near = range(max(0, place - 2), min(len(exact), place + 2))
        best = min(near, key=lambda k: (abs(Fraction(float(exact[k])) - size), k & 1))
        assert found == exact[best], (given, found)


BEYOND = [300.0, -3.0, np.nan, np.inf, -np.inf, 1e30, -1e30, 254.99, -0.5]
CASES = [  # source, its numbers, destination, saturate, what becomes of them
    ("d", BEYOND, "u8", False, [255, 0, 0, 255, 0, 255, 0, 254, 0]),
    ("s", BEYOND, "i8", True, [127, -3, 0, 127, -128, 127, -128, 127, 0]),
    ("s", BEYOND, "i32", False, [300, -3, 0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 254, 0]),
    ("d", BEYOND, "u64", False, [300, 0, 0, 2**64 - 1, 0, 2**64 - 1, 0, 254, 0]),
    ("i64", [300, -3, 2**62], "u8", False, [44, 253, 0]),
    ("i64", [300, -3, 2**62], "u8", True, [255, 0, 255]),
    ("i8", [-3, 5], "u64", False, [2**64 - 3, 5]),
    ("i8", [-3, 5], "u64", True, [0, 5]),
    ("s", [449, 464, 465, -np.inf, 1e9], "e4m3fn", False, [448, 448, np.nan, np.nan, np.nan]),
    ("s", [449, 465, -np.inf, 1e9, np.nan], "e4m3fn", True, [448, 448, -448, 448, np.nan]),
    ("s", [57344, 61439, 61440, -1e9], "e5m2", False, [57344, 57344, np.inf, -np.inf]),
    ("s", [61440, -np.inf], "e5m2", True, [57344, -57344]),
    ("d", [1e300, 65520, -np.inf], "f16", True, [65504, 65504, -65504]),
    ("d", [1e300, -np.inf], "s", True, [float(np.finfo("f4").max), -float(np.finfo("f4").max)]),
    ("d", [1e300, -np.inf], "s", False, [np.inf, -np.inf]),
]


@pytest.mark.parametrize(("a", "given", "b", "saturate", "wanted"), CASES)
def test_numbers_beyond_the_range(a: str, given: list[float], b: str, saturate: bool, wanted: list[float]) -> None:
    problem = Problem((0,), (len(given),), f"{a},{b}", saturate=saturate)
    x, result = np.array(given, NUMPY[a]), np.zeros(len(given), dtypes.to_numpy(problem.b))
    ttc_llvm.compile(problem, 1)(x, result)
    assert np.array_equal(values(result, dtype(b)), np.array(wanted, values(result, dtype(b)).dtype), equal_nan=True)
    if b in NUMPY:
        assert np.array_equal(ttc_llvm.transpose(x, dtype=NUMPY[b], saturate=saturate), result, equal_nan=True)


# --- kernels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("pair", [f"{a},{b}" for a, b in EVERY] if FULL else FEW)
def test_kernels_follow_the_rule(pair: str, saturate: bool) -> None:
    of = dtype(pair.split(",")[0])
    x = numbers(of, np.random.default_rng(3))
    x = np.resize(x, (len(x) // 37 + 1, 37))
    problem = Problem((1, 0), x.shape, pair, saturate=saturate).row_major
    result = np.zeros(x.shape[::-1], dtypes.to_numpy(problem.b))
    ttc_llvm.compile(problem, 1)(x, result)
    assert agree(result, converted(x.T, of, problem.b), problem.b)


@pytest.mark.parametrize("alpha, beta", [(1, 0), (Fraction(1, 255), 0), (0, 0), (2.5, -0.75), (0, 2), (1, 1)])
@pytest.mark.parametrize("to", ["f4", "f2", "i1", "c8", *ML.values()])
def test_arrays_of_any_strides(to: Any, alpha: Any, beta: float) -> None:
    draw = np.random.default_rng(4)
    whole = draw.integers(0, 256, (9, 44, 26, 2), np.uint8)
    x = whole[1:, ::-2, 3:24, 1]
    before = draw.integers(0, 90, (21, 8, 22)).astype(to)
    problem = Problem((), (), (x.dtype, before.dtype), alpha=alpha, beta=beta)
    given, types = before.view(dtypes.to_numpy(problem.b)), (problem.a, problem.b)
    wanted = reference.combine(x.transpose(2, 0, 1), given, types, problem.alpha, beta)
    found = ttc_llvm.transpose(x, (2, 0, 1), dtype=to, out=before.copy(), alpha=alpha, beta=beta)
    assert found.dtype == np.dtype(to)
    assert agree(found.view(dtypes.to_numpy(problem.b)), wanted, problem.b)
    if beta == 0:
        again = ttc_llvm.transpose(x, (2, 0, 1), dtype=to, alpha=alpha)
        assert again.flags.c_contiguous and again.tobytes() == np.ascontiguousarray(found).tobytes()


@pytest.mark.parametrize("to", ["f4", "i2", "c16"])
@pytest.mark.parametrize("of", [">f4", ">i4", ">u2", ">f2", ">f8"])
def test_sources_of_the_other_byte_order(of: str, to: str) -> None:
    x = (np.random.default_rng(5).standard_normal((33, 50)) * 50).astype(of)
    for view in (x, x[::-1, 1::3]):
        assert np.array_equal(ttc_llvm.transpose(view, dtype=to), view.T.astype(to))


def test_elements_at_odd_addresses() -> None:
    odd = np.zeros(4 * 60 + 1, np.uint8)[1:].view("f4").reshape(10, 6)
    odd[...] = np.arange(60).reshape(10, 6) / 3
    assert np.array_equal(ttc_llvm.transpose(odd, dtype="i2", alpha=3), (odd.T * np.float32(3)).astype("i2"))
    fields = np.zeros((4, 5), "f4,u1")
    fields["f0"] = np.arange(20).reshape(4, 5)
    assert np.array_equal(ttc_llvm.transpose(fields["f0"], dtype="f8"), fields["f0"].T)


def test_without_kernels_the_same_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(6).standard_normal((20, 30)) * 1e5
    arguments: list[dict[str, Any]] = [
        {"dtype": "i2"},
        {"dtype": "f2", "saturate": True},
        {"dtype": "float8_e4m3fn"},
        {"dtype": "f4", "alpha": 3},
    ]
    wanted = [ttc_llvm.transpose(x, **given) for given in arguments]
    monkeypatch.setattr("ttc_llvm.arrays.assignment.engine", lambda: without_kernels)
    for given, known in zip(arguments, wanted, strict=True):
        assert ttc_llvm.transpose(x, **given).tobytes() == known.tobytes()


# --- interfaces -----------------------------------------------------------------------------------------------


def test_order_and_type_of_results() -> None:
    x = np.asfortranarray(np.arange(24, dtype="u1").reshape(4, 6) % 8)
    for order in ("C", "F", "A", "K"):
        found, wanted = ttc_llvm.transpose(x, dtype="f4", order=order), x.T.astype("f4", order=order)
        assert found.strides == wanted.strides and np.array_equal(found, wanted)
    assert ttc_llvm.transpose(x, dtype="u1").dtype == "u1"
    for name in SMALL.values():
        found = ttc_llvm.transpose(x, dtype=name)
        assert spelled(found.dtype) == name
        assert np.array_equal(ttc_llvm.transpose(found, dtype="u1"), x)


def test_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(-60, 60, dtype=torch.float32).reshape(10, 12) * 3.3
    for to in (torch.bfloat16, torch.float16, torch.float8_e5m2, torch.int16, torch.float64):
        found = ttc_llvm.transpose(x, dtype=to)
        assert found.dtype == to and found.is_contiguous()
        assert torch.equal(found.to(torch.float64), x.T.to(to).to(torch.float64))
        assert torch.equal(ttc_llvm.transpose(found, dtype="float32"), found.T.to(torch.float32))


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"casting": "safe"}, ArrayError, "casting and saturate say how numbers become those of dtype"),
    ({"saturate": True}, ArrayError, "casting and saturate say how numbers become those of dtype"),
    ({"dtype": "f4", "out": np.zeros((3, 2))}, ArrayError, "out has dtype float64, and dtype is float32"),
    ({"dtype": "bool"}, ProblemError, "float64 -> bool cannot be combined"),
    ({"dtype": "M8[s]"}, ProblemError, "cannot be combined"),
    ({"dtype": "nothing"}, ArrayError, "dtype 'nothing' is none that NumPy knows"),
    ({"dtype": "f4", "casting": "often"}, ArrayError, "casting"),
]


@pytest.mark.parametrize(("given", "error", "said"), REFUSED)
def test_what_is_refused(given: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ttc_llvm.transpose(np.zeros((2, 3)), **given)


def test_casting_rules_are_numpys() -> None:
    x = np.zeros((2, 3))
    with pytest.raises(ArrayError, match="float64 is not converted to int32 by the rule 'same_kind'"):
        ttc_llvm.transpose(x, dtype="i4", casting="same_kind")
    assert ttc_llvm.transpose(x, dtype="f4", casting="same_kind").dtype == "f4"


def test_fractions_are_rounded_once() -> None:
    single = Problem((0,), (1,), "u8,s", alpha=Fraction(1, 255)).alpha
    assert single == float(np.float32(1 / 255))
    tie = Fraction(2**24 + 1, 1) + Fraction(1, 2**60)  # above the tie between two numbers; a double is on it
    assert Problem((0,), (1,), "u8,s", alpha=tie).alpha == 2**24 + 2
    assert Problem((0,), (1,), "u8,s", alpha=float(tie)).alpha == 2**24 + 1  # rounded by C as ever
    assert Problem((0,), (1,), "i64,s", alpha=Fraction(1, 3)).alpha == 1 / 3


def test_saturation_is_part_of_names_and_keys() -> None:
    plain, clamps = (Problem((1, 0), (3, 4), "float32,uint8", saturate=flag) for flag in (False, True))
    assert [names.stem(p) for p in (plain, clamps)] == ["s_u8Transpose10_3x4", "s_u8satTranspose10_3x4"]
    assert names.stem(Problem((1, 0), (3, 4), "uint8", saturate=True)) == "i8Transpose10_3x4"
    assert (plain.b.name, clamps.b.name, clamps.row_major.saturate) == ("u8", "u8sat", True)


@pytest.mark.parametrize(("target", "store"), [("avx512", r"vmovnt\w+\s+%zmm"), ("avx2", r"vmovnt\w+\s+%ymm")])
@pytest.mark.parametrize("pair", ["s,f16", "s,bf16", "d,s", "s,u8", "s,e4m3fn"])
def test_shorter_numbers_are_written_by_whole_vectors(pair: str, target: str, store: str) -> None:
    plan = "cpu3 tile=64,64 block=64,4 order=0,1 inner=1,0 parallel=2 prefetch=0 store=aligned fetch=rows panel=none"
    found = ttc_llvm.compile(Problem((1, 0), (2048, 2048), pair), 1, target=target, plan=plan).assembly
    assert len(re.findall(store, found)) >= 4 * (2 if target == "avx2" else 1)
    assert len(re.findall(r"vmovnt", found)) == len(re.findall(store, found))


@pytest.mark.parametrize(("pair", "most"), [("s,e4m3fn", 0.9), ("s,bf16", 0.72), ("s,f16", 0.42), ("s,u8", 0.6)])
def test_registers_exchange_the_shorter_numbers(pair: str, most: float) -> None:
    """Instructions of a micro-tile per number; 1.42, 0.95, 0.48 and 0.77 where the longer ones were exchanged."""
    line = 64 // Problem((0,), (1,), pair).b.itemsize
    plan = f"cpu3 tile={line},16 block={line},16 order=0,1 inner=1,0 parallel=2 prefetch=0 store=aligned fetch=blocks"
    solution = ttc_llvm.compile(Problem((1, 0), (2048, 2048), pair), 1, target="avx512", plan=f"{plan} panel=none")
    code = solution.explain().code
    assert code is not None and code.micro.total < most * line * 16


def test_the_cost_of_conversions_is_explained() -> None:
    solution = ttc_llvm.compile(Problem((1, 0), (64, 80), "d,e4m3fn", alpha=2), 1, target="avx512")
    text = solution.explain(1).stage("merged")
    said = "numbers are converted d -> e4m3fn, registers exchange e4m3fn: 20 vector operations for 8 numbers; alpha and"
    assert f"{said} beta in d" in " ".join(text.split())
    target = lookup.find("avx512")
    found = {
        pair: conversion(canonicalise(Problem((1, 0), (64, 64), pair, alpha=2)).canonical, target)
        for pair in ("s,s", "f16,s", "u8,s", "s,u8", "s,e4m3fn", "d,e4m3fn")
    }
    assert list(found.values()) == sorted(found.values()) and found["s,s"] == 0
