"""The suite `sums`: two and six permutations of one tensor of about 200 MiB, added; and a call for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from ..compiling.compiler import plan_canonical
from ..compiling.options import Options
from ..lazy_dataclasses import replace
from ..problem.canonical import Placed, canonicalise
from ..problem.dtypes import scalars
from ..problem.problem import Problem
from ..runtime.executable import Executable
from ..tuning.database.database import Database
from .cases import Case
from .contender import Contender
from .workspace import Workspace

NAME = "calls"
_OFF = 16  # bytes behind a line: where NumPy's large arrays begin
_FACTORS = (2, -1, 1, -1, 2, 1)
_EVERY = tuple(permutations(range(3)))
_SUMS: dict[str, tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = {
    "2-5120x5120": (((0, 1), (1, 0)), (5120, 5120)), "2-5119x5119": (((0, 1), (1, 0)), (5119, 5119)),
    "2-320x320x16x16": (((0, 1, 2, 3), (1, 0, 2, 3)), (320, 320, 16, 16)),
    "2-16x16x320x320": (((0, 1, 2, 3), (0, 1, 3, 2)), (16, 16, 320, 320)),
    "6-297x297x297": (_EVERY, (297, 297, 297)),
    "6-24x103x103x103": (tuple((0, *(k + 1 for k in perm)) for perm in _EVERY), (24, 103, 103, 103)),
}  # fmt: skip


def sums(threads: int) -> Iterator[Case]:
    """2*t - t.T and its like, whole lines and not; six terms, as P(ijk) has them."""
    for name, (perms, size) in _SUMS.items():
        problem = Problem(size=size, dtype="d", terms=tuple(zip(_FACTORS, perms, strict=False)))
        yield Case("sums", name, problem, offset=_OFF // problem.a.itemsize)


def one_by_one(workspace: Workspace, options: Options, store: Database) -> Iterator[Contender]:
    """A transposition for each term, the further ones added to B, each planned as the case itself; none elsewhere."""
    problem, parts = workspace.case.problem, []
    for number, (factor, perm) in enumerate(problem.terms):
        alpha, beta = problem.alpha * factor, 1 if number else problem.beta
        form = canonicalise(replace(problem, perm=perm, terms=(), alpha=alpha, beta=beta)).canonical
        planned = plan_canonical(form, options, (alpha, beta), store)
        made = Executable(Placed(form, 0, 0), planned.plan, workspace.target, planned.objects)
        parts.append((made, scalars(form.compute, alpha, beta)))
    addresses = workspace.source.address, workspace.b.address

    def run(repeats: int) -> None:
        for _ in range(repeats):
            for made, values in parts:
                made.run(*addresses, 0 if values is None else values.ctypes.data, workspace.threads)

    if parts:
        yield Contender(NAME, workspace.canonical.bytes_moved, run)
