"""Is what the contenders compute right? Ours by the oracle, every element; peers by our result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..canonical import Beta
from ..dtypes import Kind
from ..errors import VerificationError
from ..tuning import buffers, verify
from ..tuning.crew import spread
from .stand import Contender, Stand

PIECE = 4 << 20  # bytes compared at a time
TOLERANCE = {32: 1e-5, 64: 1e-13}  # of updates: others may fuse multiply and add

Bytes = npt.NDArray[np.uint8]


class Check:
    """The expected content of B on a stand, and how it looked before. full: check our own result element by element."""

    def __init__(self, stand: Stand, ours: Contender, full: bool) -> None:
        self.stand = stand
        stand.b.fill(3, stand.threads)
        self._start = stand.b.memory.copy()
        ours.run(1)
        if full:
            self._verify(ours)
        self._wanted = stand.b.memory.copy()

    def _verify(self, ours: Contender) -> None:
        stand = self.stand
        before = buffers.strided(replace(stand.b, memory=self._start), stand.canonical, "b")
        wrong = verify.mismatch(
            stand.canonical, stand.view("a"), before, stand.view("b"), stand.scalars, stand.threads
        )
        if wrong is not None:
            raise VerificationError(f"our kernel computed a wrong element at index {wrong} of {stand.canonical}")

    def agrees(self, peer: Contender) -> bool:
        """True where a peer computes what we compute, and writes nothing else."""
        memory = self.stand.b.memory
        memory[:] = self._start
        peer.run(1)
        if peer.output is not None:
            return self._output_agrees(peer.output())
        return self._same(memory, self._wanted)

    def _output_agrees(self, output: npt.NDArray[np.generic]) -> bool:
        got = np.ascontiguousarray(output).reshape(-1).view(np.uint8)
        memory = int(self.stand.b.memory.ctypes.data)
        wanted = self._wanted[self.stand.base("b") - memory :]
        return len(got) == len(wanted) and self._same(got, wanted)

    def _same(self, got: Bytes, wanted: Bytes) -> bool:
        pieces = range(0, len(wanted), PIECE)
        threads = self.stand.threads
        return all(spread(lambda at: self._same_piece(got[at : at + PIECE], wanted[at : at + PIECE]), pieces, threads))

    def _same_piece(self, got: Bytes, wanted: Bytes) -> bool:
        if np.array_equal(got, wanted):
            return True
        problem = self.stand.case.problem
        if self.stand.canonical.kinds.beta is Beta.ZERO or problem.b.kind is Kind.OPAQUE:
            return False
        bits = min(problem.a.real_bits, problem.b.real_bits)
        x, y = (piece.view(f"f{problem.b.real_bits // 8}") for piece in (got, wanted))
        return bool(np.allclose(x, y, rtol=TOLERANCE[bits], atol=TOLERANCE[bits]))
