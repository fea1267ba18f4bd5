"""References as peers of the bench: the naive nest by a compiler or by LLVM itself, and a source of the user's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from ..bench import contender
from ..bench.contender import Contender, Peer
from ..bench.workspace import Workspace
from ..errors import OptionError, os_errors
from ..lazy_dataclasses import dataclass, field
from ..native.whole_file import read
from ..problem import dtypes, reference_loops
from ..problem.problem import Problem
from ..problem.reference_loops import Traverse
from ..runtime import backend, linking, runtime
from ..runtime.pool import Call
from . import compilers, openmp, source
from .builds import LIMIT_SECONDS, Builder, Job
from .compiled import ByCompiler, ByLlvm, Compiled, Own, memory_of
from .compilers import Compiler

KERNEL = "kernel"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The references that are asked for. compilers: names, None = all that are here, and LLVM's optimiser; flags: by
    name or family, "" for all; traverse: one or both; against: path of a C++ source; limit: seconds of one build;
    lenient: a compiler that is not here is left out, with a notice."""

    compilers: tuple[str, ...] | None = None
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    traverse: tuple[Traverse, ...] = (Traverse.OUTPUT,)
    against: str | None = None
    limit: float = LIMIT_SECONDS
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class FoundReferences(contender.FoundPeers):
    """The references as peers, a sentence for each compiler that is left out, and what builds them."""

    builder: Builder

    def prepare(self, problems: Iterable[Problem], report: Callable[[int, int], None] | None = None) -> None:
        """Build everything that these problems need, several at once: before anything is timed."""
        compiled = [peer for peer in self.peers if isinstance(peer, ByCompiler)]
        self.builder.obtain_all((peer.job(problem) for problem in problems for peer in compiled), report)

    def check_own(self, problems: Iterable[Problem]) -> None:
        """OptionError where the user's own source serves none of these problems."""
        own = next((peer for peer in self.peers if isinstance(peer, Compiled) and peer.is_own), None)
        if own is None:
            return
        troubles = [own.trouble(problem) for problem in problems]
        if troubles and all(troubles):
            raise OptionError(f"--against={own.name} cannot be compared with: {troubles[0]}")


def find(wanted: Wanted, cache: Path | None = None) -> FoundReferences:
    """The references of this choice. cache: the folder of remembered libraries, by default in the user's cache.

    OpenMP's libraries that are loaded later poll briefly, unless the environment says otherwise. Raises OptionError for
    unknown and absent compilers, for a source that cannot be read, and where there is no compiler to build it.
    """
    openmp.poll_briefly()
    found = compilers.find(wanted.compilers, wanted.flags, lenient=wanted.lenient)
    builder = Builder(cache, wanted.limit)
    present = found.compilers
    if not present and wanted.against is not None:
        present = compilers.find(None, {key: flags for key, flags in wanted.flags.items() if key == ""}).compilers[:1]
    able = {compiler: _able(builder, compiler) for compiler in present}
    peers: list[Peer[Workspace]] = []
    for traverse in wanted.traverse:
        peers += [Compiled(builder, able[compiler], traverse) for compiler in found.compilers]
        peers += [Vectorised(traverse)] if found.llvm else []
    if wanted.against is not None:
        peers.append(_own(builder, tuple(able.values()), wanted.against))
    serial = tuple(_serial(compiler) for compiler, used in able.items() if used != compiler)
    return FoundReferences(tuple(peers), (*found.notices, *serial), builder)


def _able(builder: Builder, compiler: Compiler) -> Compiler:
    """The compiler, without OpenMP where that alone keeps it from making a library; whether it does is seen anew."""
    plain = compiler.without_openmp()
    if plain == compiler or builder.obtain_anew(Job(compiler, source.THREADED)).library is not None:
        return compiler
    return compiler if builder.obtain_anew(Job(plain, source.THREADED)).library is None else plain


def _serial(compiler: Compiler) -> str:
    package = compilers.family_of(compiler.name).package
    where = f" (Debian: {package})" if package else ""
    return f"{compiler.name} has no OpenMP library{where}: its code runs on one thread"


def _own(builder: Builder, present: Sequence[Compiler], given: str) -> Compiled:
    path = Path(given).absolute()
    with os_errors(f"--against={given} cannot be read"):
        content = read(path)
    if not present:
        raise OptionError(f"--against={given} cannot be built: no compiler is found")
    if not str(path).isprintable() or set(str(path)) & set('"\\'):
        raise OptionError(f"--against={given!r} cannot be included: its path has quotes, backslashes or worse")
    return Compiled(builder, present[0], Own(str(path), sha256(content).hexdigest()[:16]))


# --- LLVM in this process ---------------------------------------------------------------------------------


class Vectorised(ByLlvm):
    """The naive nest as LLVM IR, through all of LLVM's -O3 and both of its vectorisers, on our own threads."""

    def contender(self, workspace: Workspace) -> Contender:
        """Make it ready to run in a workspace."""
        from ..ir_builders import reference_kernel as nests

        problem = workspace.case.problem
        nest = reference_loops.of(problem, self._traverse)
        start = time.perf_counter()
        text = str(nests.build(nest, workspace.target, KERNEL))
        loaded = linking.load(backend.compile_vectorised(text, workspace.target), (KERNEL,))
        made = self._reference(time.perf_counter() - start)
        values = dtypes.scalars(problem.compute, problem.alpha, problem.beta)
        addresses = workspace.base("a"), workspace.base("b")
        call = Call(loaded.address(KERNEL), *addresses, memory_of(values), 0, 0, nests.tasks(nest))

        def run(repeats: int, keep: object = (loaded, values)) -> None:
            runtime.run(call, workspace.threads, repeats)

        return Contender(self.name, workspace.canonical.bytes_moved, run, foreign=True, reference=made)
