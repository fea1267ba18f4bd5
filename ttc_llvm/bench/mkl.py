"""MKL's omatcopy, for what merges into a plain 2-D transposition, from libmkl_rt where that is found."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from pathlib import Path
from typing import Any

from ..problem.canonical import Canonical, static
from ..problem.kinds import COPY
from .contender import Absent, Contender
from .hptt import DoublePair
from .workspace import Workspace

_FILES = ("libmkl_rt.so", "libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1")
_SIZE, _CHAR, _ADDRESS = ctypes.c_size_t, ctypes.c_char, ctypes.c_void_p


_LETTERS: dict[int, tuple[str, Any]] = {4: ("S", ctypes.c_float), 8: ("D", ctypes.c_double), 16: ("Z", DoublePair)}


def find_library() -> str | None:
    """The path or name of libmkl_rt: in this Python's environment, or known to the system."""
    folders = (Path(sys.prefix) / "lib", Path(sys.prefix) / "Library" / "bin")
    here = next((str(folder / name) for folder in folders for name in _FILES if (folder / name).is_file()), None)
    return here or ctypes.util.find_library("mkl_rt")


class Mkl:
    """`MKL_?omatcopy` with alpha = 1. MKL moves bits, so that the type of that size serves for all of that size."""

    name = "mkl"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        text = ctypes.create_string_buffer(200)
        library.MKL_Get_Version_String(text, len(text))
        self.version = text.value.decode(errors="replace").strip()

    @classmethod
    def load(cls, path: str, named: bool = False) -> Mkl:
        """MKL from this file. Absent where it cannot be loaded or has no omatcopy."""
        try:
            library = ctypes.CDLL(path)
            for letter, _ in _LETTERS.values():
                getattr(library, f"MKL_{letter}omatcopy")
            return cls(library)
        except (OSError, AttributeError, UnicodeError) as error:  # the loader may name a path that is no text
            raise Absent(f"{path} cannot be used: {error}", named) from None

    def contender(self, workspace: Workspace) -> Contender | None:
        """omatcopy at work; None for updates, mixes, and whatever is no plain 2-D transposition."""
        form = workspace.canonical
        if not _is_matrix(form):
            return None
        letter, scalar = _LETTERS[form.a.itemsize]
        function = getattr(self._library, f"MKL_{letter}omatcopy")
        function.restype = None
        function.argtypes = [_CHAR, _CHAR, _SIZE, _SIZE, scalar, _ADDRESS, _SIZE, _ADDRESS, _SIZE]
        inner, outer = form.axes  # by ascending stride in B
        one = scalar(1.0)
        rows, columns = static(outer.extent), static(inner.extent)
        lda, ldb = static(inner.stride_a), static(outer.stride_b)
        arguments = (b"C", b"T", rows, columns, one, workspace.a.address, lda, workspace.b.address, ldb)
        set_threads = self._library.MKL_Set_Num_Threads

        def run(repeats: int) -> None:
            set_threads(workspace.threads)
            for _ in range(repeats):
                function(*arguments)

        return Contender(self.name, form.bytes_moved, run, foreign=True)


def _is_matrix(form: Canonical) -> bool:
    """Two axes, one of unit stride in A, the other in B, moved as they are to another tensor."""
    if form.kinds != COPY or form.conjugate or form.in_place or form.a != form.b or form.a.itemsize not in _LETTERS:
        return False
    return len(form.axes) == 2 and form.axes[0].stride_b == 1 and form.axes[1].stride_a == 1
