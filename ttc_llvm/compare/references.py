"""References as peers of the bench: the naive nest by a compiler or by LLVM itself, and a source of the user's own."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import affinity, backend, dtypes, naive, runtime
from ..bench.peers import NotBuilt, Peer
from ..bench.results import Reference
from ..bench.stand import Contender, Stand, foreign
from ..dtypes import Kind
from ..errors import OptionError
from ..naive import Traverse
from ..pool import Call
from ..problem import Problem
from . import compilers, source
from .builds import LIMIT_SECONDS, Builder, Job
from .compilers import Compiler

KERNEL = "kernel"
_PLACE = ctypes.CFUNCTYPE(None, ctypes.c_int)
# Workers of LLVM's and Intel's OpenMP poll for 200 ms after their work: others would be measured beside them.
_POLLING = {"KMP_BLOCKTIME": "10"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which references take part. compilers: names, None = all that are here, and LLVM's optimiser; flags: by name or
    family, "" for all; traverse: one or both; against: path of a C++ source; limit: seconds of one build."""

    compilers: tuple[str, ...] | None = None
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    traverse: tuple[Traverse, ...] = (Traverse.OUTPUT,)
    against: str | None = None
    limit: float = LIMIT_SECONDS


@dataclass(frozen=True, slots=True)
class Found:
    """The references as peers, what builds them, and a sentence for each compiler that is left out."""

    peers: tuple[Peer, ...]
    builder: Builder
    notices: tuple[str, ...]

    def prepare(self, problems: Iterable[Problem], report: Callable[[int, int], None] | None = None) -> None:
        """Build everything that these problems need, several at once: before anything is timed."""
        compiled = [peer for peer in self.peers if isinstance(peer, Compiled)]
        self.builder.obtain_all((peer.job(problem) for problem in problems for peer in compiled), report)

    def check_own(self, problems: Iterable[Problem]) -> None:
        """OptionError where the user's own source serves none of these problems."""
        own = next((peer for peer in self.peers if isinstance(peer, Compiled) and peer.is_own), None)
        if own is None:
            return
        troubles = [own.trouble(problem) for problem in problems]
        if troubles and all(troubles):
            raise OptionError(f"--against={own.name} cannot be compared with: {troubles[0]}")


def find(wanted: Wanted, cache: Path | None = None) -> Found:
    """The references of this choice. cache: the folder of remembered libraries, by default in the user's cache.

    OpenMP runtimes that are loaded later poll briefly after their work, unless the environment says otherwise. Raises
    OptionError for unknown and absent compilers, for a source that cannot be read, and where there is none to build it.
    """
    for name, value in _POLLING.items():
        os.environ.setdefault(name, value)
    found = compilers.find(wanted.compilers, wanted.flags)
    builder = Builder(cache, wanted.limit)
    peers: list[Peer] = []
    for traverse in wanted.traverse:
        peers += [Compiled(builder, compiler, traverse) for compiler in found.compilers]
        peers += [Vectorised(traverse)] if found.llvm else []
    if wanted.against is not None:
        peers.append(_own(builder, found.compilers or _any_compiler(wanted), wanted.against))
    return Found(tuple(peers), builder, found.notices)


def _any_compiler(wanted: Wanted) -> tuple[Compiler, ...]:
    return compilers.find(None, {name: flags for name, flags in wanted.flags.items() if not name}).compilers


def _own(builder: Builder, present: Sequence[Compiler], given: str) -> Compiled:
    path = Path(given).absolute()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OptionError(f"--against={given} cannot be read: {error.strerror or error}") from None
    if not present:
        raise OptionError(f"--against={given} cannot be built: no compiler is found")
    return Compiled(builder, present[0], None, str(path), sha256(content).hexdigest()[:16])


def _name(compiler: str, traverse: Traverse) -> str:
    return compiler if traverse is Traverse.OUTPUT else f"{compiler} {traverse.value}"


# --- compiled ---------------------------------------------------------------------------------------------


class Compiled:
    """The naive nest by one compiler, or a source file of the user's own (traverse None), as a shared library."""

    def __init__(
        self, builder: Builder, compiler: Compiler, traverse: Traverse | None, own: str = "", digest: str = ""
    ) -> None:
        self._builder, self._compiler, self._traverse, self._own = builder, compiler, traverse, own
        self.name = Path(own).name if traverse is None else _name(compiler.name, traverse)
        self._way = self.name if traverse is None else traverse.value
        self.version = " ".join([compiler.version, *compiler.flags, self._way, *([digest] if digest else [])])

    def job(self, problem: Problem) -> Job:
        """What has to be built for a problem."""
        text = source.shim(problem) if self._traverse is None else source.reference(problem, self._traverse)
        return Job(self._compiler, text, self._own)

    @property
    def is_own(self) -> bool:
        """True for the user's own source."""
        return self._traverse is None

    def trouble(self, problem: Problem) -> str:
        """Why it cannot be used for a problem, "" where it can."""
        try:
            self._loaded(problem)
        except NotBuilt as failed:
            return str(failed)
        return ""

    def contender(self, stand: Stand) -> Contender:
        """It at work on a stand; NotBuilt where it cannot be compiled or loaded."""
        return self._contender(stand, *self._loaded(stand.case.problem))

    def _loaded(self, problem: Problem) -> tuple[ctypes.CDLL, Reference]:
        build = self._builder.obtain(self.job(problem))
        made = Reference(
            self._compiler.name, self._compiler.version, self._compiler.flags, self._way,
            build.seconds, build.cached, build.message,
        )  # fmt: skip
        if build.library is None:
            raise NotBuilt(made)
        try:
            return ctypes.CDLL(str(build.library)), made
        except OSError as error:
            raise NotBuilt(replace(made, message=self._unloadable(problem, error))) from None

    def _contender(self, stand: Stand, library: ctypes.CDLL, made: Reference) -> Contender:
        values = _scalars(stand.case.problem)
        address = ctypes.cast(getattr(library, source.RUN), ctypes.c_void_p).value or 0
        arguments = stand.base("a"), stand.base("b"), _address(values)
        called = foreign(self.name, stand, address, arguments, (library, values))
        number = getattr(library, source.THREADS)
        number.restype, number.argtypes = None, (ctypes.c_int, ctypes.c_void_p)
        places = _places(stand.threads)
        _place(number, stand.threads, places)

        def run(repeats: int) -> None:
            number(stand.threads, None)
            with _kept(places):
                called.run(repeats)

        return replace(called, run=run, reference=made)

    def _unloadable(self, problem: Problem, error: OSError) -> str:
        if source.entry(problem) in str(error):
            return f'{self.name} does not define extern "C" {source.prototype(problem)}'
        return f"it cannot be loaded: {error}"


Places = tuple[int | None, ...]


def _places(threads: int) -> Places:
    """The CPU of each OpenMP thread, None = not pinned: as ours, but the calling one as well. OpenMP's threads
    wait for each other; two that meet on one CPU take a time slice each."""
    if threads < 2:
        return (None,)
    return affinity.places(runtime.placement(), threads, affinity.process_mask() or (), _topology())


def _place(number: Any, threads: int, places: Places) -> None:
    """Bind OpenMP's workers; thread 0 is whoever calls."""

    def pin(thread: int) -> None:
        cpu = places[thread] if 0 < thread < len(places) else None
        if cpu is not None:
            affinity.pin(cpu)

    number(threads, ctypes.cast(_PLACE(pin), ctypes.c_void_p) if any(cpu is not None for cpu in places) else None)


@contextmanager
def _kept(places: Places) -> Iterator[None]:
    """This thread on its place for as long as a reference runs."""
    mask = affinity.process_mask()
    if places[0] is None or mask is None or not affinity.pin(places[0]):
        yield
        return
    try:
        yield
    finally:
        os.sched_setaffinity(0, mask)


_topology = lru_cache(maxsize=1)(affinity.read_topology)


def _scalars(problem: Problem) -> npt.NDArray[Any] | None:
    """alpha and beta in the type of the arithmetic; plain moves have none."""
    if problem.compute.kind is Kind.OPAQUE:
        return None
    return np.array([problem.alpha, problem.beta], dtypes.to_numpy(problem.compute))


def _address(values: npt.NDArray[Any] | None) -> int:
    return 0 if values is None else int(values.ctypes.data)


# --- LLVM in this process ---------------------------------------------------------------------------------


class Vectorised:
    """The naive nest as LLVM IR, through all of LLVM's -O3 and both of its vectorisers, on our own threads."""

    def __init__(self, traverse: Traverse) -> None:
        self._traverse = traverse
        self.name = _name(compilers.LLVM, traverse)
        self.version = f"LLVM {backend.llvm_version()} -O3 {traverse.value}"

    def contender(self, stand: Stand) -> Contender:
        """It at work on a stand."""
        from ..ir_builders import naive as nests

        problem = stand.case.problem
        nest = naive.of(problem, self._traverse)
        start = time.perf_counter()
        text = str(nests.build(nest, stand.target, KERNEL))
        loaded = backend.load(backend.compile_vectorised(text, stand.target), (KERNEL,))
        made = Reference(
            compilers.LLVM, f"LLVM {backend.llvm_version()}", ("-O3",), self._traverse.value,
            time.perf_counter() - start,
        )  # fmt: skip
        values = _scalars(problem)
        addresses = stand.base("a"), stand.base("b")
        call = Call(loaded.address(KERNEL), *addresses, _address(values), 0, 0, nests.tasks(nest))

        def run(repeats: int, keep: object = (loaded, values)) -> None:
            runtime.run(call, stand.threads, repeats)

        return Contender(self.name, stand.canonical.bytes_moved, run, foreign=True, reference=made)
