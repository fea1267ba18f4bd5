"""The files of libraries: many problems as one static or shared library with one header."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from .. import __version__
from ..errors import ArtifactError, OptionError
from ..lazy_dataclasses import dataclass
from ..machine.target import Target
from ..problem import names
from ..problem.contraction import Contraction
from ..problem.interface import PLAIN, Symbols
from ..problem.problem import Problem
from . import archive, artifact, fortran, header, linker, plan_fortran, plan_header
from .archive import Member
from .artifact import AnySpec, Spec
from .package_files import LIBRARIES, Package
from .package_files import files as package_texts
from .publish import Content, Link

PLAN = "plan"  # the kind of what plans transpositions of any shape


@dataclass(frozen=True, slots=True)
class LibraryFiles:
    """A library as what its files are made from. specs: of its problems, for these targets, with these symbols."""

    name: str
    version: str
    specs: Sequence[AnySpec]
    targets: Sequence[Target]
    symbols: Symbols

    def contents(self, wanted: tuple[str, ...]) -> Iterator[tuple[str, Content]]:
        """(path in the tree, content) of all that `file_names` lists."""
        built, single, inside = _libraries(wanted), _single(wanted), _inside(wanted)
        asked = tuple(dict.fromkeys((*single, *inside)))
        parts = [artifact.parts(spec, asked) for spec in self.specs]
        for part in parts:
            yield from part.files[: len(single)]
        objects = [Member(*part.files[asked.index(kind)]) for part in parts for kind in inside]
        if PLAN in wanted:
            specs = [one for one in self.specs if isinstance(one, Spec)]
            planned = [Member(self.name + end, _PLANNED[end](self.name, specs)) for end in _planned(wanted)]
            objects += planned
            if not built:
                yield from ((one.name, one.data) for one in planned)
        package = self._package(built)
        for kind in built:
            yield package.path(kind), self._linked(kind, objects, package)
        yield from ((path, Link(to)) for path, to in package.links.items())
        home = " and ".join(Path(package.path(kind)).name for kind in built) or "the objects beside it"
        blocks = [part.described for part in parts]
        planner, problems = self.symbols.prefix + names.identifier(self.name), [one.problem for one in self.specs]
        writers: dict[str, _Writer] = {"header": header.text, "fortran": fortran.text}
        if PLAN in wanted:
            declared = plan_header.block(planner, _transpositions(problems))
            writers = {
                "header": partial(header.text, plans=declared),
                "fortran": partial(fortran.text, plans=plan_fortran.part(planner)),
            }
        for kind, path in _texts(self.name, wanted):
            yield path, writers[kind](self.name, home, blocks, __version__).encode()
        if built:
            yield from ((path, text.encode()) for path, text in package_texts(package).items())

    def _linked(self, kind: str, objects: Sequence[Member], package: Package) -> bytes:
        if kind == "static":
            return archive.write(objects)
        return linker.shared(objects, package.soname, linker.command(self.targets[0]))

    def _package(self, built: tuple[str, ...]) -> Package:
        served = ", ".join(machine.cpu for machine in self.targets)
        transposed = len(_transpositions([one.problem for one in self.specs]))
        kinds = ("transpositions", transposed), ("contractions", len(self.specs) - transposed)
        held = " and ".join(kind for kind, number in kinds if number)
        title = f"Tensor {held} for {served} ({self.targets[0].triple}), by ttc_llvm {__version__}"
        return Package(self.name, self.version, built, title)


def kinds() -> tuple[str, ...]:
    """The words that `emit` accepts: static (.a), shared (.so), plan (an object), and the kinds of single problems."""
    return (*artifact.kinds(), *LIBRARIES, PLAN)


def checked_kinds(emit: str | Iterable[str]) -> tuple[str, ...]:
    """The kinds, each once; OptionError for unknown ones."""
    return artifact.checked_kinds(emit, kinds())


def check(
    problems: Sequence[Problem | Contraction], target: Target, symbols: Symbols, wanted: Sequence[str]
) -> None:
    """ArtifactError where a library is wanted for objects that are not ELF, or a shared one and there is no linker;
    OptionError where a shared library is to hide all that is in it, or plans have no transposition to follow."""
    if _libraries(wanted) and not target.is_elf:
        raise ArtifactError(f"libraries are made of ELF objects, but those for {target.triple} are none: emit obj")
    if "shared" in wanted:
        linker.command(target)
        if symbols.hidden:
            raise OptionError("visibility 'hidden' contradicts a shared library, which is there for its entries")
    if PLAN in wanted and not _transpositions(problems):
        raise OptionError("plan makes plans of transpositions: there is none in this library")


def _transpositions(problems: Sequence[Problem | Contraction]) -> list[Problem]:
    return [one for one in problems if isinstance(one, Problem)]


def file_names(
    name: str, problems: Sequence[Problem | Contraction], emit: Iterable[str], version: str = "1.0.0",
    symbols: Symbols = PLAIN,
) -> tuple[str, ...]:  # fmt: skip
    """Paths, below the directory, that a library of these problems consists of."""
    wanted = checked_kinds(emit)
    built = _libraries(wanted)
    package = Package(name, version, built, "")
    return (
        *(path for problem in problems for path in artifact.file_names(problem, _single(wanted), symbols)),
        *(name + end for end in _planned(wanted) if not built),
        *map(package.path, built),
        *package.links,
        *(path for _, path in _texts(name, wanted)),
        *(package_texts(package) if built else ()),
    )


_Writer = Callable[[str, str, Sequence[header.Block], str], str]
_TEXTS = ("header", "fortran")  # which describe all problems at once


_PLANNED = {"_plan.o": artifact.plan_object, "_plan_omp.o": artifact.plan_omp_object}


def _planned(wanted: Sequence[str]) -> tuple[str, ...]:
    """The ends of the names of the objects with plans."""
    return tuple(_PLANNED)[: ("omp" in wanted) + 1] if PLAN in wanted else ()


def _libraries(wanted: Sequence[str]) -> tuple[str, ...]:
    return tuple(kind for kind in LIBRARIES if kind in wanted)


def _inside(wanted: Sequence[str]) -> tuple[str, ...]:
    """Kinds of objects that the libraries are made of."""
    return () if not _libraries(wanted) else ("obj", "omp") if "omp" in wanted else ("obj",)


def _single(wanted: Sequence[str]) -> tuple[str, ...]:
    """Kinds of which every problem has a file of its own."""
    others = (*LIBRARIES, *_TEXTS, PLAN, *(("omp",) if _libraries(wanted) else ()))
    return tuple(kind for kind in wanted if kind not in others)


def _texts(name: str, wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(kind, path) of what describes all problems at once; libraries always have a header."""
    built = _libraries(wanted)
    for kind in _TEXTS:
        if kind in wanted or (built and kind == "header"):
            yield kind, f"{'include/' if built else ''}{name}{artifact.ending(kind)}"
