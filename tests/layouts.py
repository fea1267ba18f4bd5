"""Arrays of every dtype in every layout that NumPy has, inside memory that shows what else was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Array = npt.NDArray[Any]

ARITHMETIC = ("f4", "f8", "c8", "c16")
MOVED = (
    *ARITHMETIC, "?", "i1", "u2", "i4", "u8", "f2", "g", "G", ">f4", ">c16", ">i8", "M8[ns]", "m8[s]", "S3", "U2",
    "V1", "V5", "V24", "u1,f4", "u1,(3,)i2,c8", "f8,V8",
)  # fmt: skip
PARTNER = {"f4": "f8", "f8": "f4", "c8": "c16", "c16": "c8"}
EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 40)


@dataclass(frozen=True, slots=True)
class Window:
    """An array in the middle of a block of bytes."""

    block: npt.NDArray[np.uint8]
    array: Array


def window(
    shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...], shift: int = 0, seed: int = 0
) -> Window:
    """An array of these strides (bytes) in random bytes, `shift` bytes behind where it would be aligned."""
    np_type = np.dtype(dtype)
    spans = [(n - 1) * s for n, s in zip(shape, strides, strict=True)] if 0 not in shape else [0]
    low, high = sum(s for s in spans if s < 0), sum(s for s in spans if s > 0) + np_type.itemsize
    rng = np.random.default_rng(seed)
    raw = np.empty(high - low + 256, np.uint8)
    first = -raw.ctypes.data % 64
    block = raw[first : first + high - low + 160]
    block[:] = np.frombuffer(rng.bytes(block.size), np.uint8)
    return Window(block, np.ndarray(shape, np_type, block, 64 - low + shift, strides))


def soften(x: Array, seed: int) -> None:
    """Numbers of moderate size, with a few infinities and NaNs, instead of random bits."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(x.shape)
    values[rng.random(x.shape) < 0.05] = rng.choice([0.0, -0.0, np.inf, np.nan])
    x.real = values
    if x.dtype.kind == "c":
        x.imag = rng.standard_normal(x.shape)


@st.composite
def shapes(draw: st.DrawFn, elements: int = 4000, most: int = 5) -> tuple[int, ...]:
    """Shapes of rank 0 to `most`; now and then an empty one."""
    shape: list[int] = []
    for _ in range(draw(st.integers(0, most))):
        room = elements // max(1, int(np.prod(shape)))
        shape.append(min(draw(st.sampled_from(EXTENTS)), max(1, room)))
    if shape and draw(st.integers(0, 24)) == 24:
        shape[0] = 0
    return tuple(draw(st.permutations(shape)))


@st.composite
def strides(
    draw: st.DrawFn, shape: tuple[int, ...], itemsize: int, broadcast: bool, odd: bool
) -> tuple[int, ...]:
    """Any order of the axes, gaps, backward axes; broadcast: axes of stride 0; odd: gaps of any bytes."""
    found = [0] * len(shape)
    gap = st.sampled_from((0, 0, 0, 1, 4)) if not odd else st.sampled_from((0, 1, 2, 4, 7))
    unit = 1 if odd else itemsize
    step = itemsize + draw(gap) * unit
    for k in draw(st.permutations(range(len(shape)))):
        if broadcast and draw(st.integers(0, 7)) == 7:
            continue
        found[k] = draw(st.sampled_from((1, 1, 1, -1))) * step
        step = step * max(1, shape[k]) + draw(gap) * unit
    return tuple(found)


@st.composite
def windows(draw: st.DrawFn, shape: tuple[int, ...], dtype: str, broadcast: bool) -> Window:
    """A window of this shape in any layout."""
    itemsize = np.dtype(dtype).itemsize
    odd = draw(st.integers(0, 5)) == 5
    layout = draw(strides(shape, itemsize, broadcast, odd))
    shift = draw(st.sampled_from((0, 0, 0, itemsize, 1, 2, 4)))
    return window(shape, dtype, layout, shift, draw(st.integers(0, 1 << 20)))
