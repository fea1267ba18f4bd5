"""Calls of a library's plans by ctypes, and random ones: right ones with their results, and wrong ones."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ttc_llvm.ir_builders.plan_objects import fields

_EXTENTS = (1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 100, 129)
_RANKS = (0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 9, 12)
_NUMPY = {"s": "f4", "d": "f8", "c": "c8", "z": "c16"}
_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_SHAPE = (_INT, _POINTER, _POINTER, _POINTER, _POINTER, ctypes.c_char_p)


class Plans:
    """The functions of a library of this name."""

    def __init__(self, path: Path, name: str) -> None:
        self._library, self._name = ctypes.CDLL(str(path)), name
        operands = (_POINTER,) * 4
        self.create = self._function("plan_create", _INT, _POINTER, *_SHAPE, _INT)
        self.lookup = self._function("plan_lookup", _POINTER, *_SHAPE)
        self.execute = self._function("plan_execute", _INT, _POINTER, *operands)
        self.execute_part = self._function("plan_execute_part", _INT, _POINTER, *operands, _INT, _INT)
        self.parts = self._function("plan_parts", _INT, _POINTER)
        self.destroy = self._function("plan_destroy", None, _POINTER)
        self.error_text = self._function("plan_error_text", ctypes.c_char_p, _INT)

        self.group_create = self._function("group_create", _INT, _POINTER, ctypes.c_int64, _POINTER, _INT)
        self.group_check = self._function("group_check", _INT, _POINTER, *operands, _POINTER)
        self.group_execute = self._function("group_execute", _INT, _POINTER, *operands)
        self.group_execute_part = self._function("group_execute_part", _INT, _POINTER, *operands, _INT, _INT)
        self.group_parts = self._function("group_parts", _INT, _POINTER)
        self.group_destroy = self._function("group_destroy", None, _POINTER)

    def _function(self, name: str, result: Any, *kinds: Any) -> Any:
        found = getattr(self._library, f"{self._name}_{name}")
        found.restype, found.argtypes = result, kinds
        return found


def ints(values: Sequence[int]) -> Any:
    """A C array of ints."""
    return (ctypes.c_int32 * max(1, len(values)))(*values)


def words(values: Sequence[int] | None) -> Any:
    """A C array of int64_t; NULL for None."""
    return None if values is None else (ctypes.c_int64 * max(1, len(values)))(*values)


@dataclass(frozen=True)
class Side:
    """A tensor: strides of its indices, the element of its memory at index 0, and the elements of its memory."""

    strides: tuple[int, ...]
    first: int
    count: int


@dataclass(frozen=True)
class Call:
    """A transposition of any shape, with its numbers of parts and threads."""

    types: str
    perm: tuple[int, ...]
    size: tuple[int, ...]
    a: Side
    b: Side
    alpha: complex | None
    beta: complex | None
    parts: int
    threads: int
    packed: bool


def drawn(draw: random.Random, types: Sequence[str], most: int) -> Call:
    """A random call of at most so many elements: strides of any sign and order, padded or not."""
    rank, chosen = draw.choice(_RANKS), draw.choice(types)
    size = [draw.choice(_EXTENTS) for _ in range(rank)]
    while prod(size) > most:
        size[draw.randrange(rank)] = draw.randint(1, 3)
    if rank and draw.random() < 0.02:
        size[draw.randrange(rank)] = 0
    perm = draw.sample(range(rank), rank)
    packed = draw.random() < 0.5
    a, b = (_side(draw, extents, packed) for extents in (size, [size[k] for k in perm]))
    alpha: complex | None = None
    beta: complex | None = None
    if _NUMPY.get(chosen[0]):
        alpha, beta = draw.choice((None, 1, 0, 2.5)), draw.choice((None, 0, 1, -3))
        if alpha and chosen[0] in "cz" and draw.random() < 0.3:
            alpha += 1j
    parts, threads = draw.choice((1, 1, 2, 3, 50)), draw.choice((1, 2, 7))
    return Call(chosen, tuple(perm), tuple(size), a, b, alpha, beta, parts, threads, packed)


def _side(draw: random.Random, extents: Sequence[int], packed: bool) -> Side:
    order = list(range(len(extents)))
    if not packed and draw.random() < 0.2:
        draw.shuffle(order)
    strides, step, low, high = [0] * len(extents), 1, 0, 0
    for k in order:
        strides[k] = step if packed or draw.random() < 0.85 else -step
        step *= max(extents[k], 1)
        if not packed and draw.random() < 0.15:
            step += draw.choice((1, 3, 16))
        span = (max(extents[k], 1) - 1) * strides[k]
        low, high = low + min(span, 0), high + max(span, 0)
    start = draw.choice((0, 0, 1, 4))
    return Side(tuple(strides), start - low, start - low + high + 8)


@dataclass(frozen=True)
class Made:
    """A call with its plan. a, b: memory; wanted: what b is to become; given: addresses of elements 0, and scalars'."""

    plan: ctypes.c_void_p
    a: Any
    b: Any
    wanted: Any
    given: tuple[int | None, ...]
    exact: bool
    keep: Any

    def check(self, told: object) -> None:
        """B's memory is as wanted, to the last byte of what is around its elements."""
        b, wanted = self.b, self.wanted
        assert b.tobytes() == wanted.tobytes() if self.exact else np.allclose(b, wanted, rtol=1e-5, atol=1e-5), told


def made(plans: Plans, call: Call, seed: int) -> Made:
    """The plan of a call, and its memory."""
    kinds, random_bytes = _dtypes(call.types), np.random.default_rng(seed)
    a, b = (_filled(random_bytes, side.count, kind) for side, kind in zip((call.a, call.b), kinds, strict=True))
    scalars = [None if x is None else np.array([x], np.result_type(*kinds)) for x in (call.alpha, call.beta)]
    plan = ctypes.c_void_p()
    strides = (None, None) if call.packed else (words(call.a.strides), words(call.b.strides))
    shape = (len(call.perm), ints(call.perm), words(call.size), *strides, call.types.encode())
    code = plans.create(ctypes.byref(plan), *shape, call.threads)
    assert code == fields.OK, (code, call)
    assert 1 <= plans.parts(plan) <= call.threads
    given = [x.ctypes.data + side.first * x.itemsize for x, side in ((a, call.a), (b, call.b))]
    exact = kinds[0] == kinds[1] and call.alpha in (None, 1) and not call.beta
    addresses = (*given, *(None if x is None else x.ctypes.data for x in scalars))
    return Made(plan, a, b, _wanted(call, a, b), addresses, exact, scalars)


def check(plans: Plans, call: Call, seed: int) -> None:
    """The plan of a call writes what NumPy writes."""
    one = made(plans, call, seed)
    for part in random.Random(seed).sample(range(call.parts), call.parts):
        assert plans.execute_part(one.plan, *one.given, part, call.parts) == fields.OK, call
    plans.destroy(one.plan)
    one.check(call)


def _dtypes(types: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    letters = types.rstrip("*")
    if letters[0] in _NUMPY:
        return np.dtype(_NUMPY[letters[0]]), np.dtype(_NUMPY[letters[-1]])
    item = np.dtype({"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}.get(letters, "V" + letters[1:]))
    return item, item


def _filled(draw: np.random.Generator, count: int, kind: np.dtype[Any]) -> Any:
    if kind.kind in "fc":
        parts = [draw.standard_normal(count) for _ in range(2)]
        return (parts[0] + 1j * parts[1] if kind.kind == "c" else parts[0]).astype(kind)
    return np.frombuffer(draw.bytes(count * kind.itemsize), kind).copy()


def _wanted(call: Call, a: Any, b: Any) -> Any:
    wanted = b.copy()
    if 0 in call.size:
        return wanted
    of, to = _places(call.a, call.size), _places(call.b, [call.size[k] for k in call.perm])
    x = a[of].transpose(call.perm)
    if a.dtype == b.dtype and call.alpha in (None, 1) and not call.beta and not call.types.endswith("*"):
        wanted[to] = x
        return wanted
    compute = np.result_type(a.dtype, b.dtype)
    x = np.conj(x.astype(compute)) if call.types.endswith("*") else x.astype(compute)
    alpha, beta = 1 if call.alpha is None else call.alpha, call.beta or 0
    wanted[to] = (x * compute.type(alpha) + wanted[to].astype(compute) * compute.type(beta)).astype(b.dtype)
    return wanted


def _places(side: Side, extents: Sequence[int]) -> Any:
    found = np.array(side.first)
    for extent, stride in zip(extents, side.strides, strict=True):
        found = found[..., None] + np.arange(extent) * stride
    return found
