"""Values that are made on first use and shared by all threads: while one makes it, the others wait, and get the same.

Machine code is the reason: were two threads to make the same function, the one that is forgotten would be unmapped, and
whoever holds its address would jump there. What threads share is made here, and holds what its addresses point to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar

from .. import locks
from ..logs import DEBUG, Log

_log = Log(__name__)
P = ParamSpec("P")
H = TypeVar("H", bound=Hashable)
V = TypeVar("V")


def obtain(known: dict[H, V], key: H, make: Callable[[], V]) -> V:
    """The value under this key, made by the first thread that asks for it; what is known is found without a lock."""
    if key not in known:
        with locks.CODE:
            if key not in known:
                known[key] = make()
    return known[key]


def attribute(owner: Any, name: str, make: Callable[[], V]) -> V:
    """An attribute of an object, None until the first thread that asks for it has made it. Callers ask only while it is
    None: what is known takes no call."""
    with locks.CODE:
        value: V | None = getattr(owner, name)
        if value is None:
            value = make()
            setattr(owner, name, value)
        return value


def once(make: Callable[P, V]) -> Callable[P, V]:
    """The function, whose result for each arguments, hashable and by position, is made once and kept for good."""
    made: dict[Hashable, V] = {}

    @wraps(make)
    def found(*args: P.args, **named: P.kwargs) -> V:
        if named:  # they would not be part of the key
            raise TypeError(f"{make.__name__} takes its arguments by position")
        return made[args] if args in made else obtain(made, args, partial(make, *args, **named))

    return found


class Recent(Generic[V]):
    """Values by key: the last capacity / 2 that were used, and at most `capacity` in all.

    Two generations instead of an order: what is used moves to the young one; when that is full, it becomes the
    old one, whose values go unless they are used again. Look-ups take no lock; a lost race costs an entry.
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
            gone: dict[Hashable, V] = {}
            with locks.CODE:  # two at a time would forget a whole generation
                if len(self._young) >= self._half:
                    gone, self._young, self._old = self._old, {}, self._young
            if gone and _log.is_enabled_for(DEBUG):
                count, kind = len(gone.keys() - self._old.keys()), type(next(iter(gone.values()))).__name__
                _log.debug("%d values of %s that were not used lately are evicted", count, kind)
        self._young[key] = value
        return value

    def obtain(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value under this key, made by one thread where there is none."""
        value = self.find(key)
        if value is not None:
            return value
        with locks.CODE:
            value = self.find(key)
            return self.put(key, make()) if value is None else value
