"""References on a GPU: the naive nest by nvcc, and as PTX by LLVM itself; timed and checked like other guests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import backend, naive
from ..bench.gpu_peers import GpuReference, Run
from ..bench.peers import NotBuilt
from ..bench.results import Reference
from ..errors import GpuError, OptionError
from ..gpu import kernel
from ..gpu.launch import GpuImage
from ..gpu.naive import launch
from ..gpu.target import GpuTarget
from ..gpu.trial import Trial
from ..naive import Naive, Traverse
from ..problem import Problem
from . import compilers, gpu_source
from .builds import Build, Builder, Job
from .compiled import label
from .compilers import Compiler
from .references import Wanted

ENTRY = "reference"
LLVM_FLAGS = ("-O3",)


@dataclass(frozen=True, slots=True)
class Found:
    """The references, what builds them, and a sentence on compilers that are missing."""

    references: tuple[GpuReference, ...]
    builder: Builder
    notices: tuple[str, ...]

    def prepare(self, problems: Iterable[Problem], report: Callable[[int, int], None] | None = None) -> None:
        """Build everything that these problems need, several at once: the device is not kept waiting."""
        compiled = [one for one in self.references if isinstance(one, Compiled)]
        self.builder.obtain_all((one.job(problem) for problem in problems for one in compiled), report)


def find(wanted: Wanted, target: GpuTarget, cache: Path | None = None) -> Found:
    """The references of this choice for a GPU. cache: the folder of remembered cubins.

    Raises OptionError for unknown and absent compilers, and for a source of the user's own.
    """
    if wanted.against is not None:
        raise OptionError("--against is for CPUs: a source of your own exports a C function, not a kernel")
    found = compilers.find(wanted.compilers, wanted.flags, target.cpu)
    builder = Builder(cache, wanted.limit)
    references: list[GpuReference] = []
    for traverse in wanted.traverse:
        references += [Compiled(builder, compiler, traverse) for compiler in found.compilers]
        references += [Translated(traverse)] if found.llvm else []
    return Found(tuple(references), builder, found.notices)


class Compiled:
    """The nest in CUDA C++ by one compiler, as a cubin."""

    def __init__(self, builder: Builder, compiler: Compiler, traverse: Traverse) -> None:
        self._builder, self._compiler, self._traverse = builder, compiler, traverse
        self.name = label(compiler.name, traverse)
        self.version = " ".join([compiler.version, *compiler.flags, traverse.value])

    def job(self, problem: Problem) -> Job:
        """The build of a problem's reference."""
        return Job(self._compiler, gpu_source.reference(naive.of(problem, self._traverse), ENTRY))

    def at_work(self, trial: Trial, problem: Problem) -> tuple[Run, Reference]:
        """It on a trial's tensors; NotBuilt where it cannot be compiled or loaded."""
        build = self._builder.obtain(self.job(problem))
        if build.library is None:
            raise NotBuilt(self._reference(build, build.message))
        nest = naive.of(problem, self._traverse)
        image = GpuImage(trial.target, ENTRY, launch(nest, ENTRY), "", build.library.read_bytes())
        try:
            return run_of(trial, image), self._reference(build)
        except GpuError as error:
            raise NotBuilt(self._reference(build, str(error))) from None

    def _reference(self, build: Build, message: str = "") -> Reference:
        c = self._compiler
        return Reference(
            c.name, c.version, c.flags, self._traverse.value, build.seconds, build.cached, message
        )


class Translated:
    """The nest as LLVM IR, made into PTX in this process."""

    def __init__(self, traverse: Traverse) -> None:
        self._traverse = traverse
        self.name = label(compilers.LLVM, traverse)
        self.version = " ".join([f"LLVM {backend.llvm_version()}", *LLVM_FLAGS, traverse.value])

    def at_work(self, trial: Trial, problem: Problem) -> tuple[Run, Reference]:
        """It on a trial's tensors; NotBuilt where the driver refuses it."""
        start = time.perf_counter()
        found = image(naive.of(problem, self._traverse), trial.target)
        seconds = time.perf_counter() - start
        version = f"LLVM {backend.llvm_version()}"
        made = partial(Reference, compilers.LLVM, version, LLVM_FLAGS, self._traverse.value, seconds)
        try:
            return run_of(trial, found), made()
        except GpuError as error:
            raise NotBuilt(made(message=str(error))) from None


def image(nest: Naive, target: GpuTarget) -> GpuImage:
    """The naive kernel of a nest for a GPU, by LLVM."""
    from ..ir_builders.gpu import naive as nests

    text = str(nests.build(nest, target, ENTRY))
    return GpuImage(target, ENTRY, launch(nest, ENTRY), text, kernel.code(text, target))


def run_of(trial: Trial, found: GpuImage) -> Run:
    """A kernel on the device; calling it enqueues one run on the tensors that it is given."""
    return partial(trial.launch, trial.load(found))
