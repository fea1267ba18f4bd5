"""A contraction as files that native programs use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .. import locks
from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..machine.target import Target
from ..problem import contraction_interface as interface
from ..problem import names
from ..problem.contraction import Contraction
from ..runtime import backend
from . import contraction_header as header
from . import marks
from .artifact import checked_kinds, version
from .publish import publish

Job = tuple[Target, tuple[int, ...]]


@dataclass(frozen=True)
class ContractionSpec:
    """The description of an artifact. jobs: the words of the contraction's own job for each machine, the most demanding
    first, one that all can run last; plan, speed: for the header; scratch: bytes; tasks: into which it can be cut."""

    stated: Contraction
    jobs: tuple[Job, ...]
    plan: str
    speed: str
    scratch: int
    tasks: int

    @property
    def base(self) -> Target:
        """The machine that the object as a whole is compiled for."""
        return self.jobs[-1][0]

    @property
    def described(self) -> header.Described:
        """Its block of a header."""
        cpus = ", else ".join(target.cpu for target, _ in self.jobs)
        parts = interface.most_threads(self.stated, self.tasks)
        machine = f"{cpus} ({self.base.triple})"
        return header.Described(self.stated, machine, self.plan, self.speed, self.scratch, parts)

    @cached_property
    def module(self) -> str:
        """The object's LLVM IR, before optimisation."""
        with locks.LLVM:
            from ..ir_builders.fused import entries, words_of
        return marks.marked(str(entries.build(self.stated, [words_of.Version(*job) for job in self.jobs])))


_Declared = Callable[[str, str, Sequence[header.Described], str], str]


def _declared(text: _Declared) -> Callable[[ContractionSpec], bytes]:
    def made(spec: ContractionSpec) -> bytes:
        stem = names.contraction_stem(spec.stated)
        return text(stem, f"{stem}.o", [spec.described], version()).encode()

    return made


def _commented(text: str, sign: str, spec: ContractionSpec) -> bytes:
    """Code as text, behind a comment that names its entries."""
    listed = ", ".join(entry.name for entry in interface.entries(spec.stated))
    return f"{sign} {marks.MARK}\n{sign} {spec.stated}: {listed}\n{text}".encode()


_KINDS: dict[str, tuple[str, Callable[[ContractionSpec], bytes]]] = {
    "obj": (".o", lambda spec: backend.compile_scalar(spec.module, spec.base)),
    "header": (".h", _declared(header.text)),
    "fortran": (".f90", _declared(header.module)),
    "asm": (".s", lambda spec: _commented(backend.assembly(spec.module, spec.base, backend.SCALARS), "#", spec)),
    "llvm": (".ll", lambda spec: _commented(spec.module, ";", spec)),
    "bitcode": (".bc", lambda spec: backend.bitcode(spec.module, spec.base)),
}


def kinds() -> tuple[str, ...]:
    """The words that `emit` accepts."""
    return tuple(_KINDS)


def file_names(stated: Contraction, emit: Iterable[str]) -> tuple[str, ...]:
    """The names of the files of these kinds. OptionError for unknown ones."""
    return tuple(names.contraction_stem(stated) + _KINDS[kind][0] for kind in checked_kinds(emit, _KINDS))


def write(
    spec: ContractionSpec, directory: str | os.PathLike[str], emit: Iterable[str], overwrite: bool
) -> tuple[Path, ...]:
    """Write the wanted files, all or none, and return their paths. Errors as for `artifact.write`."""
    wanted, folder = checked_kinds(emit, _KINDS), Path(directory)
    found = file_names(spec.stated, wanted)
    marks.check(folder, found, overwrite)
    files = [(name, _KINDS[kind][1](spec)) for name, kind in zip(found, wanted, strict=True)]
    return publish(folder, files, overwrite)
