"""`ttc bench --suite=tccg` and its like: contractions beside a plain matrix product and other libraries."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from math import prod
from typing import Any

from ..bench import contraction_cases, contraction_peers, contraction_runner, facts
from ..bench.contraction_results import CEILING, OURS, ContractionResult, summary
from ..errors import OptionError, TtcError, os_errors
from ..problem import type_names
from ..problem.tables import aligned
from ..problem.wording import count
from ..runtime import backend, runtime
from . import bench_options as options
from . import info, values

DISGUISES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # which have BLAS take the machine for another one
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TBLIS_NUM_THREADS")
CHILD = "TTC_BENCH_CONTRACTIONS"  # set where the environment is as measurements need it
REFUSED = (
    "kind", "pattern", "plan", "report", "hptt", "mkl", "affinity", "architecture", "cpu", "time_limit", "sample",
    "budget", "jobs", "noTest",
)  # fmt: skip
DTYPES = ("d",)
LEGEND = (
    "of gemm: our GFlop/s by those of a plain matrix product of the same m, n, k; x NAME: times as fast as NAME;"
    " medians of pairs"
)


def is_asked_for(args: argparse.Namespace) -> bool:
    """True where the suites are of contractions. OptionError where only some are."""
    names = values.words(args.suite or "")
    found = [name in contraction_cases.SUITES for name in names]
    if any(found) and not all(found):
        known = ", ".join(contraction_cases.SUITES)
        raise OptionError(f"--suite={args.suite}: suites of contractions ({known}) are measured by themselves")
    return any(found)


def run(args: argparse.Namespace) -> int:
    """Measure them; returns the exit status."""
    for field in REFUSED:
        if getattr(args, field, None) not in (None, False, options.BOTH):
            raise OptionError(f"--{field.replace('_', '-')} is for transpositions: these are contractions")
    cases = _cases(args)
    threads = options.option(args, "numThreads", options.threads) or runtime.num_threads()
    if args.list:
        print("\n".join(aligned([_listed(case) for case in cases], 4)))
        return 0
    if CHILD in os.environ:
        return _measure(args, cases, threads)
    return _in_child(args.words, threads, args.database)


def _cases(args: argparse.Namespace) -> list[contraction_cases.ContractionCase]:
    kinds = options.option(args, "dataType", lambda flag, text: tuple(map(type_names.read, values.words(text))), DTYPES)
    for kind in kinds:
        if kind not in ("s", "d", "c", "z"):
            raise OptionError(f"--dtype={args.dataType}: contractions are of the types s, d, c and z")
    wanted = options.option(args, "cases", options.words, ())
    return contraction_cases.cases(values.words(args.suite), _largest(args), [str(kind) for kind in kinds], wanted)


def _in_child(words: list[str], threads: int, database: str | None) -> int:
    """The same command in a process whose libraries, which read the environment as they are loaded, take the machine
    for what it is and use as many threads as we do."""
    environment = {name: value for name, value in os.environ.items() if name not in DISGUISES}
    environment |= dict.fromkeys(THREADS, str(threads)) | {CHILD: "1"}
    environment |= {} if database is None else {"TTC_DATABASE": database}
    environment |= contraction_peers.tblis_kernels(environment)
    status = subprocess.run([sys.executable, "-m", "ttc_llvm", *words], env=environment, check=False).returncode
    if status < 0:
        raise TtcError(f"the process that measures on {count(threads, 'thread')} was ended by signal {-status}")
    return status


def _measure(args: argparse.Namespace, cases: list[contraction_cases.ContractionCase], threads: int) -> int:
    effort = options.option(args, "maxImplementations", options.effort, 1)
    rounds = options.option(args, "rounds", options.positive, contraction_runner.ROUNDS)
    names = options.option(args, "peers", _names)
    if args.output is not None:  # hours of measuring must not end at a mistyped folder
        _append(args.output, "")
    peers, absent = contraction_peers.present(names)
    for notice in absent:
        print(f"ttc: {notice}", file=sys.stderr)
    told = _facts(args, tuple(peers), threads)
    how = contraction_runner.ContractionSettings(peers, effort, threads, rounds, told)
    results: list[ContractionResult] = []
    for result in contraction_runner.measured(cases, how):
        results.append(result)
        if args.output is not None:
            _append(args.output, result.line + "\n")
    print("\n".join(_table(results)))
    return 0


def _append(path: str, text: str) -> None:
    with os_errors(f"{path} cannot be written"), open(path, "a", encoding="utf-8") as stream:
        stream.write(text)


def _facts(args: argparse.Namespace, peers: tuple[str, ...], threads: int) -> dict[str, Any]:
    """Of the machine, how fast its memory copies what fits no cache included."""
    target = backend.host_target()
    ceilings, _ = info.measure_ceilings(target, threads)
    return {
        **facts.machine(target),
        "peers": contraction_peers.versions(peers),
        "blas": contraction_peers.blas_kernels(),
        "affinity": str(runtime.placement()),
        "largest": _largest(args),
        "memory_gibs": max(ceilings.values()),
    }


def _largest(args: argparse.Namespace) -> int:
    found: int = options.option(args, "bytes", options.size, contraction_cases.LARGEST)
    return found


def _names(flag: str, text: str) -> tuple[str, ...]:
    names = () if text == "none" else options.words(flag, text)
    for name in names:
        if name not in contraction_peers.PEERS:
            known = ", ".join(contraction_peers.PEERS)
            raise OptionError(f"unknown peer {name[:40]!r}: the choices for contractions are {known}, or none")
    return names


def _listed(case: contraction_cases.ContractionCase) -> tuple[str, ...]:
    largest = max(case.stated.element.itemsize * prod(case.stated.shape(name)) for name in "abc")
    sizes = ",".join(f"{index}:{extent}" for index, extent in case.stated.size)
    return case.id, case.stated.spec, sizes, str(case.stated.dtype), f"{largest / 2**20:.3g} MiB"


def _table(results: list[ContractionResult]) -> list[str]:
    names = dict.fromkeys(name for result in results for name in result.seconds)
    others = [name for name in names if name != OURS]
    rows = [("case", "spec", "m,n,k", "GFlop/s", "bytes/flop", *(_head(name) for name in others))]
    for one in results:
        figures = (f"{one.gflops():.1f}", f"{one.bytes / one.flops:.2g}")
        ratios = (f"{one.pairs(name):.2f}" if name in one.seconds else "-" for name in others)
        rows.append((one.id, one.spec, ",".join(map(str, one.sizes)), *figures, *ratios))
    lines = aligned(rows, 3)
    for name in others:
        mean, least, whose = summary(results, name)
        lines.append(f"{_head(name)}: {mean:.3f}, least {least:.3f} ({whose})")
    lines.append(LEGEND)
    kernels = results[0].facts["blas"] if results else []
    return [*lines, *([f"BLAS: {'; '.join(kernels)}"] if kernels else [])]


def _head(name: str) -> str:
    return f"of {name}" if name == CEILING else f"x {name}"
