"""Compilers as rows of a table: how each is called, and which of them are here."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ..bench.results import Reference
from ..errors import OptionError
from ..lazy_dataclasses import dataclass, replace
from ..problem.reference_loops import Traverse
from ..runtime import children

LLVM = "llvm"  # LLVM's own optimiser and vectorisers, in this process
PROBE_SECONDS = 20.0
SERIAL = "on one thread"  # words for a reference that shares its work with no other thread
TRAVERSES = tuple(traverse.value for traverse in Traverse)


@dataclass(frozen=True, slots=True)
class Product:
    """A kind of file that a compiler makes of a reference. source, made: names of files; flags: that ask for it."""

    source: str
    made: str
    flags: tuple[str, ...]


LIBRARY = Product("reference.cpp", "reference.so", ("-shared", "-fPIC"))
CUBIN = Product("reference.cu", "reference.cubin", ("-cubin",))


@dataclass(frozen=True, slots=True)
class Dialect:
    """Compilers that are called alike. flags: of references unless told otherwise; openmp: the flag that asks for it;
    simd: what stands in its place where there is no OpenMP library; package: Debian's of that library. "" = none."""

    name: str
    flags: tuple[str, ...]
    product: Product = LIBRARY
    openmp: str = ""
    simd: str = ""
    package: str = ""

    @property
    def device(self) -> bool:
        """True where its references run on a GPU."""
        return self.product is CUBIN


FAMILIES = {
    family.name: family
    for family in (
        Dialect("g++", ("-O3", "-march=native", "-fopenmp"), LIBRARY, "-fopenmp", "-fopenmp-simd", "libgomp1"),
        Dialect("clang++", ("-O3", "-march=native", "-fopenmp"), LIBRARY, "-fopenmp", "-fopenmp-simd", "libomp-dev"),
        Dialect("icpx", ("-O3", "-xHost", "-qopenmp"), LIBRARY, "-qopenmp", "-qopenmp-simd"),
        Dialect("icpc", ("-O3", "-xHost", "-qopenmp", "-diag-disable=10441"), LIBRARY, "-qopenmp", "-qopenmp-simd"),
        Dialect("nvc++", ("-O3", "-tp=native", "-mp"), LIBRARY, "-mp"),
        Dialect("nvcc", ("-O3",), CUBIN),
    )
}
NAMES = (*FAMILIES, LLVM)
_NAMED = re.compile(rf"({'|'.join(map(re.escape, FAMILIES))})(-[0-9][0-9.]*)?")
_VERSION = re.compile(r"\d+\.\d+")
_ARCHITECTURE = re.compile(r"-arch\b|-gencode\b|--gpu-architecture\b|--generate-code\b")
_FOR_CPUS = "it compiles for CPUs: --architecture=cuda sets solutions beside nvcc and llvm"
_FOR_GPUS = "it compiles for GPUs: --architecture=cuda sets solutions beside it"


@dataclass(frozen=True, slots=True)
class Compiler:
    """One that is here. name: as it was asked for, in tables; path: of the program; version: as it tells itself."""

    name: str
    path: str
    version: str
    flags: tuple[str, ...]
    product: Product = LIBRARY

    def command(self, sources: Sequence[str]) -> tuple[str, ...]:
        """The command line that builds its product of these sources."""
        return (self.path, *self.flags, *self.product.flags, "-o", self.product.made, *sources)

    def without_openmp(self) -> Compiler:
        """The same, for code on one thread; equal to this one where its flags do not ask for OpenMP."""
        family = family_of(self.name)
        flags = (family.simd if flag.partition("=")[0] == family.openmp else flag for flag in self.flags)
        return replace(self, flags=tuple(filter(None, flags)))


@dataclass(frozen=True, slots=True)
class FoundCompilers:
    """The compilers that are here; whether LLVM's own optimiser takes part; a sentence on each that does not."""

    compilers: tuple[Compiler, ...]
    llvm: bool
    notices: tuple[str, ...]


def find(
    wanted: Sequence[str] | None, flags: Mapping[str, tuple[str, ...]], gpu: str | None = None, lenient: bool = False
) -> FoundCompilers:
    """The compilers of these names (`g++`, `g++-13`, a path, `llvm`); None: all that are present, and `llvm`.

    flags: by name or family, "" for all of them, in place of the usual ones; gpu: for which code is made, as `sm_90`,
    None = this machine's CPU; lenient: one that was asked for and is not here has a notice. Raises OptionError for an
    unknown name, and for one that was asked for and is not here.
    """
    families = [family.name for family in FAMILIES.values() if family.device == (gpu is not None)]
    names = families if wanted is None else [name for name in wanted if name != LLVM]
    _check_flags(names, flags)
    compilers: list[Compiler] = []
    absent: list[str] = []
    for name in dict.fromkeys(names):
        family, path = family_of(name), shutil.which(name)
        if family.name not in families:
            raise OptionError(f"compiler {name}: {_FOR_GPUS if family.device else _FOR_CPUS}")
        if path is not None:
            given = _with_gpu(_flags(name, family, flags), gpu)
            compilers.append(Compiler(Path(name).name, path, version(path), given, family.product))
        elif wanted is not None:
            absent.append(f"compiler {name}: it is not found, or no program")
    if absent and not lenient:
        raise OptionError(absent[0])
    notices = tuple(f"{sentence}: it is left out" for sentence in absent)
    if wanted is None and not compilers:
        notices = (f"no compiler is found ({', '.join(families)}): LLVM's own optimiser is the only reference",)
    return FoundCompilers(tuple(compilers), wanted is None or LLVM in wanted, notices)


def _with_gpu(flags: tuple[str, ...], gpu: str | None) -> tuple[str, ...]:
    """Flags that name a GPU: those given, if they do."""
    if gpu is None or any(_ARCHITECTURE.match(flag) for flag in flags):
        return flags
    return (*flags, f"-arch={gpu}")


def family_of(name: str) -> Dialect:
    """The family of a name or path; OptionError for what is none of ours."""
    match = _NAMED.fullmatch(Path(name).name)
    if match is None:
        raise OptionError(
            f"unknown compiler {name[:60]!r}: the choices are {', '.join(NAMES)}, with a version as in g++-13 or a path"
        )
    return FAMILIES[match[1]]


def on_one_thread(made: Reference) -> bool:
    """True for a loop nest of a compiler that has OpenMP and was not asked for it."""
    named = _NAMED.fullmatch(made.compiler)
    if named is None or made.traverse not in TRAVERSES:
        return False
    openmp = FAMILIES[named[1]].openmp
    return bool(openmp) and all(flag.partition("=")[0] != openmp for flag in made.flags)


def parse_flags(text: str) -> dict[str, tuple[str, ...]]:
    """`-O2 -fopenmp`, or `g++=-O2;clang++=-Ofast`: flags by compiler, "" for all. OptionError for unpaired quotes."""
    flags: dict[str, tuple[str, ...]] = {}
    for part in text.split(";"):
        name, equals, rest = part.strip().partition("=")
        given = bool(equals) and not name.startswith("-") and " " not in name
        try:
            flags[name if given else ""] = tuple(shlex.split(rest if given else part))
        except ValueError as error:
            raise OptionError(f"compiler flags {part[:60]!r} are malformed: {error}") from None
    return flags


def _flags(name: str, family: Dialect, flags: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    given = (flags[key] for key in (name, Path(name).name, family.name, "") if key in flags)
    return next(given, family.flags)


def _check_flags(names: Sequence[str], flags: Mapping[str, tuple[str, ...]]) -> None:
    known = {key for name in names for key in (name, Path(name).name, family_of(name).name, "")}
    for name in flags:
        if name not in known:
            chosen = ", ".join(names) or "none takes flags"
            raise OptionError(f"flags are given for {name[:40]!r}, which is none of the compilers: {chosen}")


@lru_cache(maxsize=32)
def version(path: str) -> str:
    """The first line of `--version` with a number as 13.0, else the first that says something; else the path."""
    try:
        done = children.run([path, "--version"], timeout=PROBE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return path
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return next((line for line in lines if _VERSION.search(line)), lines[0] if lines else path)
