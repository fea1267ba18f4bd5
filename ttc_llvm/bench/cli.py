"""`ttc bench`: what this machine can do, beside its own ceilings and beside other libraries."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .. import affinity as affinities
from .. import backend, options, runtime
from ..cli_progress import Display
from ..errors import OptionError
from ..tuning.search import Progress
from . import gpu_cli, gpu_runner, gpu_suites, peers, report
from .cases import KINDS, Case
from .reading import integer, positive, seconds, size, words
from .result_file import ResultFile
from .results import Result
from .runner import MAX_IMPLEMENTATIONS, ROUNDS, Settings, run
from .selection import select
from .suites import SUITES, cases

_log = logging.getLogger(__name__)
DEFAULT = ("ttc57",)


def add_parser(subparsers: Any) -> None:
    """Add `bench` to the sub-commands of a parser."""
    parser = subparsers.add_parser(
        "bench",
        help="measure suites of transpositions beside this machine's ceilings and other libraries",
        description="Measure suites of transpositions, each beside plain copies of the same bytes in the same run, and"
        " beside other libraries where they are present. Sizes are about 200 MiB a tensor: a suite takes a while.",
        epilog=f"Suites: {', '.join(SUITES)}. Results in a file given by --output are not measured again.",
    )
    for add in (_add_cases, _add_search, _add_peers, _add_output):
        add(parser)


def _add_cases(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is measured")
    add = group.add_argument
    add("--suite", metavar="NAME,..", help=f"or all; default: {','.join(DEFAULT)}; on a GPU all")
    add("--architecture", metavar="NAME", help="cuda: the GPU, not the CPU; suites there:"
        f" {', '.join(gpu_suites.NAMES)}")
    add("--cpu", metavar="NAME", help="a GPU's name, as sm_90; default: the device at hand")
    add("--kind", metavar="KIND", default="both", help="copy (beta = 0), update (beta != 0), or both (default)")
    add("--dataType", "--dtype", metavar="TYPE,..", help="only cases of these types")
    add("--cases", metavar="CASE,..", help="of each suite: numbers, slices as ::10, names, patterns as 'bits*'")
    add("--sample", metavar="N", help="at most so many cases, drawn by lot")
    add("--seed", metavar="N", default="0", help="of the lots; default: 0")
    add("--bytes", metavar="SIZE", help="shrink tensors to at most so many bytes, as 8M: for a quick look")
    add("--list", action="store_true", help="list the cases, measure nothing")


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how")
    add = group.add_argument
    add("--maxImplementations", metavar="N",
        help=f"candidates of each search, default {MAX_IMPLEMENTATIONS}, on a GPU {gpu_runner.MAX_IMPLEMENTATIONS};"
        " 1 = the cost model's choice")  # fmt: skip
    add("--time-limit", metavar="S", help="seconds of each search; default: none")
    add("--numThreads", "--threads", metavar="N", help="default: OMP_NUM_THREADS, or the CPUs at hand")
    add("--affinity", metavar="WHERE", help="compact (default), scatter, none, or CPUs such as 0,2,4-7")
    add("--rounds", metavar="N", help=f"of the final comparison, default {ROUNDS}, on a GPU {gpu_runner.ROUNDS}")
    add("--budget", metavar="S", help="on a GPU: seconds after which no case is begun, default"
        f" {gpu_runner.BUDGET:g}")
    add("--jobs", metavar="N", help="on a GPU: processes that make kernels ahead; default: all CPUs but one")
    add("--pattern", action="store_true", help="also measure the plan's tiles without the permutation")
    add("--noTest", action="store_true", help="check no result")
    add("--ignoreDatabase", action="store_true", help="search anew; the result is still stored")
    add("--database", metavar="PATH", help="default: $TTC_DATABASE, or the user's cache")


def _add_peers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("other libraries")
    add = group.add_argument
    add("--peers", metavar="NAME,..", help=f"of {', '.join(peers.NAMES)}, or none; default: all that are present,"
        " save hptt-measure, which plans up to 10 s a case")  # fmt: skip
    add("--hptt", metavar="PATH", help="a shared library of HPTT")
    add("--mkl", metavar="PATH", help="libmkl_rt, where it is not found by itself")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what comes out")
    add = group.add_argument
    add("--output", metavar="FILE", help="append each result as a JSON line; what is there already is not repeated")
    add("--report", metavar="FILE", help="measure nothing: the table of such a file")
    add("--verbose", "-v", action="store_true", help="log to stderr")


def run_command(args: argparse.Namespace) -> int:
    """Carry out what `add_parser` has parsed; returns the exit status. Raises TtcError subclasses."""
    if args.report is not None:
        _print(ResultFile(args.report).read())
        return 0
    if gpu_cli.wanted(args):
        return gpu_cli.run_command(args)
    for name in ("budget", "jobs"):
        if getattr(args, name) is not None:
            raise OptionError(f"--{name} is for GPUs: --architecture=cuda asks for one")
    settings, notices = _settings(args)
    chosen = _chosen(args, settings)
    if args.list:
        print("\n".join(report.aligned([_listed(case) for case in chosen], 5)))
        return 0
    keys = {settings.key(case, settings.options(case)) for case in chosen}
    file = None if args.output is None else ResultFile(args.output)
    known = () if file is None else file.known()
    if file is not None:
        file.prepare()
    for notice in notices:
        print(f"ttc: {notice}", file=sys.stderr)
    return _measure(chosen, settings, file, {result.key: result for result in known if result.key in keys})


def _measure(
    chosen: Sequence[Case], settings: Settings, file: ResultFile | None, known: Mapping[str, Result]
) -> int:
    results = list(known.values())
    interrupted = False
    with _Display(len(chosen), len(results)) as display:
        try:
            for result in run(chosen, settings, known, display.searching):
                results.append(result)
                if file is not None:
                    file.append(result)
                display.finished(result)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted and not results:
        raise KeyboardInterrupt
    _print(results)
    if interrupted:
        print(f"ttc: stopped early: {len(results)} of {len(chosen)} cases", file=sys.stderr)
    return 0


def _print(results: Sequence[Result]) -> None:
    print("\n".join(report.lines(results)))


def _listed(case: Case) -> tuple[str, ...]:
    problem = case.problem
    size = problem.elements * problem.a.itemsize
    mode = "hot" if case.hot else "cold"
    return case.id, *report.shape(problem.perm, problem.size), problem.dtype, mode, f"{size / 2**20:.3g} MiB"


# --- reading ----------------------------------------------------------------------------------------------


def _settings(args: argparse.Namespace) -> tuple[Settings, tuple[str, ...]]:
    """Checked settings, and what there is to say about peers."""
    runtime.set_affinity(_affinity(args.affinity))
    found = peers.find(_peer_names(args.peers), args.hptt, args.mkl) if not args.list else peers.Found((), ())
    threads = None if args.numThreads is None else options.thread_count(integer("--numThreads", args.numThreads))
    settings = Settings(
        threads=threads,
        target=backend.resolve(None),
        max_implementations=options.candidate_count(_candidates(args.maxImplementations)),
        time_limit=None if args.time_limit is None else seconds("--time-limit", args.time_limit),
        rounds=ROUNDS if args.rounds is None else positive("--rounds", args.rounds),
        verify=not args.noTest,
        database=args.database,
        ignore_database=args.ignoreDatabase,
        peers=found.peers,
        pattern=args.pattern,
    )
    return settings, found.notices


def _candidates(text: str | None) -> int:
    return MAX_IMPLEMENTATIONS if text is None else integer("--maxImplementations", text)


def _chosen(args: argparse.Namespace, settings: Settings) -> tuple[Case, ...]:
    given = ",".join(DEFAULT) if args.suite is None else args.suite
    suites = tuple(SUITES) if given == "all" else words("--suite", given)
    kinds = KINDS if args.kind == "both" else (args.kind,)
    threads = runtime.num_threads() if settings.threads is None else settings.threads
    every = cases(suites, kinds, threads)
    if args.dataType is not None:
        types = words("--dataType", args.dataType)
        every = tuple(case for case in every if case.problem.dtype in types)
    found = select(
        every,
        () if args.cases is None else words("--cases", args.cases),
        None if args.sample is None else positive("--sample", args.sample),
        integer("--seed", args.seed),
        None if args.bytes is None else size("--bytes", args.bytes),
    )
    if not found:
        raise OptionError("no case is left to be measured: --suite, --kind, --dataType and --cases choose them")
    return found


def _peer_names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return () if text == "none" else words("--peers", text)


def _affinity(text: str | None) -> affinities.Affinity:
    if text is not None:
        return affinities.parse(text)
    return affinities.NONE if affinities.process_mask() is None else affinities.parse("compact")


# --- how far it has come ----------------------------------------------------------------------------------


class _Display(Display):
    """A bar if stderr is a terminal, log lines with --verbose, else nothing; drawn between measurements only."""

    def __init__(self, total: int, done: int) -> None:
        super().__init__(sys.stderr.isatty(), total, done)
        self._total, self._done = total, done

    def searching(self, case: Case, progress: Progress) -> None:
        """A batch of candidates was timed."""
        best = "" if not progress.best else f", best {progress.best * 1e3:.4g} ms"
        self.draw(completed=self._done, text=f"{case.id}: {progress.done} candidates{best}")

    def finished(self, result: Result) -> None:
        """A case is done."""
        self._done += 1
        ratio = "no ceiling" if result.ratio is None else f"{result.ratio:.2f} of {result.ceiling}"
        _log.info("%d of %d: %s %.1f GiB/s, %s", self._done, self._total, result.id, result.ours.gibs, ratio)
        self.draw(completed=self._done, text=f"{result.id}: {ratio}")
