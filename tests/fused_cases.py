"""Random fused contractions: tensors between guard pages, of any strides, and a bound for each element's error."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from guards import Guarded

from ttc_llvm import Contraction
from ttc_llvm.contractions.fused import plan, space
from ttc_llvm.contractions.fused.execution import FusedExecution
from ttc_llvm.contractions.fused.plan import Fused, FusedPlan
from ttc_llvm.contractions.merged import merge

Array = npt.NDArray[Any]
TYPES = {"s": "f", "d": "d", "c": "F", "z": "D"}
MOST = 1 << 18  # multiplications
LONGEST = 70
TILED = 6, 12, 24, 48  # rows of tiles with registers of 512 bits, and of their halves
SCALARS: list[tuple[complex, complex]] = [
    (1, 0), (1, 1), (2, 0), (0.5, -2), (0, 0), (0, 3), (-1, 1), (1j, 0), (1, 1j), (0.5 - 1j, 2j), (2, 0.5 + 1j),
]  # fmt: skip


class Case:
    """A random contraction. arrays: A, B and C; each lies between guard pages, and what C does not cover has canaries.

    like: spec, type and conjugation are those of this one. Some have extents of 0, strides of any sign, 0 in A and B,
    and values that are no numbers. What alpha = 0 leaves unread holds nothing else.
    """

    def __init__(self, seed: int, most: int = MOST, like: Contraction | None = None) -> None:
        draw = self.draw = random.Random(seed)
        self._rng = np.random.default_rng(seed)
        spec, self.dtype, flags = _form(draw) if like is None else (like.spec, str(like.dtype), _flags(like))
        is_complex = self.dtype in "cz"
        self.alpha, self.beta = draw.choice(SCALARS if is_complex else SCALARS[:7])
        sides = re.split(",|->", spec)
        size = self._size(sorted({*spec} - {*",->"}), most)
        self._memory: list[Guarded] = []
        self._special = draw.random() < 0.15
        self.arrays = [self._array([size[x] for x in side], side is not sides[2]) for side in sides]
        of_a, of_b, of_c = (tuple(step // x.itemsize for step in x.strides) for x in self.arrays)
        self.stated = Contraction(spec, size, self.dtype, of_a, of_b, of_c, self.alpha, self.beta, *flags)
        self.before = self.arrays[2].copy()

    @cached_property
    def expected(self) -> tuple[Array, Array]:
        """C, and a bound of each element's error, of an operation with half a unit in the last place for each term, in
        ours and in this sum: three times so much where numbers are complex."""
        stated, is_complex = self.stated, self.dtype in "cz"
        wide = np.complex128 if is_complex else np.float64
        a, b = (x.conj() if flag else x for x, flag in zip(self.arrays, _flags(stated), strict=False))
        a, b, c = (x.astype(wide) for x in (a, b, self.before))
        with np.errstate(all="ignore"):
            product = np.einsum(stated.spec, a, b) if self.alpha else np.zeros(c.shape, wide)
            sums = abs(self.alpha) * np.einsum(stated.spec, abs(a), abs(b)) if self.alpha else np.zeros(c.shape)
            wanted, sums = self.alpha * product, sums + (abs(self.beta) * abs(c) if self.beta else 0)
            wanted += self.beta * c if self.beta else 0
        terms = prod(n for x, n in stated.size if x not in stated.indices("c"))
        return wanted, (3 if is_complex else 1) * (terms + 8) * np.finfo(TYPES[self.dtype]).eps * sums

    def _size(self, letters: list[str], most: int) -> dict[str, int]:
        size = {x: self.draw.choice([1, 2, 3]) for x in letters}
        for x in self.draw.sample(letters, len(letters)):
            room = most * size[x] // prod(size.values())
            longest = max(1, min(LONGEST, room))
            tiled = [n for n in TILED if n <= longest]
            is_tiled = tiled and self.draw.random() < 0.3
            size[x] = self.draw.choice(tiled) if is_tiled else self.draw.randint(1, longest)
        if letters and self.draw.random() < 0.04:
            size[self.draw.choice(letters)] = 0
        return size

    def _array(self, shape: list[int], is_read: bool) -> Array:
        draw, kind = self.draw, np.dtype(TYPES[self.dtype])
        order = draw.sample(range(len(shape)), len(shape))
        repeated = [is_read and draw.random() < 0.05 for _ in shape]
        there = [1 if again else n for n, again in zip(shape, repeated, strict=True)]
        padded = [there[k] + draw.choice([0, 0, 0, 1, draw.randint(0, 9)]) for k in order]
        memory = Guarded(prod(padded) * kind.itemsize, draw.choice(["start", "end"]))
        self._memory.append(memory)
        whole = memory.elements(kind).reshape(padded)
        inside = (..., *map(slice, there))
        turned = (..., *(slice(None, None, draw.choice([1] * 9 + [-1])) for _ in shape))
        view: Array = whole.transpose(np.argsort(order))[inside][turned]
        self._fill(view, is_read)
        return np.broadcast_to(view, shape) if any(repeated) else view

    def _fill(self, view: Array, is_read: bool) -> None:
        draw, rng = self.draw, self._rng
        view[...] = rng.standard_normal(view.shape)
        if self.dtype in "cz":
            view[...] += 1j * rng.standard_normal(view.shape)
        if is_read and self.alpha == 0:
            view[...] = np.nan
        elif self._special and view.size:
            values = (complex(np.nan, np.nan),) if self.dtype in "cz" else (np.nan, np.inf, -np.inf)
            for _ in range(draw.randint(0, 2)):
                view[tuple(map(draw.randrange, view.shape))] = draw.choice(values)

    def features(self) -> set[str]:
        """What is there that others lack."""
        steps = [step for x in self.arrays for n, step in zip(x.shape, x.strides, strict=True) if n > 1]
        of, kinds = self.stated, {x.value for x in map(self.stated.class_of, self.stated.extents)}
        there = {
            "strides=backward": min(steps, default=0) < 0, "strides=broadcast": 0 in steps,
            "strides=odd": any(x.size and 1 not in (s // x.itemsize for s in x.strides) for x in self.arrays),
            "extent=0": 0 in of.extents.values(), "extent=1": 1 in of.extents.values(),
            "extent=long": max(of.extents.values(), default=0) > 60,
            "values=special": bool(self._special and not np.isfinite(self.expected[0]).all()),
            "values=conjugate": any(_flags(of)), "classes=none": not kinds, "classes=all": len(kinds) == 4,
        }  # fmt: skip
        return {
            f"dtype={self.dtype}", f"alpha={kind_of(self.alpha)}", f"beta={kind_of(self.beta)}",
            *(name for name, is_there in there.items() if is_there),
        }  # fmt: skip

    def plans(self) -> list[Fused]:
        """All plans, and one with small blocks."""
        merged = merge(self.stated)
        every = list(space.plans(merged))
        if every:
            one = self.draw.choice(every).plan
            block = self.draw.randint(1, 60), self.draw.randint(1, 30), self.draw.randint(1, 9)
            small = FusedPlan(one.rows, one.columns, one.terms, one.batches, block, one.streams)
            every.append(plan.check(small, merged))
        return every

    def check(self, products: Fused, threads: int = 1) -> str:
        """A sentence about what is wrong with a plan, "" for nothing."""
        run = FusedExecution(self.stated, products, threads).run
        a, b, c = self.arrays
        return self.wrong(lambda: run(a, b, c, self.alpha, self.beta), str(products.plan))

    def wrong(self, run: Callable[[], None], how: str) -> str:
        """The same of whatever computes C in its place."""
        c = self.arrays[2]
        outside = self._memory[2].bytes.copy()
        c[...] = self.before if self.beta else np.nan
        first = c.__array_interface__["data"][0] - self._memory[2].address if c.size else 0
        inside: Array = np.ndarray(c.shape, c.dtype, outside, first, c.strides)
        run()
        inside[...] = c
        if not all(memory.intact() for memory in self._memory) or not np.array_equal(outside, self._memory[2].bytes):
            return f"{self.stated} {how}: what lies around a tensor was written"
        wrong = self.misses(c)
        return f"{self.stated} {how}: {wrong} wrong elements" if wrong else ""

    def misses(self, found: Array) -> int:
        """The number of elements beyond their bounds; what is no number must be none here, and infinities the same."""
        wanted, bound = self.expected
        with np.errstate(invalid="ignore"):
            right = (abs(found - wanted) <= bound) | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        return int((~right).sum())


def kind_of(scalar: complex) -> str:
    """The kind of alpha or beta: zero, one or any."""
    return {0: "zero", 1: "one"}.get(scalar, "any")  # type: ignore[call-overload, no-any-return]


def _flags(stated: Contraction) -> tuple[bool, bool]:
    return stated.conjugate_a, stated.conjugate_b


def _form(draw: random.Random) -> tuple[str, str, tuple[bool, bool]]:
    """A spec, a type, and whether A and B are conjugated."""
    letters = draw.sample("abcdefghijklmn", 9)
    counts = [0, 0, 1, 2], [0, 1, 2, 3], [0, 1, 2], [0, 1, 1, 2]
    batch, m, n, k = ([letters.pop() for _ in range(draw.choice(count))] for count in counts)
    sides = [[*batch, *m, *k], [*batch, *n, *k], [*batch, *m, *n]]
    for side in sides:
        draw.shuffle(side)
    dtype = draw.choice("sdcz")
    conjugate_a, conjugate_b = (dtype in "cz" and draw.random() < 0.3 for _ in range(2))
    return "{},{}->{}".format(*map("".join, sides)), dtype, (conjugate_a, conjugate_b)
