"""Results as `ttc bench` and `ttc compare` write them, made by a formula: reports are tested without measuring."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from ttc_llvm.bench.cases import run_bytes
from ttc_llvm.bench.result_line import to_line
from ttc_llvm.bench.results import Reference, Result, Timing
from ttc_llvm.bench.suites import cases
from ttc_llvm.problem.canonical import canonicalise

COMPILERS = {"g++": 3.0, "clang++": 2.4, "llvm": 2.7}
LIBRARIES = {"numpy": 20.0, "hptt": 1.4}
EFFORTS = {1: 0.86, 10: 0.93, 100: 0.98, 1000: 1.0}
AFFINITIES = {"compact": 1.0, "scatter": 0.9}
PEAK = 50 * (1 << 30)  # bytes per second


def timing(moved: int, speed: float, phase: float) -> Timing:
    """Ten runs near a share of the peak."""
    return Timing(moved, tuple(moved / (PEAK * speed) * (1 + 0.02 * abs(math.sin(phase + k))) for k in range(10)))


def made(
    suites: Sequence[str] = ("ttc57",),
    kinds: Sequence[str] = ("copy", "update"),
    efforts: Sequence[int] = tuple(EFFORTS),
    affinities: Sequence[str] = tuple(AFFINITIES),
    step: int = 1,
) -> Iterator[Result]:
    """A result for every combination of every step-th case."""
    for place in affinities:
        for effort in efforts:
            for number, case in enumerate(cases(suites, kinds, 2)[::step]):
                moved = canonicalise(case.problem).canonical.bytes_moved
                slow = 0.8 + 0.15 * math.sin(number)
                speed = slow * EFFORTS.get(effort, 1.0) * AFFINITIES[place]
                rivals = {
                    name: timing(moved, slow / (factor + math.sin(number)), number)
                    for name, factor in (COMPILERS | LIBRARIES).items()
                }
                yield Result(
                    key=f"{place} {effort} {case.id}", suite=case.suite, name=case.name, kind=case.kind,
                    mode="hot" if case.hot else "cold", threads=2, case=case.text,
                    problem={"perm": case.problem.perm, "size": case.problem.size, "dataType": case.problem.dtype},
                    canonical=str(case.canonical), run_bytes=run_bytes(case.canonical), plan="cpu2", source="tuned",
                    candidates=effort, verified=True, elapsed=0.5 + 0.1 * effort + 0.01 * number,
                    ours=timing(moved, speed, number), ceiling="streaming copy" if case.kind == "copy" else "SAXPY",
                    before=49.0, ceilings={"streaming copy": timing(moved, 1.0, 0), "SAXPY": timing(moved, 0.95, 1)},
                    peers=rivals,
                    facts={
                        "machine": "somewhere", "cpu": "A CPU <of> 2 cores", "target": "host (znver5, 512-bit vectors)",
                        "system": "Linux 6.1 x86_64", "versions": {"ttc_llvm": "0.1.0", "llvm": "22.1.0"},
                        "peers": {"numpy": "2.4.6", "hptt": "1.0"}, "affinity": place,
                        "options": {"max_implementations": effort, "time_limit": None, "rounds": 10},
                        "date": f"2026-11-21T11:{number % 60:02}:24Z",
                    },
                    references={
                        name: Reference(name, f"{name} 12.2.0", ("-O3", "-march=native"), "output", 0.3 + 0.01 * number)
                        for name in COMPILERS
                    },
                )  # fmt: skip


def write(path: Path, results: Iterator[Result] | Sequence[Result]) -> Path:
    """A file of results."""
    path.write_text("".join(f"{to_line(one)}\n" for one in results))
    return path
