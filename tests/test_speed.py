"""The machine's speed through a search, by a simulated clock: who is busy, and what watching costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count, repeat
from pathlib import Path

import pytest

from ttc_llvm.runtime import waiting
from ttc_llvm.tuning.search.speed import (
    DRIFT,
    NEAR,
    ROUNDS,
    SETTLED,
    SPARING,
    WAITS,
    Run,
    Sampler,
    SpeedLog,
    drifts,
)

IS_BUSY = SpeedLog.is_busy  # the tests' other searches are never busy
MOVED = 1.0  # GiB by a run


class Machine:
    """A clock that runs of the ceiling move on, and how long threads have waited so far."""

    def __init__(self) -> None:
        self.now, self.waited, self.runs = 0.0, 0.0, 0

    def sampler(self, seconds: Iterator[float]) -> Sampler:
        def run() -> Run:
            spent = next(seconds)
            self.now += spent
            self.runs += 1
            return Run(MOVED / spent, spent)

        return run

    def log(self, *samplers: Iterator[float]) -> SpeedLog:
        return SpeedLog([self.sampler(seconds) for seconds in samplers], lambda: self.waited, lambda: self.now)

    def search(self, log: SpeedLog, seconds: float = 1.0) -> None:
        """Measure, search for so long in batches, and measure again."""
        log.measure()
        for _ in range(100):
            self.now += seconds / 100
            log.glance()
        log.measure()


def is_busy(log: SpeedLog, gibs: float = 0.0) -> bool:
    return IS_BUSY(log, gibs)


def wobbling(seconds: float) -> Iterator[float]:
    """A quiet machine: most runs are within a few percent, and now and then one takes much longer."""
    return (seconds * (1 + 0.05 * (n * 7 % 10) / 10 + (2.0 if n % 9 == 4 else 0.0)) for n in count())


@pytest.mark.parametrize("seconds", [1e-6, 1e-4, 1e-2, 0.3])
def test_a_quiet_machine_is_not_busy(seconds: float) -> None:
    for offset in range(0, 40, 8 if seconds < 1e-5 else 1):  # thousands of runs make a sample of such short ones
        machine = Machine()
        runs = wobbling(seconds)
        for _ in range(offset):
            next(runs)
        log = machine.log(runs)
        machine.search(log, 400 * seconds)
        assert not is_busy(log, log.ceiling or 0.0)


@pytest.mark.parametrize("seconds", [1e-5, 1e-2])
@pytest.mark.parametrize("when", ["before", "meanwhile", "afterwards"])
def test_a_change_of_speed_is_busy(seconds: float, when: str) -> None:
    machine = Machine()
    change = {"before": (0.0, 0.1), "meanwhile": (20.0, 60.0), "afterwards": (99.9, 200.0)}[when]

    def runs() -> Iterator[float]:
        while True:
            yield seconds * (1.5 if change[0] <= machine.now < change[1] else 1.0)

    log = machine.log(runs())
    machine.search(log, 100.0)
    assert log.drift == pytest.approx(1.5)
    assert is_busy(log)


def test_a_change_just_below_the_threshold_is_not() -> None:
    machine = Machine()
    log = machine.log(chain(repeat(1.0, ROUNDS), repeat(DRIFT * 0.99)))
    machine.search(log, 1000.0)
    assert not is_busy(log)


def test_one_disturbed_run_is_run_again() -> None:
    machine = Machine()
    log = machine.log(chain(repeat(1.0, ROUNDS), [9.0], repeat(1.0)))
    machine.search(log, 10.0)
    assert (log.drift, is_busy(log)) == (1.0, False)


def test_a_machine_that_is_slow_all_the_time_shows_by_waiting() -> None:
    for share, busy in ((WAITS * 0.9, False), (WAITS * 1.1, True)):
        machine = Machine()
        log = machine.log(repeat(0.01))
        machine.search(log)
        machine.waited = share * machine.now
        assert is_busy(log) == busy


def test_runs_that_fit_between_those_of_others_do_not_wait() -> None:
    machine = Machine()
    log = machine.log(repeat(1e-5))
    machine.search(log)
    machine.waited = machine.now
    assert not is_busy(log, 1.3 * MOVED / 1e-5)  # the ratio of tiny problems says nothing, either


def test_brief_runs_on_two_threads_wait_for_the_second_one() -> None:
    """64 x 48 x 56 floats: no run of the winner found both CPUs idle, many runs of the ceiling did: 0.39 of it."""
    machine = Machine()
    log = machine.log(repeat(5e-5))
    machine.search(log)
    for share, busy in ((WAITS * 0.9, False), (WAITS * 1.1, True)):
        machine.waited = share * machine.now
        assert is_busy(log, 0.39 * MOVED / 5e-5) == is_busy(log, MOVED / 5e-5) == busy


def test_a_winner_far_above_the_ceiling_found_the_machine_idle_for_once() -> None:
    machine = Machine()
    log = machine.log(repeat(0.058))
    machine.search(log)
    assert is_busy(log, 3.13 * MOVED / 0.058)
    assert not is_busy(log, 1.14 * MOVED / 0.058)  # the most that was seen on an idle machine


def test_where_there_is_no_ceiling_nothing_is_known() -> None:
    machine = Machine()
    log = machine.log()
    machine.search(log)
    machine.waited = machine.now
    assert (log.ceiling, log.drift, is_busy(log, 100.0)) == (None, 1.0, False)


def test_the_ceiling_is_the_fastest_way_of_any_sample() -> None:
    machine = Machine()
    log = machine.log(repeat(2.0), chain(repeat(1.0, ROUNDS), repeat(0.95)))
    machine.search(log, 1000.0)
    assert log.ceiling == pytest.approx(MOVED / 0.95)


@pytest.mark.parametrize("seconds", [1e-6, 1e-4, 1e-2, 0.3])
def test_watching_costs_little(seconds: float) -> None:
    machine = Machine()
    log = machine.log(repeat(seconds), repeat(seconds))
    log.measure()
    assert machine.runs <= max(2 * ROUNDS, SETTLED / seconds + 3)
    start, runs = machine.now, machine.runs
    for _ in range(1000):
        machine.now += seconds
        log.glance()
    spent = (machine.runs - runs) * seconds
    assert spent <= (machine.now - start) / SPARING * 1.05
    runs = machine.runs
    log.measure()
    assert machine.runs - runs == 2  # as fast as ever: each sampler once


def test_a_sample_that_is_slower_than_usual_is_sure_of_it() -> None:
    machine = Machine()
    slow = 1e-4 * NEAR * 1.01
    log = machine.log(chain(repeat(1e-4, 50), repeat(slow)))
    log.measure()
    assert machine.runs == 50
    runs = machine.runs
    log.measure()
    assert (machine.runs - runs) * slow >= SETTLED


def test_drifts_are_by_the_usual_run() -> None:
    assert drifts((1.0, 1.0, 2.0, 0.5)) == (1.0, 1.0, 2.0, 2.0)


def test_waiting_is_summed_over_threads(tmp_path: Path) -> None:
    for number, text in enumerate(("7 2500000000 3\n", "1 500000000 9\n", "what no kernel writes", "")):
        (tmp_path / str(number)).mkdir()
        if text:
            (tmp_path / str(number) / "schedstat").write_text(text)
    assert waiting.waited(tmp_path) == 3.0
    assert waiting.waited(tmp_path / "none") == 0.0
    assert waiting.waited() >= 0.0


def test_more_threads_than_cpus_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Callable[[], frozenset[int] | None]] = [lambda: frozenset({0, 1}), lambda: None]
    monkeypatch.setattr(waiting, "process_mask", found[0])
    assert [waiting.has_a_cpu_each(n) for n in (1, 2, 3)] == [True, True, False]
    monkeypatch.setattr(waiting, "process_mask", found[1])
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert [waiting.has_a_cpu_each(n) for n in (4, 5)] == [True, False]


@pytest.mark.parametrize(("busy", "wanted"), [(0, 1), (3, 4), (1000, round(waiting.PATIENCE / waiting.PAUSE))])
def test_rest_is_when_no_thread_runs_or_patience_ends(
    busy: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = list[float]()
    monkeypatch.setattr("time.sleep", slept.append)
    monkeypatch.setattr("time.monotonic", lambda: sum(slept))
    monkeypatch.setattr("time.process_time", lambda: sum(slept[:busy]))
    waiting.rest()
    assert wanted <= len(slept) <= wanted + 1  # of a sum of floats
