"""Distributions and messages of any number of ranks, in one process."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import numpy as np
import pytest

try:
    import mpi4py.MPI  # noqa: F401
except ImportError as error:  # also where it finds no MPI library
    pytest.skip(f"mpi4py cannot be used: {error}", allow_module_level=True)

from ttc_llvm.errors import OptionError
from ttc_llvm.mpi.choice import Choice
from ttc_llvm.mpi.distribution import Distribution, balanced, distribution
from ttc_llvm.mpi.messages import Box, Perm, size, traffic
from ttc_llvm.mpi.prediction import predicted
from ttc_llvm.mpi.shared_parts import partners, pieces
from ttc_llvm.mpi.splits import Axis, Block, Cyclic, Sizes, Split


def a_split(rng: random.Random, extent: int, parts: int) -> Split:
    cuts = sorted(rng.randint(0, extent) for _ in range(parts - 1))
    sizes = tuple(after - before for before, after in zip([0, *cuts], [*cuts, extent], strict=True))
    return rng.choice((Block(), Cyclic(rng.choice((1, 2, 3, 5, extent + 1))), Sizes(sizes)))


def two_splits(seed: int) -> tuple[Axis, Axis]:
    """Of one axis."""
    rng = random.Random(seed)
    extent = rng.choice((0, 1, 2, 7, 40, 113))
    parts = rng.randint(1, 6), rng.randint(1, 6)
    return tuple(Axis(extent, count, a_split(rng, extent, count)) for count in parts)  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(200))
def test_parts_of_an_axis_share_what_their_indices_say(seed: int) -> None:
    a, b = two_splits(seed)
    for axis in (a, b):
        assert sorted(k for part in range(axis.parts) for k in axis.indices(part)) == [*range(axis.extent)]
        assert [len(axis.indices(part)) for part in range(axis.parts)] == [*map(axis.count, range(axis.parts))]
    for p, q in product(range(a.parts), range(b.parts)):
        of_a, of_b = a.indices(p), b.indices(q)
        found = [
            (of_a[one.first_a + k * one.step_a + j], of_b[one.first_b + k * one.step_b + j])
            for one in pieces(a, b, p, q)
            for k, j in product(range(one.blocks), range(one.extent))
        ]
        assert all(x == y for x, y in found)
        assert sorted(x for x, _ in found) == sorted({*of_a} & {*of_b})
        assert (q in partners(a, b, p)) == (p in partners(a, b, q, of_b=True)) == bool(found)


def test_regular_splits_share_few_pieces() -> None:
    """However long the axis: blocks that repeat are one piece."""
    for extent in (10_000, 100_000):
        a, b = Axis(extent, 4, Cyclic(1)), Axis(extent, 3, Cyclic(2))
        assert len(pieces(a, b, 1, 2)) <= 12
        assert len(pieces(a, Axis(extent, 5, Block()), 1, 2)) == 1


def indices(box: Box, of: Distribution, rank: int) -> list[np.ndarray]:
    """A's indices along each axis."""
    every = [axis.indices(part) for axis, part in zip(of.axes, of.parts(rank), strict=True)]
    return [
        mine[[one.first_a + k * one.step_a + j for k, j in product(range(one.blocks), range(one.extent))]]
        for mine, one in zip(every, box, strict=True)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_what_is_sent_is_received_and_every_element_comes_once(seed: int) -> None:
    """On grids of up to 24 ranks, some with copies; messages in chunks of few elements."""
    rng = random.Random(seed)
    shape = tuple(rng.choice((1, 2, 5, 9)) for _ in range(rng.randint(1, 3)))
    perm: Perm = tuple(rng.sample(range(len(shape)), len(shape)))
    ranks = rng.choice((1, 4, 6, 24))
    grid = balanced(ranks, 3)

    def any_distribution(shape: tuple[int, ...]) -> Distribution:
        chosen = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
        axes = dict(zip(chosen, rng.sample(range(3), 3), strict=False))
        return distribution(ranks, shape, grid, axes, {k: a_split(rng, shape[k], grid[at]) for k, at in axes.items()})

    a, b = any_distribution(shape), any_distribution(tuple(shape[k] for k in perm))
    own = [traffic(a, perm, b, rank, most=7) for rank in range(ranks)]
    sent = {(rank, one.peer): one.chunks for rank in range(ranks) for one in own[rank].sends}
    received = {(one.peer, rank): one.chunks for rank in range(ranks) for one in own[rank].receives}
    assert sent == received
    assert max((sum(map(size, chunk)) for chunks in sent.values() for chunk in chunks), default=0) <= 7
    for rank in range(ranks):
        seen = np.zeros(shape, int)
        boxes = [(one.peer, box) for one in own[rank].receives for chunk in one.chunks for box in chunk]
        for source, box in [*boxes, *((rank, box) for box in own[rank].kept)]:
            seen[np.ix_(*indices(box, a, source))] += 1
        wanted = np.zeros(b.shape, int)
        wanted[np.ix_(*(axis.indices(part) for axis, part in zip(b.axes, b.parts(rank), strict=True)))] = 1
        assert np.array_equal(seen.transpose(perm), wanted)


@pytest.mark.parametrize(
    ("given", "message"),
    (
        ({"grid": (2, 2)}, "grid (2, 2) has 4 places, the communicator 6 ranks"),
        ({"grid": (0,)}, "grid (0,) has 0 places, the communicator 6 ranks"),
        ({"shape": (-1,)}, "shape (-1,) is not a sequence of extents: shape[0] -1 is less than 0"),
        ({"axes": {0: 0, 1: 0}}, "axes {0: 0, 1: 0} split two axes over one dimension of the grid"),
        ({"axes": {2: 0}}, "axes {2: 0} name axis 2: each of the tensor's 2 may be named once"),
        ({"axes": {0: 0, -2: 1}}, "axes {0: 0, -2: 1} name axis -2: each of the tensor's 2 may be named once"),
        ({"axes": {0: -1}}, "axes[0] -1 is less than 0"),
        ({"axes": {0: 1}, "grid": (6,)}, "axes {0: 1} name dimension 1: the grid (6,) has 1"),
        ({"axes": 0}, "axes 0 is not a mapping from axes"),
        ({"splits": {1: Block()}}, f"splits {{1: {Block()!r}}} name axis 1, which is not split"),
        ({"splits": {0: (1, 2)}}, "splits[0] (1, 2) are not 6 sizes from 0 on that add up to 8"),
        ({"splits": {0: "block"}}, "splits[0] 'block' is not a sequence of integers"),
    ),
)  # fmt: skip
def test_a_wrong_distribution_is_refused(given: dict[str, object], message: str) -> None:
    wanted = {"shape": (8, 8), "grid": None, "axes": None, "splits": None, **given}
    with pytest.raises(OptionError) as error:
        distribution(6, **wanted)
    assert str(error.value) == message


def test_grids_are_as_balanced_as_their_ranks_allow() -> None:
    assert [balanced(*given) for given in ((12, 2), (7, 2), (1, 3), (64, 3), (30, 2))] == [
        (4, 3), (7, 1), (1, 1, 1), (4, 4, 4), (6, 5)]  # fmt: skip
    assert all(prod(balanced(ranks, 2)) == ranks for ranks in range(1, 100))


def test_predictions_count_messages_and_bytes() -> None:
    """Slabs to slabs: every rank sends every other a part of its own."""
    slabs = distribution(4, (64, 64), None, None, None)
    found = predicted(slabs, (1, 0), slabs, 8, None, 1e-3, 1e6)
    assert (found.ranks, found.messages, found.bytes) == (4, 3, 3 * 16 * 16 * 8)
    assert (found.latency, found.transfer) == (3e-3, found.bytes / 1e6)
    assert found.seconds > found.latency + found.transfer
    many = predicted(slabs, (1, 0), slabs, 8, 16, 1e-3, 1e6)
    assert (many.ranks, many.messages, many.bytes) == (16, 15, 15 * 4 * 4 * 8)
    for wrong in ({"latency": -1}, {"bandwidth": 0}, {"ranks": 0}, {"latency": float("nan")}):
        with pytest.raises(OptionError):
            predicted(slabs, (1, 0), slabs, 8, **{"ranks": None, "latency": 0, "bandwidth": 1, **wrong})


def test_ways_are_tried_in_turn_then_the_fastest_is_taken() -> None:
    """First calls do not count, and neither do single slow ones."""
    choice = Choice(3)
    times = {0: [1, 50, 40, 70, 44], 1: [900, 99, 800, 30, 99], 2: [2, 60, 35, 35, 39]}  # of each way's calls
    taken = []
    slowest = 0
    for _ in range(18):
        way = choice.next(slowest)
        taken.append(way)
        slowest = times[way][(len(taken) - 1) // 3] if len(taken) <= 15 else 1
        choice.took(7)
        assert choice.last == (7 if len(taken) <= 15 else 0)
    assert taken == [0, 1, 2] * 5 + [1, 1, 1]
    assert Choice(1).way == 0 and Choice(1).next(0) == 0
