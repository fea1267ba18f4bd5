"""The common part of solutions for CPUs and GPUs: whatever a call needs, made once per alpha and beta."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from ..errors import ArrayError
from ..lazy_dataclasses import replace
from ..problem.kinds import Kinds
from ..problem.problem import Problem
from ..problem.summands import kinds_of
from ..runtime.array_arguments import OVERLAP, REALS, Storage, exactly
from .by_strides import ByStrides

KEPT_SCALARS = 16

E = TypeVar("E")  # the code of one kind of scalars
R = TypeVar("R")  # what a call with given scalars needs


class ByScalars(Generic[E, R]):
    """The code of a problem by the kinds of its scalars, and what the last few scalars need. Safe in several threads:
    of two that make the same, the first one's serves both."""

    problem: Problem

    def __init__(self, problem: Problem) -> None:
        self._a, self._b = Storage.of(problem, "A"), Storage.of(problem, "B")
        self._by_strides = ByStrides(problem, self._a, self._b)
        self._ready: dict[tuple[Any, Any], R] = {}
        self._executables: dict[Kinds, E] = {}

    def _executable(self, kinds: Kinds) -> E:
        """The code for these kinds of scalars."""
        raise NotImplementedError

    def _bound(self, executable: E, problem: Problem) -> R:
        """What a call with the problem's scalars needs."""
        raise NotImplementedError

    def _check_apart(self, a: int, b: int) -> None:
        """ArrayError where the tensors at these addresses overlap, or of a problem in place, are not one."""
        if self.problem.inplace:
            if a != b:
                raise ArrayError("A and B are two tensors: the transposition is in place")
        elif a < b + self._b.bytes and b < a + self._a.bytes:
            raise ArrayError(OVERLAP)

    def _find(self, alpha: complex | None, beta: complex | None) -> R:
        """What a call needs; None stands for the problem's own scalars. ProblemError where they are none."""
        key: tuple[Any, Any] = alpha, beta
        if type(alpha) not in REALS or type(beta) not in REALS:
            key = exactly("alpha", alpha), exactly("beta", beta)
        return self._ready.get(key) or self._prepare(key, alpha, beta)

    def _prepare(self, key: tuple[Any, Any], alpha: complex | None, beta: complex | None) -> R:
        own = self.problem
        alpha, beta = own.alpha if alpha is None else alpha, own.beta if beta is None else beta
        checked = replace(own, alpha=alpha, beta=beta)
        kinds = kinds_of(checked)
        executable = self._executables.get(kinds) or self._executables.setdefault(kinds, self._executable(kinds))
        ready = self._bound(executable, checked)
        if len(self._ready) >= KEPT_SCALARS:
            self._ready = {}
        return self._ready.setdefault(key, ready)
