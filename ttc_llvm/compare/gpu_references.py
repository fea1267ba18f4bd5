"""References on a GPU: the naive nest by nvcc, and as PTX by LLVM itself; timed and checked like other peers."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..bench.contender import Contender, NotBuilt, Peer
from ..bench.gpu_runner import GpuWorkspace
from ..bench.results import Reference
from ..compiling.gpu_tensors import DeviceTensor
from ..compiling.gpu_trial import Trial
from ..errors import GpuError, OptionError
from ..gpu import kernel
from ..lowering.gpu.launch import GpuImage, reference_launch
from ..machine.gpu_target import GpuTarget
from ..problem import reference_loops
from ..problem.problem import Problem
from ..problem.reference_loops import ReferenceLoops, Traverse
from . import compilers, gpu_source
from .builds import Builder, Job
from .compiled import ByCompiler, ByLlvm
from .compilers import Compiler
from .references import FoundReferences, Wanted

ENTRY = "reference"


def find(wanted: Wanted, target: GpuTarget, cache: Path | None = None) -> FoundReferences:
    """The references of this choice for a GPU. cache: the folder of remembered cubins.

    Raises OptionError for unknown and absent compilers, and for a source of the user's own.
    """
    if wanted.against is not None:
        raise OptionError("--against is for CPUs: a source of your own exports a C function, not a kernel")
    found = compilers.find(wanted.compilers, wanted.flags, target.cpu, wanted.lenient)
    builder = Builder(cache, wanted.limit)
    peers: list[Peer[GpuWorkspace]] = []
    for traverse in wanted.traverse:
        peers += [Compiled(builder, compiler, traverse) for compiler in found.compilers]
        peers += [Translated(traverse)] if found.llvm else []
    return FoundReferences(tuple(peers), found.notices, builder)


class Compiled(ByCompiler):
    """The nest in CUDA C++ by one compiler, as a cubin."""

    def __init__(self, builder: Builder, compiler: Compiler, traverse: Traverse) -> None:
        super().__init__(builder, compiler, traverse.value)
        self._traverse = traverse

    def job(self, problem: Problem) -> Job:
        """The build of a problem's reference."""
        return Job(self._compiler, gpu_source.reference(reference_loops.of(problem, self._traverse), ENTRY))

    def contender(self, workspace: GpuWorkspace) -> Contender:
        """Make it ready to run in a workspace; NotBuilt where it cannot be compiled or loaded."""
        problem = workspace.case.problem
        build = self._builder.obtain(self.job(problem))
        if build.library is None:
            raise NotBuilt(self._reference(build, build.message))
        started = reference_launch(reference_loops.of(problem, self._traverse), ENTRY)
        image = GpuImage(workspace.trial.target, ENTRY, started, "", build.library.read_bytes())
        return _contender(workspace, self.name, image, partial(self._reference, build))


class Translated(ByLlvm):
    """The nest as LLVM IR, made into PTX in this process."""

    def contender(self, workspace: GpuWorkspace) -> Contender:
        """Make it ready to run in a workspace; NotBuilt where the driver refuses it."""
        start = time.perf_counter()
        found = image(reference_loops.of(workspace.case.problem, self._traverse), workspace.trial.target)
        made = partial(self._reference, time.perf_counter() - start)
        return _contender(workspace, self.name, found, made)


def _contender(workspace: GpuWorkspace, name: str, found: GpuImage, made: Callable[..., Reference]) -> Contender:
    """A kernel at work. made: how it was compiled, given a message why it cannot be used."""
    try:
        run = run_of(workspace.trial, found)
    except GpuError as error:
        raise NotBuilt(made(message=str(error))) from None
    return Contender(name, workspace.canonical.bytes_moved, run, foreign=True, reference=made())


def image(nest: ReferenceLoops, target: GpuTarget) -> GpuImage:
    """The naive kernel of a nest for a GPU, by LLVM."""
    from ..ir_builders.gpu import reference_threads as nests

    text = str(nests.build(nest, target, ENTRY))
    return GpuImage(target, ENTRY, reference_launch(nest, ENTRY), text, kernel.code(text, target))


def run_of(trial: Trial, found: GpuImage) -> Callable[[tuple[DeviceTensor, DeviceTensor]], None]:
    """A kernel on the device; calling it enqueues one run on the tensors that it is given."""
    return partial(trial.launch, trial.load(found))
