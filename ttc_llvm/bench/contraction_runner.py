"""Contractions measured: ours, peers and a plain matrix product of the same sizes, in turns on the same arrays."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..contractions.bench import plain_product
from ..contractions.explaining import flops
from ..contractions.merged import merge
from ..contractions.predicting import Predictions
from ..contractions.products import products_of
from ..contractions.search import planned
from ..contractions.space import plans
from ..errors import VerificationError
from ..lazy_dataclasses import dataclass
from ..operands.operand import Array
from ..problem import dtypes
from ..problem.contraction import Contraction
from ..runtime.waiting import rest
from .contraction_cases import ContractionCase
from .contraction_peers import Make, Run
from .contraction_results import CEILING, OURS, ContractionResult

ROUNDS = 6
NEAR = 1.5  # contenders that are slower by more than this are dropped after LEAST rounds
LEAST = 3


@dataclass(frozen=True, slots=True)
class ContractionSettings:
    """The settings that all cases share. facts: of the machine and of versions, for every result."""

    peers: Mapping[str, Make]
    effort: int
    threads: int
    rounds: int
    facts: dict[str, Any]


def measured(cases: Sequence[ContractionCase], how: ContractionSettings) -> Iterator[ContractionResult]:
    """The results of these cases, each as soon as it is there. VerificationError where ours is wrong."""
    for case in cases:
        yield _measured(case, how)


def _measured(case: ContractionCase, how: ContractionSettings) -> ContractionResult:
    stated = case.stated
    a, b, out = _arrays(stated)
    execution = planned(stated, how.threads, how.effort, known=False)

    def ours() -> None:
        execution.run(a, b, out)

    _check(case, a, b, out, ours)
    runs: dict[str, Run] = {OURS: ours, CEILING: _plain(stated)}
    runs |= {name: make(stated, a, b, out, how.threads) for name, make in how.peers.items()}
    itemsize = stated.element.itemsize
    return ContractionResult(
        case.id, stated.spec, stated.extents, str(stated.dtype), _sizes(stated),
        flops(stated), (a.size + b.size + out.size) * itemsize,
        str(execution.products.plan), execution.scratch, how.effort, how.threads, _rounds(runs, how),
        how.facts | {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())},
        Predictions(str(stated.dtype), how.threads).seconds(execution.products),
    )  # fmt: skip


def _arrays(stated: Contraction) -> tuple[Array, Array, Array]:
    draw, kind = np.random.default_rng(1), dtypes.to_numpy(stated.element)
    found = [draw.standard_normal(stated.shape(name)) for name in "ab"]
    if kind.kind == "c":
        found = [x + 1j * draw.standard_normal(x.shape) for x in found]
    return found[0].astype(kind), found[1].astype(kind), np.full(stated.shape("c"), np.nan, kind)


def _check(case: ContractionCase, a: Array, b: Array, out: Array, run: Run) -> None:
    """Every element of ours against NumPy's, within a bound of the rounding errors of both."""
    run()
    wanted = np.einsum(case.stated.spec, a, b, optimize=True)
    bound = np.einsum(case.stated.spec, np.abs(a), np.abs(b), optimize=True)
    terms = 4 * (_sizes(case.stated)[2] + 8) * np.finfo(a.dtype).eps
    if not (np.abs(out - wanted) <= terms * bound).all():
        raise VerificationError(f"{case.id}: an element of the contraction is wrong")


def _sizes(stated: Contraction) -> tuple[int, int, int]:
    """m, n and k of one product of everything; a batch counts as rows."""
    batch, m, n, k = (plain_product(stated).extents[x] for x in "lijk")
    return batch * m, n, k


def _plain(stated: Contraction) -> Run:
    """One call of BLAS for each batch of the case, of the same m, n and k, on matrices of its own."""
    plain = plain_product(stated)
    a, b, out = _arrays(plain)
    run = products_of(next(plans(merge(plain))))
    return lambda: run(a, b, out, 1, 0)


def _rounds(runs: Mapping[str, Run], how: ContractionSettings) -> dict[str, tuple[float, ...]]:
    """All contenders in turns, every other round in the opposite order; those far behind are dropped. On several
    threads each finds its own workers awake, and no others."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    alive = list(runs)
    for run in runs.values():  # memory and code are there then
        run()
    for number in range(how.rounds):
        for name in alive if number % 2 == 0 else alive[::-1]:
            if how.threads > 1:
                rest()
                runs[name]()
            start = time.perf_counter()
            runs[name]()
            found[name].append(time.perf_counter() - start)
        if number + 1 == LEAST:
            alive = [name for name in alive if name in (OURS, CEILING) or min(found[name]) <= NEAR * min(found[OURS])]
    return {name: tuple(seconds) for name, seconds in found.items()}
