"""The options that `ttc bench` and `ttc compare` share, for this machine's CPU and for GPUs: cases and settings."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..bench import cpu_runner, gpu_runner
from ..bench.cases import KINDS, Case, select
from ..bench.cpu_runner import Settings
from ..bench.gpu_runner import GpuSettings
from ..bench.suites import GPU_SUITES, SUITES, cases
from ..errors import OptionError, TargetError
from ..gpu import devices
from ..machine import gpu_target as gpu_target
from ..problem import type_names
from ..runtime import affinity, backend, runtime
from ..tuning.efforts import EFFORTS
from . import values
from .options import spellings_of

T = TypeVar("T")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
DEFAULT, BOTH = ("ttc57",), "both"
CPU_ONLY = ("numThreads", "affinity", "pattern", "database", "plan")
GPU_ONLY = ("budget", "jobs")
FOR_CPUS = "is for CPUs: a GPU's benchmark has no such option"
FOR_GPUS = "is for GPUs: --architecture=cuda asks for one"


def add_cases(parser: argparse.ArgumentParser, kind: str) -> None:
    """The options that choose cases. kind: the default of `--kind`."""
    group = parser.add_argument_group("what is measured")
    add = group.add_argument
    add("--suite", metavar="NAME,..", help=f"or all; default: {','.join(DEFAULT)}")
    add("--kind", metavar="KIND", default=kind, help=f"copy (beta = 0), update (beta != 0) or {BOTH}; default: {kind}")
    add(*spellings_of("--dataType"), metavar="TYPE,..", help="only cases of these types")
    add("--cases", metavar="CASE,..", help="of each suite: numbers, slices as ::10, names, patterns as 'bits*'")
    add("--sample", metavar="N", help="at most so many cases, a random sample")
    add("--seed", metavar="N", default="0", help="of the sample; default: 0")
    add("--bytes", metavar="SIZE", help="shrink tensors to at most so many bytes, as 8M: for a quick look")
    add("--list", action="store_true", help="list the cases, measure nothing")


def add_search(parser: argparse.ArgumentParser) -> None:
    """The options of the search and of the final comparison."""
    group = parser.add_argument_group("how")
    add = group.add_argument
    add(*spellings_of("--maxImplementations"), metavar="EFFORT",
        help=f"candidates of each search, default {cpu_runner.MAX_IMPLEMENTATIONS};"
        f" 1 = the cost model's choice; or {' '.join(EFFORTS)}")  # fmt: skip
    add("--time-limit", metavar="S", help="seconds of each search; default: none")
    add(*spellings_of("--numThreads"), metavar="N", help="default, and 0: OMP_NUM_THREADS, or the CPUs at hand")
    add("--affinity", metavar="WHERE", help="compact (default), scatter, none, or CPUs such as 0,2,4-7")
    add("--rounds", metavar="N", help=f"of the final comparison, default {cpu_runner.ROUNDS}")
    add("--pattern", action="store_true", help="also measure the plan's tiles without the permutation")
    add("--plan", metavar="TEXT", help="exactly this plan for every case: --cases chooses those that it fits")
    add("--noTest", action="store_true", help="check no result")
    add("--ignoreDatabase", action="store_true", help="search anew; the result is still stored")
    add("--database", metavar="PATH", help="default: $TTC_DATABASE, or the user's cache")


def add_gpu(parser: argparse.ArgumentParser) -> None:
    """The options that are for GPUs."""
    add = parser.add_argument_group("GPUs").add_argument
    add("--architecture", metavar="NAME", help=f"cuda: the GPU, not the CPU; suites {', '.join(GPU_SUITES)};"
        f" {gpu_runner.MAX_IMPLEMENTATIONS} candidates, {gpu_runner.ROUNDS} rounds")  # fmt: skip
    add("--cpu", metavar="NAME", help="a GPU's name, as sm_90; default: the device at hand")
    add("--budget", metavar="S", help=f"seconds after which no case is begun, default {gpu_runner.BUDGET:g}")
    add("--jobs", metavar="N", help="processes that make kernels ahead; default: all CPUs but one")


def add_output(parser: argparse.ArgumentParser) -> Any:
    """The options of what comes out; returns their group."""
    group = parser.add_argument_group("what comes out")
    add = group.add_argument
    add("--output", metavar="FILE", help="append each result as a JSON line; what is there already is not repeated")
    add("--report", metavar="FILE", help="measure nothing: the table of such a file")
    add("--verbose", "-v", action="store_true", help="log to stderr")
    return group


# --- the machine ------------------------------------------------------------------------------------------


def on_gpu(args: argparse.Namespace, cpu_only: Sequence[str]) -> bool:
    """True where a GPU is asked for. cpu_only: options that a command does not have for GPUs, beside CPU_ONLY.

    TargetError for a CPU, which is always this machine's, OptionError for options of the other kind of machine."""
    named = [name for name in (args.architecture, args.cpu) if name is not None]
    for name in named:
        if not gpu_target.is_gpu(name):
            raise TargetError(f"{name} cannot be benchmarked by name: without --architecture, this machine's CPU is")
    refused = (*CPU_ONLY, *cpu_only) if named else GPU_ONLY
    why = FOR_CPUS if named else FOR_GPUS
    for field in refused:
        if getattr(args, field) not in (None, False):
            raise OptionError(f"{_flag(args, field)} {why}")
    return bool(named)


def cpu_settings(args: argparse.Namespace) -> Settings:
    """Checked settings, without peers; threads are placed as asked for from now on."""
    runtime.set_affinity(affinity.parse(args.affinity) if args.affinity else affinity.usual())
    return Settings(
        threads=option(args, "numThreads", threads),
        target=backend.resolve(None),
        max_implementations=option(args, "maxImplementations", effort, cpu_runner.MAX_IMPLEMENTATIONS),
        time_limit=option(args, "time_limit", seconds),
        rounds=option(args, "rounds", positive, cpu_runner.ROUNDS),
        verify=not args.noTest,
        database=args.database,
        ignore_database=args.ignoreDatabase,
        pattern=args.pattern,
        plan=args.plan,
    )


def gpu_settings(args: argparse.Namespace) -> GpuSettings:
    """Checked settings, without peers. Raises GpuError or TargetError where there is no such device."""
    target = devices.resolve(args.cpu or args.architecture)
    return GpuSettings(
        devices.running(target),
        target,
        option(args, "maxImplementations", effort, gpu_runner.MAX_IMPLEMENTATIONS),
        option(args, "rounds", positive, gpu_runner.ROUNDS),
        not args.noTest,
        option(args, "budget", seconds, gpu_runner.BUDGET),
        max(0, option(args, "jobs", integer, (os.cpu_count() or 1) - 1)),
    )


def effort(flag: str, text: str) -> int:
    """Candidates to consider: a count, -1 or a name."""
    return _read(flag, text, values.effort)


def threads(flag: str, text: str) -> int | None:
    """A number of threads; None for 0, the default."""
    return _read(flag, text, values.threads)


# --- cases ------------------------------------------------------------------------------------------------


def chosen(args: argparse.Namespace, default: Sequence[str], threads: int, gpu: bool) -> tuple[Case, ...]:
    """The cases that the options choose. default: suites; threads: the most that a case has. OptionError for none."""
    every = tuple(GPU_SUITES if gpu else SUITES)
    suites = option(args, "suite", lambda flag, text: every if text == "all" else words(flag, text), default)
    if args.kind not in (*KINDS, BOTH):
        raise OptionError(f"unknown kind {args.kind!r}: the choices are {', '.join((*KINDS, BOTH))}")
    given = cases(suites, KINDS if args.kind == BOTH else (args.kind,), threads, gpu)
    types = option(args, "dataType", _types)
    found = select(
        given if types is None else tuple(case for case in given if case.problem.dtype in types),
        option(args, "cases", words, ()),
        option(args, "sample", positive),
        integer("--seed", args.seed),
        option(args, "bytes", size),
    )
    if not found:
        raise OptionError("no case is left to be measured: --suite, --kind, --dataType and --cases choose them")
    return found


# --- texts become values; OptionError with the option's name and a rule where they cannot --------------------


def option(args: argparse.Namespace, field: str, read: Callable[[str, str], T], default: Any = None) -> Any:
    """The value of an option that was given; else the default."""
    text = getattr(args, field)
    return default if text is None else read(_flag(args, field), text)


def words(flag: str, text: str) -> tuple[str, ...]:
    """Names between commas, each once; at least one."""
    found = values.words(text)
    if not found:
        raise OptionError(f"{flag}={text}: at least one name is expected")
    return found


def _types(flag: str, text: str) -> tuple[str, ...]:
    """The canonical names of data types."""
    return tuple(type_names.read(word) for word in words(flag, text))


def integer(flag: str, text: str) -> int:
    """An integer."""
    return _read(flag, text, values.integer, "an integer is expected")


def positive(flag: str, text: str) -> int:
    """An integer of at least 1."""
    number = integer(flag, text)
    if number < 1:
        raise OptionError(f"{flag}={number}: a number of at least 1 is expected")
    return number


def seconds(flag: str, text: str) -> float:
    """A positive number of seconds."""
    return _read(flag, text, values.seconds)


def _flag(args: argparse.Namespace, field: str) -> str:
    """The option of a field, as it was written."""
    flag = f"--{field.replace('_', '-')}"
    return str(getattr(args, "flags", {}).get(flag, flag))


def _read(flag: str, text: str, read: Callable[[str], T], rule: str = "") -> T:
    try:
        return read(text)
    except ValueError as error:
        raise OptionError(f"{flag}={text[:40]}: {rule or error}") from None


def size(flag: str, text: str) -> int:
    """Bytes: `500000`, `512K`, `8M` or `1G`."""
    number, unit = (text[:-1], text[-1:].lower()) if text[-1:].isalpha() else (text, "")
    if unit not in _UNITS or not re.fullmatch("[0-9]{1,15}", number) or int(number) < 1:
        raise OptionError(f"{flag}={text[:40]}: a size such as 500000, 512K, 8M or 1G is expected")
    return int(number) * _UNITS[unit]
