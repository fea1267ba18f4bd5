"""Emitted contractions, linked into this process and called: any entry, extents, strides, parts and memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fused_cases import Case

from ttc_llvm import Contraction
from ttc_llvm.contractions.fused import emitted
from ttc_llvm.contractions.fused.plan import Fused
from ttc_llvm.ir_builders.fused import entries
from ttc_llvm.machine.target import Target
from ttc_llvm.problem import contraction_interface as interface
from ttc_llvm.problem.contraction import OPERANDS
from ttc_llvm.problem.contraction_interface import Entry
from ttc_llvm.runtime import backend, linking


@dataclass(frozen=True)
class Call:
    """One use of an object. sizes: through the entry of any extents; strides: they are given, else NULL; parts: how
    many calls do the work, 0 = the plain entry; scratch: bytes of the caller's for each, 0 = NULL."""

    sizes: bool = False
    strides: bool = False
    parts: int = 0
    scratch: int = 0


def linked(stated: Contraction, target: Target, fused: Fused | None = None) -> linking.Loaded:
    """The contraction's object, linked into this process."""
    module = entries.build(stated, [emitted.version(stated, target, fused)])
    symbols = [entry.name for entry in interface.entries(stated)]
    return linking.load(backend.compile_scalar(str(module), target), symbols)


def run(loaded: linking.Loaded, generated: Contraction, case: Case, call: Call) -> None:
    """Compute a case by an object that was generated for these extents and strides."""
    stated = case.stated
    scalars = [_scalar(case.dtype, x) for x in (case.alpha, case.beta)]
    words: list[Any] = [_words(extent for _, extent in stated.size)] if call.sizes else []
    words += [_words(stated.strides(name)) if call.strides else None for name in OPERANDS]
    given = [*(x.ctypes.data for x in case.arrays), *scalars, *words]
    function = _function(loaded, Entry(generated, call.sizes, call.parts > 0), case.dtype)
    if not call.parts:
        function(*given)
        return
    memory = np.full(max(call.scratch, 1), 0x7F, np.uint8)
    for part in range(call.parts, -2, -1):
        place = memory.ctypes.data if call.scratch else None
        function(*given, part, call.parts, place, call.scratch)


def _function(loaded: linking.Loaded, entry: Entry, dtype: str) -> Any:
    scalar: Any = {"s": ctypes.c_float, "d": ctypes.c_double}.get(dtype, ctypes.c_void_p)
    kinds: list[Any] = [ctypes.c_void_p] * 3 + [scalar] * 2 + [ctypes.c_void_p] * (4 if entry.any else 3)
    kinds += [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64] if entry.part else []
    return ctypes.CFUNCTYPE(None, *kinds)(loaded.address(entry.name))


def _scalar(dtype: str, value: complex) -> object:
    if dtype in "sd":
        return complex(value).real
    kind = ctypes.c_float if dtype == "c" else ctypes.c_double
    return ctypes.cast((kind * 2)(complex(value).real, complex(value).imag), ctypes.c_void_p)


def _words(values: Iterable[int]) -> ctypes.Array[ctypes.c_int64]:
    found = list(values)
    return (ctypes.c_int64 * max(len(found), 1))(*found)
