"""Layouts on the any-size kernel of their family, and when a kernel of their own pays."""

from __future__ import annotations

import logging

import numpy as np

from ..errors import CompileError
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..operands.addresses import data_address
from ..problem.canonical import Canonical, Placed
from ..runtime import kernel, runtime
from ..runtime.executable import HELD_BYTES, SERIAL_BYTES, Direct, Entry, bound
from ..runtime.kernel import Kernel
from ..runtime.once import Recent
from ..runtime.pool import Call
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from . import family
from .family import Family

_log = logging.getLogger(__name__)
FAMILIES = 128  # kernels remembered


class General:
    """Runs one layout on its family's kernel: code that exists already, or is compiled for all layouts alike.

    left: bytes that it may move before a kernel of the layout's own has paid for its compilation; weight: bytes for
    which a call counts (`family.weight`); returned: it has run twice; parts: threads that are worth their while.
    Safe in several threads.
    """

    __slots__ = (
        "_budget", "_call", "_entry", "_held", "_kernel", "_offsets", "_values",
        "left", "parts", "returned", "weight",
    )  # fmt: skip

    def __init__(self, placed: Placed, of: Family, target: Target, budget: int) -> None:
        canonical = placed.canonical
        form, plan = family.canonical_form(of), family.plan(of, target)
        values = family.values(of, canonical)
        made = _kernels.obtain((form, plan, target.key), lambda: _linked(form, plan, target))
        self._kernel = made  # keeps the code in memory
        self._values = np.array(values, np.int64)
        self._call = (made.address, data_address(self._values), family.tasks(form, plan, values))
        self._held = canonical.bytes_moved < HELD_BYTES
        self._entry: Entry = bound(made, self._held)
        self._offsets = (placed.offset_a * canonical.a.itemsize, placed.offset_b * canonical.b.itemsize)
        self.weight = family.weight(of, canonical, target)
        self.left = self._budget = budget
        self.returned = False
        self.parts = max(1, canonical.bytes_moved // SERIAL_BYTES)

    def run(self, a: int, b: int, scalars: int, threads: int) -> None:
        """Transpose from address a to address b; as `Executable.run`."""
        self.returned = self.left < self._budget
        self.left -= self.weight
        a += self._offsets[0]
        b += self._offsets[1]
        address, params, tasks = self._call
        if threads < 2 or self.parts < 2:
            self._entry(a, b, scalars, params, 0, 0, tasks)
        else:
            runtime.run(Call(address, a, b, scalars, params, 0, tasks), min(threads, self.parts))

    def direct(self) -> Direct | None:
        """The call that `run` makes on one thread; None where several are worth their while."""
        _, params, tasks = self._call
        return Direct(self._kernel, *self._offsets, params, tasks, self._held) if self.parts < 2 else None


_kernels: Recent[Kernel] = Recent(FAMILIES)


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
            return kernel.build(form, plan, target, code)
        except CompileError as error:
            _log.warning("stored object code is ignored: %s", error)
    made = kernel.build(form, plan, target)
    fresh = Record(request, 1, str(plan), objects=((kernel.NAME, made.code),))
    (store.keep if known else store.store)(fresh)
    return made
