"""One tuned solution beside references of its problem: what `ttc ... --compiler=g++` prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..bench import ours
from ..bench.cases import Case, describe
from ..bench.check import Check
from ..bench.comparison import LEAST, Present, Rounds
from ..bench.contender import OURS, Agrees, Contender, FoundPeers, PreparedCase
from ..bench.cpu_runner import ROUNDS, fits
from ..bench.results import OFF, Reference, Timing
from ..bench.workspace import Memory, Workspace
from ..compiling.solution import Solution
from ..compiling.stored_plans import Planned
from ..errors import TtcError
from ..lazy_dataclasses import dataclass, replace
from ..problem import names
from ..problem.problem import Problem
from ..tuning.search.speed import DRIFT, drifts


@dataclass(frozen=True, slots=True)
class Comparison:
    """ours, peers: the runs of the rounds in which all took turns; references: how each was built, or why not;
    busy: the machine's speed changed from round to round, or it was busy when the solution was searched."""

    ours: Timing
    peers: Mapping[str, Timing]
    references: Mapping[str, Reference]
    busy: bool = False

    def speedup(self, name: str) -> float:
        """The speedup over a reference, best run by best run."""
        return self.peers[name].best / self.ours.best


def case_of(problem: Problem, hot: bool = False) -> Case:
    """One problem as a case."""
    return Case("ttc", names.stem(problem), problem, hot=hot)


def beside(solution: Solution, found: FoundPeers, *, hot: bool = False, verify: bool = True) -> Comparison:
    """Measure a solution and its references in turns, on random tensors of our own.

    hot: both tensors in the caches; verify: leave out whose result differs from ours. TtcError where there is no room.
    """
    case, memory = case_of(solution.problem, hot), Memory()
    if not fits(case, memory):
        raise TtcError(f"{describe(case.problem)} cannot be compared: its tensors do not fit in memory four times")
    workspace = Workspace.of(case, solution.target, solution.threads, memory)
    mine = ours.solution(workspace, Planned(solution.plan))
    check = (lambda: Check(workspace, mine, full=False).agrees) if verify else None
    main = ours.main_ceiling(workspace)
    ceiling = [contender for contender in ours.ceilings(workspace) if contender.name == main]
    comparison = compared(workspace, [mine, *ceiling], found, check, ROUNDS, LEAST)
    searched = solution.measurement is not None and solution.measurement.provisional > 0
    return replace(comparison, busy=comparison.busy or searched)


def compared(
    workspace: PreparedCase,
    own: Sequence[Contender],
    found: FoundPeers,
    check: Callable[[], Agrees] | None,
    rounds: int,
    least: int,
) -> Comparison:
    """All contenders in turns in a workspace. own: our solution, then ways to the ceiling; check, least: as
    `Present.of` and `Rounds` have them."""
    mine, *ceiling = own
    present = Present.of(found.peers, workspace, check)
    main = ceiling[0].name if ceiling else ""
    turns = Rounds(workspace, mine, main if least < rounds else "", [*ceiling, *present.contenders], least)
    timings = turns.run(rounds)
    off = turns.off + sum(drift >= DRIFT for drift in drifts(timings[main].seconds)) if main else 0
    peers = {peer.name: timings[peer.name] for peer in present.contenders}
    return Comparison(timings[OURS], peers, present.references, off > OFF * rounds)
