"""Kinds of conversions by number: each gets one at its first use in a process, as there are too many to have their own
for good."""

from __future__ import annotations

from .. import locks
from ..ir_builders import layout_fields as fields
from ..lazy_dataclasses import NamedTuple
from ..problem.dtypes import DType
from ..problem.kinds import Alpha, Beta, Kinds


class CastKind(NamedTuple):
    """The facts that code for a conversion depends on, beside its layout."""

    a: DType
    b: DType
    kinds: Kinds
    conjugate: bool


_numbers: dict[CastKind, int] = {}


def number(kind: CastKind) -> int:
    """Of a layout (`layout_fields.cast_kind`)."""
    with locks.CODE:
        index = _numbers.setdefault(kind, len(_numbers))
    power_a, power_b = (t.itemsize.bit_length() - 1 for t in (kind.a, kind.b))
    return fields.cast_kind(index, power_a, power_b, kind.kinds.alpha is Alpha.ZERO, kind.kinds.beta is Beta.ANY)


def numbered(index: int) -> CastKind:
    """The kind of this number."""
    return [*_numbers][index]
