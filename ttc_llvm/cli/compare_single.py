"""References on the command line of one problem: `ttc --perm=.. --size=.. --compiler=g++ --against=my.cpp`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..compare.compilers import SERIAL, on_one_thread
from ..compare.references import FoundReferences, Wanted, find
from ..compare.single import Comparison, beside
from ..compiling.solution import Solution
from ..errors import OptionError, TargetError
from ..lazy_dataclasses import replace
from ..machine.target import Target
from ..problem.problem import Problem
from ..runtime import backend
from ..tuning.measurement import BUSY
from . import compare_references as cli_references
from .reading import Command

_log = logging.getLogger(__name__)


def prepare(command: Command, problem: Problem, machine: Target) -> FoundReferences | None:
    """The references that a command asks for, built: a mistake in a source is found before anything is tuned."""
    wanted = asked(command, problem)
    if wanted is None:
        return None
    if not backend.runs_here(machine):
        raise TargetError(f"target {machine} cannot be timed here: this machine lacks its instructions")
    return built(find(wanted), problem)


def asked(command: Command, problem: Problem, one_hot: bool = False) -> Wanted | None:
    """The references that a command asks for; None for none. one_hot: one tensor may be in the caches, the other not.

    OptionError for what cannot be compared; but `--compiler`, by which the original TTC builds its candidates, is then
    left out with a line on stderr.
    """
    if command.compiler is None and command.against is None:
        given = {"--compilerFlags": command.compiler_flags is not None, "--traverse": command.traverse != "output"}
        flag = next((flag for flag, is_given in given.items() if is_given), None)
        if flag is not None:
            raise OptionError(f"{flag} without --compiler or --against: there is nothing to compare with")
        return None
    reason = _incomparable(command, problem, one_hot)
    if reason and command.against is not None:
        raise OptionError(f"--against={command.against} cannot be compared with: {reason}")
    if reason:
        _log.warning("--compiler=%s compares nothing: %s", command.compiler, reason)
        return None
    if problem.elements == 0:
        raise OptionError(f"{_flag(command)} has nothing to compare: the tensors have no elements")
    names = cli_references.NONE if command.compiler is None else command.compiler
    wanted = cli_references.wanted(names, command.compiler_flags, command.traverse, command.against)
    return replace(wanted, lenient=True)


def _incomparable(command: Command, problem: Problem, one_hot: bool) -> str:
    """Why the runs that a command asks for have nothing beside them; "" where they have."""
    if command.generate_only:
        return "--generateOnly times nothing"
    if problem.inplace:
        return "references are loops out of place"
    if problem.terms:
        return "references move one permutation"
    if command.hot_a != command.hot_b and not one_hot:
        return "references run cold or hot: --hotA and --hotB have to come together"
    return "IBM's compiler is none of those that ttc knows" if command.compiler == "ibm" else ""


def _flag(command: Command) -> str:
    return "--compiler" if command.compiler is not None else "--against"


def built(found: FoundReferences, problem: Problem) -> FoundReferences | None:
    """The references, built for one problem; None where none is left."""
    found.prepare([problem])
    found.check_own([problem])
    for notice in found.notices:
        _log.warning("%s", notice)
    return found if found.peers else None


def compare(command: Command, solution: Solution, found: FoundReferences) -> Comparison:
    """Measure both sides, as the command says."""
    return beside(solution, found, hot=command.hot_a, verify=not command.no_test)


def comparison_rows(comparison: Comparison) -> Sequence[tuple[str, Sequence[str]]]:
    """A row a reference: the speedup over it, or why there is none."""
    own, remark = comparison.ours.best * 1e3, f" ({BUSY})" if comparison.busy else ""
    rows = []
    for name, made in comparison.references.items():
        how = f"{made.version}, {' '.join(made.flags)}, compiled in {made.compile_s:.2f} s"
        line = f"left out: {made.message}"
        if not made.message:
            runs = comparison.peers[name]
            theirs = f"{runs.best * 1e3:.4g} ms ({runs.gibs:.1f} GiB/s)"
            serial = f" {SERIAL}" if on_one_thread(made) else ""
            line = f"{comparison.speedup(name):.2f}, {own:.4g} ms against {theirs}{serial}{remark}"
        rows.append((f"speedup over {name}", [line, how]))
    return rows


def comparison_fields(comparison: Comparison) -> dict[str, Any]:
    """Seconds of our runs, and by name each reference: what it is, and where it was timed its runs and the speedup."""
    found: dict[str, Any] = {}
    for name, made in comparison.references.items():
        found[name] = asdict(made)
        if name in comparison.peers:
            runs = comparison.peers[name]
            found[name] |= {"speedup": comparison.speedup(name), "gibs": runs.gibs, "seconds": runs.seconds}
    own = comparison.ours
    return {"seconds": own.seconds, "gibs": own.gibs, "busy": comparison.busy, "references": found}
