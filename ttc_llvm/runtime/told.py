"""LLVM's answers about itself and this machine, remembered: processes that run stored code need not load it to ask."""

from __future__ import annotations

from collections.abc import Callable

from ..lazy_dataclasses import NamedTuple
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from .here import VERSIONS, here

_KIND, _NAME = "machine", "told"


class Told(NamedTuple):
    """LLVM's version, and what it takes this machine for. features: sorted switches, `+avx,-avx512f`."""

    version: str
    triple: str
    cpu: str
    features: str


def told(ask: Callable[[], Told]) -> Told:
    """The answers that a process got before on such a processor from this installation of llvmlite, or `ask()`'s.

    They are kept as code is: whoever could change them would have processes run what their processors lack.
    """
    name = here()
    if name is None:
        return ask()
    request = Request(name, "host", 1, "cold", "", VERSIONS, _KIND)
    store = open_database(None)
    for _, found in store.native(request, _NAME):
        lines = found.decode().split("\n")
        if len(lines) == len(Told._fields):
            return Told(*lines)
    answer = ask()
    store.keep_native(Record(request, 1, _NAME, objects=((_NAME, "\n".join(answer).encode()),)))
    return answer
