"""Libraries: many solutions as one static or shared library with one header, which CMake and pkg-config find."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from .. import arguments, paths
from ..errors import OptionError, TargetError, states_memory
from ..lazy_dataclasses import dataclass, replace
from ..machine.target import Target
from ..native import library_files, marks
from ..native.artifact import AnySpec
from ..native.library_files import LibraryFiles
from ..native.publish import publish
from ..problem import interface, names
from ..problem.contraction import Contraction
from ..problem.problem import Problem
from . import machines

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
VERSION = re.compile(r"[0-9]+(\.[0-9]+){0,3}")


@runtime_checkable
class Emitted(Protocol):
    """A solution that objects are made from: Solution, ContractionSolution."""

    @property
    def problem(self) -> Problem | Contraction:
        """The transposition or contraction."""
        ...

    @property
    def targets(self) -> tuple[Target, ...]:
        """The machines that it is for, first the one whose plan it has; none where it is for any."""
        ...

    def spec_for(self, targets: Sequence[Target]) -> AnySpec:
        """The description of its artifacts for these machines."""
        ...


@dataclass(frozen=True, slots=True)
class Library:
    """Solutions for one target that make one library.

    name: of the library (`lib<name>.a`), its header, its CMake package and its pkg-config file; solutions: one
    or more, of transpositions and contractions, no two under one C name; version: what find_package and pkg-config see.
    Contractions are for the machines of the transpositions, without those for what `compile` takes by default. Raises
    OptionError for names, versions and clashes, TargetError for solutions of different machines.
    """

    name: str
    solutions: tuple[Emitted, ...]
    version: str = "1.0.0"

    if TYPE_CHECKING:  # what is taken; the fields say what is kept

        def __init__(self, name: str, solutions: Iterable[Emitted], version: str = "1.0.0") -> None: ...

    def __post_init__(self) -> None:
        arguments.put(self, {"solutions": arguments.each(_solution, "solutions")}, OptionError)
        check_name(self.name)
        check_version(self.version)
        _check_distinct([solution.problem for solution in self.solutions])
        _check_machines(self.solutions)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The machines that it is for."""
        return next((one.targets for one in self.solutions if one.targets), None) or machines.chosen(None)

    @property
    def target(self) -> Target:
        """The machine that it is for."""
        return self.targets[0]

    @property
    def others(self) -> tuple[Target, ...]:
        """The further machines that its objects serve."""
        return self.targets[1:]

    @states_memory
    def write(
        self, directory: str | Path, emit: str | Iterable[str] = ("static",), *, overwrite: bool = False,
        prefix: str = "", visibility: str = "default",
    ) -> tuple[Path, ...]:  # fmt: skip
        """Write the wanted files, all or none, and return their paths.

        emit: any of `library_files.kinds()`. static and shared make a tree that can be installed as it is and moved:
        lib/, include/, lib/cmake/, lib/pkgconfig/, with a header. omp puts strong OpenMP entries into these libraries,
        plan the functions that plan transpositions of other shapes; fortran adds a module to include/. All else lies in
        the directory itself: one header, one module, and of the other kinds a file a problem. Raises ArtifactError
        where no linker is found or symbols clash, OptionError for unknown kinds, where the directory cannot be written,
        and without `overwrite` where a file of another's has one of the names. prefix, visibility: as for
        `Solution.write`.
        """
        wanted, folder = library_files.checked_kinds(emit), paths.checked("directory", directory)
        symbols = interface.symbols(prefix, visibility)
        problems, targets = [one.problem for one in self.solutions], self.targets
        library_files.check(problems, targets[0], symbols, wanted)
        names = library_files.file_names(self.name, problems, wanted, self.version, symbols)
        marks.check(folder, names, arguments.flag("overwrite", overwrite))
        specs = [replace(one.spec_for(targets), symbols=symbols) for one in self.solutions]
        made = LibraryFiles(self.name, self.version, specs, targets, symbols)
        return publish(folder, list(made.contents(wanted)), overwrite)

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


def _check_machines(solutions: Sequence[Emitted]) -> None:
    """TargetError where the objects do not all serve the same machines."""
    bound = [one for one in solutions if one.targets]
    for solution in bound:
        if _keys(solution) != _keys(bound[0]):
            sides = (", ".join(map(str, one.targets)) for one in (bound[0], solution))
            raise TargetError(f"a library is for one target: its solutions are for {' and for '.join(sides)}")


def _keys(solution: Emitted) -> tuple[str, frozenset[str]]:
    first, *others = solution.targets
    return first.key, frozenset(machine.key for machine in others)


def _solution(name: str, value: object, error: arguments.Error) -> Emitted:
    """The rule of solutions."""
    if not isinstance(value, Emitted):
        raise error(f"{name} is a {type(value).__name__}: it must be a Solution or a ContractionSolution")
    return value


def _check_distinct(problems: Sequence[Problem | Contraction]) -> None:
    if not problems:
        raise OptionError("there is no solution in this library: it needs at least one")
    found: set[str] = set()
    for problem in problems:
        stem = names.stem(problem)
        if stem in found:
            raise OptionError(f"{stem} is twice in this library: problems that differ in alpha and beta share a name")
        found.add(stem)
