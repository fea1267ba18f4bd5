"""Who of the peers and references takes part in a case on a device, and everybody's runs in turns."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ..errors import TtcError
from ..gpu.stage import boxes
from ..gpu.trial import Trial
from ..problem import Problem
from .gpu_peers import GpuPeer, GpuReference, Run
from .peers import NotBuilt
from .results import Reference

_log = logging.getLogger(__name__)
CHECKED, CHECKED_ELEMENTS = 8, 1 << 16  # boxes of a result that are compared, and elements of each


@dataclass(frozen=True, slots=True)
class Guests:
    """Those who can do a case, and do it right. runs: by name; references: how naive kernels were made, and why some
    could not be."""

    runs: dict[str, Run]
    references: dict[str, Reference]

    @classmethod
    def of(
        cls, trial: Trial, problem: Problem, peers: Sequence[GpuPeer], references: Sequence[GpuReference], verify: bool,
        where: str,
    ) -> Guests:  # fmt: skip
        """All guests of a trial. where: the case, in warnings."""
        runs = dict(_working(trial, problem, peers, where))
        made: dict[str, Reference] = {}
        for one in references:
            try:
                runs[one.name], made[one.name] = one.at_work(trial, problem)
            except NotBuilt as failed:
                _log.info("%s is left out of %s: %s", one.name, where, failed)
                made[one.name] = failed.reference
        for name in [name for name, run in runs.items() if verify and not agrees(trial, run)]:
            _log.warning("%s is left out of %s: its result differs", name, where)
            del runs[name]
            if name in made:
                made[name] = replace(made[name], message="its result differs")
        return cls(runs, made)


def _working(trial: Trial, problem: Problem, peers: Sequence[GpuPeer], where: str) -> Iterator[tuple[str, Run]]:
    for peer in peers:
        try:
            run = peer.run(trial, (problem.a, problem.b))
        except (TtcError, KeyboardInterrupt):
            raise
        except Exception as error:  # another library's: whatever it is, the others go on
            _log.warning("%s is left out of %s: %s: %s", peer.name, where, type(error).__name__, error)
            continue
        if run is not None:
            yield peer.name, run


def agrees(trial: Trial, run: Run) -> bool:
    """Run once on fresh data: whether parts of the result are right, sums up to their rounding."""
    run(trial.stage.prepare())
    found = boxes(trial.canonical, CHECKED, CHECKED_ELEMENTS)
    return trial.stage.wrong((trial.alpha, trial.beta), found, loose=True) is None


def in_turns(trial: Trial, contenders: Sequence[Run], rounds: int) -> list[tuple[float, ...]]:
    """Of each contender the medians of its runs, one a round; every other round in the opposite order."""
    seconds: list[list[float]] = [[] for _ in contenders]
    for number in range(rounds):
        order = range(len(contenders)) if number % 2 == 0 else reversed(range(len(contenders)))
        for k in order:
            seconds[k].append(median(trial.runs(contenders[k])))
    return [tuple(times) for times in seconds]
