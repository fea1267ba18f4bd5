"""Work spread over threads, as many as there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from processes import PATIENCE

from ttc_llvm.tuning.search import crew
from ttc_llvm.tuning.search.crew import spread


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_is_done_once(threads: int) -> None:
    assert sorted(spread(lambda n: n * n, range(100), threads)) == [n * n for n in range(100)]
    assert spread(lambda n: n, (), threads) == []


@pytest.fixture(autouse=True)
def _five_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads as the tests ask for."""
    monkeypatch.setattr(crew, "_cpus", lambda: 5)


@pytest.mark.parametrize("items", [0, 1, 100])
def test_there_are_no_more_threads_than_cpus_and_items(items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        started.append(thread)
        start(thread)
        if items < 100:
            thread.join()

    monkeypatch.setattr(threading.Thread, "start", counted)
    assert spread(lambda n: n, range(items), 30_000) == [*range(items)] or items == 100
    assert len(started) <= min(4, items + 1)


def test_items_are_done_side_by_side() -> None:
    meeting = threading.Barrier(3)
    spread(lambda n: meeting.wait(PATIENCE), range(3), 3)  # else this would time out


def test_where_no_thread_starts_this_one_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert sorted(spread(lambda n: n + 1, range(9), 4)) == list(range(1, 10))


@pytest.mark.parametrize("error", [MemoryError("no room"), KeyboardInterrupt()])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_an_item_raises_ends_all_threads_first(error: BaseException, threads: int) -> None:
    before = threading.active_count()
    taken = []

    def items() -> Iterator[int]:
        for number in range(10_000):
            taken.append(number)
            yield number

    def work(number: int) -> None:
        if number == 5:
            raise error

    with pytest.raises(type(error)):
        spread(work, items(), threads)
    assert len(taken) < 10_000 or threads > 1
    assert threading.active_count() == before
