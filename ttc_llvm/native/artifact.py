"""Artifacts: a solution as files that native programs use. Files appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from .. import __version__, arguments, locks
from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..lowering.bodies import PlanFor, Version, choose
from ..lowering.plan import CpuPlan
from ..machine.cpu_features import by_demand, checkable
from ..machine.target import Target
from ..problem import interface, names, wording
from ..problem.contraction import Contraction
from ..problem.contraction_interface import AnyEntry
from ..problem.interface import PLAIN, Symbols
from ..problem.problem import Problem
from ..runtime import backend
from . import elf, fortran, header, marks
from .contraction_artifact import ContractionSpec
from .header import Block
from .publish import publish
from .transposition_words import described
from .whole_file import filled


@dataclass(frozen=True)
class Spec:
    """The description of a transposition's artifact. plan: of the problem's form (`items.placed`); gibs: GiB/s where it
    was measured; note: free text for the header; others: further CPUs of the same system that the object serves, with
    their plans, one that every such machine runs among them; plan_for: plans for kinds of alpha and beta whose axes are
    not the problem's own; symbols: how entries are named and seen. PlanError where the plan does not fit."""

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

    @property
    def passes(self) -> tuple[str, ...]:
        """LLVM's passes for its code."""
        return backend.VECTORS

    @property
    def described(self) -> Block:
        """Its block of a header."""
        cpus = ", else ".join(version.target.cpu for version in self.versions)
        stack = max(version.bodies.stack for version in self.versions)
        machine = f"{cpus} ({self.target.triple})"
        return described(self.problem, machine, str(self.plan), self.gibs, stack, self.note, self.symbols)

    @property
    def functions(self) -> list[str]:
        """The lines that say which function is what, where code is text."""
        values = {"STEM": self.stem, "DESCRIBED": wording.problem_line(self.problem)}
        return filled(Path(__file__).with_name("functions.txt.in"), values).splitlines()

    @property
    def threaded(self) -> tuple[AnyEntry, ...]:
        """The entries that OpenMP's threads run."""
        return interface.threaded(self.problem, self.symbols)

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The code for every machine of the object, the most demanding one first."""
        if not self.others:
            return (Version(self.target, choose(self.problem, self.target, self.plan, self.plan_for)),)
        plans = {checkable(machine): plan for machine, plan in ((self.target, self.plan), *self.others)}
        return tuple(Version(m, choose(self.problem, m, plans[m], self.plan_for)) for m in by_demand(tuple(plans)))

    @cached_property
    def module(self) -> str:
        """The LLVM IR of the object: all bodies and the C entries, before optimisation."""
        return marks.marked(module_text(self))


AnySpec = Spec | ContractionSpec


def write(
    spec: AnySpec,
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
    marks.check(folder, [spec.stem + ending(kind) for kind in wanted], overwrite)
    return publish(folder, _contents(spec, wanted), overwrite)


def kinds() -> tuple[str, ...]:
    """The words that `emit` accepts: obj (.o), header (.h), fortran (a module, .f90), omp (strong OpenMP entries,
    _omp.o), asm (.s), llvm (.ll, as built), bitcode (.bc, as built)."""
    return tuple(_KINDS)


def file_names(problem: Problem | Contraction, emit: Iterable[str], symbols: Symbols = PLAIN) -> tuple[str, ...]:
    """The names of the files of these kinds."""
    return tuple(symbols.stem(problem) + ending(kind) for kind in checked_kinds(emit))


def ending(kind: str) -> str:
    """The end of the names of files of this kind."""
    return _KINDS[kind][0]


@dataclass(frozen=True, slots=True)
class Parts:
    """A problem's part of a library. described: its block of the header; files: (name, content)."""

    described: Block
    files: tuple[tuple[str, bytes], ...]


def parts(spec: AnySpec, emit: Iterable[str]) -> Parts:
    """The problem's part of a library: files of these kinds, of which header is none. Errors as for `write`."""
    return Parts(spec.described, tuple(_contents(spec, checked_kinds(emit))))


def module_text(spec: Spec) -> str:
    """The LLVM IR of a transposition's object, without our mark. Errors as for `write`."""
    with locks.IMPORTS:
        from ..ir_builders import entries

    return str(entries.build(spec.problem, spec.versions, spec.symbols))


def plan_object(library: str, specs: Sequence[Spec]) -> bytes:
    """The object with a library's functions of plans, for the machines of its solutions."""
    with locks.IMPORTS:
        from ..ir_builders.plan_objects import build

    first = specs[0]
    machines: tuple[Target, ...] = (first.target,)
    if first.others:
        machines = by_demand(tuple(checkable(one) for one in (first.target, *(other for other, _ in first.others))))
    name = first.symbols.prefix + names.identifier(library)
    module = build.build(name, [spec.problem for spec in specs], machines, first.symbols)
    return backend.compile_object(marks.marked(str(module)), first.base)


def plan_omp_object(library: str, specs: Sequence[Spec]) -> bytes:
    """The object with the strong OpenMP entries of a library's plans."""
    with locks.IMPORTS:
        from ..ir_builders.plan_objects import threaded

    first = specs[0]
    name = first.symbols.prefix + names.identifier(library)
    return _with_openmp(str(threaded.build(name, first.base, first.symbols)), first.base)


# --- contents -------------------------------------------------------------------------------------------


def _commented(text: str, sign: str, spec: AnySpec) -> bytes:
    """Code as text, behind a comment that says which function is what."""
    return "".join([*(f"{sign} {line}".rstrip() + "\n" for line in spec.functions), text]).encode()


def _omp_object(spec: AnySpec) -> bytes:
    with locks.IMPORTS:
        from ..ir_builders import omp

    return _with_openmp(str(omp.build(f"{spec.stem}_omp", spec.threaded, spec.base)), spec.base)


def _with_openmp(module: str, target: Target) -> bytes:
    """The object of a module that needs an OpenMP library."""
    code = backend.compile_object(marks.marked(module), target)
    return elf.with_openmp(code, elf.GLOBAL) if target.is_elf else code


def _declared(text: Callable[[str, str, Sequence[Block], str], str], spec: AnySpec) -> bytes:
    """The declarations of an object's entries, as `header.text` or `fortran.text` makes them."""
    return text(spec.stem, f"{spec.stem}.o", [spec.described], __version__).encode()


_KINDS: dict[str, tuple[str, Callable[[AnySpec], bytes]]] = {
    "obj": (".o", lambda spec: backend.compile_object(spec.module, spec.base, spec.passes)),
    "header": (".h", partial(_declared, header.text)),
    "fortran": (".f90", partial(_declared, fortran.text)),
    "omp": ("_omp.o", _omp_object),
    "asm": (".s", lambda spec: _commented(backend.assembly(spec.module, spec.base, spec.passes), "#", spec)),
    "llvm": (".ll", lambda spec: _commented(spec.module, ";", spec)),
    "bitcode": (".bc", lambda spec: backend.bitcode(spec.module, spec.base)),
}


def checked_kinds(emit: str | Iterable[str], known: Iterable[str] = _KINDS) -> tuple[str, ...]:
    """The kinds, each once; OptionError for unknown ones."""
    wanted = tuple(dict.fromkeys(arguments.texts("emit", emit)))
    for kind in wanted:
        if kind not in known:
            raise OptionError(f"unknown kind of artifact {arguments.shown(kind)}: the choices are {', '.join(known)}")
    return wanted


def _contents(spec: AnySpec, wanted: tuple[str, ...]) -> list[tuple[str, bytes]]:
    """(file name, bytes) of every wanted kind."""
    return [(spec.stem + end, make(spec)) for end, make in (_KINDS[kind] for kind in wanted)]
