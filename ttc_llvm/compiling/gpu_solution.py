"""A solution for a GPU: the chosen plan of a problem, ready to be launched and to be written as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import arguments, locks, paths
from ..errors import ArrayError, OptionError, PlanError, ProblemError, states_memory
from ..gpu import kernel as gpu_kernel
from ..gpu.executable import ENTRY, Executable
from ..lazy_dataclasses import dataclass
from ..lowering.gpu import lower as gpu_lower
from ..lowering.gpu.launch import GpuImage, Launch
from ..lowering.gpu.nest import GpuNest
from ..lowering.gpu.plan import GpuPlan, check, parse
from ..machine.gpu_target import GpuTarget
from ..operands.addresses import data_address
from ..operands.reading import in_place
from ..operands.streams import stream_for
from ..problem.canonical import canonicalise
from ..problem.kinds import Kinds
from ..problem.problem import Problem
from ..runtime import backend
from ..runtime.array_arguments import BY_STRIDES, Storage
from ..runtime.kept_kernels import UNPICKLED, Kept, request_for
from ..tuning.gpu import candidates as gpu_candidates
from ..tuning.measurement import Measurement
from . import stored_plans
from .by_scalars import ByScalars
from .by_strides import Place, served_on_device
from .pickles import PICKLED, unmarked


@dataclass(frozen=True, slots=True)
class _Ready:
    """What a call with given scalars needs. problem: with these scalars."""

    executable: Executable
    problem: Problem
    alpha: complex
    beta: complex


class GpuSolution(ByScalars[Executable, _Ready]):
    """A tuned transposition on a GPU: call it, inspect it, write it. Safe to call from several threads; pickles.

    problem, target, plan: what was solved, and for which machine; measurement: None where nothing was timed.
    """

    def __init__(
        self,
        problem: Problem,
        target: GpuTarget,
        plan: GpuPlan,
        measurement: Measurement | None = None,
        image: GpuImage | None = None,
    ) -> None:
        self.problem, self.target, self.plan, self.measurement = problem, target, plan, measurement
        self._image = image
        arguments.put(self, _RULES, OptionError)
        super().__init__(problem)  # executables of all threads: each loads its code once per context
        check(plan, canonicalise(problem).canonical, target)

    def __repr__(self) -> str:
        return f"GpuSolution({self.problem!r}, target={self.target}, plan='{self.plan}')"

    def __reduce__(self) -> tuple[Callable[..., GpuSolution], tuple[Any, ...]]:
        """The plan's text, and no code: pickles are copied between users and machines."""
        return _unpickled, ((PICKLED, self.problem, self.target, str(self.plan), self.measurement),)

    # --- calling ---

    @states_memory
    def __call__(
        self, a: Any, b: Any, alpha: complex | None = None, beta: complex | None = None, *, stream: Any = None
    ) -> Any:
        """`B <- alpha * A + beta * B` on tensors on a device; returns b, before the device has finished.

        a, b: arrays of pycuda, CuPy, PyTorch, Numba or whatever has `__cuda_array_interface__` or `__dlpack__`, or
        device addresses (nothing can be checked); they are not copied. What they are to the problem is told by their
        shapes and strides, as for `Solution`. alpha, beta: by default the problem's. stream: of
        pycuda, CuPy, PyTorch or Numba, or the driver's handle as an integer; by default the one on which the arrays'
        library works. Raises ArrayError for memory that does not fit, ProblemError for scalars, GpuError and
        TargetError where the device is missing, refuses, or is older than the target.
        """
        ready = self._find(alpha, beta)
        place_a, place_b = _place(a, self._a), _place(b, self._b)
        address_a, address_b = place_a[0], place_b[0]
        given = tuple(keep for _, keep in (place_a, place_b) if keep is not None)
        if address_a == BY_STRIDES or address_b == BY_STRIDES:
            view_a, view_b, own = self._by_strides.views(place_a, place_b)
            if not own:
                served_on_device(ready.problem)(view_a, view_b, stream, given)
                return b
            address_a, address_b = data_address(view_a), data_address(view_b)
        self._check_apart(address_a, address_b)
        queue, after = stream_for(stream, *(x.stream for x in given))
        ready.executable.run(address_a, address_b, ready.alpha, ready.beta, queue, after)
        return b

    def _bound(self, executable: Executable, problem: Problem) -> _Ready:
        return _Ready(executable, problem, complex(problem.alpha), complex(problem.beta))

    def _executable(self, kinds: Kinds) -> Executable:
        return self.executable(kinds)

    def executable(self, kinds: Kinds) -> Executable:
        """The code for these kinds of scalars."""
        plan = self.plan_for(arguments.instance(Kinds)("kinds", kinds, ProblemError))
        own = kinds == Kinds.of(self.problem.alpha, self.problem.beta)
        return Executable(canonicalise(self.problem, kinds), plan, self.target, self._image if own else None)

    def plan_for(self, kinds: Kinds) -> GpuPlan:
        """The plan for other kinds of scalars: the solution's where it fits, or the model's."""
        arguments.instance(Kinds)("kinds", kinds, ProblemError)
        canonical = canonicalise(self.problem, kinds).canonical
        if canonical.axes == canonicalise(self.problem).canonical.axes:
            try:
                gpu_lower.lower(canonical, self.plan, self.target)
                return self.plan
            except PlanError:
                pass
        return gpu_candidates.model_plan(canonical, self.target)

    # --- inspecting ---

    @property
    def nest(self) -> GpuNest:
        """The loads and stores of every thread of a block, for the problem's own scalars."""
        return gpu_lower.lower(canonicalise(self.problem).canonical, self.plan, self.target)

    @property
    def launch(self) -> Launch:
        """Entry, grid, block, shared memory and parameters of the problem's own kernel."""
        return self._own().launch

    @property
    def llvm_ir(self) -> str:
        """The kernel's LLVM IR as built, before optimisation."""
        return gpu_kernel.build(canonicalise(self.problem).canonical, self.plan, self.target, ENTRY).llvm_ir

    @property
    def assembly(self) -> str:
        """The kernel as PTX text for NVIDIA, as assembly for AMD."""
        return backend.assembly(self.llvm_ir, self.target)

    def _own(self) -> GpuImage:
        return self.executable(Kinds.of(self.problem.alpha, self.problem.beta)).image(True)

    # --- writing ---

    @states_memory
    def write(
        self, directory: str | Path, emit: Sequence[str] | None = None, *, overwrite: bool = False
    ) -> tuple[Path, ...]:
        """Write the artifacts under their C names; returns their paths.

        emit: for NVIDIA any of ptx, cubin, header, llvm, asm, by default ptx and header; for AMD any of hsaco, obj,
        header, llvm, asm, by default header and hsaco, or obj where there is no ld.lld. overwrite: replace files of
        these names that were not written by ttc_llvm. Raises OptionError for other words, for directories that cannot
        be written or hold such a file, ArtifactError where a tool is missing or refuses.
        """
        with locks.IMPORTS:
            from ..gpu.artifact import write

        given = paths.checked("directory", directory)
        return write(self, given, emit, arguments.flag("overwrite", overwrite))


def _place(x: Any, wanted: Storage) -> Place:
    """Where an array is, checked; the array as it was read, None for a mere address."""
    address = wanted.integer(x, "device address")
    if address is not None:
        return address, None
    if type(x).__name__ in ("DeviceAllocation", "PooledDeviceAllocation", "PointerHolderBase"):
        return int(x), None  # pycuda's plain memory: nothing can be checked
    found = in_place(x, wanted.name)
    if found is None or not found.on_device:
        raise ArrayError(f"{wanted.name} is a {type(x).__name__}: an array on a CUDA device is expected")
    return wanted.place(found), found


def _unpickled(*given: Any) -> GpuSolution:
    """A solution from a pickle, its code from this user's database; with the model's plan where this program has no
    such plan for the problem."""
    problem, target, text, measurement = unmarked(given, 4)
    canonical = canonicalise(problem).canonical
    try:
        plan = check(parse(text), canonical, target)
        form, versions = str(canonical), gpu_kernel.versions()
        kept = Kept(request_for(UNPICKLED, form, target.key, versions))
        objects = stored_plans.with_code(kept, form, plan, target.key, versions)
        image = gpu_kernel.stored(canonical, plan, target, objects)
    except PlanError:
        return GpuSolution(problem, target, gpu_candidates.model_plan(canonical, target))
    return GpuSolution(problem, target, plan, measurement, image)


_RULES = {
    "problem": arguments.instance(Problem),
    "target": arguments.instance(GpuTarget),
    "plan": arguments.instance(GpuPlan),
    "measurement": arguments.optional(arguments.instance(Measurement)),
    "_image": arguments.optional(arguments.instance(GpuImage)),
}
