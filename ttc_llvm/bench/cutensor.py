"""cuTENSOR 2 through ctypes: permutations, and with beta != 0 the sum of a permuted tensor and B."""

from __future__ import annotations

import ctypes
import glob
import site
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from ..compiling.gpu_tensors import DeviceTensor
from ..errors import TtcError
from ..problem import dtypes
from ..problem.canonical import Canonical, static
from ..problem.dtypes import DType
from ..problem.kinds import Beta
from .contender import Absent, Contender
from .gpu_runner import GpuWorkspace

TYPES = {"s": 0, "d": 1, "f16": 2, "i8": 3, "c": 4, "z": 5, "i32": 10, "bf16": 14, "i16": 20, "i64": 24}
MOVES = {2: "f16", 4: "s", 8: "d", 16: "z", 1: "i8"}  # plain moves by the floats that cuTENSOR has
COMPUTE = {32: "CUTENSOR_COMPUTE_DESC_32F", 64: "CUTENSOR_COMPUTE_DESC_64F"}
IDENTITY, CONJUGATE, ADD = 1, 9, 3
LIBRARY, NEEDED = "libcutensor.so.2", "libcublasLt.so.*"
DEFAULT_ALGORITHM, NO_JIT, ALIGNMENT = -1, 0, 128


@lru_cache(maxsize=1)
def library() -> Any:
    """libcutensor, of the Python package or the system's. Absent, in the loader's words, where it cannot be loaded."""
    folders = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    places = [path for folder in folders for path in glob.glob(f"{folder}/cutensor/lib/{LIBRARY}")]
    _load_needed(folders)
    found = _first((*places, LIBRARY))
    found.cutensorGetErrorString.restype = ctypes.c_char_p
    found.cutensorGetVersion.restype = ctypes.c_size_t
    return found


def _first(places: Sequence[str]) -> Any:
    """The first of these that can be loaded; Absent with the first one's reason."""
    why: OSError | None = None
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            why = why or error
    raise Absent(f"it cannot be loaded: {why} (package cutensor-cu13 or -cu12)")


def _load_needed(folders: Sequence[str]) -> None:
    """libcuBLASLt, which libcutensor is linked to, of NVIDIA's packages: these lie where no loader looks."""
    for folder in dict.fromkeys(folders):
        for path in glob.glob(f"{folder}/nvidia/*/lib/{NEEDED}"):
            with suppress(OSError):
                ctypes.CDLL(path)


class Cutensor:
    """NVIDIA's library, its default algorithm, planned beforehand."""

    name = "cutensor"

    def __init__(self) -> None:
        self._library = library()
        number = int(self._library.cutensorGetVersion())
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        self._handle: ctypes.c_void_p | None = None

    def contender(self, workspace: GpuWorkspace) -> Contender | None:
        """cuTENSOR on our stream; None for types that it does not have."""
        trial, problem = workspace.trial, workspace.case.problem
        names = [_name(trial.canonical.a, problem.a), _name(trial.canonical.b, problem.b)]
        if any(name not in TYPES for name in names):
            return None
        if self._handle is None:
            self._handle = self._new("cutensorCreate")
        update = trial.canonical.kinds.beta is Beta.ANY
        try:
            plan = self._plan(trial.canonical, names, update)
        except _Refused:
            return None
        scalar = dtypes.to_numpy(dtypes.compute_type(*map(dtypes.dtype, names)))
        if scalar.itemsize < 4:
            scalar = np.dtype(np.float32)
        alpha, beta = (np.array([value]).astype(scalar) for value in (trial.alpha, trial.beta))
        stream = ctypes.c_void_p(trial.session.stream)

        def run(tensors: tuple[DeviceTensor, DeviceTensor]) -> None:
            a, b = (ctypes.c_void_p(side.address) for side in tensors)
            values = [ctypes.c_void_p(x.ctypes.data) for x in (alpha, beta)]
            if update:
                arguments = (values[0], a, values[1], b, b, stream)
                self._call("cutensorElementwiseBinaryExecute", self._handle, plan, *arguments)
            else:
                self._call("cutensorPermute", self._handle, plan, values[0], a, b, stream)

        return Contender(self.name, trial.canonical.bytes_moved, run, foreign=True)

    def _plan(self, c: Canonical, names: list[str], update: bool) -> ctypes.c_void_p:
        modes = (ctypes.c_int32 * len(c.axes))(*range(len(c.axes)))
        a, b = (self._tensor(c, which, name) for which, name in zip("ab", names, strict=True))
        bits = max(32, *(dtypes.dtype(name).real_bits for name in names))
        compute = ctypes.c_void_p.in_dll(self._library, COMPUTE[bits])
        of_a = CONJUGATE if c.conjugate else IDENTITY
        if update:
            operation = self._new(
                "cutensorCreateElementwiseBinary", a, modes, of_a, b, modes, IDENTITY, b, modes, ADD, compute
            )
        else:
            operation = self._new("cutensorCreatePermutation", a, modes, of_a, b, modes, compute)
        preference = self._new("cutensorCreatePlanPreference", DEFAULT_ALGORITHM, NO_JIT)
        return self._new("cutensorCreatePlan", operation, preference, ctypes.c_uint64(0))

    def _tensor(self, c: Canonical, which: str, name: str) -> ctypes.c_void_p:
        count = len(c.axes)
        extents = (ctypes.c_int64 * count)(*c.extents)
        strides = (ctypes.c_int64 * count)(*map(static, c.strides(which)))
        kind = TYPES[name]
        return self._new(
            "cutensorCreateTensorDescriptor", ctypes.c_uint32(count), extents, strides, kind, ctypes.c_uint32(ALIGNMENT)
        )

    def _new(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        first = () if self._handle is None else (self._handle,)
        self._call(name, *first, ctypes.byref(made), *arguments)
        return made

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise _Refused(f"{name}: {self._library.cutensorGetErrorString(status).decode()}")


class _Refused(TtcError):
    """cuTENSOR cannot do it."""


def _name(t: DType, own: DType) -> str:
    """The type by which cuTENSOR moves an element: the problem's own float, or one of the same size."""
    if t.real_bits:
        return t.name
    return own.name if own.itemsize == t.itemsize and own.real_bits else MOVES.get(t.itemsize, "")
