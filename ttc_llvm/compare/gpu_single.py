"""One solution on a device beside the naive kernels: `ttc --architecture=cuda --compiler=nvcc,llvm`."""

from __future__ import annotations

from functools import partial

from .. import names
from ..bench.gpu_guests import Guests, in_turns
from ..bench.gpu_runner import ROUNDS
from ..bench.results import Timing
from ..canonical import canonicalise
from ..cli.reading import Command
from ..errors import OptionError
from ..gpu import devices
from ..gpu.session import Session
from ..gpu.solution import GpuSolution
from ..gpu.target import GpuTarget
from ..gpu.trial import Trial
from ..problem import Problem
from ..trial import Mode
from . import cli_references, gpu_references
from .cli_single import check_alone
from .gpu_references import Found
from .single import Comparison


def prepare(command: Command, problem: Problem, target: GpuTarget) -> Found | None:
    """The references that a command asks for, built; None where it asks for none.

    Raises OptionError for what cannot be compared, GpuError or TargetError where there is no such device.
    """
    if command.compiler is None and command.against is None:
        check_alone(command)
        return None
    if command.generate_only:
        raise OptionError("--compiler contradicts --generateOnly: a comparison times both sides")
    if problem.elements == 0:
        raise OptionError("--compiler has nothing to compare: the tensors have no elements")
    devices.running(target)
    chosen = cli_references.NONE if command.compiler is None else command.compiler
    wanted = cli_references.wanted(chosen, command.compiler_flags, command.traverse, command.against)
    found = gpu_references.find(wanted, target)
    found.prepare([problem])
    return found


def compare(command: Command, solution: GpuSolution, found: Found) -> Comparison:
    """Measure both sides, as the command says."""
    return beside(solution, found, Mode.of(command.hot_a, command.hot_b), verify=not command.no_test)


def beside(solution: GpuSolution, found: Found, mode: Mode, *, verify: bool = True) -> Comparison:
    """Measure a solution and its references in turns, on tensors of our own. verify: leave out who is wrong."""
    problem = solution.problem
    canonical = canonicalise(problem).canonical
    session = Session(devices.running(solution.target))
    with session.active():
        filled = problem.a, problem.b
        trial = Trial(canonical, solution.target, session, mode, problem.alpha, problem.beta, filled=filled)
        guests = Guests.of(trial, problem, (), found.references, verify, names.stem(problem))
        own = partial(trial.launch, trial.build(solution.plan))
        runs = in_turns(trial, [own, *guests.runs.values()], ROUNDS)
    ours, *others = (Timing(canonical.bytes_moved, seconds) for seconds in runs)
    return Comparison(ours, dict(zip(guests.runs, others, strict=True)), guests.references)
