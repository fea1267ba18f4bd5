"""`ttc bench --architecture=cuda`: one command whose results are in the file after every case."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable

from ..errors import OptionError, TargetError
from ..gpu import devices
from ..gpu import target as gpu_target
from ..options import candidate_count, time_limit_of
from . import gpu_peers, gpu_suites, report
from .cases import KINDS, Case
from .cli_run import narrowed
from .cli_values import integer, positive, seconds, words
from .gpu_runner import BUDGET, MAX_IMPLEMENTATIONS, ROUNDS, GpuSettings, run
from .result_file import ResultFile
from .results import Result

CPU_ONLY = ("numThreads", "affinity", "pattern", "hptt", "mkl", "database")


def wanted(args: argparse.Namespace) -> bool:
    """True where a benchmark of a GPU is asked for; TargetError for a CPU, which is always this machine's."""
    named = [name for name in (args.architecture, args.cpu) if name is not None]
    for name in named:
        if not gpu_target.is_gpu(name):
            raise TargetError(f"{name} cannot be benchmarked by name: without --architecture, this machine's CPU is")
    return bool(named)


def run_command(args: argparse.Namespace) -> int:
    """Carry out what is asked for; returns the exit status. Raises TtcError subclasses."""
    for name in CPU_ONLY:
        if getattr(args, name):
            raise OptionError(f"--{name} is for CPUs: a GPU's benchmark has no such option")
    chosen = _chosen(args)
    if args.list:
        print("\n".join(case.id for case in chosen))
        return 0
    settings, notices = _settings(args)
    file = None if args.output is None else ResultFile(args.output)
    keys = {settings.key(case) for case in chosen}
    known = [result for result in (file.known() if file is not None else ()) if result.key in keys]
    if file is not None:
        file.prepare()
    for notice in notices:
        print(f"ttc: {notice}", file=sys.stderr)
    results = _measured(chosen, settings, file, known)
    print("\n".join(report.lines(results)))
    return 0


def _measured(
    chosen: tuple[Case, ...], settings: GpuSettings, file: ResultFile | None, known: Iterable[Result]
) -> list[Result]:
    results = list(known)
    try:
        for result in run(chosen, settings, {result.key for result in results}):
            results.append(result)
            if file is not None:
                file.append(result)
    except KeyboardInterrupt:
        if not results:
            raise
    if len(results) < len(chosen):
        print(f"ttc: {len(results)} of {len(chosen)} cases are measured", file=sys.stderr)
    return results


def _chosen(args: argparse.Namespace) -> tuple[Case, ...]:
    given = "all" if args.suite is None else args.suite
    suites = gpu_suites.NAMES if given == "all" else words("--suite", given)
    return narrowed(args, gpu_suites.cases(suites, KINDS if args.kind == "both" else (args.kind,)))


def _settings(args: argparse.Namespace) -> tuple[GpuSettings, tuple[str, ...]]:
    target = devices.resolve(args.cpu or args.architecture)
    device = devices.running(target)
    names = None if args.peers is None else () if args.peers == "none" else words("--peers", args.peers)
    found = gpu_peers.find(names)
    count = args.maxImplementations
    settings = GpuSettings(
        device,
        target,
        MAX_IMPLEMENTATIONS if count is None else candidate_count(integer("--maxImplementations", count)),
        ROUNDS if args.rounds is None else positive("--rounds", args.rounds),
        not args.noTest,
        BUDGET if args.budget is None else time_limit_of(seconds("--budget", args.budget)),
        max(0, (os.cpu_count() or 1) - 1) if args.jobs is None else max(0, integer("--jobs", args.jobs)),
        peers=found.peers,
    )
    return settings, found.notices
