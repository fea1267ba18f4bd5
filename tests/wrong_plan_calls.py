"""Wrong calls of a library's plans and groups: codes are returned, and no other memory is touched."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from plan_calls import Plans, ints, words

from ttc_llvm.ir_builders.plan_objects import fields

_ODD = (0, 1, -1, 2, 3, 64, 65, -(1 << 31), (1 << 31) - 1)
_ODD_WORDS = (0, 1, -1, 2, 7, 1 << 20, 1 << 31, 1 << 40, 1 << 60, (1 << 63) - 1, -(1 << 63), -(1 << 62), 3 << 61)
_TYPES = (b"s", b"d", b"c*", b"", b"x", b"sd", b"ss", b"s*", b"s" * 40, None)


def fuzz(plans: Plans, draw: random.Random, memory: Any) -> int:
    """Make a plan of arguments some of which are wrong, and execute it, in `memory`, if it is one; returns the code of
    `create`. Whatever is returned, nothing outside of the memory is touched."""
    rank = draw.choice((0, 1, 2, 2, 3, 3, 4, 6, *_ODD))
    length = max(0, min(rank, 65))
    perm = draw.sample(range(length), length)
    size = [draw.choice((1, 2, 3, 4, 5, 9)) for _ in range(length)]
    strides: list[list[int] | None] = [None, None]
    for side in range(2):
        if draw.random() < 0.5:
            strides[side] = [draw.choice((1, -1, 2, 5, 10, 50, -30)) for _ in range(length)]
    for values, odd in ((perm, _ODD), (size, _ODD_WORDS), *((s, _ODD_WORDS) for s in strides if s is not None)):
        if values and draw.random() < 0.15:
            values[draw.randrange(length)] = draw.choice(odd)
    plan = ctypes.c_void_p(1)
    lists = [ints(perm), words(size), *map(words, strides)]
    lists = [None if draw.random() < 0.03 else one for one in lists]
    out = None if draw.random() < 0.02 else ctypes.byref(plan)
    types, threads = draw.choice(_TYPES), draw.choice((1, 1, 2, 1024, *_ODD))
    code: int = plans.create(out, rank, *lists, types, threads)
    plans.lookup(rank, *lists, types)
    assert out is None or (plan.value is None) == (code != fields.OK)
    if out is not None and (code != fields.OK or _reach(size, strides, perm) < len(memory) // 64):
        _execute(plans, draw, memory, plan)
    if out is not None:
        plans.destroy(plan)
    return code


def _reach(size: Sequence[int], strides: Sequence[Sequence[int] | None], perm: Sequence[int]) -> int:
    """Elements from the first to the last at most, of either side."""
    if 0 in size:
        return 0
    found = prod(size)
    for given, extents in zip(strides, (size, [size[k] for k in perm]), strict=True):
        if given is not None:
            found = max(found, 1 + sum((n - 1) * abs(s) for n, s in zip(extents, given, strict=True)))
    return found


def _execute(plans: Plans, draw: random.Random, memory: Any, plan: ctypes.c_void_p) -> None:
    """With pointers that are NULL, misaligned, or overlap, and parts that are none."""
    middle = memory.ctypes.data + len(memory) // 2
    places = [middle + draw.choice((0, 16, 64, -64, 4096, 1, 4)) for _ in range(2)]
    if draw.random() < 0.5:
        places[1] += len(memory) // 4
    given = [None if draw.random() < 0.1 else place for place in places]
    scalar = np.array([draw.choice((0, 1, 2))] * 2, "f8")
    scalars = [None if draw.random() < 0.6 else scalar.ctypes.data for _ in range(2)]
    plans.execute(plan, *given, *scalars)
    plans.execute_part(plan, *given, *scalars, draw.choice(_ODD), draw.choice(_ODD))


# --- groups -----------------------------------------------------------------------------------------------


def fuzz_group(plans: Plans, draw: random.Random, memory: Any, known: Sequence[ctypes.c_void_p]) -> tuple[int, int]:
    """Make a group of some plans, of which none reaches over more than 4 KiB, some of them NULL, and execute it at odd
    addresses in `memory`; returns the codes of `create` and `execute`."""
    count = draw.choice((0, 1, 2, 3, 5, 20))
    chosen = [None if draw.random() < 0.01 else draw.choice(known).value for _ in range(count)]
    if draw.random() < 0.5:
        chosen = [chosen[0]] * count if chosen else []
    group = ctypes.c_void_p(1)
    told = draw.choice((count, count, count, -1, 1 << 31, 1 << 62)) if draw.random() < 0.2 else count
    out = None if draw.random() < 0.02 else ctypes.byref(group)
    code = plans.group_create(out, told, _pointers(chosen, draw), draw.choice((1, 1, 2, 1024, *_ODD)))
    assert out is None or (group.value is None) == (code != fields.OK)
    if code != fields.OK and out is not None:
        group = ctypes.c_void_p(None)
    if out is None:
        return code, code
    before = memory.copy()
    step = draw.choice((4096, 4096, 300, 64))
    start = memory.ctypes.data + 8192
    places = [[start + side * (len(memory) // 2) + k * step for k in range(count)] for side in range(2)]
    for side in places:
        draw.shuffle(side)
        if side and draw.random() < 0.3:
            side[draw.randrange(count)] = draw.choice((0, 0, start + 1, start + 64, start + len(memory) // 2))
    scalar = np.array([draw.choice((0, 1, 2))] * 2, "f8")
    scalars = [None if draw.random() < 0.6 else scalar.ctypes.data for _ in range(2)]
    given = (*(_pointers(side, draw) for side in places), *scalars)
    wrong = ctypes.c_int64(7)
    status: int = plans.group_check(group, *given, None if draw.random() < 0.5 else ctypes.byref(wrong))
    assert wrong.value == 7 or -1 <= wrong.value < max(count, 1)
    part, parts = (draw.choice(_ODD), draw.choice(_ODD)) if draw.random() < 0.3 else (0, 1)
    found: int = plans.group_execute_part(group, *given, part, parts)
    assert found == (status if 0 <= part < parts else fields.PART)
    assert found == fields.OK or np.array_equal(before, memory), "something was written"
    plans.group_parts(group)
    plans.group_destroy(group)
    return code, found


def _pointers(values: Sequence[int | None], draw: random.Random) -> Any:
    return None if draw.random() < 0.03 else (ctypes.c_void_p * max(1, len(values)))(*values)
