"""`ttc bench --architecture=cuda`: one command whose results are in the file after every case."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace

from ..errors import OptionError, TargetError
from ..gpu import devices
from ..gpu import target as gpu_target
from ..options import candidate_count, time_limit_of
from . import cli_run, gpu_peers, gpu_suites, report
from .cases import Case
from .cli_values import integer, positive, seconds, words
from .gpu_runner import BUDGET, MAX_IMPLEMENTATIONS, ROUNDS, GpuSettings, run
from .results import Result

FOR_CPUS = "is for CPUs: a GPU's benchmark has no such option"
FOR_GPUS = "is for GPUs: --architecture=cuda asks for one"
GPU_ONLY = ("budget", "jobs")
CPU_ONLY = ("numThreads", "affinity", "pattern", "hptt", "mkl", "database")


def wanted(args: argparse.Namespace) -> bool:
    """True where a benchmark of a GPU is asked for; TargetError for a CPU, which is always this machine's."""
    named = [name for name in (args.architecture, args.cpu) if name is not None]
    for name in named:
        if not gpu_target.is_gpu(name):
            raise TargetError(f"{name} cannot be benchmarked by name: without --architecture, this machine's CPU is")
    return bool(named)


def add_gpu(parser: argparse.ArgumentParser) -> None:
    """The options that are for GPUs."""
    add = parser.add_argument_group("GPUs").add_argument
    add("--architecture", metavar="NAME", help=f"cuda: the GPU, not the CPU; suites {', '.join(gpu_suites.NAMES)};"
        f" {MAX_IMPLEMENTATIONS} candidates, {ROUNDS} rounds")  # fmt: skip
    add("--cpu", metavar="NAME", help="a GPU's name, as sm_90; default: the device at hand")
    add("--budget", metavar="S", help=f"seconds after which no case is begun, default {BUDGET:g}")
    add("--jobs", metavar="N", help="processes that make kernels ahead; default: all CPUs but one")


def refuse(args: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """OptionError for options of these names that are given; why: what is wrong with them."""
    for name in names:
        if getattr(args, name) not in (None, False):
            raise OptionError(f"--{name} {why}")


def run_command(args: argparse.Namespace) -> int:
    """Carry out what `ttc bench` is asked for; returns the exit status. Raises TtcError subclasses."""
    refuse(args, CPU_ONLY, FOR_CPUS)
    cases = chosen(args, gpu_suites.NAMES)
    if args.list:
        cli_run.print_list(cases)
        return 0
    how = settings(args)
    names = None if args.peers is None else () if args.peers == "none" else words("--peers", args.peers)
    found = gpu_peers.find(names)
    print("\n".join(report.lines(measured(cases, replace(how, peers=found.peers), args.output, found.notices))))
    return 0


def measured(
    cases: tuple[Case, ...], how: GpuSettings, output: str | None, notices: Sequence[str]
) -> tuple[Result, ...]:
    """The results of these cases: from the file of this name, where they are there, or measured and appended now."""
    file, there = cli_run.known([how.key(case) for case in cases], output)
    cli_run.notify(notices)
    return cli_run.measure(len(cases), file, there, lambda done, _: run(cases, how, done))


def chosen(args: argparse.Namespace, default: Sequence[str]) -> tuple[Case, ...]:
    """The cases that the options choose. default: suites, where `--suite` names none."""
    given = ",".join(default) if args.suite is None else args.suite
    suites = gpu_suites.NAMES if given == "all" else words("--suite", given)
    return cli_run.narrowed(args, gpu_suites.cases(suites, cli_run.kinds(args.kind)))


def settings(args: argparse.Namespace) -> GpuSettings:
    """Checked settings, without peers. Raises GpuError or TargetError where there is no such device."""
    target = devices.resolve(args.cpu or args.architecture)
    count = args.maxImplementations
    return GpuSettings(
        devices.running(target),
        target,
        MAX_IMPLEMENTATIONS if count is None else candidate_count(integer("--maxImplementations", count)),
        ROUNDS if args.rounds is None else positive("--rounds", args.rounds),
        not args.noTest,
        BUDGET if args.budget is None else time_limit_of(seconds("--budget", args.budget)),
        max(0, (os.cpu_count() or 1) - 1) if args.jobs is None else max(0, integer("--jobs", args.jobs)),
    )
