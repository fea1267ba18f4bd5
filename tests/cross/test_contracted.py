"""Emitted contractions for other machines, run on emulators: every type, all kinds of scalars, entries and strides."""

from __future__ import annotations

from pathlib import Path

import emulators
import pytest
from contraction_batch import Job, execute
from contraction_calls import Call
from emulators import MACHINES, Machine
from fused_cases import Case

SLICE = {"haswell": "haswell", "neon": "neon", "power8-be": "pwr8-be", "riscv-128": "rvv", "node": "wasm"}
MORE = {"nehalem": "sse2", "here": "skylake-avx512", "sve-256": "sve256", "power9": "vsx", **SLICE}
PAIRS = [(machine, name) for machine in MACHINES for name in machine.targets]
SMALL = 1 << 13  # multiplications: emulators are slow


def jobs(seeds: range, parts: bool = True) -> list[Job]:
    """Random cases of all types, each through one of the entries."""
    ways = [Call(), Call(sizes=True, strides=True), Call(parts=2) if parts else Call(strides=True)]
    return [Job(Case(seed, SMALL), ways[seed % len(ways)]) for seed in seeds]


@pytest.mark.parametrize("name", SLICE)
def test_contractions_compute_there(name: str, tmp_path: Path) -> None:
    there = emulators.found(next(one for one in MACHINES if one.name == name))
    execute(there, emulators.objective(SLICE[name], there), jobs(range(3), name != "node"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_more_contractions_compute_there(name: str, tmp_path: Path) -> None:
    there = emulators.found(next(one for one in MACHINES if one.name == name))
    execute(there, emulators.objective(MORE[name], there), jobs(range(3, 11), name != "node"), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("machine", "name"), PAIRS, ids=[f"{machine}-{name}" for machine, name in PAIRS])
def test_many_contractions_compute_there(machine: Machine, name: str, seed: int, tmp_path: Path) -> None:
    there = emulators.found(machine)
    chosen = jobs(range(1000 + 25 * seed, 1025 + 25 * seed), machine.name != "node")
    execute(there, emulators.objective(name, there), chosen, tmp_path)
