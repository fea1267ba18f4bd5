"""Fits the weights of the cost model to timings of plans; `fit.py` calls it.

It is a ridge regression of log(time) on the facts of `groups.py`, centred per problem, good plans
weighted more. A weight is the sum of one that all plans share, one of those that fetch and store alike, one of the
class of problems, and one of both; neighbouring buckets of a size are pulled together: few data then say no more than
they know. What the cost model knows without a fit, how evenly threads share tasks and which rows crowd one cache set,
is taken off the timings first. The normal equations, of tens of thousands of weights, are solved by conjugate
gradients (Hestenes and Stiefel 1952) without their matrix: plans have few facts each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from data import GOOD, Timings

from ttc_llvm.tuning.cost.features import Owned
from ttc_llvm.tuning.cost.fitted import Bucket, Owner, Table
from ttc_llvm.tuning.cost.vocabulary import BASE, MODES, STORED

RIDGE = (8.0, 24.0, 40.0)  # penalty of a weight that all plans share, and of those of ever fewer plans
SMOOTH = 2.0  # of a step between neighbouring buckets, relative to that
EXACT = 1e-10  # of the residual's length by the right side's
DIGITS = 3  # of a stored weight

Column = tuple[str, str, str, str, Bucket]  # class and mode, "" for all; fact, family, bucket


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What problems' plans have of the columns. columns: of every fact [facts, levels], -1 = unknown; facts: of all
    plans, one after the other; starts: of every plan's facts; problems: their plans, from and to; share: of a plan in
    its problem, good ones more, 100 in all."""

    columns: np.ndarray
    facts: np.ndarray
    starts: np.ndarray
    problems: list[slice]
    share: np.ndarray

    def of(self, solution: np.ndarray) -> np.ndarray:
        """What the columns say of every plan."""
        weights = np.append(solution, 0.0)[self.columns].sum(1)
        found: np.ndarray = np.add.reduceat(weights[self.facts], self.starts[:-1])
        return found

    def back(self, values: np.ndarray, size: int) -> np.ndarray:
        """The transposed operation: of each of so many columns the sum over its plans."""
        facts = np.bincount(self.facts, np.repeat(values, np.diff(self.starts)), len(self.columns))
        return np.bincount(self.columns.ravel(), np.repeat(facts, self.columns.shape[1]), size)

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Values of plans without each problem's weighted mean, times their shares."""
        found = np.empty_like(values)
        for plans in self.problems:
            share = self.share[plans]
            found[plans] = share * (values[plans] - (share * values[plans]).sum() / share.sum())
        return found


class Penalty:
    """What large weights cost, and steps between neighbouring buckets: the matrix, by its product with a vector."""

    def __init__(self, columns: dict[Column, int]) -> None:
        ridge = np.array([RIDGE[bool(kind) + bool(mode)] for kind, mode, *_ in columns])
        sized = [(whose, bucket, i) for (*whose, bucket), i in columns.items() if isinstance(bucket, int)]
        after = [(i, columns.get((*whose, bucket + 1))) for whose, bucket, i in sized]
        pairs = np.array([pair for pair in after if pair[1] is not None], int).reshape(-1, 2)
        self.left, self.right = pairs.T
        self.step = SMOOTH * ridge[self.left]
        self.diagonal = ridge + np.bincount(pairs.ravel(), np.repeat(self.step, 2), len(ridge))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.diagonal * x
        found[self.left] -= self.step * x[self.right]
        found[self.right] -= self.step * x[self.left]
        return found


class Fit:
    """Weights fitted to the timings of some problems."""

    def __init__(self, problems: Sequence[Timings]) -> None:
        data = [d for d in problems for _ in range(d.copies)]
        facts = dict.fromkeys((d.kind, fact) for d in data for found in d.facts for fact in found)
        found = dict.fromkeys(column for kind, fact in facts for column in levels(kind, fact))
        self.columns = {column: number for number, column in enumerate(found)}
        self.owners = {owner for _, (owner, _) in facts}  # of others nothing is known
        self.solution = self._solved(data)
        self.base = self._bases(data)

    def _solved(self, data: Sequence[Timings]) -> np.ndarray:
        facts, size, penalty = self._facts(data), len(self.columns), Penalty(self.columns)
        right = facts.back(facts.centred(np.concatenate([d.fitted for d in data])), size)
        diagonal = penalty.diagonal + facts.back(facts.share, size)
        return solved(lambda x: facts.back(facts.centred(facts.of(x)), size) + penalty(x), right, diagonal)

    def _facts(self, data: Sequence[Timings]) -> Facts:
        numbers: dict[tuple[str, Owned], int] = {}
        plans = [
            [numbers.setdefault((d.kind, fact), len(numbers)) for fact in facts] for d in data for facts in d.facts
        ]
        columns = [[self.columns.get(column, -1) for column in levels(*fact)] for fact in numbers]
        starts = np.cumsum([0, *map(len, plans)])
        ends = np.cumsum([0, *(len(d.facts) for d in data)]).tolist()
        shares = [(d.speeds / d.speeds.max()) ** GOOD for d in data]
        share = np.concatenate([share / share.sum() * 100 for share in shares])  # every problem counts the same
        entries = np.fromiter(chain.from_iterable(plans), int, starts[-1])
        return Facts(np.array(columns), entries, starts, [slice(*pair) for pair in pairwise(ends)], share)

    def _bases(self, data: Sequence[Timings]) -> dict[str, float]:
        """Per class, what is left of log(time) beside the weights: of good plans, in the mean over problems."""
        left: dict[str, list[float]] = {}
        for d in data:
            good = d.speeds > 0.8 * d.speeds.max()
            left.setdefault(d.kind, []).append(float(np.mean((d.fitted - self.predict(d))[good])))
        return {kind: sum(values) / len(values) for kind, values in left.items()}

    def predict(self, d: Timings) -> np.ndarray:
        """What the weights say of log(time) of a problem's plans, free of what needs no fit, up to a constant."""
        return self._facts([d]).of(self.solution)

    def tables(self, kinds: Iterable[str]) -> dict[Owner, Table]:
        """The weights by class, mode, fact and family, as they are stored."""
        found: dict[Owner, dict[Bucket, float]] = {}
        modes = {kind: [m for m in MODES if "update" not in kind or m.endswith(f" {STORED[0]}")] for kind in kinds}
        facts = sorted({(fact, family, bucket) for _, _, fact, family, bucket in self.columns}, key=_in_order)
        for kind in modes:
            found[kind, "", BASE, ""] = {"": round(self.base[kind], DIGITS)}
            for mode in modes[kind]:
                for fact, family, bucket in facts:
                    if (mode, fact, family) in self.owners:
                        value = self._weight(kind, ((mode, fact, family), bucket))
                        found.setdefault((kind, mode, fact, family), {})[bucket] = value
        return found

    def _weight(self, kind: str, fact: Owned) -> float:
        columns = [self.columns[column] for column in levels(kind, fact) if column in self.columns]
        return round(float(sum(self.solution[columns])), DIGITS)


def _in_order(fact: tuple[str, str, Bucket]) -> tuple[str, str, bool, Bucket]:
    """Buckets of one fact are all sizes or all words."""
    name, family, bucket = fact
    return name, family, isinstance(bucket, str), bucket


def levels(kind: str, fact: Owned) -> list[Column]:
    """The columns that a fact counts for: of all plans, those that fetch and store alike, its class, and both."""
    (mode, name, family), bucket = fact
    return [(*where, name, family, bucket) for where in (("", ""), ("", mode), (kind, ""), (kind, mode))]


def solved(matrix: Callable[[np.ndarray], np.ndarray], right: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """The x whose product with a positive definite matrix is this right side. diagonal: the matrix's, about."""
    x, residual = np.zeros_like(right), right.copy()
    direction = residual / diagonal
    length, least = (residual * direction).sum(), EXACT**2 * (right * right).sum()
    while (residual * residual).sum() > least:
        image = matrix(direction)
        step = length / (direction * image).sum()
        x += step * direction
        residual -= step * image
        scaled = residual / diagonal
        length, before = (residual * scaled).sum(), length
        direction = scaled + length / before * direction
    return x
