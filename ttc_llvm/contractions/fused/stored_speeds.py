"""The speeds of this machine for fused contractions, kept in the solutions database, measured where it lacks them."""

from __future__ import annotations

from contextlib import suppress

from ... import locks
from ...runtime import backend
from ...runtime.once import once
from ...tuning.database.opened import open_database
from ...tuning.database.records import Record, Request
from .execution import revision
from .rates import FusedRates

KIND = "speeds"  # of rows in the database
REVISION = "speeds9"  # raised when what is measured, or its text, changes


@once
def measured(dtype: str) -> FusedRates:
    """The rates of a data type: from the solutions database, or measured, in a fraction of a second, and stored."""
    how = f"{REVISION} {revision(dtype)}"
    request = Request(f"speeds of fused contractions of {dtype}", backend.host_target().key, 1, "hot-ab", "", how, KIND)
    store = open_database(None)
    for _, text in store.native(request, how):
        with suppress(ValueError, TypeError):
            found = FusedRates(*map(float, text.decode().split()))
            if all(0 <= value < 1 for value in found) and found.term > 0:
                return found
    locks.imported("...runtime.meanwhile", __package__).settle()
    made = locks.imported(".measuring", __package__).measured(dtype)
    store.keep_native(Record(request, 1, how, objects=(("speeds", _text(made).encode()),)))
    return made  # type: ignore[no-any-return]


def _text(rates: FusedRates) -> str:
    return " ".join(str(float(value)) for value in rates)
