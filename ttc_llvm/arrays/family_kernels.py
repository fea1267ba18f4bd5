"""The any-size kernels of families as the native planner looks them up: by number, loaded or compiled when first used.

They live for ever: there are at most 15 for each type and kind of scalars, and code that runs holds no reference.
"""

from __future__ import annotations

import logging

import numpy as np

from .. import locks
from ..errors import CompileError
from ..ir_builders import planner_fields as fields
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..operands.addresses import data_address
from ..problem.canonical import Canonical
from ..runtime import kernel
from ..runtime.kernel import Kernel
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from . import family
from .pairs import Array

_log = logging.getLogger(__name__)


class FamilyKernels:
    """Records of families. address: of the list of their addresses, which planners read. Safe in several threads."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._list = np.zeros(fields.FAMILY_COUNT, np.int64)
        self._records: dict[int, Array] = {}
        self._kernels: dict[int, Kernel] = {}  # keep the code in memory
        self.address = data_address(self._list)

    def provide(self, number: int) -> None:
        """Add what a planner lacks of a family: first its record, when asked again its kernel."""
        with locks.CODE:
            if number not in self._records:
                self._describe(number)
            elif number not in self._kernels:
                made = family.numbered(number)
                form, plan = family.canonical_form(made), family.plan(made, self._target)
                self._kernels[number] = found = _linked(form, plan, self._target)
                _log.debug("the any-size kernel of %s is ready", made)
                self._records[number][fields.FAMILY_KERNEL // 8] = found.address

    def _describe(self, number: int) -> None:
        made = family.numbered(number)
        plan = family.plan(made, self._target)
        record = np.zeros(fields.FAMILY_BYTES // 8, np.int64)
        record[fields.BLOCK // 8 :][: made.rank] = plan.block
        for axis, step in plan.grid(tuple(axis.extent for axis in family.canonical_form(made).axes)):
            record[fields.GRID // 8 + axis] = step
        self._records[number] = record
        self._list[number] = data_address(record)


def _linked(form: Canonical, plan: CpuPlan, target: Target) -> Kernel:
    """The kernel of a family: from its row of the solutions database, or compiled and stored there. Code of another
    plan is not used, and what cannot be linked is compiled again, with a warning."""
    request = Request(str(form), target.key, 1, "hot-ab", "", kernel.versions())
    store = open_database(None)
    record = store.find(request, 1).record
    known = record is not None and record.plan == str(plan)
    code = dict(record.objects).get(kernel.NAME) if record is not None and known else None
    if code is not None:
        try:
            made = kernel.build(form, plan, target, code)
        except CompileError as error:
            _log.warning("stored object code is ignored: %s", error)
            code = None
    if code is None:
        made = kernel.build(form, plan, target)
    if made.code != code:  # it is new, or an object has become an image
        fresh = Record(request, 1, str(plan), objects=((kernel.NAME, made.code),))
        (store.keep if known else store.store)(fresh)
    return made
