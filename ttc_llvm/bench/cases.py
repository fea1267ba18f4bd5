"""A case: one transposition to be measured, and how; of which size, and which of the suites' cases."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from math import prod

from ..errors import OptionError
from ..lazy_dataclasses import dataclass, replace
from ..problem.canonical import Canonical, canonicalise, static
from ..problem.dtypes import Kind
from ..problem.problem import Problem
from ..problem.wording import number

COPY, UPDATE = "copy", "update"
KINDS = (COPY, UPDATE)
ALPHA, BETA = 2.0, 4.0  # of updates, as in the TTC and HPTT papers
_SLICE = re.compile(r"(-?[0-9]{1,9})?(:(-?[0-9]{1,9})?(:([0-9]{1,9})?)?)?")


@dataclass(frozen=True, slots=True)
class Case:
    """One transposition to be measured.

    suite, name, kind: unique together; problem: beta = 0 (a copy; alpha = 1, but for casts), or alpha = 2 and beta = 4
    (an update);
    hot: both tensors in the caches, time per call; threads: None = as many as the run has;
    offset: elements from the aligned starts of the buffers to both tensors.
    """

    suite: str
    name: str
    problem: Problem
    hot: bool = False
    threads: int | None = None
    offset: int = 0

    @property
    def kind(self) -> str:
        """`update` where B is read (beta != 0), else `copy`."""
        return COPY if self.problem.beta == 0 else UPDATE

    @property
    def id(self) -> str:
        """The name of the case on the command line and in reports."""
        return f"{self.suite}/{self.name}/{self.kind}"

    @property
    def text(self) -> str:
        """Everything that is measured, in one line: equal texts are equal work."""
        mode = "hot" if self.hot else "cold"
        threads = "" if self.threads is None else f" threads {self.threads}"
        offset = f" offset {self.offset}" if self.offset else ""
        return f"{describe(self.problem)} {self.kind} {mode}{threads}{offset}"

    @property
    def canonical(self) -> Canonical:
        """The problem's canonical form, element by element."""
        return canonicalise(self.problem).canonical


def describe(problem: Problem) -> str:
    """`1,0 7264x7264 s`, and leading dimensions where there are any."""
    terms = (f"{number(x)}:{','.join(map(str, perm))}" for x, perm in problem.terms)
    moved = ";".join(terms) or ",".join(map(str, problem.perm))
    parts = [moved, "x".join(map(str, problem.size)), problem.dtype]
    outer = (("lda", problem.lda), ("ldb", problem.ldb))
    parts += [f"{name} {'x'.join(map(str, sizes))}" for name, sizes in outer if sizes is not None]
    return " ".join(parts) + " conj" * problem.conjugate + " in place" * problem.inplace


def as_kind(case: Case, kind: str) -> Case | None:
    """The case as a copy or as an update; None where its types admit plain moves only."""
    if kind == COPY:
        return replace(case, problem=replace(case.problem, beta=0.0))
    if case.problem.compute.kind is Kind.OPAQUE:
        return None
    return replace(case, problem=replace(case.problem, alpha=ALPHA, beta=BETA))


def run_bytes(canonical: Canonical) -> int:
    """Bytes that lie together in both tensors, at least: the shared unit-stride row, or the shorter of both runs."""
    sizes = {"a": canonical.a.itemsize, "b": canonical.b.itemsize}
    first = canonical.axes[0]
    if first.stride_a == 1 and first.stride_b == 1:
        return static(first.extent) * min(sizes.values())
    return min(_run(canonical, side) * size for side, size in sizes.items())


def _run(canonical: Canonical, side: str) -> int:
    """Elements from the first one of a side on that lie together in memory."""
    pairs = sorted(zip(canonical.strides(side), canonical.extents, strict=True), key=lambda p: abs(static(p[0])))
    length = 1
    for stride, extent in pairs:
        if abs(static(stride)) != length:
            break
        length *= extent
    return length


# --- sizes ------------------------------------------------------------------------------------------------


def shrunk(case: Case, limit: int) -> Case:
    """The same case with its longest extents halved until a tensor has at most `limit` bytes; padding stays."""
    problem = case.problem
    item = max(problem.a.itemsize, problem.b.itemsize)
    size = list(problem.size)
    while prod(size) * item > limit and max(size) > 1:
        longest = max(range(len(size)), key=lambda k: size[k])
        for k in _equal(problem, longest):
            size[k] = -(-size[k] // 2)
    return replace(case, problem=resized(problem, tuple(size)))


def _equal(problem: Problem, k: int) -> list[int]:
    """The indices whose extents have to be that of an index: which take its place, in place or in a sum."""
    perms, found = [perm for _, perm in problem.terms] or [problem.perm] * problem.inplace, [k]
    for one in found:  # which grows
        found += dict.fromkeys(perm[one] for perm in perms if perm[one] not in found)
    return found


def enlarged(case: Case, size: int) -> Case:
    """The same case with one extent longer, so that a tensor takes about `size` bytes: the longest of those along
    which neither tensor is contiguous, where there is one."""
    problem = case.problem
    inner = {0, problem.perm[0]}
    choice = [k for k in range(len(problem.size)) if k not in inner] or list(range(len(problem.size)))
    longest = max(choice, key=lambda k: problem.size[k])
    extents = list(problem.size)
    extents[longest] = max(1, round(extents[longest] * size / (problem.elements * problem.b.itemsize)))
    return replace(case, problem=resized(problem, tuple(extents)))


def resized(problem: Problem, size: tuple[int, ...]) -> Problem:
    """The same transposition of other extents, with as much padding along every index as before."""
    less = [old - new for old, new in zip(problem.size, size, strict=True)]
    lda = None if problem.lda is None else tuple(o - x for o, x in zip(problem.lda, less, strict=True))
    ldb = None if problem.ldb is None else tuple(o - less[p] for o, p in zip(problem.ldb, problem.perm, strict=True))
    return replace(problem, size=size, lda=lda, ldb=ldb)


# --- which of them ---------------------------------------------------------------------------------------------


def select(
    given: Sequence[Case],
    wanted: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[Case, ...]:
    """Some of the cases, in their order.

    wanted: numbers or slices such as `3`, `::10`, `5:8` of every suite and kind, names, or patterns such as
    `bits*` and `*/copy`; none = all. sample: at most so many, drawn with this seed; limit: bytes of a tensor, at most.
    Raises OptionError for what is malformed or matches nothing.
    """
    names = _wanted(given, wanted)
    chosen = [case for case in given if not wanted or case.id in names]
    if sample is not None:
        if sample < 1:
            raise OptionError(f"sample {sample} is less than 1")
        drawn = random.Random(seed).sample(range(len(chosen)), min(sample, len(chosen)))
        chosen = [chosen[k] for k in sorted(drawn)]
    if limit is not None:
        if limit < 1:
            raise OptionError(f"bytes {limit} is less than 1")
        chosen = [shrunk(case, limit) for case in chosen]
    return tuple(chosen)


def _wanted(given: Sequence[Case], wanted: Sequence[str]) -> frozenset[str]:
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in given:
        groups.setdefault((case.suite, case.kind), []).append(case)
    found: set[str] = set()
    for text in wanted:
        matches = {case.id for group in groups.values() for case in _matches(group, text)}
        if not matches:
            raise OptionError(f"cases {text[:60]!r} match nothing: numbers, slices as ::10, names and patterns do")
        found |= matches
    return frozenset(found)


def _matches(group: Sequence[Case], text: str) -> Sequence[Case]:
    """The cases of one suite and kind that a text means; a name goes before a number."""
    named = [case for case in group if any(fnmatchcase(name, text) for name in _names(case))]
    numbers = _SLICE.fullmatch(text)
    if named or not text or numbers is None:
        return named
    first, colon, last, _, step = numbers.groups()
    if colon is None:
        return group[int(first) :][:1] if abs(int(first)) <= len(group) else ()
    if step is not None and int(step) == 0:
        raise OptionError(f"cases {text!r}: the step of a slice is 1 or more")
    return group[slice(*(None if part is None else int(part) for part in (first, last, step)))]


def _names(case: Case) -> tuple[str, ...]:
    return case.name, f"{case.suite}/{case.name}", f"{case.name}/{case.kind}", case.id
