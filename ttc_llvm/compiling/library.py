"""Libraries: many solutions as one static or shared library with one header, which CMake and pkg-config find."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import arguments, paths
from ..errors import ArtifactError, OptionError, TargetError, states_memory
from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..native import archive, artifact, fortran, header, linker, marks, plan_header
from ..native.archive import Member
from ..native.package_files import LIBRARIES, Package
from ..native.package_files import files as package_texts
from ..native.publish import Content, Link, publish
from ..problem import interface, names
from ..problem.interface import PLAIN, Symbols
from ..problem.problem import Problem
from .solution import Solution

LONGEST_NAME = 100
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
# Of C's headers and of libraries that programs link without being told, and of our own CMake package.
TAKEN = frozenset((
    "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math",
    "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbit", "stdbool", "stdckdint", "stddef",
    "stdint", "stdio", "stdlib", "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar",
    "wctype", "c", "c++", "dl", "gcc", "gfortran", "gomp", "iomp5", "m", "omp", "pthread", "rt", "stdc++",
    "ttc_llvm",
))  # fmt: skip
PLAN = "plan"  # the kind of what plans transpositions of any shape
VERSION = re.compile(r"[0-9]+(\.[0-9]+){0,3}")


@dataclass(frozen=True, slots=True)
class Library:
    """Solutions for one target that make one library.

    name: of the library (`lib<name>.a`), its header, its CMake package and its pkg-config file; solutions: one
    or more, no two under one C name; version: what find_package and pkg-config see. Raises OptionError for
    names, versions and clashes, TargetError for solutions of different machines.
    """

    name: str
    solutions: tuple[Solution, ...]
    version: str = "1.0.0"

    if TYPE_CHECKING:  # what is taken; the fields say what is kept

        def __init__(self, name: str, solutions: Iterable[Solution], version: str = "1.0.0") -> None: ...

    def __post_init__(self) -> None:
        arguments.put(self, {"solutions": arguments.each(arguments.instance(Solution), "solutions")}, OptionError)
        check_name(self.name)
        check_version(self.version)
        _check_distinct([solution.problem for solution in self.solutions])
        _check_machines(self.solutions)

    @property
    def target(self) -> Target:
        """The machine that it is for."""
        return self.solutions[0].target

    @property
    def others(self) -> tuple[Target, ...]:
        """The further machines that its objects serve."""
        return self.solutions[0].others

    @states_memory
    def write(
        self, directory: str | Path, emit: str | Iterable[str] = ("static",), *, overwrite: bool = False,
        prefix: str = "", visibility: str = "default",
    ) -> tuple[Path, ...]:  # fmt: skip
        """Write the wanted files, all or none, and return their paths.

        emit: any of `kinds()`. static and shared make a tree that can be installed as it is and moved: lib/,
        include/, lib/cmake/, lib/pkgconfig/, with a header. omp puts strong OpenMP entries into these libraries, plan
        the functions that plan transpositions of other shapes;
        fortran adds a module to include/. All else lies in the directory itself: one header, one module, and
        of the other kinds a file a problem. Raises ArtifactError where no linker is found or
        symbols clash, OptionError for unknown kinds, where the directory cannot be written, and without `overwrite`
        where a file of another's has one of the names. prefix, visibility: as for `Solution.write`.
        """
        wanted, folder = checked_kinds(emit), paths.checked("directory", directory)
        symbols = interface.symbols(prefix, visibility)
        check_target(self.target, wanted)
        check_symbols(symbols, wanted)
        names = file_names(self.name, [one.problem for one in self.solutions], wanted, self.version, symbols)
        marks.check(folder, names, arguments.flag("overwrite", overwrite))
        return publish(folder, list(self._files(wanted, symbols)), overwrite)

    def _files(self, wanted: tuple[str, ...], symbols: Symbols) -> Iterator[tuple[str, Content]]:
        """(path in the tree, content) of all that `file_names` lists."""
        built, single, inside = _libraries(wanted), _single(wanted), _inside(wanted)
        asked = tuple(dict.fromkeys((*single, *inside)))
        specs = [replace(solution.spec, symbols=symbols) for solution in self.solutions]
        parts = [artifact.parts(spec, asked) for spec in specs]
        for part in parts:
            yield from part.files[: len(single)]
        objects = [Member(*part.files[asked.index(kind)]) for part in parts for kind in inside]
        if PLAN in wanted:
            planned = Member(_plan_file(self.name), artifact.plan_object(self.name, specs))
            if built:
                objects.append(planned)
            else:
                yield planned.name, planned.data
        package = self._package(built)
        for kind in built:
            yield package.path(kind), self._linked(kind, objects, package)
        yield from ((path, Link(to)) for path, to in package.links.items())
        home = " and ".join(Path(package.path(kind)).name for kind in built) or "the objects beside it"
        blocks = [part.described for part in parts]
        problems = [solution.problem for solution in self.solutions]
        planner = symbols.prefix + names.identifier(self.name)
        plans = plan_header.block(planner, problems) if PLAN in wanted else ""
        writers: dict[str, _Writer] = {"header": partial(header.text, plans=plans), "fortran": fortran.text}
        for kind, path in _texts(self.name, wanted):
            yield path, writers[kind](self.name, home, blocks, artifact.version()).encode()
        if built:
            yield from ((path, text.encode()) for path, text in package_texts(package).items())

    def _linked(self, kind: str, objects: Sequence[Member], package: Package) -> bytes:
        if kind == "static":
            return archive.write(objects)
        return linker.shared(objects, package.soname, linker.command(self.target))

    def _package(self, built: tuple[str, ...]) -> Package:
        served = ", ".join(machine.cpu for machine in (self.target, *self.others))
        title = f"Tensor transpositions for {served} ({self.target.triple}), by ttc_llvm {artifact.version()}"
        return Package(self.name, self.version, built, title)


def kinds() -> tuple[str, ...]:
    """The words that `emit` accepts: static (.a), shared (.so), plan (an object), and the kinds of single problems."""
    return (*artifact.kinds(), *LIBRARIES, PLAN)


def checked_kinds(emit: str | Iterable[str]) -> tuple[str, ...]:
    """The kinds, each once; OptionError for unknown ones."""
    return artifact.checked_kinds(emit, kinds())


def check_target(target: Target, wanted: Sequence[str]) -> None:
    """ArtifactError where a library is wanted for objects that are not ELF, or a shared one and there is no linker."""
    if _libraries(wanted) and not target.is_elf:
        raise ArtifactError(f"libraries are made of ELF objects, but those for {target.triple} are none: emit obj")
    if "shared" in wanted:
        linker.command(target)


def check_symbols(symbols: Symbols, wanted: Sequence[str]) -> None:
    """OptionError where a shared library is to hide all that is in it."""
    if symbols.hidden and "shared" in wanted:
        raise OptionError("visibility 'hidden' contradicts a shared library, which is there for its entries")


def check_name(name: str) -> None:
    """OptionError unless it can name a file, a CMake package and, without its punctuation, a C macro."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None or len(name) > LONGEST_NAME:
        raise OptionError(
            f"library name {arguments.shown(name)} is not a letter followed by letters, digits and _ . + -,"
            f" at most {LONGEST_NAME} characters"
        )
    if name in TAKEN:
        raise OptionError(f"library name {name!r} is that of a system library or header, which its files would hide")


def check_version(version: str) -> None:
    """OptionError unless CMake and pkg-config can compare it."""
    if not isinstance(version, str) or VERSION.fullmatch(version) is None:
        raise OptionError(f"library version {arguments.shown(version)} is not one to four numbers such as 1.2.0")


def file_names(
    name: str, problems: Sequence[Problem], emit: Iterable[str], version: str = "1.0.0", symbols: Symbols = PLAIN
) -> tuple[str, ...]:
    """Paths, below the directory, that a library of these problems consists of."""
    wanted = checked_kinds(emit)
    built = _libraries(wanted)
    package = Package(name, version, built, "")
    return (
        *(path for problem in problems for path in artifact.file_names(problem, _single(wanted), symbols)),
        *([_plan_file(name)] if PLAN in wanted and not built else []),
        *map(package.path, built),
        *package.links,
        *(path for _, path in _texts(name, wanted)),
        *(package_texts(package) if built else ()),
    )


_Writer = Callable[[str, str, Sequence[header.Described], str], str]
_TEXTS = ("header", "fortran")  # which describe all problems at once


def _plan_file(name: str) -> str:
    return f"{name}_plan.o"


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


def _check_machines(solutions: Sequence[Solution]) -> None:
    """TargetError where the objects do not all serve the same machines."""
    first = solutions[0]
    for solution in solutions:
        if _keys(solution) != _keys(first):
            sides = (", ".join(map(str, (one.target, *one.others))) for one in (first, solution))
            raise TargetError(f"a library is for one target: its solutions are for {' and for '.join(sides)}")


def _keys(solution: Solution) -> tuple[str, frozenset[str]]:
    return solution.target.key, frozenset(machine.key for machine in solution.others)


def _check_distinct(problems: Sequence[Problem]) -> None:
    if not problems:
        raise OptionError("there is no solution in this library: it needs at least one")
    found: dict[str, Problem] = {}
    for problem in problems:
        stem = names.stem(problem)
        if stem in found:
            raise OptionError(f"{stem} is twice in this library: problems that differ in alpha and beta share a name")
        found[stem] = problem
