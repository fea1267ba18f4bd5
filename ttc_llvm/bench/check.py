"""Is what the contenders compute right? Ours by the oracle, every element; peers by our result."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import VerificationError
from ..lazy_dataclasses import replace
from ..problem.dtypes import Kind
from ..problem.kinds import Beta
from ..tuning.search import buffers, verify
from ..tuning.search.crew import spread
from .contender import Contender
from .workspace import Workspace

PIECE = 4 << 20  # bytes compared at a time
TOLERANCE = {32: 1e-5, 64: 1e-13}  # of updates and sums: others may fuse multiply and add

Bytes = npt.NDArray[np.uint8]


class Check:
    """The expected content of B in a workspace, and how it looked before. full: check our own result element by
    element."""

    def __init__(self, workspace: Workspace, ours: Contender, full: bool) -> None:
        self.workspace = workspace
        workspace.b.fill(3, workspace.threads)
        self._start = workspace.b.memory.copy()
        ours.run(1)
        if full:
            self._verify()
        self._wanted = workspace.b.memory.copy()

    def _verify(self) -> None:
        workspace = self.workspace
        form, start = workspace.canonical, replace(workspace.b, memory=self._start)
        further: list[verify.Added] = []
        a = buffers.strided(start if form.in_place else workspace.a, form, "a")
        before = buffers.strided(start, form, "b")
        scalars = workspace.scalars
        if form.terms:
            alpha, *others = (scalars[0] * factor for factor, _ in workspace.case.problem.terms)
            scalars = alpha, scalars[1]
            further = [verify.Added(x, y) for x, y in zip(buffers.further(workspace.a, form), others, strict=True)]
        wrong = verify.mismatch(form, a, before, workspace.view("b"), scalars, workspace.threads, further)
        if wrong is not None:
            raise VerificationError(f"our kernel computed a wrong element at index {wrong} of {form}")

    def agrees(self, peer: Contender) -> bool:
        """True where a peer computes what we compute, and writes nothing else."""
        memory = self.workspace.b.memory
        memory[:] = self._start
        peer.run(1)
        if peer.output is not None:
            return self._output_agrees(peer.output())
        return self._same(memory, self._wanted)

    def _output_agrees(self, output: npt.NDArray[np.generic]) -> bool:
        got = np.ascontiguousarray(output).reshape(-1).view(np.uint8)
        memory = int(self.workspace.b.memory.ctypes.data)
        wanted = self._wanted[self.workspace.base("b") - memory :]
        return len(got) == len(wanted) and self._same(got, wanted)

    def _same(self, got: Bytes, wanted: Bytes) -> bool:
        pieces = range(0, len(wanted), PIECE)
        threads = self.workspace.threads
        return all(spread(lambda at: self._same_piece(got[at : at + PIECE], wanted[at : at + PIECE]), pieces, threads))

    def _same_piece(self, got: Bytes, wanted: Bytes) -> bool:
        if np.array_equal(got, wanted):
            return True
        problem = self.workspace.case.problem
        copied = self.workspace.canonical.kinds.beta is Beta.ZERO and not problem.terms
        if copied or problem.b.kind is Kind.OPAQUE:
            return False
        bits = min(t.real_bits for t in (problem.a, problem.b, problem.compute) if t.real_bits)
        x, y = (piece.view(f"f{problem.b.real_bits // 8}") for piece in (got, wanted))
        return bool(np.allclose(x, y, rtol=TOLERANCE[bits], atol=TOLERANCE[bits]))
