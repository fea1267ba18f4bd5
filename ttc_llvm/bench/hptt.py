"""HPTT from a shared library: its C interface, which plans in every call, or its C++ plans where those are exported.

The C++ functions are reached by their mangled names (Itanium ABI, `create_plan` and `Transpose::execute`), so that
planning and autotuning stay outside of what is timed.
"""

from __future__ import annotations

import ctypes
from enum import Enum
from typing import Any

from ..lazy_dataclasses import dataclass
from ..problem.problem import Problem
from .contender import Absent, Contender
from .workspace import Workspace, foreign

MOST_TUNED = 8  # merged indices: autotuning begins with a list of all loop orders
_INTS, _ADDRESS = ctypes.POINTER(ctypes.c_int), ctypes.c_void_p


class PlanMode(Enum):
    """HPTT's ways to choose a plan; the value is its number in HPTT's interface."""

    ESTIMATE = 0  # by its model
    MEASURE = 1  # autotuned, up to 10 seconds


class _FloatPair(ctypes.Structure):
    _fields_ = (("re", ctypes.c_float), ("im", ctypes.c_float))


class DoublePair(ctypes.Structure):
    """A double-precision complex number, passed by value."""

    _fields_ = (("re", ctypes.c_double), ("im", ctypes.c_double))


class _Shared(ctypes.Structure):
    """A std::shared_ptr and a word more, so that every ABI returns it through a hidden pointer, as it does the real
    one. The reference is never given back: a plan takes a few kilobytes and lives as long as the process."""

    _fields_ = (("object", ctypes.c_void_p), ("control", ctypes.c_void_p), ("unused", ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class _Type:
    """An element type: its ctypes scalar, and its letters in mangled names of create_plan and of the class."""

    scalar: Any
    plan: str
    class_: str

    def value(self, number: complex) -> Any:
        """A scalar as it is passed by value."""
        if issubclass(self.scalar, ctypes.Structure):
            return self.scalar(complex(number).real, complex(number).imag)
        return self.scalar(complex(number).real)


def _complex(letter: str, pair: Any) -> _Type:
    return _Type(pair, f"St7complexI{letter}EPKS3_S1_S1_S3_PS3_S1_", f"St7complexI{letter}E")


_TYPES = {
    "s": _Type(ctypes.c_float, "fPKfS1_S1_fPfS1_", "f"),
    "d": _Type(ctypes.c_double, "dPKdS1_S1_dPdS1_", "d"),
    "c": _complex("f", _FloatPair),
    "z": _complex("d", DoublePair),
}


class Hptt:
    """One mode of HPTT."""

    def __init__(self, library: ctypes.CDLL, mode: PlanMode) -> None:
        self._library, self.mode = library, mode
        self.name = "hptt" if mode is PlanMode.ESTIMATE else "hptt-measure"
        self.version = "C++ plans" if self.has_plans else "C interface"

    @classmethod
    def load(cls, path: str, mode: PlanMode) -> Hptt:
        """HPTT from this file. Absent where it cannot be loaded or lacks what the mode needs."""
        try:
            library = ctypes.CDLL(path)
        except (OSError, UnicodeError) as error:  # the loader may name a path that is no text
            raise Absent(f"{path} cannot be loaded: {error}", named=True) from None
        found = cls(library, mode)
        if mode is PlanMode.MEASURE and not found.has_plans:
            raise Absent(f"{path} exports no plans of HPTT's C++ interface, which alone can be autotuned", named=True)
        if not found.has_plans and not hasattr(library, "sTensorTranspose"):
            raise Absent(f"{path} exports neither sTensorTranspose nor plans of HPTT", named=True)
        return found

    @property
    def has_plans(self) -> bool:
        """True where the C++ interface is exported."""
        return all(hasattr(self._library, name) for t in _TYPES.values() for name in (_create(t), _execute(t)))

    def contender(self, workspace: Workspace) -> Contender | None:
        """HPTT at work; None in place, of sums, for mixes and types but s, d, c, z, and for more loops than it
        can tune."""
        problem = workspace.case.problem
        if problem.dtype not in _TYPES or problem.inplace or problem.terms:
            return None
        if self.mode is PlanMode.MEASURE and len(workspace.case.canonical.axes) > MOST_TUNED:
            return None
        if self.has_plans and not problem.conjugate:
            return self._planned(workspace, problem)
        return self._called(workspace, problem) if self.mode is PlanMode.ESTIMATE else None

    def _planned(self, workspace: Workspace, problem: Problem) -> Contender:
        t = _TYPES[problem.dtype]
        create = getattr(self._library, _create(t))
        create.restype = _Shared
        create.argtypes = [
            _INTS, ctypes.c_int, t.scalar, _ADDRESS, _INTS, _INTS, t.scalar, _ADDRESS, _INTS, ctypes.c_int,
            ctypes.c_int, _INTS, ctypes.c_bool,
        ]  # fmt: skip
        before, after = _arguments(workspace, problem, t)
        plan = create(*before, *after, self.mode.value, workspace.threads, None, False)
        execute = ctypes.cast(getattr(self._library, _execute(t)), ctypes.c_void_p).value or 0
        return foreign(self.name, workspace, execute, (plan.object, 0, 0), self._library)

    def _called(self, workspace: Workspace, problem: Problem) -> Contender:
        """Through the C interface: every call plans, as every user of it has to."""
        t = _TYPES[problem.dtype]
        function = getattr(self._library, f"{problem.dtype}TensorTranspose")
        conjugate = [ctypes.c_bool] if problem.dtype in "cz" else []
        function.restype = None
        function.argtypes = [
            _INTS, ctypes.c_int, t.scalar, *conjugate, _ADDRESS, _INTS, _INTS, t.scalar, _ADDRESS, _INTS,
            ctypes.c_int, ctypes.c_int,
        ]  # fmt: skip
        (perm, rank, alpha, *a), after = _arguments(workspace, problem, t)
        flags = [problem.conjugate] if conjugate else []
        arguments = (perm, rank, alpha, *flags, *a, *after, workspace.threads, 0)

        def run(repeats: int) -> None:
            for _ in range(repeats):
                function(*arguments)

        return Contender(self.name, workspace.canonical.bytes_moved, run, foreign=True)


def _arguments(workspace: Workspace, problem: Problem, t: _Type) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """perm to A's outer sizes, and beta to B's."""
    rank = len(problem.perm)
    perm, size, outer_a, outer_b = (
        (ctypes.c_int * max(rank, 1))(*values)
        for values in (problem.perm, problem.size, problem.outer_a, problem.outer_b)
    )
    first = (perm, rank, t.value(problem.alpha), workspace.base("a"), size, outer_a)
    return first, (t.value(problem.beta), workspace.base("b"), outer_b)


def _create(t: _Type) -> str:
    return f"_ZN4hptt11create_planEPKii{t.plan}NS_15SelectionMethodEiS1_b"


def _execute(t: _Type) -> str:
    return f"_ZN4hptt9TransposeI{t.class_}E7executeEv"


