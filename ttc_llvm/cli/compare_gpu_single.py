"""One solution on a device beside the naive kernels: `ttc --architecture=cuda --compiler=nvcc,llvm`."""

from __future__ import annotations

from ..bench.gpu_runner import ROUNDS, GpuWorkspace
from ..compare import gpu_references
from ..compare.references import FoundReferences
from ..compare.single import Comparison, case_of, compared
from ..compiling.gpu_solution import GpuSolution
from ..compiling.trial import Mode
from ..gpu import devices
from ..gpu.session import Session
from ..machine.gpu_target import GpuTarget
from ..problem.problem import Problem
from . import compare_single as cli_single
from .reading import Command


def prepare(command: Command, problem: Problem, target: GpuTarget) -> FoundReferences | None:
    """The references that a command asks for, built; None where it asks for none.

    Raises OptionError for what cannot be compared, GpuError or TargetError where there is no such device.
    """
    wanted = cli_single.asked(command, problem, one_hot=True)
    if wanted is None:
        return None
    devices.running(target)
    return cli_single.built(gpu_references.find(wanted, target), problem)


def compare(command: Command, solution: GpuSolution, found: FoundReferences) -> Comparison:
    """Measure both sides, as the command says."""
    return beside(solution, found, Mode.of(command.hot_a, command.hot_b), verify=not command.no_test)


def beside(solution: GpuSolution, found: FoundReferences, mode: Mode, *, verify: bool = True) -> Comparison:
    """Measure a solution and its references in turns, on tensors of our own. verify: leave out who is wrong."""
    session = Session(devices.running(solution.target))
    with session.active():
        workspace = GpuWorkspace.of(case_of(solution.problem), solution.target, session, {}, mode)
        mine = workspace.ours(workspace.trial.build(solution.plan))
        own = [mine, *workspace.ceilings()]
        return compared(workspace, own, found, (lambda: workspace.agrees) if verify else None, ROUNDS, ROUNDS)
