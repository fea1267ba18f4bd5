"""Native code that serves many problems: kept in the solutions database, and run from there without LLVM."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..errors import CompileError
from ..machine.target import Target
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from . import backend, image_linker, kernel, linking
from .linking import Loaded

_log = logging.getLogger(__name__)
NATIVE = "native code"  # the kind of such rows
_NAME = "module"
T = TypeVar("T")


def native(what: str, how: str, symbols: Sequence[str], compiled: Callable[[], bytes]) -> Loaded:
    """Code of this machine by its name: stored by an earlier process, or `compiled()` and stored for later ones.

    what, how: the name of the code, and all that it depends on beside this machine and the versions of this program and
    of LLVM, in words: a revision, which is raised with every change of what the code does, offsets of foreign
    structures, choices that were built in.
    symbols: the functions whose addresses will be asked for: `.address(symbol)`, `.function(symbol, prototype)`;
    whoever uses them keeps what is returned. compiled: makes an object, as by
    `backend.compile_object(str(module), backend.host_target())`; only this should import `ir_builders`.

    The code may call and read whatever this process has under a name, such as memcpy, `PyTuple_New` or
    `_Py_NoneStruct`: code that names symbols of Python is stored for this version of the interpreter. It may have
    variables. Data that is filled with addresses at link time (tables of functions) makes LLVM link it in every
    process: fill such tables when the code runs.
    """
    def made() -> bytes:
        code = compiled()
        return image_linker.linked(code, symbols) or code

    return stored(what, how, made, lambda code: linking.load(code, symbols))


def stored(
    what: str, how: str, compiled: Callable[[], bytes], load: Callable[[bytes], T], target: Target | None = None
) -> T:
    """`load(code)` of what is stored under this name, or else of `compiled()`, which is then stored. what, how: as of
    `native`; target: by default this machine. Stored code that `load` refuses with a CompileError is made again, with a
    warning."""
    key = (target or backend.host_target()).key
    request = Request(what, key, 1, "hot-ab", "", kernel.versions(), NATIVE)
    store = open_database(None)
    for _, code in store.native(request, how):
        try:
            return load(code)
        except CompileError as error:
            _log.warning("stored object code is ignored: %s", error)
    code = compiled()
    made = load(code)
    store.keep_native(Record(request, 1, how, objects=((_NAME, code),)))
    return made
