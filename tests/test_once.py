"""Values that are made once, however many threads ask for them at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from ttc_llvm.runtime.once import Recent, attribute, obtain, once

COUNT = 8


class Slow:
    """Something whose parts take a while to be made. made: what was, in order."""

    __slots__ = ("made", "part")

    def __init__(self) -> None:
        self.part: object | None = None
        self.made: list[object] = []

    def make(self, what: object) -> object:
        time.sleep(0.02)
        self.made.append(what)
        return object()

    def obtained(self) -> object:
        return self.part or attribute(self, "part", lambda: self.make("part"))


def ask_together(ask: Callable[[int], Any]) -> set[int]:
    """Identities of what threads get that ask at the same time."""
    barrier = threading.Barrier(COUNT)

    def asked(number: int) -> Any:
        barrier.wait()
        return ask(number)

    with ThreadPoolExecutor(COUNT) as pool:
        return {id(one) for one in list(pool.map(asked, range(COUNT)))}


def by_key(slow: Slow) -> Callable[[int], object]:
    known = dict[str, object]()
    return lambda _: obtain(known, "key", lambda: slow.make("key"))


def by_function(slow: Slow) -> Callable[[int], object]:
    found = once(slow.make)
    return lambda _: found("argument")


def by_attribute(slow: Slow) -> Callable[[int], object]:
    return lambda _: slow.obtained()


def by_recency(slow: Slow) -> Callable[[int], object]:
    recent: Recent[object] = Recent(4)
    return lambda _: recent.obtain("key", lambda: slow.make("key"))


@pytest.mark.parametrize("way", [by_key, by_function, by_attribute, by_recency])
def test_the_first_of_several_threads_makes_it_for_all(way: Callable[[Slow], Callable[[int], object]]) -> None:
    slow = Slow()
    ask = way(slow)
    assert len(ask_together(ask)) == 1
    assert len(slow.made) == 1
    assert ask(0) is ask(1)


def test_each_key_and_each_owner_has_its_own() -> None:
    known = dict[int, int]()
    assert [obtain(known, key, lambda key=key: key * key) for key in (2, 3, 2)] == [4, 9, 4]  # type: ignore[misc]
    one, other = Slow(), Slow()
    assert one.obtained() is not other.obtained()
    assert (one.made, other.made) == (["part"], ["part"])


def test_what_fails_is_tried_again() -> None:
    slow, known = Slow(), dict[str, object]()

    def broken() -> object:
        raise MemoryError

    for failing in (partial(attribute, slow, "part", broken), partial(obtain, known, "key", broken)):
        with pytest.raises(MemoryError):
            failing()
    assert slow.obtained() is slow.obtained()
    assert obtain(known, "key", slow.obtained) is slow.part
    assert slow.made == ["part"]
