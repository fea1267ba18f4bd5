"""The suite `in-place`: permutations within a tensor's own memory, 4 MB to 1 GiB."""

from __future__ import annotations

from collections.abc import Iterator

from ..problem.problem import Problem
from .cases import Case

_SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "1000x1000": ((1, 0), (1000, 1000)), "4096x4096": ((1, 0), (4096, 4096)), "5000x5000": ((1, 0), (5000, 5000)),
    "8191x8191": ((1, 0), (8191, 8191)), "64-of-512x512": ((1, 0, 2), (512, 512, 64)),
    "cube-400": ((2, 0, 1), (400, 400, 400)), "pairs-80": ((1, 0, 3, 2), (80, 80, 80, 80)),
}  # fmt: skip
_TYPES = ("s", "d", "z")
_OFF = 16  # bytes behind a line: where NumPy's large arrays begin


def in_place(threads: int) -> Iterator[Case]:
    """Squares, a batch of them, a cycle of three axes, two swaps, as NumPy's large arrays lie."""
    for letter in _TYPES:
        for name, (perm, size) in _SHAPES.items():
            problem = Problem(perm, size, letter, inplace=True)
            yield Case("in-place", f"{name}-{letter}", problem, offset=_OFF // problem.a.itemsize)
