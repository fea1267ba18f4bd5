"""What the Python interpreter must be like: anything else is refused when the package is imported."""

from __future__ import annotations

import sys
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
    try:
        import _interpreters as found  # from Python 3.13 on
    except ImportError:
        try:
            import _xxsubinterpreters as found
        except ImportError:
            return None
    return found
