"""The suite `casts`: transpositions that convert numbers, about 200 MiB of the wider side, and images."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..problem.dtypes import parse_pair
from ..problem.problem import Problem
from .cases import Case
from .ttc57 import TEN, in_type

PAIRS: dict[str, Fraction] = {
    "u8,s": Fraction(1, 255), "f16,s": Fraction(1), "s,bf16": Fraction(1), "s,e4m3fn": Fraction(1, 16),
    "sr,s": Fraction(1), "i64,s": Fraction(1),
}  # fmt: skip
"""A's and B's type, and alpha, with which a tensor's numbers, below 2, stay within range: images of bytes, weights,
activations in fewer bits, files of the other byte order."""
_SQUARE: dict[str, Fraction] = {"f16,s": Fraction(1), "bf16,s": Fraction(3, 16), "e4m3fn,s": Fraction(3, 16),
                                "s,f16": Fraction(1), "s,u8sat": Fraction(170)}  # fmt: skip
_HD = (3, 1920, 1080)


def casts(threads: int) -> Iterator[Case]:
    """Six pairs of types on ten of the 57; images to and from channel order, 4096 x 4096 with one scale."""
    for pair, alpha in PAIRS.items():
        for number in TEN:
            yield _case(f"{number:02d}", *in_type(number, _widest(pair)), pair, alpha)
    for pair, alpha in _SQUARE.items():
        yield _case("10-4096x4096", (1, 0), (4096, 4096), pair, alpha)
    to_tensor, back = ("u8,s", Fraction(1, 255)), ("s,u8sat", Fraction(170))
    yield _case("hwc3-chw", (1, 2, 0), _HD, *to_tensor)
    yield _case("nhwc3-nchw", (1, 2, 0, 3), (*_HD, 8), *to_tensor)
    yield _case("nhwc3-nchw", (1, 2, 0, 3), (3, 224, 224, 320), "u8,f16", Fraction(1, 255))
    yield _case("nchw-nhwc3", (2, 0, 1, 3), (224, 224, 3, 320), *back)


def _case(name: str, perm: tuple[int, ...], size: tuple[int, ...], pair: str, alpha: Fraction) -> Case:
    types = pair.removesuffix("sat")
    problem = Problem(perm, size, types, alpha=alpha, saturate=types != pair)
    return Case("casts", f"{name}-{pair.replace(',', '-')}", problem)


def _widest(pair: str) -> int:
    return max(t.itemsize for t in parse_pair(pair))
