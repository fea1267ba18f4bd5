"""References on the command line of one problem: `ttc --perm=.. --size=.. --compiler=g++ --against=my.cpp`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .. import backend
from ..cli.reading import Command
from ..errors import OptionError, TargetError
from ..problem import Problem
from ..solution import Solution
from ..target import Target
from . import cli_references
from .references import Found, find
from .single import Comparison, beside

_log = logging.getLogger(__name__)


def prepare(command: Command, problem: Problem, machine: Target) -> Found | None:
    """The references that a command asks for, built: a mistake in a source is found before anything is tuned."""
    if command.compiler is None and command.against is None:
        check_alone(command)
        return None
    _check_comparable(command, problem, machine)
    names = cli_references.NONE if command.compiler is None else command.compiler
    found = find(cli_references.wanted(names, command.compiler_flags, command.traverse, command.against))
    found.prepare([problem])
    found.check_own([problem])
    for notice in found.notices:
        _log.warning("%s", notice)
    return found


def check_alone(command: Command) -> None:
    """OptionError for options that say how to compare where nothing is compared."""
    given = {"--compilerFlags": command.compiler_flags is not None, "--traverse": command.traverse != "output"}
    for flag, is_given in given.items():
        if is_given:
            raise OptionError(f"{flag} without --compiler or --against: there is nothing to compare with")


def _check_comparable(command: Command, problem: Problem, machine: Target) -> None:
    flag = "--compiler" if command.compiler is not None else "--against"
    if command.generate_only:
        raise OptionError(f"{flag} contradicts --generateOnly: a comparison times both sides")
    if command.hot_a != command.hot_b:
        raise OptionError(f"{flag} compares cold or hot runs: --hotA and --hotB have to come together")
    if problem.elements == 0:
        raise OptionError(f"{flag} has nothing to compare: the tensors have no elements")
    if not backend.runs_here(machine):
        raise TargetError(f"target {machine} cannot be timed here: this machine lacks its instructions")


def compare(command: Command, solution: Solution, found: Found) -> Comparison:
    """Measure both sides, as the command says."""
    return beside(solution, found, hot=command.hot_a, verify=not command.no_test)


def comparison_rows(comparison: Comparison) -> Sequence[tuple[str, Sequence[str]]]:
    """A row a reference: the speedup over it, or why there is none."""
    own = comparison.ours.best * 1e3
    rows = []
    for name, made in comparison.references.items():
        how = f"{made.version}, {' '.join(made.flags)}, compiled in {made.compile_s:.2f} s"
        line = f"left out: {made.message}"
        if not made.message:
            runs = comparison.peers[name]
            theirs = f"{runs.best * 1e3:.4g} ms ({runs.gibs:.1f} GiB/s)"
            line = f"{comparison.speedup(name):.2f}, {own:.4g} ms against {theirs}"
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
    return {"seconds": comparison.ours.seconds, "gibs": comparison.ours.gibs, "references": found}
