"""Requirements on the Python interpreter: anything else is refused when the package is imported."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def check() -> None:
    """ImportError in a sub-interpreter, and where threads run Python code side by side."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError(
            "ttc_llvm needs the interpreter lock, which this free-threaded Python does without: start it with -X gil=1"
        )
    interpreters = _module()
    if interpreters is not None and interpreters.get_current() != interpreters.get_main():
        raise ImportError(
            "ttc_llvm cannot be imported in a sub-interpreter, which its worker threads would outlive: import it in the"
            " main interpreter (mod_wsgi: WSGIApplicationGroup %{GLOBAL})"
        )


def _module() -> Any:
    """CPython's own module on interpreters; None where there is none, and so no sub-interpreter of Python's making."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # the first from Python 3.13 on
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
