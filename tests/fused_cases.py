"""Random fused contractions: tensors between guard pages, of any strides, and a bound for each element's error."""

from __future__ import annotations

import random
from collections.abc import Callable
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
SCALARS: list[tuple[complex, complex]] = [
    (1, 0), (1, 1), (2, 0), (0.5, -2), (0, 0), (0, 3), (-1, 1), (1j, 0), (1, 1j), (0.5 - 1j, 2j), (2, 0.5 + 1j),
]  # fmt: skip


class Case:
    """A random contraction. arrays: A, B and C; each lies between guard pages, and what C does not cover has canaries.
    """

    def __init__(self, seed: int, most: int = MOST) -> None:
        draw, rng = random.Random(seed), np.random.default_rng(seed)
        letters = draw.sample("abcdefghijklmn", 9)
        counts = [0, 0, 1, 2], [0, 1, 2, 3], [0, 1, 2], [0, 1, 1, 2]
        batch, m, n, k = ([letters.pop() for _ in range(draw.choice(count))] for count in counts)
        sides = [[*batch, *m, *k], [*batch, *n, *k], [*batch, *m, *n]]
        for side in sides:
            draw.shuffle(side)
        self.draw, self.dtype = draw, draw.choice("sdcz")
        size = self._size(batch + m + n + k, most)
        spec = "{},{}->{}".format(*map("".join, sides))
        self._memory: list[Guarded] = []
        self.arrays = [self._array(rng, [size[x] for x in side]) for side in sides]
        is_complex = self.dtype in "cz"
        self.alpha, self.beta = draw.choice(SCALARS if is_complex else SCALARS[:7])
        flags = [is_complex and draw.random() < 0.3 for _ in range(2)]
        of_a, of_b, of_c = (tuple(step // x.itemsize for step in x.strides) for x in self.arrays)
        self.stated = Contraction(spec, size, self.dtype, of_a, of_b, of_c, self.alpha, self.beta, *flags)
        self.before = self.arrays[2].copy()
        wide = np.complex128 if is_complex else np.float64
        a, b = (x.conj() if flag else x for x, flag in zip(self.arrays, flags, strict=False))
        a, b, c = (x.astype(wide) for x in (a, b, self.before))
        self.wanted = self.alpha * np.einsum(spec, a, b) + self.beta * c
        sums = abs(self.alpha) * np.einsum(spec, abs(a), abs(b)) + abs(self.beta) * abs(c)
        terms = prod(size[x] for x in k)
        self.bound = (4 * terms + 32) * np.finfo(TYPES[self.dtype]).eps * sums

    def _size(self, letters: list[str], most: int) -> dict[str, int]:
        size = {x: self.draw.choice([1, 2, 3]) for x in letters}
        for x in self.draw.sample(letters, len(letters)):
            room = most * size[x] // prod(size.values())
            size[x] = self.draw.randint(1, max(1, min(LONGEST, room)))
        return size

    def _array(self, rng: np.random.Generator, shape: list[int]) -> Array:
        draw, kind = self.draw, np.dtype(TYPES[self.dtype])
        order = draw.sample(range(len(shape)), len(shape))
        padded = [shape[k] + draw.choice([0, 0, 0, 1]) for k in order]
        memory = Guarded(prod(padded) * kind.itemsize, draw.choice(["start", "end"]))
        self._memory.append(memory)
        whole = memory.elements(kind).reshape(padded)
        inside = (..., *map(slice, shape))
        turned = (..., *(slice(None, None, draw.choice([1] * 9 + [-1])) for _ in shape))
        view: Array = whole.transpose(np.argsort(order))[inside][turned]
        view[...] = rng.standard_normal(shape)
        if self.dtype in "cz":
            view[...] += 1j * rng.standard_normal(shape)
        return view

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
        wrong = ~(abs(c - self.wanted) <= self.bound)
        return f"{self.stated} {how}: {int(wrong.sum())} wrong elements" if wrong.any() else ""
