"""NumPy's letters for orders of axes in memory."""

from __future__ import annotations

from typing import Literal, get_args

Order = Literal["C", "F", "A", "K", "c", "f", "a", "k"]
ORDERS = get_args(Order)
