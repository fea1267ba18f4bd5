"""A bounded memory of recent results, whose look-ups take no lock."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key: the last capacity / 2 that were used, and at most `capacity` in all.

    Two generations instead of an order: what is used moves to the young one; when that is full, it becomes the
    old one, whose values go unless they are used again. Safe in several threads: a lost race costs an entry.
    """

    __slots__ = ("_half", "_old", "_young")

    def __init__(self, capacity: int) -> None:
        self._half = max(1, capacity // 2)
        self._young: dict[Hashable, V] = {}
        self._old: dict[Hashable, V] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def find(self, key: Hashable) -> V | None:
        """The value under this key, or None."""
        value = self._young.get(key)
        if value is not None:
            return value
        value = self._old.get(key)
        return None if value is None else self.put(key, value)

    def put(self, key: Hashable, value: V) -> V:
        """Remember a value, and return it."""
        if len(self._young) >= self._half:
            self._young, self._old = {}, self._young
        self._young[key] = value
        return value
