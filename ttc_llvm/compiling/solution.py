"""A solution: the chosen plan of a problem, ready to be called and to be written as object and header."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import arguments, locks, paths
from ..errors import OptionError, PlanError, ProblemError, out_of_memory, states_memory
from ..lazy_dataclasses import replace
from ..lowering import items
from ..lowering.plan import CpuPlan, parse
from ..lowering.plan_checks import check
from ..machine.target import Target
from ..operands.addresses import data_address
from ..problem.canonical import Canonical
from ..problem.kinds import Beta, Kinds
from ..problem.problem import Problem
from ..problem.summands import kinds_of
from ..runtime import kernel
from ..runtime.array_arguments import REALS
from ..runtime.executable import Executable
from ..runtime.kernel import Objects
from ..tuning.measurement import Measurement
from .by_scalars import ByScalars
from .by_strides import Place, left
from .pickles import PICKLED, kept_code, unmarked
from .ready import Ready

if TYPE_CHECKING:
    from ..explain import Explanation
    from ..lowering.nest import LoopNest
    from ..native.artifact import Spec

_CONSTANTS = REALS | {complex}  # types of scalars that have the same value as long as they are the same object


class Solution(ByScalars[Executable, Ready]):
    """A tuned transposition: call it, inspect it, write it. Safe to call from several threads; pickles.

    problem, target, plan, threads: what was solved, for which machine and how many threads;
    measurement: None where nothing was timed; others: further machines that written objects serve.
    """

    def __init__(
        self,
        problem: Problem,
        target: Target,
        plan: CpuPlan,
        threads: int,
        measurement: Measurement | None = None,
        objects: Objects | None = None,
        others: Iterable[Target] = (),
    ) -> None:
        self.problem, self.target, self.plan, self.threads = problem, target, plan, threads
        self.measurement, self.others = measurement, cast("tuple[Target, ...]", others)
        self._objects: Objects = {} if objects is None else objects
        arguments.put(self, _RULES, OptionError)
        super().__init__(problem)
        self._last: tuple[complex | None, complex | None, Callable[[Any, Any], bool]] = None, None, left
        check(plan, self._canonical)

    def __repr__(self) -> str:
        return f"Solution({self.problem!r}, target={self.target}, plan='{self.plan}')"

    def __reduce__(self) -> tuple[Callable[..., Solution], tuple[Any, ...]]:
        """The plan's text, and no code: pickles are copied between users and machines."""
        state = (self.problem, self.target, str(self.plan), self.threads, self.measurement, self.others)
        return locks.imported(".unpickled", __package__).solution, ((PICKLED, *state),)

    # --- calling ---

    def __call__(
        self,
        a: Any,
        b: Any = None,
        alpha: complex | None = None,
        beta: complex | None = None,
        threads: int | None = None,
    ) -> Any:
        """`B <- alpha * A + beta * B`; returns b.

        a, b: each an array of the tensor's shape (`size`, for B permuted; for a problem `from_arrays` that of its
        arrays), which is read by its strides: where they are others than the problem's, `ttc_llvm.transpose` serves the
        call. Or the tensor's padded column-major storage: an array of the outer sizes in F order, of these reversed in
        C order, or of one dimension, another buffer, or an integer address (of which nothing can be checked). b: a
        again, or left out, of a problem in place. alpha, beta: by default the problem's; threads: by default the
        solution's. Raises ArrayError for what does not fit, ProblemError for scalars, OptionError for threads,
        TargetError where the solution is another machine's.
        """
        b = a if b is None and self.problem.inplace else b
        known_alpha, known_beta, moves = self._last
        if (
            alpha is known_alpha
            and beta is known_beta
            and (threads is None or (type(threads) is int and 0 < threads <= arguments.COUNT))
            and moves(a, b)
        ):
            return b
        ready = self._find(alpha, beta)
        if type(alpha) in _CONSTANTS and type(beta) in _CONSTANTS:
            self._last = alpha, beta, ready.moves
        most = self.threads if threads is None else int(_RULES["threads"]("threads", threads, OptionError))
        if ready.moves(a, b):
            return b
        (address_a, keeps_a), (address_b, keeps_b) = self._a.address(a), self._b.address(b)
        try:
            if address_a < 0 or address_b < 0:
                self._run_by_strides((address_a, keeps_a), (address_b, keeps_b), ready, most)
            else:
                self._check_apart(address_a, address_b)
                ready.run(address_a, address_b, most)
        except MemoryError as error:
            raise out_of_memory(error, "Solution") from error
        return b

    def _run_by_strides(self, a: Place, b: Place, ready: Ready, threads: int) -> None:
        """A call whose arrays do not both lie as the problem says."""
        view_a, view_b, own = self._by_strides.views(a, b)
        addresses = data_address(view_a), data_address(view_b)
        if own or self.problem.inplace:
            self._check_apart(*addresses)
        if own:
            ready.run(*addresses, threads)
        else:
            ready.run_strided(view_a, view_b, threads)

    def _bound(self, executable: Executable, problem: Problem) -> Ready:
        return Ready(executable, problem, self._by_strides)

    def _executable(self, kinds: Kinds) -> Executable:
        """The code for these kinds of scalars, compiled or linked by its first calls."""
        plan = self.plan_for(kinds)
        own = plan == self.plan and kinds == kinds_of(self.problem)
        placed = items.placed(self.problem, self.target, kinds)
        return Executable(placed, plan, self.target, self._objects if own else None)

    def plan_for(self, kinds: Kinds) -> CpuPlan:
        """The plan for other kinds of scalars: the solution's where the axes are the same, or the model's."""
        arguments.instance(Kinds)("kinds", kinds, ProblemError)
        own, other = self._canonical, items.placed(self.problem, self.target, kinds).canonical
        if own.axes != other.axes:
            return _stored_plans().modelled(other, self.target, self.threads)  # type: ignore[no-any-return]
        return self.plan if kinds.beta is Beta.ZERO else self.plan.ordinary

    # --- inspecting ---

    @property
    def _canonical(self) -> Canonical:
        return items.placed(self.problem, self.target).canonical

    @property
    def nest(self) -> LoopNest:
        """The loop nest of the problem's own scalars."""
        with locks.IMPORTS:
            from ..lowering.lower import lower
        return lower(self._canonical, self.plan, self.target)

    @property
    def llvm_ir(self) -> str:
        """The kernel's LLVM IR as built, before optimisation."""
        return kernel.ir_text(self._canonical, self.plan, self.target)

    @property
    def assembly(self) -> str:
        """The kernel's assembly for the solution's target."""
        return str(locks.imported("..runtime.backend", __package__).assembly(self.llvm_ir, self.target))

    @states_memory
    def explain(self, count: int = 10) -> Explanation:
        """Every stage from the problem to this plan's instructions: str() is text, notebooks show pictures.

        count: plans of the cost model's ranking to list. Nothing is timed.
        """
        with locks.IMPORTS:
            from ..explain import explain

        return explain(self, count)

    # --- writing ---

    @states_memory
    def write(
        self, directory: str | Path, emit: Sequence[str] = ("obj", "header"), *, overwrite: bool = False,
        prefix: str = "", visibility: str = "default",
    ) -> tuple[Path, ...]:  # fmt: skip
        """Write the artifacts under their C names; returns their paths.

        emit: any of obj, header, fortran, omp, asm, llvm, bitcode. overwrite: replace files of these names that were
        not written by ttc_llvm; prefix: what the names of entries and files begin with; visibility: default, or hidden,
        which shared libraries do not export. Raises OptionError for other words, where the directory cannot be written
        or holds such a file, and where a leading dimension exceeds a C int.
        """
        with locks.IMPORTS:
            from ..native import artifact
            from ..problem import interface

        folder = paths.checked("directory", directory)
        spec = replace(self.spec_for(self.targets), symbols=interface.symbols(prefix, visibility))
        return artifact.write(spec, folder, emit, arguments.flag("overwrite", overwrite))

    @property
    def targets(self) -> tuple[Target, ...]:
        """The machines that written objects serve, first the one that the plan is for."""
        return (self.target, *self.others)

    def spec_for(self, targets: Sequence[Target]) -> Spec:
        """The description of its artifacts; targets: its own."""
        with locks.IMPORTS:
            from ..native.artifact import Spec

        gibs = None if self.measurement is None else self.measurement.gibs
        forms = ((machine, items.placed(self.problem, machine).canonical) for machine in self.others)
        plan_for = partial(_stored_plans().modelled, threads=self.threads)
        others = tuple((machine, plan_for(form, machine)) for machine, form in forms)
        return Spec(self.problem, self.target, self.plan, gibs, others=others, plan_for=plan_for)


_RULES = {
    "problem": arguments.instance(Problem),
    "target": arguments.instance(Target),
    "plan": arguments.instance(CpuPlan),
    "threads": arguments.between(1),
    "measurement": arguments.optional(arguments.instance(Measurement)),
    "others": arguments.each(arguments.instance(Target), "targets"),
    "_objects": arguments.texts_to(bytes),
}


def _unpickled(*given: Any) -> Solution:
    """A solution from a pickle, its code from this user's database; with the model's plan where this program has no
    such plan for the problem."""
    problem, target, text, threads, measurement, others = unmarked(given, 6)
    canonical = items.placed(problem, target).canonical
    try:
        plan = check(parse(text), canonical)
    except PlanError:
        model = _stored_plans().modelled(canonical, target, threads)
        return Solution(problem, target, model, threads, None, None, others)
    made = Solution(problem, target, plan, threads, measurement, None, others)
    made._objects = kept_code(str(canonical), plan, target.key)
    return made


def _stored_plans() -> Any:
    """What only plans need that no solution has."""
    return locks.imported(".stored_plans", __package__)
