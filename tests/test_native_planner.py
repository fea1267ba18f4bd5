"""The native planner plans as Python does: every word, for random layouts of every kind."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from reference_layouts import Strided, planned

from ttc_llvm.arrays import family, family_kernels, layout_code, pairs
from ttc_llvm.arrays.layouts import Layouts
from ttc_llvm.arrays.scalings import PLAIN, Scaling
from ttc_llvm.ir_builders import layout_fields, native_planner
from ttc_llvm.ir_builders import planner_fields as fields
from ttc_llvm.operands.addresses import data_address
from ttc_llvm.runtime import backend

COUNT = 25_000
IN_PYTHON = 400
SIZES = (1, 1, 2, 3, 4, 4, 5, 6, 8, 8, 8, 12, 16, 16, 17, 24, 32, 40)
EXTENTS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 200)
RANKS = (0, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 64)
BUDGET = 1 << 24
BY_NAME = {"copy_bytes", "copy_bytes_past", *layout_code.ROWS, *layout_code.SINGLE, *fields.PICKED}  # of no family
KERNELS = 1 << 20  # addresses of kernels in these tests: so much, and the family's number

Case = tuple[Strided, Strided, Scaling, int]


def cases(seed: int) -> Iterator[Case]:
    """Layouts, some of them with odd strides, broadcasts, gaps, mirrored, mergeable or overlapping axes."""
    draw = random.Random(seed)
    while True:
        rank = draw.choice(RANKS)
        shape = [draw.choice(EXTENTS) for _ in range(rank)]
        while prod(shape) > 1 << 22:
            shape[draw.randrange(rank)] = draw.randint(1, 2)
        if draw.random() < 0.02 and rank:
            shape[draw.randrange(rank)] = 0
        of, to, scale = _types(draw)
        order = draw.sample(range(rank), rank)
        if draw.random() < 0.4:  # neighbours that merge
            order.sort(key=lambda k: k // 2)
        x = Strided(tuple(shape), _strides(draw, shape, order, of.itemsize, True), of)
        order = [*reversed(range(rank))] if draw.random() < 0.7 else draw.sample(range(rank), rank)
        y = Strided(tuple(shape), _strides(draw, shape, order, to.itemsize, draw.random() < 0.03), to)
        yield x, y, scale, draw.choice((0, 0, 0, draw.randrange(8))) if scale is PLAIN else 0


def picks() -> Iterator[Case]:
    """A layout for every kernel that picks items."""
    for width, step in fields.PICKED.values():
        item, row = np.dtype(f"V{width}"), 200 * width
        yield Strided((5, 200), (4 * row, step * width), item), Strided((5, 200), (row, width), item), PLAIN, 0


def _types(draw: random.Random) -> tuple[Any, Any, Scaling]:
    if draw.random() < 0.6:
        item = np.dtype(f"V{draw.choice(SIZES)}")
        return item, item, PLAIN
    of = draw.choice(layout_fields.ARITHMETIC)
    partner = {"f4": "f8", "f8": "f4", "c8": "c16", "c16": "c8"}[of]
    types = np.dtype(of), np.dtype(draw.choice((of, partner)))
    alpha, beta = draw.choice((0, 1, 2.5)), draw.choice((0, 0, 1, -3))
    return *types, pairs.scaling(*types, alpha, beta, of[0] == "c" and draw.random() < 0.5)


def _strides(draw: random.Random, shape: list[int], order: list[int], size: int, wild: bool) -> tuple[int, ...]:
    """Strides by ascending axes of `order`. wild: also such as overlap, or are no whole elements."""
    strides, step = [0] * len(shape), size * (draw.randint(2, 4) if wild and draw.random() < 0.1 else 1)
    for k in order:
        strides[k] = step if draw.random() < 0.85 else -step
        step *= shape[k]
        if draw.random() < 0.1:
            step += size * draw.choice((1, 3, 16))
        if wild and draw.random() < 0.04:
            strides[k] = draw.choice((0, 1, size // 2, -size, 3, 4096))
    return tuple(strides)


def packed(of: Strided, to: Strided, scale: Scaling, odd: int) -> bytes:
    kind = (scale.number or of.dtype.itemsize) | odd << fields.ODD_BITS
    triples = [word for axis in zip(of.shape, of.strides, to.strides, strict=True) for word in axis]
    return struct.pack(f"{2 + len(triples)}q", kind, len(of.shape), *triples)


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> Layouts:
    """A table whose families have no kernels, but addresses that tell them apart."""
    made = Layouts()
    made.reset(payback=BUDGET)
    made._set(fields.PAST_BYTES, made._word(fields.CACHED_BYTES))  # else such copies are too long

    provide, asked = made.families.provide, list[int]()

    def provided(number: int) -> None:
        asked.append(number)
        provide(number)

    monkeypatch.setattr(made.families, "provide", provided)
    monkeypatch.setattr(family_kernels, "stored", lambda *_: None)
    code = SimpleNamespace(address=lambda _: KERNELS + asked[-1])
    monkeypatch.setattr(family_kernels, "native", lambda *_: code)
    return made


def words_of(table: Layouts, case: Case) -> tuple[Any, ...] | int:
    """What the native planner writes, in the form of the reference."""
    found = table.planned(packed(*case), checked=False)
    if isinstance(found, int):
        return found
    others = {address: name for name, address in layout_code.entries().items() if name in BY_NAME}
    shared = others.get(found.kernel) or family.numbered(found.kernel - KERNELS)
    words = found.words[layout_fields.PREPARED_BYTES // 8 :].tolist()
    if isinstance(shared, family.Family):
        count = 3 * shared.rank
    else:
        count = 2 if shared.startswith("copy") else 3 + 3 * words[1]
        if shared.startswith("gathered"):
            width, first = int(shared.rpartition("_")[2]), count
            while prod(words[first:count:3]) * width < words[0]:
                count += 3
    params = tuple(words[:count])
    return shared, found.offset_a, found.offset_b, params, found.tasks, *found[3:14]


def test_every_word_is_as_python_plans_it(layouts: Layouts) -> None:
    target, seen = replace(backend.host_target(), kept=0), list[Any]()
    for case in itertools.chain(picks(), itertools.islice(cases(1), COUNT)):
        wanted = planned(*case, target, BUDGET)
        assert words_of(layouts, case) == wanted, case
        seen.append(wanted if isinstance(wanted, int) else wanted[0])
    refused = {fields.IRREGULAR, fields.OVERLAPS, fields.MANY_AXES, fields.HEAVY}
    assert refused | BY_NAME <= set(seen)
    assert len(set(seen)) > 250  # families
    assert sum(isinstance(one, int) for one in seen) < COUNT // 3


def test_the_planner_is_the_same_in_python(layouts: Layouts) -> None:
    prepared = np.zeros((layout_fields.PREPARED_BYTES + fields.PARAMS_BYTES) // 8, np.int64)
    address = data_address(prepared)
    for _, case in zip(range(IN_PYTHON), cases(2), strict=False):
        wanted = layouts.planned(packed(*case), checked=False)
        layout = np.frombuffer(packed(*case), np.int64)
        params = address + layout_fields.PREPARED_BYTES
        status = native_planner.plan(layouts.address, data_address(layout), address, params, 0)
        if isinstance(wanted, int):
            assert status == wanted
        else:
            assert status == fields.PLANNED
            words = prepared.tolist()
            call, after = layout_fields.CALL_BYTES // 8, layout_fields.PREPARED_BYTES // 8
            assert (*words[:2], *words[3:call]) == (*wanted[:2], *wanted[3:call])
            count = 3 if wanted.weight == 0 else 6  # parameters: of copies of bytes, or of two axes at least
            assert words[after:][:count] == wanted.words[after:][:count].tolist()


def test_axes_that_only_look_as_if_they_overlapped_are_planned_when_checked(layouts: Layouts) -> None:
    of = Strided((3, 2), (8, 24), np.dtype("f8"))
    to = Strided((3, 2), (16, 24), np.dtype("f8"))  # 0 16 32, 24 40 56
    layout = packed(of, to, PLAIN, 0)
    assert layouts.planned(layout, checked=False) == fields.OVERLAPS
    found = layouts.planned(layout, checked=True)
    assert not isinstance(found, int)
    assert found.words[layout_fields.PREPARED_BYTES // 8 :][3:9].tolist() == [3, 8, 16, 2, 24, 24]  # items one by one


@pytest.mark.parametrize("kind", [0, 8 | 1 << fields.UNSERVED_BIT])
def test_what_no_family_serves_is_refused(layouts: Layouts, kind: int) -> None:
    assert layouts.planned(struct.pack("5q", kind, 1, 4, 8, 8), checked=False) == fields.UNSERVED
