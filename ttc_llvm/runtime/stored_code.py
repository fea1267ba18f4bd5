"""Native code that serves many problems: kept in the solutions database, and run from there without LLVM."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import ir_builders, locks
from ..errors import CompileError, TtcError
from ..logs import Log
from ..tuning.database.opened import open_database
from ..tuning.database.packing import is_image
from ..tuning.database.records import Record, Request
from . import mapping
from .here import VERSIONS, here
from .mapping import Loaded
from .once import once

if TYPE_CHECKING:
    from .meanwhile import Meanwhile

_log = Log(__name__)
COMPILER = (
    "words", "integer_code", "integer_expressions", "integer_operations", "integer_text",
)  # of functions of integers
NATIVE = "native code"  # the kind of such rows
_NAME = "module"
FIRST_CALLS = 2  # of one kind that need not wait for code: a program that goes on gets our speed from the next one on


class Native:
    """Code of this machine by its name: stored by an earlier process, or `compiled()` and stored for later ones.

    what, how: the name of the code, and all that it depends on beside this machine and the versions of this program and
    of LLVM, in words: a revision, which is raised with every change of what the code does, offsets of foreign
    structures, choices that were built in.
    symbols: the functions whose addresses will be asked for: `.address(symbol)`, `.function(symbol, prototype)`;
    whoever uses them keeps what is returned. compiled: makes an object, as by
    `backend.compile_object(str(module), backend.host_target())`; only this should import `ir_builders`. facts: makes
    numbers that are stored with it, `.facts`. Neither takes `locks.CODE`. then: as for `Meanwhile`.

    The code may call and read whatever this process has under a name, such as memcpy, `PyTuple_New` or
    `_Py_NoneStruct`: code that names symbols of Python is stored for this version of the interpreter. It may have
    variables. Data that is filled with addresses at link time (tables of functions) makes LLVM link it in every
    process: fill such tables when the code runs.
    """

    def __init__(
        self,
        what: str,
        how: str,
        symbols: Sequence[str],
        compiled: Callable[[], bytes],
        facts: Callable[[], tuple[int, ...]] = tuple,
        then: Callable[[], object] = bool,
    ) -> None:
        self._names = what, how, symbols
        self._compiled, self._facts, self._then = compiled, facts, then
        self._code: Meanwhile[bytes] | None = None
        self._found: Loaded | None = None

    def is_ready(self) -> bool:
        """False while another thread compiles it, which begins here where it is not stored. Errors are of `loaded`."""
        if self._found is None and self._code is None:
            with locks.CODE, suppress(TtcError, MemoryError):
                self._found = self._found or stored(*self._names)
                if self._found is None and self._code is None:
                    self._code = locks.imported(".meanwhile", __package__).Meanwhile(self._made, self._then)
        return self.is_over

    @property
    def is_over(self) -> bool:
        """False while another thread compiles it."""
        code = self._code
        return code is None or code.is_over

    def loaded(self) -> Loaded:
        """The code, in this process."""
        with locks.CODE:
            if self._found is None:
                self._found = self._loaded()
            return self._found

    def _loaded(self) -> Loaded:
        what, how, symbols = self._names
        loaded = None if self._code is not None else stored(what, how, symbols)
        if loaded is None:
            loaded = _loaded(self._made() if self._code is None else self._awaited(self._code), symbols, what)
        if not loaded.facts:  # of an object
            loaded.facts = self._facts()
        return loaded

    def _awaited(self, code: Meanwhile[bytes]) -> bytes:
        try:
            return code.result()
        except Exception:  # the next call tries anew; Ctrl-C ends the waiting alone
            self._code = None
            raise

    def _made(self) -> bytes:
        """The code, which is stored."""
        what, how, symbols = self._names
        code, facts = self._compiled(), self._facts()
        code = _linking().image_of(code, symbols, facts) or code
        open_database(None).keep_native(Record(_request(what), 1, how, objects=((_NAME, code),)))
        return code


def native(*code: Any) -> Loaded:
    """The code that these arguments of `Native` describe."""
    return Native(*code).loaded()


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
