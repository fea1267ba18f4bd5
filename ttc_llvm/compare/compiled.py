"""The naive nest as a shared library by one compiler, or a source file of the user's own; as peers of the bench."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..bench.contender import Contender, NotBuilt
from ..bench.results import Reference
from ..bench.workspace import Workspace, foreign
from ..lazy_dataclasses import dataclass, replace
from ..problem import dtypes
from ..problem.problem import Problem
from ..problem.reference_loops import Traverse
from ..runtime import backend
from . import openmp, rehearsal, source
from .builds import Build, Builder, Job
from .compilers import LLVM, Compiler

LLVM_FLAGS = ("-O3",)


@dataclass(frozen=True, slots=True)
class Own:
    """A source file of the user's own. path: absolute; digest: of its content."""

    path: str
    digest: str

    @property
    def name(self) -> str:
        """In tables."""
        return Path(self.path).name


class ByCompiler(ABC):
    """A reference that a compiler builds, whatever it runs on. origin: its traverse, or the name of a user's source."""

    def __init__(self, builder: Builder, compiler: Compiler, origin: str) -> None:
        self._builder, self._compiler, self._origin = builder, compiler, origin
        self.name = label(compiler.name, origin)
        self.version = " ".join([compiler.version, *compiler.flags, origin])

    @abstractmethod
    def job(self, problem: Problem) -> Job:
        """The build of a problem's reference."""

    def _reference(self, build: Build, message: str = "") -> Reference:
        c = self._compiler
        return Reference(c.name, c.version, c.flags, self._origin, build.seconds, build.cached, message)


class ByLlvm:
    """A reference that LLVM makes in this process, whatever it runs on."""

    def __init__(self, traverse: Traverse) -> None:
        self._traverse = traverse
        self._llvm = f"LLVM {backend.llvm_version()}"
        self.name = label(LLVM, traverse.value)
        self.version = " ".join([self._llvm, *LLVM_FLAGS, traverse.value])

    def _reference(self, seconds: float, message: str = "") -> Reference:
        return Reference(LLVM, self._llvm, LLVM_FLAGS, self._traverse.value, seconds, message=message)


class Compiled(ByCompiler):
    """The naive nest by one compiler; or, by the same means, a source of the user's own."""

    def __init__(self, builder: Builder, compiler: Compiler, what: Traverse | Own) -> None:
        super().__init__(builder, compiler, what.name if isinstance(what, Own) else what.value)
        self._what = what
        self._rehearsed: dict[str, str] = {}
        if isinstance(what, Own):
            self.name = what.name
            self.version = f"{self.version} {what.digest}"

    @property
    def is_own(self) -> bool:
        """True for the user's own source."""
        return isinstance(self._what, Own)

    def job(self, problem: Problem) -> Job:
        """The build of a problem's reference."""
        if isinstance(self._what, Own):
            return Job(self._compiler, source.shim(problem), source.own(problem, self._what.path))
        return Job(self._compiler, source.reference(problem, self._what))

    def trouble(self, problem: Problem) -> str:
        """Why it cannot be used for a problem, "" where it can."""
        try:
            self._loaded(problem)
        except NotBuilt as failed:
            return str(failed)
        return ""

    def contender(self, workspace: Workspace) -> Contender:
        """Make it ready to run in a workspace; NotBuilt where it cannot be compiled, loaded or run."""
        problem = workspace.case.problem
        library, made = self._loaded(problem)
        values = dtypes.scalars(problem.compute, problem.alpha, problem.beta)
        address = ctypes.cast(getattr(library, source.RUN), ctypes.c_void_p).value or 0
        arguments = workspace.base("a"), workspace.base("b"), memory_of(values)
        called = foreign(self.name, workspace, address, arguments, (library, values))
        number = getattr(library, source.THREADS)
        number.restype, number.argtypes = None, (ctypes.c_int, ctypes.c_void_p)
        threads = min(workspace.threads, openmp.MOST_THREADS)
        places = openmp.places(threads)
        openmp.place(number, threads, places)

        def run(repeats: int) -> None:
            number(threads, None)
            with openmp.kept(places):
                called.run(repeats)

        return replace(called, run=run, reference=made)

    # --- from a build to a library that can be called ---

    def _loaded(self, problem: Problem) -> tuple[ctypes.CDLL, Reference]:
        job = self.job(problem)
        build = self._builder.obtain(job)
        try:
            library = _opened(build)
        except OSError as error:
            if not build.cached:
                raise NotBuilt(self._reference(build, self._unloadable(problem, error))) from None
            self._builder.obtain_anew(job)  # what was remembered is damaged
            return self._loaded(problem)
        if library is None:
            raise NotBuilt(self._reference(build, build.message))
        why = self._trouble_of(job, build, problem)
        if why:
            raise NotBuilt(self._reference(build, why))
        return library, self._reference(build)

    def _trouble_of(self, job: Job, build: Build, problem: Problem) -> str:
        """Why its code cannot be run: a compiler's is tried once, a user's for every problem."""
        key = job.key if self.is_own else ""
        if key not in self._rehearsed and build.library is not None:
            self._rehearsed[key] = rehearsal.trouble(build.library, problem)
        return self._rehearsed[key]

    def _unloadable(self, problem: Problem, error: OSError) -> str:
        said = str(error).rpartition("/")[2]  # without the folder, which differs from case to case
        if source.entry(problem) in said:
            return f'{self.name} does not define extern "C" {source.prototype(problem)}'
        return f"it cannot be loaded: {said.partition(': ')[2] or said}"


def _opened(build: Build) -> ctypes.CDLL | None:
    """The library of a build; None where there is none, OSError where it cannot be loaded or is none of ours."""
    if build.library is None:
        return None
    library = ctypes.CDLL(str(build.library))
    for name in (source.RUN, source.THREADS):
        if not hasattr(library, name):
            raise OSError(f"{build.library}: undefined symbol: {name}")
    return library


def label(compiler: str, origin: str) -> str:
    """A reference's name in tables."""
    return compiler if origin == Traverse.OUTPUT.value else f"{compiler} {origin}"


def memory_of(values: npt.NDArray[Any] | None) -> int:
    """The address of scalars; 0 for none."""
    return 0 if values is None else int(values.ctypes.data)
