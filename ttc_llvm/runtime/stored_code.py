"""Native code that serves many problems: kept in the solutions database, and run from there without LLVM."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import ir_builders, locks
from ..errors import CompileError
from ..logs import Log
from ..tuning.database.opened import open_database
from ..tuning.database.packing import is_image
from ..tuning.database.records import Record, Request
from . import mapping
from .here import VERSIONS, here
from .mapping import Loaded
from .once import once

_log = Log(__name__)
COMPILER = (
    "words", "integer_code", "integer_expressions", "integer_operations", "integer_text",
)  # of functions of integers
NATIVE = "native code"  # the kind of such rows
_NAME = "module"


def native(
    what: str,
    how: str,
    symbols: Sequence[str],
    compiled: Callable[[], bytes],
    facts: Callable[[], tuple[int, ...]] = tuple,
) -> Loaded:
    """Code of this machine by its name: stored by an earlier process, or `compiled()` and stored for later ones.

    what, how: the name of the code, and all that it depends on beside this machine and the versions of this program and
    of LLVM, in words: a revision, which is raised with every change of what the code does, offsets of foreign
    structures, choices that were built in.
    symbols: the functions whose addresses will be asked for: `.address(symbol)`, `.function(symbol, prototype)`;
    whoever uses them keeps what is returned. compiled: makes an object, as by
    `backend.compile_object(str(module), backend.host_target())`; only this should import `ir_builders`. facts: makes
    numbers that are stored with it, `.facts`.

    The code may call and read whatever this process has under a name, such as memcpy, `PyTuple_New` or
    `_Py_NoneStruct`: code that names symbols of Python is stored for this version of the interpreter. It may have
    variables. Data that is filled with addresses at link time (tables of functions) makes LLVM link it in every
    process: fill such tables when the code runs.
    """
    loaded = stored(what, how, symbols)
    if loaded is None:
        code, told_facts = compiled(), facts()
        code = _linking().image_of(code, symbols, told_facts) or code
        loaded = _loaded(code, symbols, what)
        open_database(None).keep_native(Record(_request(what), 1, how, objects=((_NAME, code),)))
    if not loaded.facts:  # of an object
        loaded.facts = facts()
    return loaded


def stored(what: str, how: str, symbols: Sequence[str]) -> Loaded | None:
    """The code that an earlier process has stored; None where it cannot be loaded, which is logged."""
    for _, code in open_database(None).native(_request(what), how):
        try:
            return _loaded(code, symbols, what)
        except CompileError as error:
            _log.warning("stored code of %s is ignored: %s", what, error)
    return None


def _loaded(code: bytes, symbols: Sequence[str], what: str) -> Loaded:
    if not is_image(code):
        return _linking().load(code, symbols)  # type: ignore[no-any-return]
    return mapping.mapped(code, what, symbols)


def _linking() -> Any:
    """What only code needs that is no image yet."""
    return locks.imported(".linking", __package__)


def _request(what: str) -> Request:
    return Request(what, machine(), 1, "hot-ab", "", VERSIONS, NATIVE)


@once
def machine() -> str:
    """All of this machine and its LLVM that code depends on. TargetError where no code runs."""
    known = here()
    if known is None:
        backend = locks.imported(".backend", __package__)
        known = f"{backend.host_target().key} llvm{backend.llvm_version()}"
    return known


def compiled_functions(homes: Mapping[str, str]) -> bytes:
    """Object code for this machine of functions of integers: their names, and the modules of `ir_builders` that have
    them, which are loaded."""
    integer_code, attributes, extensions = map(_builders, ("integer_code", "attributes", "llvmlite_extensions"))
    backend = locks.imported(".backend", __package__)
    made = attributes.new_module(target := backend.host_target())
    with locks.uncollected():
        integer_code.add_functions(made, [getattr(_builders(home), name) for name, home in homes.items()])
        text = extensions.spent(made)
    return bytes(backend.compile_scalar(text, target))


def _builders(name: str) -> Any:
    return locks.imported(f"..ir_builders.{name}", __package__)


def revision(*sources: str) -> str:
    """The revision of code that is written in these modules of `ir_builders`, which need not be loaded: other sources,
    of these or of the compiler of functions of integers, are another row of the database."""
    return check_of(os.path.join(ir_builders.__path__[0], f"{name}.py") for name in (*COMPILER, *sources))


def check_of(files: Iterable[str]) -> str:
    """The size and a check sum of all these files together."""
    size = check = 0
    for name in files:
        with open(name, "rb", buffering=0) as file:
            found = file.readall()
        size, check = size + len(found), zlib.crc32(found, check)  # nobody forges sources: a hundredth of SHA's time
    return f"{size:x}-{check:08x}"


def states_of(files: Iterable[os.DirEntry[str]]) -> str:
    """The paths, sizes and times of the last changes of files, in a few digits: in a tenth of the time of `check_of`,
    for what may be another one where the same files are installed elsewhere."""
    states = sorted((file.path, file.stat()) for file in files)
    lines = (f"{path} {found.st_size} {found.st_mtime_ns}" for path, found in states)
    return f"{zlib.crc32(' '.join(lines).encode()):08x}"
