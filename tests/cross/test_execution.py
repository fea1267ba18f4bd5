"""Objects for other machines, run on emulators: every type, ragged sizes, leading dimensions, every kind of scalars."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import emulators
import pytest
from batch import HERE, Job, calls_text, emit, execute, run_there
from emulators import MACHINES, Machine, run
from entry_calls import Call, every_kind, other_outer

from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.problem.problem import Problem

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
CI_PROBLEMS, FULL_PROBLEMS = len(TYPES), 64
PAIRS = [(machine, name) for machine in MACHINES for name in machine.targets]
IDS = [f"{machine}-{name}" for machine, name in PAIRS]


CONVERTING = {
    "nehalem": "sse2", "neon": "neon", "sve-256": "sve256", "power9-be": "vsx-be", "riscv-256": "rvv256",
    "node": "wasm",
}  # fmt: skip


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


def jobs(seed: str, chosen: Iterable[Problem]) -> list[Job]:
    """Calls of every kind of scalars for these problems, each with leading dimensions and parts by lot."""
    lot, found = random.Random(seed + " calls"), []
    for problem in dict.fromkeys(chosen):
        for alpha, beta, through_beta in every_kind(problem):
            size = lot.choice((None, None, tuple(e + lot.choice((-1, 0, 1, 5)) for e in problem.size)))
            own = problem if size is None else replace(problem, size=size, lda=None, ldb=None)
            lda = lot.choice((None, own.outer_a, other_outer(own.outer_a, 3)))
            ldb = lot.choice((None, own.outer_b, other_outer(own.outer_b, 2)))
            flush = lot.choice((("end", "end"), ("start", "end"), ("end", "start")))
            parts = lot.choice((0, 0, 1, 3))
            data = lot.randrange(1 << 30)
            found.append(Job(problem, Call(alpha, beta, lda, ldb, parts, through_beta, *flush, data, size)))
    return found


@pytest.mark.parametrize(("machine", "name"), PAIRS, ids=IDS)
def test_objects_compute_there(machine: Machine, name: str, tmp_path: Path) -> None:
    """A slice: every type once on one of a target's machines, in shapes and with leading dimensions by lot."""
    there, alike = emulators.found(machine), [one for one, target in PAIRS if target == name]
    share = list(problems(name, CI_PROBLEMS))[alike.index(machine) :: len(alike)]
    execute(there, emulators.objective(name, there), jobs(f"{machine} {name}", share), tmp_path)


IN_PLACE = (
    Problem((1, 0), (41, 41), "s", (43, 41), inplace=True), Problem((1, 0, 2), (18, 18, 3), "z", inplace=True),
    Problem((1, 2, 0), (11, 11, 11), "d", inplace=True), Problem((1, 0), (37, 37), "i8", inplace=True),
)  # fmt: skip


PERMUTING = {"power9-be": "vsx-be", "sve-256": "sve256", "node": "wasm"}


@pytest.mark.parametrize(("machine", "name"), [(m, PERMUTING[m.name]) for m in MACHINES if m.name in PERMUTING])
def test_tensors_are_permuted_in_place_there(machine: Machine, name: str, tmp_path: Path) -> None:
    there, lot = emulators.found(machine), random.Random(name)
    found = []
    for problem in IN_PLACE:
        kinds = every_kind(problem)
        for alpha, beta, through_beta in lot.sample(kinds, min(3, len(kinds))):
            size = lot.choice((None, tuple(e + 2 if e > 3 else e for e in problem.size)))
            lda = lot.choice((None, other_outer(size or problem.outer_a, 3)))
            call = Call(alpha, beta, lda, None, lot.choice((0, 3)), through_beta, seed=lot.randrange(99), size=size)
            found.append(Job(problem, call))
    execute(there, emulators.objective(name, there), found, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("machine", "name"), PAIRS, ids=IDS)
def test_every_type_computes_there(machine: Machine, name: str, seed: int, tmp_path: Path) -> None:
    """The matrix: every type on every target, shapes and leading dimensions by eight lots."""
    there, text = emulators.found(machine), f"full {seed} {name}"
    execute(there, emulators.objective(name, there), jobs(text, problems(text, FULL_PROBLEMS)), tmp_path)


CONVERSIONS = (
    ("uint8", "float32"), ("float16", "float32"), ("float32", "bfloat16"), ("float32", "uint8"),
    ("float64", "float16"), ("float32", "float8_e4m3fn"), (">f4", "float32"), ("int64", "float32"),
)  # fmt: skip


@pytest.mark.parametrize(("machine", "name"), [(m, CONVERTING[m.name]) for m in MACHINES if m.name in CONVERTING])
def test_conversions_compute_there(machine: Machine, name: str, tmp_path: Path) -> None:
    """A rule is the same with and without instructions for it, in either order of bytes."""
    there, lot = emulators.found(machine), random.Random(name)
    shapes = [lot.choice(SHAPES) for _ in CONVERSIONS]
    pairs = zip(shapes, CONVERSIONS, strict=True)
    chosen = [Problem(perm, size, pair, saturate=lot.random() < 0.5) for (perm, size), pair in pairs]
    execute(there, emulators.objective(name, there), jobs(f"{name} converts", chosen), tmp_path)


TOO_SHORT = (
    ("sve-128", "sve256", -5),  # SIGTRAP
    ("sve-256", "sve512", -5),
    ("sve-256", "a64fx", -5),
    ("riscv-128", "rvv256", -4),  # SIGILL
)


@pytest.mark.parametrize(("machine", "name", "status"), TOO_SHORT, ids=[f"{m}-{n}" for m, n, _ in TOO_SHORT])
def test_entries_refuse_registers_that_are_too_short(
    machine: str, name: str, status: int, tmp_path: Path
) -> None:
    """A program is stopped at the entry, by a trap, before anything is written."""
    there = emulators.found(next(one for one in MACHINES if one.name == machine))
    problem = Problem((1, 0), (33, 65), "s")
    for call in (Call(), Call(parts=2), Call(size=(5, 7))):
        job = Job(problem, call)
        objects = [emit(problem, emulators.objective(name, there), tmp_path)]
        (tmp_path / "input").write_bytes(job.input(False))
        run_there(there, [job], objects, tmp_path, status)
        assert (tmp_path / "output").read_bytes() == b""


def test_the_driver_notices_wrong_results(tmp_path: Path) -> None:
    """All of the above believe it: here it is told of another problem of the same size."""
    there = emulators.found(next(one for one in MACHINES if one.name == "here"))
    right, wrong = Problem((2, 1, 0), (4, 5, 6), "s"), Problem((2, 0, 1), (4, 5, 6), "s")
    objects = [emit(right, emulators.objective("haswell", there), tmp_path)]
    text = calls_text([Job(right, Call())])
    (tmp_path / "calls.h").write_text(text)
    job = Job(wrong, Call())
    (tmp_path / "input").write_bytes(job.input(False))
    run("gcc", f"-I{tmp_path}", "-DSLACK=0", HERE / "driver.c", *objects, "-o", tmp_path / "driver")
    run(tmp_path / "driver", tmp_path / "input", tmp_path / "output")
    with pytest.raises(AssertionError, match="B is wrong"):
        job.check((tmp_path / "output").read_bytes(), False)
