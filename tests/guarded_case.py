"""A case's tensors between guard pages, and what all of that memory must hold afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import reference
from case import Case, expected, fill, windows
from guards import Guarded
from reference import Array

LINE = 64


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor lies: it touches the guard page before it ("start") or behind it ("end"), or begins `residue`
    bytes behind a line near that page, with canaries between them."""

    flush: str = "end"
    residue: int | None = None

    def memory(self, nbytes: int) -> Guarded:
        """So many bytes there."""
        if self.residue is None:
            return Guarded(nbytes, self.flush)
        gap = self.residue if self.flush == "start" else -nbytes - self.residue
        return Guarded(nbytes, self.flush, gap % LINE)


@dataclass(frozen=True, slots=True)
class GuardedCase:
    """Filled tensors of a case. memory: A's and B's; a, b: flat storage in it; wanted: what b must hold after a run;
    before: what a holds, in place nothing: a is b; origins: the addresses of elements (0, ..., 0)."""

    case: Case
    memory: tuple[Guarded, Guarded]
    a: Array
    b: Array
    wanted: Array
    before: bytes
    origins: tuple[int, int]

    @classmethod
    def of(cls, case: Case, place_a: Place, place_b: Place) -> GuardedCase:
        """The case with its tensors there; in place it is B's place that counts."""
        found, types = windows(case), (case.a, case.b)
        sizes = [window.span * t.itemsize for window, t in zip(found, types, strict=True)]
        of_b = place_b.memory(sizes[1])
        memory = of_b if case.in_place else place_a.memory(sizes[0]), of_b
        a, b = (m.elements(reference.numpy_type(t)) for m, t in zip(memory, types, strict=True))
        if case.in_place:
            a, spare = b, b.copy()
            fill(case, *((a, spare) if case.alpha else (spare, b)))  # what is not read would be NaN
        else:
            fill(case, a, b)
        origins = [m.address + w.origin * t.itemsize for m, w, t in zip(memory, found, types, strict=True)]
        before = b"" if case.in_place else a.tobytes()
        return cls(case, memory, a, b, expected(case, a, b), before, (origins[0], origins[1]))

    @property
    def bases(self) -> tuple[int, int]:
        """The addresses that a kernel of the canonical form takes."""
        placed, (a, b) = self.case.placed, self.origins
        return a + placed.offset_a * placed.canonical.a.itemsize, b + placed.offset_b * placed.canonical.b.itemsize

    def check(self, where: str) -> None:
        """AssertionError, which ends with `where`, unless B holds what it must and nothing else was written."""
        case = self.case
        assert reference.same(self.b, self.wanted, case.b, case.plain), f"B is wrong{where}"
        assert self.a is self.b or self.a.tobytes() == self.before, f"A was written{where}"
        assert all(memory.intact() for memory in self.memory), f"memory around was written{where}"
