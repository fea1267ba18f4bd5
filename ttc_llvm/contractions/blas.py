"""BLAS's matrix product: through the function pointers that SciPy publishes, or by `numpy.matmul`."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
from contextlib import suppress
from importlib import _bootstrap
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

from .. import locks
from ..lazy_dataclasses import dataclass
from ..runtime.affinity import cpu_count
from ..runtime.once import once
from ..runtime.stored_code import compiled_functions, native

ABI, LOOPS = "2", "run_products"  # of the native loops: ABI is raised when they, or their job, change
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE")
INT_MAX = (1 << 31) - 1
_SOURCE = "scipy.linalg.cython_blas"
_INTEGERS = {"int": 32, "npy_int64": 64, "int64_t": 64, "long": 64, "long long": 64}


@dataclass(frozen=True, slots=True)
class Blas:
    """The four `gemm`s of a BLAS. addresses: by data type; bits: of its integers."""

    addresses: dict[str, int]
    bits: int

    def admits(self, *sizes: int) -> bool:
        """True where its integers hold these."""
        return self.bits == 64 or max(sizes) <= INT_MAX


def is_published() -> bool:
    """True where SciPy has the module that publishes its BLAS. `scipy_blas` alone loads it: plans that call no BLAS do
    without."""
    return _file() is not None


@once
def _file() -> str | None:
    """The module's file; None where it, or SciPy, is not installed."""
    with suppress(ImportError, ValueError, OSError):
        found = importlib.util.find_spec("scipy")
        for place in [] if found is None else found.submodule_search_locations or ():
            folder = os.path.join(place, "linalg")
            for name in os.listdir(folder):
                if name.startswith("cython_blas.") and name.endswith(tuple(EXTENSION_SUFFIXES)):
                    return os.path.join(folder, name)
    return None


def settings() -> str:
    """The conditions of BLAS's speed beside the machine: which it is, and the threads that it may start."""
    given = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    return " ".join([("numpy", "scipy")[is_published()], f"cpus={cpu_count()}", *given])


@once
def scipy_blas() -> Blas | None:
    """SciPy's BLAS, whose pointers are read from capsules; None where SciPy is not installed, or is of another form."""
    try:
        with locks.IMPORTS:
            published = _published()
        capsules = {name: published.__pyx_capi__[f"{name}gemm"] for name in "sdcz"}
    except (ImportError, AttributeError, KeyError):
        return None
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signatures = {name: name_of(capsule) for name, capsule in capsules.items()}
    bits = {_bits(signature) for signature in signatures.values()}
    if len(bits) != 1 or None in bits:
        return None
    found = {name: pointer_of(capsule, signatures[name]) for name, capsule in capsules.items()}
    return Blas(found, bits.pop() or 0)


def _published() -> Any:
    """The module that publishes them; without the rest of `scipy.linalg`, which takes 20 times as long to import."""
    if "scipy.linalg" not in sys.modules:
        with suppress(Exception):  # of Python's import machinery, or of a module that wants its package
            return _alone()
    return locks.imported(_SOURCE)


def _alone() -> Any:
    """The module, loaded from its file while no other thread imports it, and left to be imported by whoever wants it
    with its package: the machinery then takes this very one."""
    spec: Any = importlib.util.spec_from_file_location(_SOURCE, _file())
    with vars(_bootstrap)["_ModuleLockManager"](_SOURCE):
        if _SOURCE in sys.modules:
            return sys.modules[_SOURCE]
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        finally:
            sys.modules.pop(_SOURCE, None)
    return module


def _bits(signature: bytes) -> int | None:
    """Bits of the integers of gemm's C signature, whose third to fifth arguments are sizes."""
    match = re.fullmatch(r"void \((.*)\)", signature.decode("ascii", "replace"))
    arguments = [part.strip() for part in match[1].split(",")] if match else []
    if len(arguments) != 13 or arguments[0] != "char *":
        return None
    kinds = {arguments[k].removesuffix("*").strip() for k in (2, 3, 4, 7, 9, 12)}
    return _INTEGERS.get(kinds.pop()) if len(kinds) == 1 else None


@once
def loops() -> tuple[Any, int]:
    """`ir_builders.gemm_loops.run_products` as a function of addresses, without the interpreter lock; and its address,
    as a kernel's."""
    code = native("loops around matrix products", ABI, (LOOPS,), lambda: compiled_functions({LOOPS: "gemm_loops"}))
    return code.function(LOOPS, ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 7)), code.address(LOOPS)
