"""What makes plans slower or faster, in units of log(time): fitted to timings of random plans.

Data: 2,950 plans of 17 problems of the TTC benchmark (float, 200 MiB, 2 threads) on a Granite Rapids
machine with AVX-512, cold caches. Fit: ridge regression of log(time), centred per problem, good plans
weighted more. Checked by leaving each problem out: the best of the model's first eight reaches 0.76 to
1.00 of the best plan known, 0.92 in geometric mean.

Sizes are log2 of bytes, clipped to the table's ends. A run is keyed by the side (a or b) whose unit
axis is innermost in the tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Table = Mapping[int, float]


def _table(first: int, *values: float) -> Table:
    return MappingProxyType({first + i: value for i, value in enumerate(values)})


@dataclass(frozen=True, slots=True)
class Weights:
    """One class of problems. block: bytes of a micro-tile along A's and B's unit axis; last: whose unit axis the
    innermost tile loop walks; page: bytes of a tile per page that it touches; run: bytes of a tile's runs."""

    prefetch: Mapping[int, float]
    last: Mapping[str, float]
    staging: Mapping[str, float]
    streaming: float  # added when streaming, subtracted when not
    block_a: Table
    block_b: Table
    tile: Table
    page_a: Table
    page_b: Table
    run_a: Mapping[str, Table]
    run_b: Mapping[str, Table]


COLUMNS_UPDATE = Weights(
    prefetch={0: 0.125, 1: 0.038, 2: 0.012, 4: -0.064, 6: -0.073, 8: -0.034, 12: -0.003},
    last={"a": -0.078, "b": 0.0, "other": 0.078},
    staging={"none": -0.148, "a": 0.138, "b": 0.01},
    streaming=0.0,
    block_a=_table(4, 0.053, -0.038, -0.043, 0.028, 0.06),
    block_b=_table(4, 0.1, -0.066, -0.042, 0.008, 0.03),
    tile=_table(
        10, 0.03, 0.05, 0.043, -0.014, 0.018, 0.015, -0.029, -0.039, -0.051, -0.037, 0.006, 0.006, 0.038
    ),
    page_a=_table(6, 0.035, -0.031, -0.043, 0.017, 0.026, 0.032, -0.036),
    page_b=_table(6, -0.023, -0.034, -0.044, 0.006, 0.007, 0.06, 0.029),
    run_a={
        "a": _table(6, 0.064, -0.011, 0.0, -0.038, -0.032, -0.098, -0.056),
        "b": _table(6, 0.046, 0.048, 0.069, -0.004, 0.052, -0.06, 0.02),
    },
    run_b={
        "a": _table(6, 0.008, 0.023, -0.031, -0.056, -0.027, -0.079, -0.009),
        "b": _table(6, 0.013, -0.01, 0.058, 0.006, 0.063, 0.003, 0.038),
    },
)

COLUMNS_COPY = Weights(
    prefetch={0: 0.03, 1: 0.005, 2: -0.003, 4: 0.016, 6: -0.021, 8: -0.001, 12: -0.026},
    last={"a": -0.156, "b": 0.106, "other": 0.05},
    staging={"none": -0.014, "a": 0.078, "b": -0.063},
    streaming=-0.226,
    block_a=_table(4, 0.007, 0.019, 0.015, -0.041, 0.0),
    block_b=_table(4, 0.3, 0.33, -0.178, -0.254, -0.2),
    tile=_table(
        10, 0.012, 0.011, 0.013, -0.008, -0.004, 0.011, -0.011, -0.033, -0.047, -0.033, 0.02, 0.02, 0.06
    ),
    page_a=_table(6, 0.11, 0.043, -0.027, 0.004, -0.011, -0.061, -0.057),
    page_b=_table(6, -0.143, -0.15, 0.021, 0.015, 0.059, 0.081, 0.118),
    run_a={
        "a": _table(6, 0.075, 0.036, -0.05, -0.057, -0.1, -0.173, -0.135),
        "b": _table(6, 0.02, 0.098, 0.074, 0.036, 0.094, 0.006, 0.078),
    },
    run_b={
        "a": _table(6, -0.058, -0.065, -0.079, -0.026, -0.096, -0.031, -0.051),
        "b": _table(6, -0.08, -0.141, 0.138, 0.072, 0.163, 0.085, 0.17),
    },
)

ROWS = Weights(
    prefetch={0: -0.075, 1: 0.026, 2: 0.01, 4: 0.0, 6: 0.0, 8: 0.015, 12: 0.02},
    last={"a": -0.05, "b": -0.05, "other": 0.05},
    staging={"none": -0.05, "a": 0.04, "b": 0.01},
    streaming=-0.085,
    block_a=_table(4, 0.085, 0.023, -0.061, -0.018, -0.029),
    block_b=_table(4, 0.085, 0.023, -0.061, -0.018, -0.029),
    tile=_table(10, 0.053, 0.02, -0.005, -0.03, -0.013, 0.005, -0.06, 0.042, 0.01, 0.02, 0.03, 0.04, 0.05),
    page_a=_table(6, -0.035, 0.069, -0.02, -0.01, 0.0, 0.03, -0.035),
    page_b=_table(6, 0.0, 0.0, -0.03, 0.01, 0.003, 0.0, 0.018),
    run_a=dict.fromkeys(("a", "b"), _table(6, 0.088, 0.014, 0.022, -0.04, 0.012, -0.062, -0.035)),
    run_b=dict.fromkeys(("a", "b"), _table(6, 0.0, 0.005, -0.021, 0.002, -0.011, 0.008, 0.018)),
)


def at(table: Table, log_bytes: int) -> float:
    """The entry of a size, clipped to the table's ends."""
    found = table.get(log_bytes)
    return table[min(max(log_bytes, min(table)), max(table))] if found is None else found


def near(table: Mapping[int, float], value: int) -> float:
    """The entry of the closest key."""
    found = table.get(value)
    return table[min(table, key=lambda key: (abs(key - value), key))] if found is None else found
