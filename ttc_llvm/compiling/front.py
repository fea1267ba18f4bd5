"""`ttc_llvm.compile`, for CPUs and GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import arguments, locks, paths
from ..errors import OptionError, ProblemError, states_memory
from ..lowering.gpu.plan import GpuPlan
from ..lowering.plan import CpuPlan
from ..machine.gpu_target import GpuTarget, Name, is_gpu
from ..machine.target import Target
from ..problem.contraction import Contraction
from ..problem.problem import Problem
from ..tuning import efforts
from ..tuning.gpu.forced import GpuForced
from ..tuning.search.progress import Report
from ..tuning.space.choices import FREE, Forced
from .compiler import solve
from .display import reporting
from .machines import Wanted
from .options import MAX_IMPLEMENTATIONS, checked
from .solution import Solution
from .stored_plans import open_database
from .trial import Mode

if TYPE_CHECKING:
    from ..contractions.plan import ContractionPlan
    from ..contractions.solution import ContractionSolution
    from .gpu_solution import GpuSolution


@overload
def compile(
    problem: Problem,
    max_implementations: int | str = ...,
    threads: int | None = ...,
    target: Target | Sequence[Target] | None = ...,
    time_limit: float | None = ...,
    *,
    effort: int | str | None = ...,
    hot_a: bool = ...,
    hot_b: bool = ...,
    verify: bool = ...,
    forced: Forced = ...,
    plan: CpuPlan | str | None = ...,
    database: str | Path | None = ...,
    ignore_database: bool = ...,
    progress: Report | bool | None = ...,
) -> Solution: ...


@overload
def compile(
    problem: Problem,
    max_implementations: int | str = ...,
    threads: None = ...,
    *,
    target: GpuTarget | Name,
    time_limit: float | None = ...,
    effort: int | str | None = ...,
    hot_a: bool = ...,
    hot_b: bool = ...,
    verify: bool = ...,
    forced: Forced | GpuForced = ...,
    plan: CpuPlan | GpuPlan | str | None = ...,
    database: str | Path | None = ...,
    ignore_database: bool = ...,
    progress: Report | bool | None = ...,
) -> GpuSolution: ...


@overload
def compile(
    problem: Contraction,
    max_implementations: int | str = ...,
    threads: int | None = ...,
    target: None = ...,
    time_limit: float | None = ...,
    *,
    effort: int | str | None = ...,
    hot_a: Literal[False] = ...,
    hot_b: Literal[False] = ...,
    verify: bool = ...,
    forced: Forced = ...,
    plan: ContractionPlan | str | None = ...,
    database: str | Path | None = ...,
    ignore_database: bool = ...,
    progress: Report | bool | None = ...,
) -> ContractionSolution: ...


@overload  # a name, CPU or GPU, that type checkers do not know; or several CPUs
def compile(
    problem: Problem,
    max_implementations: int | str = ...,
    threads: int | None = ...,
    target: Wanted | GpuTarget = ...,
    time_limit: float | None = ...,
    *,
    effort: int | str | None = ...,
    hot_a: bool = ...,
    hot_b: bool = ...,
    verify: bool = ...,
    forced: Forced | GpuForced = ...,
    plan: CpuPlan | GpuPlan | str | None = ...,
    database: str | Path | None = ...,
    ignore_database: bool = ...,
    progress: Report | bool | None = ...,
) -> Any: ...


@states_memory
def compile(
    problem: Problem | Contraction,
    max_implementations: int | str = MAX_IMPLEMENTATIONS,
    threads: int | None = None,
    target: Wanted | GpuTarget = None,
    time_limit: float | None = None,
    *,
    effort: int | str | None = None,
    hot_a: bool = False,
    hot_b: bool = False,
    verify: bool = True,
    forced: Forced | GpuForced = FREE,
    plan: Any = None,
    database: str | Path | None = None,
    ignore_database: bool = False,
    progress: Report | bool | None = None,
) -> Any:
    """The best solution for a problem: from the database, from the cost model, or by timing candidates.

    max_implementations: candidates to consider, 1 = cost model only, nothing is timed, -1 = the paper's whole space;
    or "estimate" (1), "measure" (20), "patient" (200, the default), "exhaustive" (-1); effort: another name for it;
    threads: by default `ttc_llvm.set_num_threads`, OMP_NUM_THREADS or the CPUs at hand; target: a CPU, an
    architecture or several (see `machines.chosen`), by default this machine, and others of its kind by objects;
    time_limit: seconds of tuning; hot_a, hot_b: tensors that are in the caches when a run starts; verify: check the
    winner's result, every element; forced: decisions already taken; plan: exactly this plan, or its text, is timed, and
    what is stored stays as it is; database: path of the solutions database; ignore_database: do not look there (the
    result is still stored). progress: a function that is told how far it has
    come (`Progress`); without one, terminals and notebooks show it, unless it is False or the log tells it.
    Ctrl-C during tuning keeps the best so far. Raises TtcError subclasses with one sentence.
    The result is a Solution; for a GPU ("cuda", "sm_90", "gfx90a", ...) it is a GpuSolution: there, nothing but timing
    needs a device, threads has no meaning, and forced is a GpuForced. For a Contraction it is a ContractionSolution:
    its plans are timed on this machine, with the caches as the last run has left them.
    """
    tried = _effort(max_implementations, effort)
    if not isinstance(problem, Contraction):
        arguments.instance(Problem)("problem", problem, ProblemError)
    mode = Mode.of(arguments.flag("hot_a", hot_a), arguments.flag("hot_b", hot_b))
    if database is not None:
        database = None if isinstance(database, str) and not database else paths.checked("database", database)
    ignore_database = arguments.flag("ignore_database", ignore_database)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise OptionError(f"progress is a {type(progress).__name__}: it must be a function, True, False or None")
    if isinstance(problem, Contraction):
        given = {"target": target, "forced": None if forced == FREE else forced, "hot_a": hot_a, "hot_b": hot_b}
        for name, value in given.items():
            if value:
                raise OptionError(f"{name} is an option of transpositions: a contraction is planned for this machine")
        text = None if plan is None else str(plan)
        asked = checked(tried, threads, None, time_limit, Mode.HOT, verify=verify, plan=text)
        with reporting(progress) as report:
            planning = locks.imported("ttc_llvm.contractions.solving")
            return planning.solve(problem, asked, open_database(database, ignore_database), report)
    if isinstance(target, GpuTarget) or (isinstance(target, str) and is_gpu(target)):
        with locks.IMPORTS:
            from . import gpu_compiling

        wanted = gpu_compiling.checked(tried, target, time_limit, mode, verify=verify, forced=forced, plan=plan)
        with reporting(progress) as report:
            return gpu_compiling.solve(problem, wanted, open_database(database, ignore_database), report)
    if isinstance(forced, GpuForced):
        raise OptionError(f"decisions {forced!r} are a GPU's: the target is a CPU")
    options = checked(tried, threads, target, time_limit, mode, verify=verify, forced=forced, plan=plan)
    with reporting(progress) as report:
        return solve(problem, options, open_database(database, ignore_database), report)


def _effort(max_implementations: int | str, effort: int | str | None) -> int:
    """The candidates to consider, by the one name or the other."""
    tried = efforts.effort("max_implementations", max_implementations)
    if effort is None:
        return tried
    if tried != MAX_IMPLEMENTATIONS:
        raise OptionError("max_implementations and effort are two names of one option: give one of them")
    return efforts.effort("effort", effort)
