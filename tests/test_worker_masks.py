"""Workers' masks: off the caller's CPU, and within what others say, who may say it at any time."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from ttc_llvm.runtime import worker_masks
from ttc_llvm.runtime.worker_masks import Caller, WorkerMasks

ME, WORKER = 1, 2  # threads
Set = frozenset[int]


class System:
    """Masks of two threads as Linux keeps them; and those that the worker would have without ours.

    keeps: a container's new CPUs leave the masks that were set (Linux 6.2 and later), else they replace them.
    """

    def __init__(self, cpus: int, keeps: bool) -> None:
        self.there, self.keeps, self.calls = frozenset(range(cpus)), keeps, 0
        self.masks: dict[int, Set] = {}
        self.wanted: Set | None = None
        self.cpu = 0

    def mask(self, thread: int) -> Set:
        return self.masks.get(thread, self.there) & self.there or self.there

    @property
    def worker_without_us(self) -> Set:
        return ((self.there if self.wanted is None else self.wanted) & self.there) or self.there

    def sched_getaffinity(self, thread: int) -> set[int]:
        self.calls += 1
        return set(self.mask(thread or ME))

    def sched_setaffinity(self, thread: int, mask: Set) -> None:
        self.calls += 1
        if not mask & self.there:
            raise OSError(22, "Invalid argument")
        self.masks[thread or ME] = frozenset(mask)

    def set_for(self, threads: tuple[int, ...], mask: Set) -> None:
        """Somebody else sets masks, which the present CPUs bound."""
        for thread in threads:
            self.masks[thread] = mask & self.there or self.there
        if WORKER in threads:
            self.wanted = self.masks[WORKER]
        self.move()

    def set_there(self, cpus: Set) -> None:
        """The whole container gets these CPUs."""
        self.there = cpus
        if not self.keeps:
            self.masks, self.wanted = {}, None
        self.move()

    def move(self, cpu: int | None = None) -> None:
        """The caller runs elsewhere."""
        mask = self.mask(ME)
        self.cpu = cpu if cpu in mask else min(mask)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> System:
    made = System(*request.param)
    monkeypatch.setattr(worker_masks, "os", made)
    monkeypatch.setattr(worker_masks, "_function", lambda: lambda: made.cpu)
    return made


def woken(masks: WorkerMasks, participants: int = 2) -> Caller:
    """Wake the worker."""
    caller = worker_masks.caller(participants)
    assert caller is not None
    masks.keep_off(SimpleNamespace(native_id=WORKER), caller)  # type: ignore[arg-type]
    return caller


def some(draw: random.Random, cpus: Set) -> Set:
    return frozenset(draw.sample(sorted(cpus), draw.randint(1, len(cpus))))


MOVES, NARROWS, SETS_WORKER, SETS_ALL, OTHER_CPUS = range(5)  # what happens between calls


@pytest.mark.parametrize("events", [(MOVES, NARROWS, SETS_WORKER, SETS_ALL), (MOVES, NARROWS, OTHER_CPUS)])
@pytest.mark.parametrize("system", [(2, True), (2, False), (3, True), (6, True), (6, False)], indirect=True)
def test_workers_stay_within_the_masks_of_others(system: System, events: tuple[int, ...]) -> None:
    every = system.there
    for seed in range(300):
        draw, masks = random.Random(seed), WorkerMasks()
        system.__init__(len(every), system.keeps)  # type: ignore[misc]
        woken(masks)
        for _ in range(12):
            happens(draw.choice(events), system, masks, draw, every)
            woken(masks)
            assert system.mask(WORKER) <= system.worker_without_us


def happens(event: int, system: System, masks: WorkerMasks, draw: random.Random, every: Set) -> None:
    mask = some(draw, system.worker_without_us if event == NARROWS else every)
    if event == MOVES:
        system.move(draw.choice(sorted(system.mask(ME))))
    elif event == NARROWS:
        system.set_for((ME,), mask)
    elif event == SETS_WORKER and mask != masks._known[WORKER].given:  # nobody could tell who had set that
        system.set_for((WORKER,), mask)
    elif event == SETS_ALL:
        system.set_for((ME, WORKER), mask)
    elif event == OTHER_CPUS and mask & system.masks.get(ME, every):  # else Linux forgets what others have set
        system.set_there(mask)


@pytest.mark.parametrize("system", [(2, True), (6, False)], indirect=True)
def test_workers_are_off_the_cpu_of_the_caller_wherever_it_goes(system: System) -> None:
    masks, draw = WorkerMasks(), random.Random(1)
    for _ in range(100):
        system.move(draw.choice(sorted(system.there)))
        woken(masks)
        assert system.mask(WORKER) == system.there - {system.cpu}


@pytest.mark.parametrize("system", [(6, True), (6, False)], indirect=True)
def test_workers_have_the_cpus_that_a_container_gets(system: System) -> None:
    masks = WorkerMasks()
    for cpus in ({0, 1, 2}, {3}, {2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {5}, {0, 5}):
        system.set_there(frozenset(cpus))
        woken(masks)
        assert system.mask(WORKER) == (system.there - {system.cpu} or system.there)


@pytest.mark.parametrize("system", [(6, True)], indirect=True)
def test_a_caller_that_stays_asks_the_system_once(system: System) -> None:
    masks = WorkerMasks()
    woken(masks)
    before = system.calls
    for _ in range(9):
        woken(masks)
    assert system.calls == before + 9  # each for the caller's own


@pytest.mark.parametrize("system", [(2, True)], indirect=True)
def test_a_crowd_shares_all_cpus(system: System) -> None:
    masks = WorkerMasks()
    for participants, left in ((2, {1}), (3, {0, 1}), (2, {1})):
        woken(masks, participants)
        assert system.mask(WORKER) == left


@pytest.mark.parametrize("system", [(2, True)], indirect=True)
def test_where_masks_must_not_be_set_they_are_left_alone(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(system, "sched_setaffinity", refuse)
    masks = WorkerMasks()
    for cpu in (0, 1):
        system.move(cpu)
        woken(masks)
    assert system.mask(WORKER) == {0, 1}
