"""Speeds of products as a machine might have them: tests choose plans of contractions by the same ones in every run."""

from __future__ import annotations

from math import prod

from ttc_llvm.contractions.rates import CUTS, LAYOUTS, WAYS, Rates
from ttc_llvm.contractions.speeds import LONG, SHORT, TURNS, Speed
from ttc_llvm.contractions.splitting import Gains

START, PEAK = 5e-8, 4e10  # seconds of a product of nothing, multiplications a second of a long one


def known_speeds() -> Rates:
    """What stands in the place of measuring, which takes a second for each data type, and more beside other threads of
    BLAS."""
    short, long = (
        {sizes: prod(sizes) / (START + prod(sizes) / PEAK) for sizes in grid.corners} for grid in (SHORT, LONG)
    )
    vector = tuple(map(float, range(8 * TURNS)))
    written = (1e-10,) * WAYS
    gains = Gains(dict.fromkeys(CUTS, 1.0), dict.fromkeys(LAYOUTS, (1.0, 1.0)))
    speeds = dict.fromkeys(LAYOUTS, Speed(short, long, (vector,) * 4))
    read, copied = (1e-11, 1e-10, 1e-10), (2e10, 2e10, 1e10, 1e10)
    return Rates(speeds, 1e-6, 2e-7, (written, written), read, copied, 1e-6, 0.0, gains)
