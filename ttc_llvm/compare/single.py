"""One tuned solution beside references of its problem: what `ttc ... --compiler=g++` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .. import names
from ..bench import ours
from ..bench.cases import Case, describe
from ..bench.guests import Guests
from ..bench.results import Reference, Timing
from ..bench.rounds import in_turns
from ..bench.runner import ROUNDS, fits
from ..bench.stand import Memory, Stand
from ..errors import TtcError
from ..solution import Solution
from ..stored_plans import Planned
from .references import Found


@dataclass(frozen=True, slots=True)
class Comparison:
    """ours, peers: the runs of the rounds in which everybody took turns; references: how each was built, or why not."""

    ours: Timing
    peers: Mapping[str, Timing]
    references: Mapping[str, Reference]

    def speedup(self, name: str) -> float:
        """The speedup over a reference, best run by best run."""
        return self.peers[name].best / self.ours.best


def beside(solution: Solution, found: Found, *, hot: bool = False, verify: bool = True) -> Comparison:
    """Measure a solution and its references in turns, on random tensors of our own.

    hot: both tensors in the caches; verify: leave out whose result differs from ours. TtcError where there is no room.
    """
    problem = solution.problem
    case = Case("ttc", names.stem(problem), problem, hot=hot)
    memory = Memory()
    if not fits(case, memory):
        raise TtcError(f"{describe(problem)} cannot be compared: its tensors do not fit in memory four times")
    found.prepare([problem])
    stand = Stand.of(case, solution.target, solution.threads, memory)
    mine = ours.solution(stand, Planned(solution.plan))
    guests = Guests.of(found.peers, stand, mine, verify, full=False)
    timings = in_turns(stand, mine, guests.contenders, ROUNDS)
    return Comparison(
        timings[ours.OURS], {peer.name: timings[peer.name] for peer in guests.contenders}, guests.references
    )
