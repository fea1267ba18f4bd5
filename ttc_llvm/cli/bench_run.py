"""The work of `ttc bench` and `ttc compare`: choose cases, measure them, show how far it has come."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from ..bench import cpu_runner, gpu_runner, report
from ..bench.cases import Case
from ..bench.contender import FoundPeers
from ..bench.cpu_runner import Report, Settings
from ..bench.gpu_runner import GpuSettings
from ..bench.result_file import ResultFile
from ..bench.results import Result
from ..compiling.display import Display, is_terminal
from ..lazy_dataclasses import replace
from ..problem.problem import Problem
from ..problem.tables import aligned
from ..runtime import interrupts, runtime
from ..tuning.measurement import BUSY
from ..tuning.search.progress import Progress
from .bench_options import chosen, cpu_settings, gpu_settings, on_gpu

_log = logging.getLogger(__name__)
F = TypeVar("F", bound=FoundPeers)
Start = Callable[[Collection[str], Report], Iterator[Result]]  # keys of what is done already, and who hears of searches


def results(
    args: argparse.Namespace,
    suites: Mapping[bool, Sequence[str]],
    cpu_only: Sequence[str],
    find: Callable[[argparse.Namespace, Settings | GpuSettings], F],
    prepare: Callable[[F, Sequence[Problem]], None] = lambda found, problems: None,
) -> Sequence[Result] | None:
    """The results that the options ask for, from files or measured now; None where cases were listed only.

    suites: by default, for CPUs (False) and GPUs (True); cpu_only: options without a meaning for GPUs; find: those that
    are measured beside us; prepare: called with them and the problems that are not measured yet. Raises TtcError
    subclasses.
    """
    if args.report is not None:
        return ResultFile(args.report).read()
    gpu = on_gpu(args, cpu_only)
    own = None if gpu else cpu_settings(args)
    cases = chosen(args, suites[gpu], (own and own.threads) or runtime.num_threads(), gpu)
    if args.list:
        print("\n".join(aligned([_listed(case) for case in cases], 5)))
        return None
    how = own or gpu_settings(args)
    found = find(args, how)
    how = replace(how, peers=found.peers)
    keys = how.keys(cases)
    file, there = _known(keys, args.output)
    for notice in found.notices:
        print(f"ttc: {notice}", file=sys.stderr)
    done = {result.key for result in there}
    prepare(found, [case.problem for key, case in keys.items() if key not in done])
    return measure(len(cases), file, there, _start(cases, how))


def _start(cases: Sequence[Case], how: Settings | GpuSettings) -> Start:
    if isinstance(how, Settings):
        return partial(cpu_runner.run, cases, how)
    return lambda done, _: gpu_runner.run(cases, how, done)


def _listed(case: Case) -> tuple[str, ...]:
    problem = case.problem
    tensor = problem.elements * problem.a.itemsize
    mode = "hot" if case.hot else "cold"
    return case.id, *report.shape(problem.perm, problem.size), problem.dtype, mode, f"{tensor / 2**20:.3g} MiB"


def _known(keys: Collection[str], output: str | None) -> tuple[ResultFile | None, list[Result]]:
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
        super().__init__(is_terminal(), total, done)

    def searching(self, case: Case, progress: Progress) -> None:
        """A batch of candidates was timed."""
        best = "" if not progress.best else f", best {progress.best * 1e3:.4g} ms"
        self.draw(f"{case.id}: {progress.phase}, {progress.done} candidates{best}")

    def finished(self, result: Result) -> None:
        """A case is done."""
        ratio = "no ceiling" if result.ratio is None else f"{result.ratio:.2f} of {result.ceiling}"
        ratio += f" ({BUSY})" if result.busy else ""
        self.draw(f"{result.id}: {ratio}", done=self._done + 1)
        _log.info("%d of %d: %s %.1f GiB/s, %s", self._done, self._total, result.id, result.ours.gibs, ratio)
