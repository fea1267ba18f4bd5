"""Objects for other machines, run on emulators: every type, ragged sizes, leading dimensions, every kind of scalars."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import emulators
import pytest
from batch import Job, execute
from emulators import MACHINES, Machine
from entry_calls import Call, every_kind, other_outer

from ttc_llvm.problem import Problem

TYPES = ("s", "d", "c", "z", "sd", "ds", "cz", "zc", "f16", "bf16", "i8", "i16", "i32", "i64", "v3", "v12")
SHAPES = (
    ((1, 0), (33, 65)),
    ((1, 0), (64, 48)),
    ((2, 1, 0), (13, 17, 9)),
    ((0, 2, 1), (9, 33, 10)),
    ((0, 2, 1), (32, 20, 12)),
    ((1, 2, 0), (17, 6, 30)),
    ((2, 0, 1), (5, 40, 7)),
    ((3, 1, 0, 2), (6, 5, 7, 8)),
    ((4, 3, 2, 1, 0), (3, 2, 5, 2, 4)),
    ((0, 1), (19, 31)),
    ((0,), (37,)),
)
CI_PROBLEMS, FULL_PROBLEMS = 8, 64
PAIRS = [(machine, name) for machine in MACHINES for name in machine.targets]
IDS = [f"{machine}-{name}" for machine, name in PAIRS]


def problems(seed: str, count: int) -> Iterator[Problem]:
    """So many problems by lot; the first ones take every type in turn before one comes again."""
    lot = random.Random(seed)
    types = [name for _ in range(-(-count // len(TYPES))) for name in lot.sample(TYPES, len(TYPES))]
    for name in types[:count]:
        perm, size = lot.choice(SHAPES)
        padded = other_outer(size, lot.choice((1, 3, 16))) if lot.random() < 0.4 else None
        target = tuple(size[p] for p in perm)
        padded_b = other_outer(target, lot.choice((1, 2, 16))) if lot.random() < 0.4 else None
        yield Problem(perm, size, name, padded, padded_b, conjugate=name in ("c", "z", "cz") and lot.random() < 0.5)


def jobs(seed: str, count: int) -> list[Job]:
    """Calls of every kind of scalars for so many problems, each with leading dimensions and parts by lot."""
    lot, found = random.Random(seed + " calls"), []
    for problem in dict.fromkeys(problems(seed, count)):
        for alpha, beta, through_beta in every_kind(problem):
            size = lot.choice((None, None, tuple(e + lot.choice((-1, 0, 1, 5)) for e in problem.size)))
            own = problem if size is None else Problem(problem.perm, size, problem.dtype)
            lda = lot.choice((None, own.outer_a, other_outer(own.outer_a, 3)))
            ldb = lot.choice((None, own.outer_b, other_outer(own.outer_b, 2)))
            flush = lot.choice((("end", "end"), ("start", "end"), ("end", "start")))
            parts = lot.choice((0, 0, 1, 3))
            data = lot.randrange(1 << 30)
            found.append(Job(problem, Call(alpha, beta, lda, ldb, parts, through_beta, *flush, data, size)))
    return found


@pytest.mark.parametrize(("machine", "name"), PAIRS, ids=IDS)
def test_objects_compute_there(machine: Machine, name: str, tmp_path: Path) -> None:
    """A slice: half of all types for each target, another half for the next."""
    there = emulators.found(machine)
    execute(there, emulators.objective(name, there), jobs(f"{machine} {name}", CI_PROBLEMS), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("machine", "name"), PAIRS, ids=IDS)
def test_every_type_computes_there(machine: Machine, name: str, seed: int, tmp_path: Path) -> None:
    """The matrix: every type on every target, shapes and leading dimensions by eight lots."""
    there = emulators.found(machine)
    execute(there, emulators.objective(name, there), jobs(f"full {seed} {name}", FULL_PROBLEMS), tmp_path)
