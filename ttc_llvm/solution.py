"""A solution: the chosen plan of a problem, ready to be called and to be written as object and header."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import dtypes, kernel, runtime
from .canonical import Beta, Kinds, Placed, canonicalise
from .dtypes import Kind
from .errors import ArrayError, ProblemError
from .kernel import Kernel
from .lower import lower
from .nest import LoopNest
from .plan import CpuPlan, Staging
from .pool import Call
from .problem import Problem
from .target import Target

if TYPE_CHECKING:
    from .artifact import Spec

SERIAL_BYTES = 128 << 10  # moved per thread, at least: below, a second thread costs more than it gains
GIB = 1 << 30
KEPT_SCALARS = 16


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured. seconds: the winner's best run; gibs: its bandwidth (GiB/s, bytes of A + B, B twice where
    it is read); ceiling_gibs: the same bytes without permutation, same run; ceiling: which; timings: all plans, the
    fastest first, with the seconds of every run; proxy: timed on a smaller stand-in of a huge problem."""

    seconds: float
    gibs: float
    ceiling_gibs: float | None
    ceiling: str
    timings: tuple[tuple[str, tuple[float, ...]], ...] = ()
    proxy: bool = False
    interrupted: bool = False

    @property
    def ratio(self) -> float | None:
        """gibs / ceiling_gibs."""
        return self.gibs / self.ceiling_gibs if self.ceiling_gibs else None


@dataclass(frozen=True, slots=True)
class Variant:
    """One compiled body: where canonical index 0 lies, and the kernel."""

    placed: Placed
    kernel: Kernel


class Solution:
    """A tuned transposition: call it, inspect it, write it. Safe to call from several threads; pickles.

    problem, target, plan, threads: what was solved, for which machine and how many threads;
    measurement: None where nothing was timed.
    """

    def __init__(
        self,
        problem: Problem,
        target: Target,
        plan: CpuPlan,
        threads: int,
        measurement: Measurement | None = None,
        code: bytes | None = None,
    ) -> None:
        self.problem, self.target, self.plan, self.threads = problem, target, plan, threads
        self.measurement = measurement
        self._code = code
        self._variants: dict[tuple[Kinds, bool], Variant] = {}
        self._scalars: dict[tuple[complex, complex], tuple[Any, int]] = {}
        self._types = (dtypes.to_numpy(problem.a), dtypes.to_numpy(problem.b))
        self._elements = (problem.storage("a"), problem.storage("b"))
        self._bytes = (self._elements[0] * problem.a.itemsize, self._elements[1] * problem.b.itemsize)

    def __repr__(self) -> str:
        return f"Solution({self.problem!r}, target={self.target}, plan='{self.plan}')"

    def __reduce__(self) -> tuple[Callable[..., Solution], tuple[Any, ...]]:
        return Solution, (self.problem, self.target, self.plan, self.threads, self.measurement, self._code)

    # --- calling ---

    def __call__(
        self, a: Any, b: Any, alpha: complex | None = None, beta: complex | None = None, threads: int | None = None
    ) -> Any:
        """`B <- alpha * A + beta * B` on the tensors' storage; returns b.

        a, b: arrays or buffers whose memory holds the padded column-major layout (any shape; dtype, contiguity and
        size are checked), or integer addresses (nothing can be checked). alpha, beta: by default the problem's;
        threads: by default the solution's. Raises ArrayError for memory that does not fit, ProblemError for scalars.
        """
        problem = self.problem
        alpha = problem.alpha if alpha is None else alpha
        beta = problem.beta if beta is None else beta
        address_a = self._address(a, 0)
        address_b = self._address(b, 1)
        self._check_overlap(a, b, address_a, address_b)
        self._run(address_a, address_b, alpha, beta, self.threads if threads is None else threads)
        return b

    def _run(self, a: int, b: int, alpha: complex, beta: complex, threads: int) -> None:
        held, scalars = self._scalars.get((alpha, beta)) or self._new_scalars(alpha, beta)
        variant = self._variant(Kinds.of(alpha, beta), b)
        placed, kern = variant.placed, variant.kernel
        canonical = placed.canonical
        a += placed.offset_a * canonical.a.itemsize
        b += placed.offset_b * canonical.b.itemsize
        useful = max(1, canonical.bytes_moved // SERIAL_BYTES) if threads > 1 else 1
        runtime.run(Call(kern.address, a, b, scalars, 0, kern.scratch, kern.tasks), min(threads, useful))
        del held  # the scalars' memory has to live until here

    def _address(self, x: Any, side: int) -> int:
        if type(x) is int:
            return x
        name = "AB"[side]
        array = x if isinstance(x, np.ndarray) else _as_array(x, name, self._types[side])
        if array.dtype != self._types[side]:
            raise ArrayError(f"{name} has dtype {array.dtype}, but the problem's type is {self._types[side]}")
        flags = array.flags
        if not (flags.c_contiguous or flags.f_contiguous):
            raise ArrayError(f"{name} is not contiguous (strides {array.strides}): pass the tensor's whole storage")
        if array.size < self._elements[side]:
            raise ArrayError(f"{name} holds {array.size} elements, but the problem needs {self._elements[side]}")
        if side == 1 and not flags.writeable:
            raise ArrayError("B is read-only: the result is written to it")
        return int(array.__array_interface__["data"][0])

    def _check_overlap(self, a: Any, b: Any, address_a: int, address_b: int) -> None:
        apart = address_a + self._bytes[0] <= address_b or address_b + self._bytes[1] <= address_a
        if not apart and self.problem.elements:
            raise ArrayError("A and B overlap in memory: the transposition is out of place")

    def _new_scalars(self, alpha: complex, beta: complex) -> tuple[Any, int]:
        checked = replace(self.problem, alpha=alpha, beta=beta)  # the problem's own rules for scalars
        if self.problem.compute.kind is Kind.OPAQUE:
            return self._scalars.setdefault((alpha, beta), (None, 0))
        values: npt.NDArray[Any] = np.array([checked.alpha, checked.beta], dtypes.to_numpy(self.problem.compute))
        if len(self._scalars) >= KEPT_SCALARS:
            self._scalars = {}
        return self._scalars.setdefault((alpha, beta), (values, int(values.ctypes.data)))

    def _variant(self, kinds: Kinds, address_b: int) -> Variant:
        streams = self.plan.streaming and kinds.beta is Beta.ZERO and address_b % (self.target.vector_bits // 8) == 0
        found = self._variants.get((kinds, streams))
        if found is None:
            found = self._compiled(kinds, streams)
            self._variants[(kinds, streams)] = found
        return found

    def _compiled(self, kinds: Kinds, streams: bool) -> Variant:
        placed = canonicalise(self.problem, kinds)
        plan = self.plan_for(kinds)
        if not streams:
            plan = kernel.ordinary(plan)
        own = plan == self.plan and kinds == Kinds.of(self.problem.alpha, self.problem.beta)
        return Variant(placed, kernel.cache.obtain(placed.canonical, plan, self.target, self._code if own else None))

    def plan_for(self, kinds: Kinds) -> CpuPlan:
        """The plan for other kinds of scalars: the solution's where the axes are the same, else the model's."""
        from .compiler import model_plan

        own, other = canonicalise(self.problem).canonical, canonicalise(self.problem, kinds).canonical
        if own.axes != other.axes:
            return model_plan(other, self.target, self.threads)
        streaming = self.plan.streaming and kinds.beta is Beta.ZERO
        staging = self.plan.staging if kinds.alpha.value != "zero" else Staging.NONE
        return replace(self.plan, streaming=streaming, staging=staging)

    # --- inspecting ---

    @property
    def nest(self) -> LoopNest:
        """The loop nest of the problem's own scalars."""
        return lower(canonicalise(self.problem).canonical, self.plan, self.target)

    @property
    def llvm_ir(self) -> str:
        """The kernel's LLVM IR as built, before optimisation."""
        return kernel.ir_text(canonicalise(self.problem).canonical, self.plan, self.target)

    @property
    def assembly(self) -> str:
        """The kernel's assembly for the solution's target."""
        from . import backend

        return backend.assembly(self.llvm_ir, self.target)

    # --- writing ---

    def write(self, directory: str | Path, emit: Sequence[str] = ("obj", "header")) -> tuple[Path, ...]:
        """Write the artifacts under their C names; returns their paths.

        emit: any of obj, header, asm, llvm, bitcode. Raises OptionError for other words, ArtifactError where the
        directory cannot be written or a leading dimension exceeds a C int.
        """
        from . import artifact

        return artifact.write(self._spec(), Path(directory), tuple(emit))

    def _spec(self) -> Spec:
        from .artifact import Spec

        gibs = None if self.measurement is None else self.measurement.gibs
        return Spec(self.problem, self.target, self.plan, gibs)


def _as_array(x: Any, name: str, wanted: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array over the memory of any other buffer: ctypes arrays, memoryviews, array.array, bytearray ..."""
    if isinstance(x, np.generic) or (isinstance(x, (bool, float, complex, str))):
        raise ArrayError(f"{name} is a {type(x).__name__}: pass an array, a buffer or an integer address")
    if hasattr(x, "__array_interface__"):
        return np.asarray(x)
    if isinstance(x, ctypes._Pointer):
        raise ArrayError(f"{name} is a ctypes pointer: pass its address as an integer")
    try:
        view = memoryview(x)
    except TypeError:
        raise ArrayError(f"{name} is a {type(x).__name__}: pass an array, a buffer or an integer address") from None
    if view.format not in ("B", "b", "c"):
        return np.asarray(view)
    return np.frombuffer(view, wanted) if view.nbytes % wanted.itemsize == 0 else np.frombuffer(view, np.uint8)


__all__ = ["Measurement", "ProblemError", "Solution", "Variant"]
