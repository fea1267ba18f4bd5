"""Compilers as rows of a table: how each is called, and which of them are here."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import OptionError

LLVM = "llvm"  # LLVM's own optimiser and vectorisers, in this process
PROBE_SECONDS = 20.0
SHARED = ("-shared", "-fPIC")


@dataclass(frozen=True, slots=True)
class Family:
    """Compilers that are called alike. flags: of references unless told otherwise; device: their references run on a
    GPU."""

    name: str
    flags: tuple[str, ...]
    device: bool = False


FAMILIES = {
    family.name: family
    for family in (
        Family("g++", ("-O3", "-march=native", "-fopenmp")),
        Family("clang++", ("-O3", "-march=native", "-fopenmp")),
        Family("icpx", ("-O3", "-xHost", "-qopenmp")),
        Family("icpc", ("-O3", "-xHost", "-qopenmp", "-diag-disable=10441")),
        Family("nvc++", ("-O3", "-tp=native", "-mp")),
        Family("nvcc", ("-O3", "-arch=native"), device=True),
    )
}
NAMES = (*FAMILIES, LLVM)
_NAMED = re.compile(rf"({'|'.join(map(re.escape, FAMILIES))})(-[0-9][0-9.]*)?")
_NO_DEVICE = "its reference is a kernel for a GPU, and no GPU can be used"


@dataclass(frozen=True, slots=True)
class Compiler:
    """One that is here. name: as it was asked for, in tables; path: of the program; version: its first line."""

    name: str
    path: str
    version: str
    flags: tuple[str, ...]

    def command(self, sources: Sequence[str], library: str) -> tuple[str, ...]:
        """What builds a shared library of these C++ sources."""
        return (self.path, *self.flags, *SHARED, "-o", library, *sources)


@dataclass(frozen=True, slots=True)
class Found:
    """The compilers that are here; whether LLVM's own optimiser takes part; a sentence on each that does not."""

    compilers: tuple[Compiler, ...]
    llvm: bool
    notices: tuple[str, ...]


def find(wanted: Sequence[str] | None, flags: Mapping[str, tuple[str, ...]]) -> Found:
    """The compilers of these names (`g++`, `g++-13`, a path, `llvm`); None: all that are present, and `llvm`.

    flags: by name or family, "" for all of them, in place of the usual ones. Raises OptionError for an unknown name,
    and for one that was asked for and is not here.
    """
    _check_flags(wanted, flags)
    compilers: list[Compiler] = []
    notices: list[str] = []
    for name in dict.fromkeys(FAMILIES if wanted is None else (n for n in wanted if n != LLVM)):
        family = family_of(name)
        path = shutil.which(name)
        missing = _NO_DEVICE if family.device else "it is not found, or no program" if path is None else None
        if missing is None and path is not None:
            compilers.append(Compiler(_label(name), path, version(path), _flags(name, family, flags)))
        elif wanted is not None:
            raise OptionError(f"compiler {name}: {missing}")
        elif family.device and path is not None:
            notices.append(f"compiler {name} is left out: {_NO_DEVICE}")
    if wanted is None and not compilers:
        hosts = ", ".join(family.name for family in FAMILIES.values() if not family.device)
        notices.append(f"no compiler is found ({hosts}): LLVM's own optimiser is the only reference")
    return Found(tuple(compilers), wanted is None or LLVM in wanted, tuple(notices))


def family_of(name: str) -> Family:
    """The family of a name or path; OptionError for what is none of ours."""
    match = _NAMED.fullmatch(Path(name).name)
    if match is None:
        raise OptionError(
            f"unknown compiler {name[:60]!r}: the choices are {', '.join(NAMES)}, with a version as in g++-13 or a path"
        )
    return FAMILIES[match[1]]


def parse_flags(text: str) -> dict[str, tuple[str, ...]]:
    """`-O2 -fopenmp`, or `g++=-O2;clang++=-Ofast`: flags by compiler, "" for all. OptionError for unpaired quotes."""
    flags: dict[str, tuple[str, ...]] = {}
    for part in text.split(";"):
        name, equals, rest = part.strip().partition("=")
        given = bool(equals) and _NAMED.fullmatch(Path(name).name) is not None
        try:
            flags[name if given else ""] = tuple(shlex.split(rest if given else part))
        except ValueError as error:
            raise OptionError(f"compiler flags {part[:60]!r} are malformed: {error}") from None
    return flags


def _label(name: str) -> str:
    return Path(name).name


def _flags(name: str, family: Family, flags: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    given = (flags[key] for key in (name, _label(name), family.name, "") if key in flags)
    return next(given, family.flags)


def _check_flags(wanted: Sequence[str] | None, flags: Mapping[str, tuple[str, ...]]) -> None:
    names = [name for name in (FAMILIES if wanted is None else wanted) if name != LLVM]
    known = {key for name in names for key in (name, _label(name), family_of(name).name, "")}
    for name in flags:
        if name not in known:
            chosen = ", ".join(names) or "none takes flags"
            raise OptionError(f"flags are given for {name[:40]!r}, which is none of the compilers: {chosen}")


@lru_cache(maxsize=32)
def version(path: str) -> str:
    """The first line of `--version` that says something; the path where there is none."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return path
    return next((line.strip() for line in done.stdout.splitlines() if line.strip()), path)
