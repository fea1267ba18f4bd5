"""The options and the work that `ttc bench` and `ttc compare` share: cases, measuring, progress."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from .. import affinity as affinities
from .. import backend, interrupts, options, runtime
from ..cli.progress import Display
from ..errors import OptionError
from ..tuning.search import Progress
from . import report
from .cases import KINDS, Case
from .cli_values import integer, positive, seconds, size, words
from .peers import Peer
from .result_file import ResultFile
from .results import Result
from .runner import MAX_IMPLEMENTATIONS, ROUNDS, Report, Settings
from .selection import select
from .suites import SUITES, cases

_log = logging.getLogger(__name__)
DEFAULT, BOTH = ("ttc57",), "both"
Start = Callable[[Collection[str], Report], Iterator[Result]]  # keys of what is done already, and who hears of searches


def add_cases(parser: argparse.ArgumentParser, kind: str) -> None:
    """The options that choose cases. kind: the default of `--kind`."""
    group = parser.add_argument_group("what is measured")
    add = group.add_argument
    add("--suite", metavar="NAME,..", help=f"or all; default: {','.join(DEFAULT)}")
    add("--kind", metavar="KIND", default=kind, help=f"copy (beta = 0), update (beta != 0) or {BOTH}; default: {kind}")
    add("--dataType", "--dtype", metavar="TYPE,..", help="only cases of these types")
    add("--cases", metavar="CASE,..", help="of each suite: numbers, slices as ::10, names, patterns as 'bits*'")
    add("--sample", metavar="N", help="at most so many cases, drawn by lot")
    add("--seed", metavar="N", default="0", help="of the lots; default: 0")
    add("--bytes", metavar="SIZE", help="shrink tensors to at most so many bytes, as 8M: for a quick look")
    add("--list", action="store_true", help="list the cases, measure nothing")


def add_search(parser: argparse.ArgumentParser) -> None:
    """The options of the search and of the final comparison."""
    group = parser.add_argument_group("how")
    add = group.add_argument
    add("--maxImplementations", metavar="N",
        help=f"candidates of each search, default {MAX_IMPLEMENTATIONS}; 1 = the cost model's choice")  # fmt: skip
    add("--time-limit", metavar="S", help="seconds of each search; default: none")
    add("--numThreads", "--threads", metavar="N", help="default: OMP_NUM_THREADS, or the CPUs at hand")
    add("--affinity", metavar="WHERE", help="compact (default), scatter, none, or CPUs such as 0,2,4-7")
    add("--rounds", metavar="N", help=f"of the final comparison, default {ROUNDS}")
    add("--pattern", action="store_true", help="also measure the plan's tiles without the permutation")
    add("--noTest", action="store_true", help="check no result")
    add("--ignoreDatabase", action="store_true", help="search anew; the result is still stored")
    add("--database", metavar="PATH", help="default: $TTC_DATABASE, or the user's cache")


def settings(args: argparse.Namespace, peers: tuple[Peer, ...]) -> Settings:
    """Checked settings; threads are placed as asked for from now on."""
    runtime.set_affinity(_affinity(args.affinity))
    threads = None if args.numThreads is None else runtime.thread_count(integer("--numThreads", args.numThreads))
    return Settings(
        threads=threads,
        target=backend.resolve(None),
        max_implementations=options.candidate_count(_candidates(args.maxImplementations)),
        time_limit=None if args.time_limit is None else seconds("--time-limit", args.time_limit),
        rounds=ROUNDS if args.rounds is None else positive("--rounds", args.rounds),
        verify=not args.noTest,
        database=args.database,
        ignore_database=args.ignoreDatabase,
        peers=peers,
        pattern=args.pattern,
    )


def _candidates(text: str | None) -> int:
    return MAX_IMPLEMENTATIONS if text is None else integer("--maxImplementations", text)


def chosen(args: argparse.Namespace, how: Settings) -> tuple[Case, ...]:
    """The cases that the options choose; OptionError for none."""
    given = ",".join(DEFAULT) if args.suite is None else args.suite
    suites = tuple(SUITES) if given == "all" else words("--suite", given)
    threads = runtime.num_threads() if how.threads is None else how.threads
    return narrowed(args, cases(suites, kinds(args.kind), threads))


def kinds(text: str) -> tuple[str, ...]:
    """The kinds that `--kind` names. Raises OptionError."""
    if text not in (*KINDS, BOTH):
        raise OptionError(f"unknown kind {text!r}: the choices are {', '.join((*KINDS, BOTH))}")
    return KINDS if text == BOTH else (text,)


def narrowed(args: argparse.Namespace, every: tuple[Case, ...]) -> tuple[Case, ...]:
    """Those of a suite's cases that the other options leave; OptionError for none."""
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


def print_list(found: Sequence[Case]) -> None:
    """Print one line a case."""
    print("\n".join(report.aligned([_listed(case) for case in found], 5)))


def _listed(case: Case) -> tuple[str, ...]:
    problem = case.problem
    tensor = problem.elements * problem.a.itemsize
    mode = "hot" if case.hot else "cold"
    return case.id, *report.shape(problem.perm, problem.size), problem.dtype, mode, f"{tensor / 2**20:.3g} MiB"


def _affinity(text: str | None) -> affinities.Affinity:
    if text is not None:
        return affinities.parse(text)
    return affinities.NONE if affinities.process_mask() is None else affinities.parse("compact")


# --- measuring --------------------------------------------------------------------------------------------


def known(keys: Collection[str], output: str | None) -> tuple[ResultFile | None, list[Result]]:
    """The file that results go to, ready to be appended to, and those with one of these keys that are in it."""
    if output is None:
        return None, []
    file = ResultFile(output)
    there = {result.key: result for result in file.known() if result.key in keys}
    file.prepare()
    return file, list(there.values())


def measure(total: int, file: ResultFile | None, there: Sequence[Result], start: Start) -> tuple[Result, ...]:
    """Measure what is not there yet, appending each result; all results, in the order in which they came.

    total: the number of cases. start: begins to measure those whose key is not among the given ones. Ctrl-C ends it
    with the results that there are: KeyboardInterrupt only where there is none."""
    results = list(there)
    with _Display(total, len(results)) as display:
        try:
            with interrupts.raised():
                for result in start({result.key for result in there}, display.searching):
                    results.append(result if file is None else file.append(result))
                    display.finished(result)
        except KeyboardInterrupt:
            if not results:
                raise
    if len(results) < total:
        print(f"ttc: {len(results)} of {total} cases are measured", file=sys.stderr)
    return tuple(results)


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


def notify(notices: Sequence[str]) -> None:
    """Print a line on stderr for each."""
    for notice in notices:
        print(f"ttc: {notice}", file=sys.stderr)


def add_output(parser: argparse.ArgumentParser) -> Any:
    """The options of what comes out; returns their group."""
    group = parser.add_argument_group("what comes out")
    add = group.add_argument
    add("--output", metavar="FILE", help="append each result as a JSON line; what is there already is not repeated")
    add("--report", metavar="FILE", help="measure nothing: the table of such a file")
    add("--verbose", "-v", action="store_true", help="log to stderr")
    return group
