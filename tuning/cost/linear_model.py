"""Weights of facts: the fitted tables, and what lies between their buckets."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .fitted import Bucket, Owner, Table, fitted
from .groups import Fact, Group


class Weights(dict[Fact, float]):
    """Weights of facts of plans of one class and mode on one family of processors, in log(time); by their short names,
    and filled when they are first used. converts: of problems between two types."""

    def __init__(self, kind: str, mode: str, family: str, converts: bool) -> None:
        super().__init__()
        self._kind, self._mode, self._family, self._converts = kind, mode, family, converts

    def __missing__(self, fact: Fact) -> float:
        name, bucket = fact
        found = weight((self._kind, self._mode, name, ""), bucket, self._converts)
        if self._family:  # nothing is added for facts in which families do not differ: the tables have none such
            found += weight((self._kind, self._mode, name, self._family), bucket, self._converts)
        self[fact] = found
        return found

    def of(self, groups: Iterable[Group]) -> float:
        """The sum of the weights of a plan's facts."""
        mode, found = self._mode, list[float]()
        for group in groups:
            weighed = group.weighed.get(mode)
            if weighed is None:
                weighed = group.weighed[mode] = [self[fact] for fact in (*group.shared, *group.own)]
            found += weighed
        return sum(found)


@lru_cache(maxsize=256)
def weights(kind: str, mode: str, family: str, converts: bool) -> Weights:
    """The weights of plans of this class and mode on this family of processors, filled once in a process."""
    return Weights(kind, mode, family, converts)


def weight(owner: Owner, bucket: Bucket, converts: bool) -> float:
    """The weight of a fact by itself; 0 where nothing is known."""
    return at(fitted(converts).tables[owner], bucket)


def at(table: Table, bucket: Bucket) -> float:
    """A bucket's weight; that of the nearest sizes in proportion, 0 where nothing is known."""
    found = table.get(bucket)
    if found is not None or isinstance(bucket, str):
        return found or 0.0
    known = [key for key in table if isinstance(key, int)]
    below = max((key for key in known if key < bucket), default=None)
    above = min((key for key in known if key > bucket), default=None)
    if below is None or above is None:
        nearest = above if below is None else below
        return 0.0 if nearest is None else table[nearest]
    share = (bucket - below) / (above - below)
    return table[below] * (1 - share) + table[above] * share
