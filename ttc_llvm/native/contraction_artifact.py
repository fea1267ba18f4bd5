"""A contraction as what files are made from."""

from __future__ import annotations

from .. import locks
from ..lazy_dataclasses import dataclass
from ..locks import cached_property
from ..machine.target import Target
from ..problem import contraction_interface as interface
from ..problem.contraction import Contraction
from ..problem.contraction_interface import AnyEntry
from ..problem.interface import PLAIN, Symbols
from ..runtime import backend
from . import marks
from .contraction_words import described
from .header import Block

Job = tuple[Target, tuple[int, ...]]


@dataclass(frozen=True)
class ContractionSpec:
    """The description of an artifact. jobs: the words of the contraction's own job for each machine, the most demanding
    first, one that all can run last; plan, speed: for the header; scratch: bytes; tasks: into which it can be cut;
    symbols: how entries are named and seen."""

    problem: Contraction
    jobs: tuple[Job, ...]
    plan: str
    speed: str
    scratch: int
    tasks: int
    symbols: Symbols = PLAIN

    @property
    def stem(self) -> str:
        """The beginning of the names of its files and entries."""
        return self.symbols.stem(self.problem)

    @property
    def base(self) -> Target:
        """The machine that the object as a whole is compiled for."""
        return self.jobs[-1][0]

    @property
    def passes(self) -> tuple[str, ...]:
        """LLVM's passes for its code."""
        return backend.SCALARS

    @property
    def described(self) -> Block:
        """Its block of a header."""
        cpus = ", else ".join(target.cpu for target, _ in self.jobs)
        machine = f"{cpus} ({self.base.triple})"
        return described(self.problem, machine, self.plan, self.speed, self.scratch, self.tasks, self.symbols)

    @property
    def functions(self) -> list[str]:
        """The lines that say which function is what, where code is text."""
        listed = ", ".join(entry.name for entry in interface.entries(self.problem, self.symbols))
        return [marks.MARK, f"{self.problem}: {listed}"]

    @property
    def threaded(self) -> tuple[AnyEntry, ...]:
        """The entries that OpenMP's threads run."""
        return self.described.threaded

    @cached_property
    def module(self) -> str:
        """The object's LLVM IR, before optimisation."""
        with locks.IMPORTS:
            from ..ir_builders.fused import entries, words_of
        versions = [words_of.Version(*job) for job in self.jobs]
        return marks.marked(str(entries.build(self.problem, versions, self.symbols)))
