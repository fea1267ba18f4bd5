"""The any-size kernels of families as the native planner looks them up: by number, loaded or compiled when first used.

They live for ever: there are at most 33 for each type and kind of scalars, and code that runs holds no reference.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import locks
from ..ir_builders import planner_fields as fields
from ..ir_builders.layout_fields import CAST_KINDS
from ..logs import Log
from ..operands.addresses import data_address
from ..runtime import image
from ..runtime.mapping import Loaded
from ..runtime.stored_code import native, stored

if TYPE_CHECKING:
    from ..operands.operand import Array

_log = Log(__name__)
REVISION = 2  # of families' forms, plans and numbers: stored code of another is not run


class FamilyKernels:
    """Records of families. address: of the list of their addresses, which planners read. Safe in several threads."""

    def __init__(self) -> None:
        self._list = np.zeros(fields.FAMILY_COUNT, np.int64)
        self._records: dict[int, Array] = {}
        self._kernels: dict[int, Loaded] = {}  # keep the code in memory
        self.address = data_address(self._list)

    def provide(self, number: int) -> None:
        """Add what a planner lacks of a family: first its record, and its kernel where that is stored; when asked again
        its kernel."""
        with locks.CODE:
            if number not in self._records:
                code = stored(*_code(number))
                self._enter(number, _family().record(number) if code is None else code.facts)
            else:
                code = _kernel(number)
            if code is not None and number not in self._kernels:
                _log.debug("the any-size kernel of family %d is ready", number)
                self._kernels[number] = code
                self._records[number][fields.FAMILY_KERNEL // 8] = code.address(image.KERNEL)

    def _enter(self, number: int, words: tuple[int, ...]) -> None:
        self._records[number] = record = np.array((0, *words), np.int64)
        self._list[number] = data_address(record)


def _kernel(number: int) -> Loaded:
    """The kernel of a family, stored or compiled."""
    family = _family()
    return native(*_code(number), partial(family.compiled, number), partial(family.record, number))


def _code(number: int) -> tuple[str, str, tuple[str]]:
    """Under which name a family's kernel is stored, what it depends on, and its function."""
    kind, form = divmod(number, fields.FORMS * fields.RANK_COUNT)
    index = kind - fields.FAMILY_TYPES + CAST_KINDS
    name = str(number) if index < 0 else f"{form} of {' '.join(map(str, _cast_kinds().numbered(index)))}"
    return f"any-size kernel {name}", f"families{REVISION} code{image.REVISION}", (image.KERNEL,)


def _cast_kinds() -> Any:
    """What only conversions need."""
    return locks.imported(".cast_kinds", __package__)


def _family() -> Any:
    """What only kernels need that are not stored yet."""
    return locks.imported(".family", __package__)
