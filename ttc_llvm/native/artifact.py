"""Artifacts: a solution as files that native programs use. Files appear whole or not at all."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from .. import arguments, locks
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..lowering.bodies import PlanFor, Version, choose
from ..lowering.plan import CpuPlan
from ..machine.cpu_features import by_demand, checkable
from ..machine.target import Target
from ..problem import names, wording
from ..problem.interface import PLAIN, Symbols
from ..problem.problem import Problem
from ..runtime import backend
from . import elf, fortran, header, marks
from .publish import publish
from .whole_file import filled


@dataclass(frozen=True, slots=True)
class Spec:
    """The description of an artifact. plan: of the problem's form (`items.placed`); gibs: GiB/s where it was measured;
    note: free text for the header; others: further CPUs of the same system that the object serves, with their
    plans, one that every such machine runs among them; plan_for: plans for kinds of alpha and beta whose axes are not
    the problem's own; symbols: how entries are named and seen."""

    problem: Problem
    target: Target
    plan: CpuPlan
    gibs: float | None = None
    note: str = ""
    others: tuple[tuple[Target, CpuPlan], ...] = ()
    plan_for: PlanFor | None = None
    symbols: Symbols = PLAIN

    @property
    def stem(self) -> str:
        """The beginning of the names of its files and entries."""
        return self.symbols.stem(self.problem)

    @property
    def base(self) -> Target:
        """The machine that the object as a whole is compiled for: the one that asks for least."""
        return self.target if not self.others else by_demand((self.target, *(t for t, _ in self.others)))[-1]


def write(
    spec: Spec,
    directory: str | os.PathLike[str],
    emit: Iterable[str] = ("obj", "header"),
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write the wanted files, named after the problem, and return their paths in the order of `emit`.

    emit: any of `kinds()`; overwrite: also files of others. The directory is made where it is missing. OptionError for
    an unknown kind, a directory that cannot be written, or another's file in the place of one of these; PlanError
    where the plan does not fit.
    """
    wanted, folder = checked_kinds(emit), Path(directory)
    marks.check(folder, file_names(spec.problem, wanted, spec.symbols), overwrite)
    return publish(folder, _contents(spec, _versions(spec), wanted), overwrite)


def kinds() -> tuple[str, ...]:
    """The words that `emit` accepts: obj (.o), header (.h), fortran (a module, .f90), omp (strong OpenMP entries,
    _omp.o), asm (.s), llvm (.ll, as built), bitcode (.bc, as built)."""
    return tuple(_KINDS)


def file_names(problem: Problem, emit: Iterable[str], symbols: Symbols = PLAIN) -> tuple[str, ...]:
    """The names of the files of these kinds."""
    return tuple(symbols.stem(problem) + ending(kind) for kind in checked_kinds(emit))


def ending(kind: str) -> str:
    """The end of the names of files of this kind."""
    return _KINDS[kind][0]


@dataclass(frozen=True, slots=True)
class Parts:
    """A problem's part of a library. described: its block of the header; files: (name, content)."""

    described: header.Described
    files: tuple[tuple[str, bytes], ...]


def parts(spec: Spec, emit: Iterable[str]) -> Parts:
    """The problem's part of a library: files of these kinds, of which header is none. Errors as for `write`."""
    versions = _versions(spec)
    return Parts(described(spec, versions), tuple(_contents(spec, versions, checked_kinds(emit))))


def module_text(spec: Spec, versions: tuple[Version, ...] | None = None) -> str:
    """The LLVM IR of the object: all bodies and the C entries, before optimisation. versions: where they are known.
    Errors as for `write`."""
    with locks.LLVM:
        from ..ir_builders import entries

    return str(entries.build(spec.problem, versions or _versions(spec), spec.symbols))


def plan_object(library: str, specs: Sequence[Spec]) -> bytes:
    """The object with a library's functions of plans, for the machines of its solutions."""
    with locks.LLVM:
        from ..ir_builders.plan_objects import build

    first = specs[0]
    machines: tuple[Target, ...] = (first.target,)
    if first.others:
        machines = by_demand(tuple(checkable(one) for one in (first.target, *(other for other, _ in first.others))))
    name = first.symbols.prefix + names.identifier(library)
    module = build.build(name, [spec.problem for spec in specs], machines, first.symbols)
    return backend.compile_object(marks.marked(str(module)), first.base)


# --- contents -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """What the files of one solution are made from; the module only where one of them needs it."""

    spec: Spec
    versions: tuple[Version, ...]

    @cached_property
    def module(self) -> str:
        """The object's module."""
        return marks.marked(module_text(self.spec, self.versions))


def _commented(text: str, sign: str, made: _Made) -> bytes:
    """Code as text, behind a comment that says which function is what."""
    values = {"STEM": made.spec.stem, "DESCRIBED": wording.problem_line(made.spec.problem)}
    lines = filled(Path(__file__).with_name("functions.txt.in"), values).splitlines()
    return "".join([*(f"{sign} {line}".rstrip() + "\n" for line in lines), text]).encode()


def _omp_object(made: _Made) -> bytes:
    with locks.LLVM:
        from ..ir_builders import omp

    base = made.spec.base
    module = omp.build(made.spec.problem, base, made.spec.symbols)
    code = backend.compile_object(marks.marked(str(module)), base)
    return elf.with_openmp(code, elf.GLOBAL) if base.is_elf else code


def _declared(text: Callable[[str, str, Sequence[header.Described], str], str], made: _Made) -> bytes:
    """The declarations of an object's entries, as `header.text` or `fortran.text` makes them."""
    stem = made.spec.stem
    return text(stem, f"{stem}.o", [described(made.spec, made.versions)], version()).encode()


_KINDS: dict[str, tuple[str, Callable[[_Made], bytes]]] = {
    "obj": (".o", lambda made: backend.compile_object(made.module, made.spec.base)),
    "header": (".h", partial(_declared, header.text)),
    "fortran": (".f90", partial(_declared, fortran.text)),
    "omp": ("_omp.o", _omp_object),
    "asm": (".s", lambda made: _commented(backend.assembly(made.module, made.spec.base), "#", made)),
    "llvm": (".ll", lambda made: _commented(made.module, ";", made)),
    "bitcode": (".bc", lambda made: backend.bitcode(made.module, made.spec.base)),
}


def checked_kinds(emit: str | Iterable[str], known: Iterable[str] = _KINDS) -> tuple[str, ...]:
    """The kinds, each once; OptionError for unknown ones."""
    wanted = tuple(dict.fromkeys(arguments.texts("emit", emit)))
    for kind in wanted:
        if kind not in known:
            raise OptionError(f"unknown kind of artifact {arguments.shown(kind)}: the choices are {', '.join(known)}")
    return wanted


def _contents(
    spec: Spec, versions: tuple[Version, ...], wanted: tuple[str, ...]
) -> list[tuple[str, bytes]]:
    """(file name, bytes) of every wanted kind."""
    made = _Made(spec, versions)
    return [(spec.stem + end, make(made)) for end, make in (_KINDS[kind] for kind in wanted)]


def _versions(spec: Spec) -> tuple[Version, ...]:
    """The code for every machine of the object, the most demanding one first."""
    if not spec.others:
        return (Version(spec.target, choose(spec.problem, spec.target, spec.plan, spec.plan_for)),)
    plans = {checkable(machine): plan for machine, plan in ((spec.target, spec.plan), *spec.others)}
    return tuple(Version(m, choose(spec.problem, m, plans[m], spec.plan_for)) for m in by_demand(tuple(plans)))


def described(spec: Spec, versions: tuple[Version, ...]) -> header.Described:
    """A header's description of this object."""
    cpus = ", else ".join(version.target.cpu for version in versions)
    stack = max(version.bodies.stack for version in versions)
    machine = f"{cpus} ({spec.target.triple})"
    return header.Described(spec.problem, machine, str(spec.plan), spec.gibs, stack, spec.note, spec.symbols)


def version() -> str:
    """Our own version, as headers name it."""
    try:
        return importlib.metadata.version("ttc_llvm")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
