"""Builtin functions in front of Python's: one object for good, whose code becomes native when that is there.

CPython calls a builtin function through its method definition. Ours first leads to `PyObject_Vectorcall`, which calls
what the function is bound to, and that calls a Python function; from `bind` on it leads to native code, which leaves
to a Python function what it does not serve. Nothing here may take time: programs import it that never call anything.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

FASTCALL = 0x80 | 0x02  # METH_FASTCALL | METH_KEYWORDS

F = TypeVar("F", bound=Callable[..., Any])


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("text", ctypes.c_char_p),
    )  # fmt: skip


class Home(ModuleType):
    """A module that a builtin function is bound to, so that it is shown, and pickled, as one of a module is. Classes
    derived from it can be called. state: for native code."""

    __slots__ = ("state",)

    state: Any


_known: dict[str, tuple[_Definition, Home]] = {}
_natives: dict[str, _Definition] = {}


def supported() -> bool:
    """True where functions can be made so: on CPython with its interpreter lock, from 3.11 on, which has
    `PyObject_Vectorcall` as a function."""
    known = sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
    return known and "free-threading" not in sys.version


def builtin(python: F, called: Callable[..., Any]) -> F:
    """A builtin function with the name and the signature of a Python function; that function itself where none can be
    made. called: does what it does until there is native code."""
    if not supported():
        return python
    kind = type("Home", (Home,), {"__slots__": (), "__call__": staticmethod(called)})
    made: F = _bound(python, kind("ttc_llvm"), vectorcall())
    return made


def address(symbol: str) -> int:
    """The address of a function of CPython's."""
    return ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value or 0


def vectorcall() -> int:
    """The address of the function that calls any object."""
    return address("PyObject_Vectorcall")


def native(name: str, address: int, state: Any) -> Any:
    """A builtin function of native code alone. name: always of this code; state: a ctypes object, the address of whose
    memory the code finds, and which the function keeps."""
    home = Home("ttc_llvm")
    home.state = state
    if name not in _natives:
        _natives[name] = _definition(name, address, "")
    return _made(_natives[name], home, __name__)


def bind(name: str, address: int, state: Any) -> None:
    """Lead the builtin function of that name to native code."""
    definition, home = _known[name]
    home.state = state
    definition.code = address


def _bound(python: Callable[..., Any], home: Home, code: int) -> Any:
    name = python.__name__
    _known[name] = _definition(name, code, _text(python)), home
    return _made(_known[name][0], home, python.__module__)


def _definition(name: str, code: int, text: str) -> _Definition:
    made = _Definition(name.encode(), code, FASTCALL, text.encode())
    keep(made)  # others may still have the function when this module's names are gone
    return made


def _made(definition: _Definition, home: Home, module: str) -> Any:
    made = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    return made(("PyCMethod_New", ctypes.pythonapi))(ctypes.addressof(definition), home, module, None)


def keep(thing: object) -> None:
    """Never free an object: native code may use it even while the interpreter ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _text(python: Callable[..., Any]) -> str:
    """The docstring, behind the signature as `inspect` expects it of builtin functions."""
    plain: Any = getattr(python, "__wrapped__", python)
    code, defaults = plain.__code__, plain.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    shown = [*names[: code.co_argcount]]
    for k, value in enumerate(defaults, len(shown) - len(defaults)):
        shown[k] += f"={value!r}"
    alone = [f"{name}={plain.__kwdefaults__[name]!r}" for name in names[code.co_argcount :]]
    signature = ", ".join(("$module", "/", *shown, *(["*", *alone] if alone else ())))
    return f"{python.__name__}({signature})\n--\n\n{python.__doc__ or ''}"
