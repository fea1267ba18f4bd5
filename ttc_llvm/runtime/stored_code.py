"""Native code that serves many problems: kept in the solutions database, and run from there without LLVM."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import ir_builders
from ..errors import CompileError
from ..tuning.database.digests import sha256
from ..tuning.database.opened import open_database
from ..tuning.database.records import Record, Request
from . import backend, kernel, linking
from .linking import Loaded

_log = logging.getLogger(__name__)
COMPILER = ("words", "integer_code", "integer_expressions", "integer_operations")  # of functions of integers
NATIVE = "native code"  # the kind of such rows
_NAME = "module"


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
    request = Request(what, backend.host_target().key, 1, "hot-ab", "", kernel.versions(), NATIVE)
    store = open_database(None)
    for _, code in store.native(request, how):
        try:
            return linking.load(code, symbols)
        except CompileError as error:
            _log.warning("stored code of %s is ignored: %s", what, error)
    code = compiled()
    code = linking.image_of(code, symbols) or code
    loaded = linking.load(code, symbols)
    store.keep_native(Record(request, 1, how, objects=((_NAME, code),)))
    return loaded


def revision(*sources: str) -> str:
    """The revision of code that is written in these modules of `ir_builders`, which need not be loaded: other sources,
    of these or of the compiler of functions of integers, are another row of the database."""
    folder = Path(ir_builders.__path__[0])
    read = (*COMPILER, *sources)
    return str(sha256(b"".join((folder / f"{name}.py").read_bytes() for name in read)).hexdigest()[:16])
