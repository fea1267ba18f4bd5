"""Facts of a kind of arithmetic, from a layout's word: functions for `integer_code`.

kind: without what is above `ODD_BITS`, and less `FIRST_SCALED_KIND`; those of `cast_kind` are larger than those of
`scaled_kind`.
"""

from __future__ import annotations

from .layout_fields import ALPHA_ZERO, CAST_INDEX, SCALED_KINDS, SIZES


def bytes_of(kind: int) -> int:
    """Bytes of an element of the array."""
    return SIZES[kind & 3] if kind < SCALED_KINDS else 1 << (kind & 7)


def bytes_to(kind: int) -> int:
    """Bytes of an element of the result."""
    return SIZES[kind >> 2 & 3] if kind < SCALED_KINDS else 1 << (kind >> 3 & 7)


def is_zero(kind: int) -> int:
    """1 where the array is not read."""
    return (kind >> 4 & 3) == ALPHA_ZERO if kind < SCALED_KINDS else kind >> 6 & 1


def reads_result(kind: int) -> int:
    """1 where the result is read."""
    return kind >> (6 if kind < SCALED_KINDS else 7) & 1


def type_number(kind: int) -> int:
    """Its number among families' types, behind those of moves."""
    return kind if kind < SCALED_KINDS else SCALED_KINDS - 1 + (kind >> CAST_INDEX)
