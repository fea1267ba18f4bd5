"""The files of `--keep`: every candidate's LLVM IR as a file, and a list of their plans."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..compiling.solution import Solution
from ..errors import OptionError, os_errors
from ..lazy_dataclasses import dataclass
from ..lowering import plan as plans
from ..lowering.plan import CpuPlan
from ..native import marks, whole_file
from ..problem import names
from ..problem.canonical import Canonical
from ..problem.problem import Problem
from ..runtime import kernel
from ..tuning.cost.model import ranked
from ..tuning.measurement import GIB
from ..tuning.space import candidates
from ..tuning.space.choices import Forced

LIST = "plans.txt"
HEADING = "number\tseconds\tGiB/s\tplan\n"
_NUMBERED = re.compile(r"\d{3,}\.ll", re.ASCII)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan and the seconds of its best run, None where it was not timed."""

    plan: CpuPlan
    seconds: float | None = None


def generated(solution: Solution, canonical: Canonical, forced: Forced, count: int) -> Iterator[Candidate]:
    """The candidates behind a solution: those that were timed, the fastest first, or the model's first `count`."""
    measured = solution.measurement
    if measured is not None:
        yield from (Candidate(plans.parse(text), min(seconds)) for text, seconds in measured.timings)
        return
    target, threads = solution.target, solution.threads
    if count == -1:
        offered = candidates.paper_space(canonical, target, forced)
    else:
        offered = ranked(canonical, target, threads, forced)
    rest = (plan for plan in offered if plan != solution.plan)
    every = itertools.chain((solution.plan,), rest)
    yield from map(Candidate, every if count == -1 else itertools.islice(every, count))


def check(directory: Path, problem: Problem, overwrite: bool) -> None:
    """OptionError where the folder's place is taken, unless `overwrite` by what another folder of candidates is not."""
    folder = directory / _name(problem)
    if os.path.lexists(folder) and not folder.is_dir():
        raise OptionError(f"{folder} is no folder: the candidates have no place")
    if not overwrite and folder.is_dir() and os.listdir(folder) and not (folder / LIST).is_file():
        raise OptionError(f"{folder} is there, and holds no {LIST}: --force writes candidates into it")
    marks.check(folder, (LIST,), overwrite, lambda data: data.startswith(HEADING.encode()))


def write(
    directory: Path, solution: Solution, canonical: Canonical, found: Iterable[Candidate], overwrite: bool = False
) -> Path:
    """Write `<C name>.candidates/` with plans.txt and one numbered .ll file per candidate; returns its path.

    OptionError where it cannot be written, and without `overwrite` where the folder is another's.
    """
    check(directory, solution.problem, overwrite)
    folder = directory / _name(solution.problem)
    with os_errors(f"directory {folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / LIST).exists():
            whole_file.write(folder / LIST, HEADING)  # the folder is ours from now on
        for stale in folder.iterdir():
            if _NUMBERED.fullmatch(stale.name):
                stale.unlink()
        with whole_file.whole_file(folder / LIST) as listing:
            listing.write(HEADING.encode())
            for number, candidate in enumerate(found, 1):
                listing.write(_line(number, candidate, canonical).encode())
                text = kernel.ir_text(canonical, candidate.plan, solution.target)
                whole_file.write(folder / f"{number:03}.ll", text)
    return folder


def _name(problem: Problem) -> str:
    return f"{names.stem(problem)}.candidates"


def _line(number: int, candidate: Candidate, canonical: Canonical) -> str:
    seconds = candidate.seconds
    if not seconds:
        return f"{number:03}\t-\t-\t{candidate.plan}\n"
    return f"{number:03}\t{seconds:.9f}\t{canonical.bytes_moved / seconds / GIB:.3f}\t{candidate.plan}\n"
