"""Bank conflicts of the plans that the cost model chooses, counted from the nests, access by access."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import ceil

import pytest

from ttc_llvm.lowering.gpu.lower import lower
from ttc_llvm.lowering.gpu.nest import GpuNest, Phase
from ttc_llvm.lowering.gpu.trace import accesses, rounds
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.gpu import candidates as gpu_candidates

H100 = gpu_target.find("sm_90")
BANKS, WORD = 32, 4
SHAPES = (
    ((1, 0), (7296, 7296)),
    ((1, 0), (7264, 3000)),
    ((2, 1, 0), (384, 384, 352)),
    ((1, 2, 0), (384, 384, 352)),
    ((4, 3, 2, 1, 0), (48, 28, 28, 28, 48)),
    ((0, 3, 2, 5, 4, 1), (16, 32, 15, 32, 15, 15)),
    ((3, 2, 1, 0), (64, 64, 128, 128)),
)


def nests(dtype: str) -> Iterator[tuple[Canonical, GpuNest]]:
    """The model's choices that cross shared memory."""
    for perm, size in SHAPES:
        c = canonicalise(Problem(perm, size, dtype)).canonical
        nest = lower(c, gpu_candidates.model_plan(c, H100), H100)
        if nest.shared is not None:
            yield c, nest


def degree(nest: GpuNest, phase: Phase) -> float:
    """Passes that the accesses of all warps of a block take in a phase's first and last round, per pass that as many
    bytes need at least. A pass serves 128 bytes, and one word of every bank."""
    size, taken, least = nest.canonical.a.itemsize, 0, 0
    turns = list(rounds(phase))
    for turn in {turns[0], turns[-1]}:
        for start in range(0, nest.threads, H100.warp):
            threads = range(start, min(start + H100.warp, nest.threads))
            warp = [accesses(nest, phase, thread, turn) for thread in threads]
            for together in zip(*filter(None, warp), strict=True):  # one access of every lane
                words = [range(o * size // WORD, ceil((o + n) * size / WORD)) for o, n in together]
                lanes = max(1, BANKS // len(words[0]))
                for first in range(0, len(words), lanes):
                    banks: dict[int, set[int]] = defaultdict(set)
                    for word in (w for lane in words[first : first + lanes] for w in lane):
                        banks[word % BANKS].add(word)
                    taken += max(map(len, banks.values()))
                    least += ceil(len(set().union(*banks.values())) / BANKS)
    return taken / least


@pytest.mark.parametrize("dtype", ["s", "d", "z", "c", "i32"])
def test_elements_of_words_wait_for_each_other_at_most_once(dtype: str) -> None:
    found = {str(c): (degree(n, n.full.load or n.full.store), degree(n, n.full.store)) for c, n in nests(dtype)}
    assert len(found) >= 4
    assert Counter(found.values())[1.0, 1.0] >= len(found) // 2, found
    assert max(max(pair) for pair in found.values()) <= 2.0, found


@pytest.mark.parametrize(("dtype", "most"), [("i8", 4.5), ("bf16", 2.0)])
def test_packed_elements_wait_on_their_way_in_only(dtype: str, most: float) -> None:
    """Columns of two and four bytes: gaps that keep 16-byte reads aligned cannot always keep them apart."""
    found = list(nests(dtype))
    assert sum(n.full.load is not None and n.full.load.rows > 1 for _, n in found) >= 3
    into = [degree(n, n.full.load) for _, n in found if n.full.load is not None]
    assert max(into) <= most and sorted(into)[len(into) // 2] <= 2, into
    assert max(degree(n, n.full.store) for _, n in found) <= 2.0


def test_without_gaps_columns_would_wait() -> None:
    c = canonicalise(Problem((1, 0), (7296, 7296), "s")).canonical
    plan = replace(gpu_candidates.model_plan(c, H100), padding=0)
    nest = lower(c, plan, H100)
    assert nest.full.load is not None and degree(nest, nest.full.load) >= 4
