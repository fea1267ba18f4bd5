"""Solutions called with addresses of every kind, on several threads: what runs instead of their plans, all scalars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from case import Case
from fuzz_draw import LINE, Met, asked, problem, scalars
from fuzz_kernels import KINDS, machine_for
from fuzz_plans import plan
from guarded_case import GuardedCase, Place

from ttc_llvm.compiling.solution import Solution
from ttc_llvm.ir_builders import pool_layout
from ttc_llvm.lowering import fallback
from ttc_llvm.lowering.items import placed
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import FALLBACKS, CpuPlan
from ttc_llvm.lowering.writing import resolve
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.dtypes import to_numpy
from ttc_llvm.problem.kinds import Kinds
from ttc_llvm.problem.problem import Problem

TRIES = 40
CALLS = 4
PLACES = 12  # calls where B's place is the goal
THREADS = (1, 2, 3, 4)


def prepare() -> None:
    """Have small tensors served by threads, and by short loads, in this process, as large ones are."""
    pool_layout.SERIAL_BYTES = 1 << 10
    fallback.LONG_CALL = 1 << 10


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "fallback": [store.value for store in FALLBACKS],
        "loads": ("off-lines",),
        "items": (2, 4, 8, 16),
        "kinds": KINDS,
        "threads": THREADS,
        "residue": range(LINE),
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


@dataclass(frozen=True, slots=True)
class Served:
    """What serves some kinds of scalars. narrow: the form before rows became items."""

    canonical: Canonical
    narrow: Canonical
    plan: CpuPlan
    target: Target

    @classmethod
    def of(cls, solution: Solution, kinds: Kinds) -> Served:
        """What a call of a solution with such scalars runs."""
        own, target = solution.problem, solution.target
        form = placed(own, target, kinds).canonical
        return cls(form, canonicalise(own, kinds).canonical, solution.plan_for(kinds), target)

    def features(self, a: int, b: int, threads: int) -> Iterator[str]:
        """What happens at these addresses with so many threads."""
        c, item = self.canonical, self.canonical.b.itemsize
        yield f"residue={b % LINE}"
        yield from (f"items={item}",) * (item > self.narrow.b.itemsize)
        share = max(1, c.bytes_moved // pool_layout.SERIAL_BYTES)
        yield f"threads={min(threads, share, max(1, lower(c, self.plan, self.target).tasks))}"
        boundary = resolve(c, self.plan, self.target).alignment
        if boundary > item and b % boundary and b % item == 0:
            yield f"fallback={fallback.for_misaligned_b(c, self.plan, self.target).store.value}"
        elif a % self.target.line and fallback.short_loads(c, self.target):
            yield "loads=off-lines"

    def may(self, goal: str) -> bool:
        """Whether some address and number of threads meet the goal."""
        threads, places = int(asked(goal, "threads") or 4), range(0, LINE, to_numpy(self.narrow.b).alignment)
        return any(goal in self.features(1, b, threads) for b in places)


def attack(rng: Random, goal: str) -> Met:
    """Call one solution, whose plan can have what the goal asks for, with several addresses, threads and scalars."""
    for _ in range(TRIES):
        solution = _solution(rng, goal)
        own = Served.of(solution, Kinds.of(solution.problem.alpha, solution.problem.beta))
        if not goal or asked(goal, "kinds") or own.may(goal):
            break
    count, met = PLACES if asked(goal, "residue") else CALLS, list[str]()
    for number in range(count):
        met += _call(rng, solution, goal, own=number < count // 2)
    return Met(tuple(met))


def _solution(rng: Random, goal: str) -> Solution:
    own, wanted = problem(rng, goal), machine_for(rng, goal)
    form = placed(own, wanted).canonical
    return Solution(own, wanted, plan(rng, form, wanted, goal), 1)


def _call(rng: Random, solution: Solution, goal: str, own: bool) -> set[str]:
    """A call with the problem's own scalars, or with others."""
    problem = solution.problem
    alpha, beta, _ = (problem.alpha, problem.beta, None) if own else scalars(rng, problem.compute)
    case = Case.of(replace(problem, alpha=alpha, beta=beta), rng.getrandbits(30))
    place_b = _place(rng, problem, "b", asked(goal, "residue") if own else "")
    made = GuardedCase.of(case, _place(rng, problem, "a"), place_b)
    threads = int(asked(goal, "threads") or rng.choice(THREADS))
    solution(*made.origins, alpha, beta, threads)
    made.check(f"\n{solution}\n{case}\n{made.origins} on {threads}")
    served = Served.of(solution, case.kinds)
    return {f"kinds={case.kinds}", *served.features(*made.origins, threads)}


def _place(rng: Random, problem: Problem, side: str, residue: str = "") -> Place:
    """Against a guard page, or anywhere in a line where NumPy would say that it is aligned."""
    step = to_numpy(problem.a if side == "a" else problem.b).alignment
    places = range(0, LINE, step)
    flush = rng.choice(("start", "end"))
    if residue and int(residue) in places:
        return Place(flush, int(residue))
    return Place(flush, rng.choice(places) if rng.random() < 0.7 else None)
