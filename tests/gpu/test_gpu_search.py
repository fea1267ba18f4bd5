"""Tuning on a device: cold caches, medians of events, the check, the database, and what is refused."""

from __future__ import annotations

import importlib
import json
import re
import sqlite3
import sys
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import reference
from case import Case, expected, fill
from fake_gpu import FakeGpu, Interface

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.compiling.gpu_tensors import TensorSets, boxes
from ttc_llvm.compiling.gpu_trial import Trial
from ttc_llvm.compiling.trial import Mode, stand_in
from ttc_llvm.errors import GpuError, OptionError, VerificationError
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.gpu.devices import device
from ttc_llvm.gpu.session import Session
from ttc_llvm.lowering.gpu import plan as gpu_plan
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.database.folders import default_path
from ttc_llvm.tuning.gpu import candidates as gpu_candidates
from ttc_llvm.tuning.gpu.diversity import strategy
from ttc_llvm.tuning.search.speed import SpeedLog

PROBLEM = Problem((1, 0), (96, 80), "s", alpha=2.0, beta=0.5)


def tuned(problem: Problem = PROBLEM, count: int = 3, **options: object) -> ttc_llvm.GpuSolution:
    """A solution by timing."""
    found = ttc_llvm.compile(problem, count, target="cuda", **options)  # type: ignore[call-overload]
    assert isinstance(found, ttc_llvm.GpuSolution)
    return found


@pytest.mark.parametrize("problem", [PROBLEM, Problem((2, 0, 1), (7, 30, 9), "d"), Problem((1, 0), (33, 31), "v3")])
def test_candidates_are_timed_checked_and_stored(gpu: FakeGpu, problem: Problem) -> None:
    found = tuned(problem)
    measured = found.measurement
    assert measured is not None and len(measured.timings) == 3
    winner, seconds = measured.timings[0]
    assert (winner, min(seconds)) == (str(found.plan), measured.seconds)
    name = "device SAXPY" if problem.beta else "device copy"
    assert measured.ceiling == f"{name} of Fake GPU 0 (sm_90)" and measured.ceiling_gibs
    gpu.forget()
    again = tuned(problem)
    assert (again.plan, again.measurement) == (found.plan, measured)
    assert not [line for line in gpu.journal if line.startswith(("alloc", "launch"))], "the database knew it"
    a, b = (np.empty(problem.storage(s), reference.numpy_type(t)) for s, t in (("a", problem.a), ("b", problem.b)))
    case = Case.of(problem)
    fill(case, a, b)
    wanted = expected(case, a, b)
    again(Interface(gpu, a.view(reference.numpy_type(problem.a))), Interface(gpu, b))
    assert b.tobytes() == wanted.tobytes()


def test_a_wrong_kernel_does_not_win(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that forgets a part of the problem is found, whichever part it is."""
    built = gpu_kernel.build

    def wrong(c, plan, target, entry="kernel"):  # type: ignore[no-untyped-def]
        if len(c.axes) == 1:
            return built(c, plan, target, entry)
        less = replace(c, axes=(c.axes[0], replace(c.axes[1], extent=c.axes[1].extent - 1)))
        tile = tuple(min(t, e) for t, e in zip(plan.tile, less.extents, strict=True))
        image = built(less, next(gpu_candidates.plans(less, target)), target, entry)
        assert tile
        return image

    monkeypatch.setattr(gpu_kernel, "build", wrong)
    with pytest.raises(VerificationError, match="computed a wrong element at index"):
        tuned(Problem((1, 0), (64, 32)), 2)


def test_tensors_are_used_in_turns_so_that_caches_are_cold(gpu: FakeGpu) -> None:
    gpu.set(l2=100_000)
    c = canonicalise(PROBLEM).canonical
    session = Session(device())
    for mode, sides in ((Mode.COLD, (True, True)), (Mode.HOT_A, (False, True)), (Mode.HOT_B, (True, False))):
        with session.active():
            stage = TensorSets(session, c, mode)
            assert (len(stage.sets) - 1) * 2 * 96 * 80 * 4 >= 4 * 100_000
            used = [stage.next() for _ in stage.sets]
        assert tuple(len({side.address for side in one}) > 1 for one in zip(*used, strict=True)) == sides
    with session.active():
        assert len(TensorSets(session, c, Mode.HOT).sets) == 1


def test_a_measurement_is_many_runs_without_a_pause(gpu: FakeGpu) -> None:
    session = Session(device())
    c = canonicalise(PROBLEM).canonical
    with session.active():
        trial = Trial(c, gpu_target.find("sm_90"), session, Mode.COLD, 2.0, 0.5)
        built = trial.build(next(gpu_candidates.plans(c, trial.target)))
        gpu.forget()
        assert trial.seconds(built) > 0
    words = [line.split()[0] for line in gpu.journal]
    assert words[:3] == ["record", "launch", "record"]
    start = words.index("sync") + 1
    assert words[start : start + 15] == ["record", "launch", "record"] * 5


def test_short_runs_are_enqueued_behind_other_work(gpu: FakeGpu) -> None:
    """The device would be idle between them, which counts as theirs."""
    session = Session(device())
    with session.active():
        trial = Trial(canonicalise(PROBLEM).canonical, gpu_target.find("sm_90"), session, Mode.COLD, 2.0, 0.5)
        gpu.forget()
        assert len(trial.runs(lambda tensors: None)) == 50
    words = [line.split()[0] for line in gpu.journal]
    assert words.count("set") > 2 and words[-102:] == ["set", *["record"] * 100, "sync"]


def test_too_little_memory(gpu: FakeGpu) -> None:
    """Nor for a stand-in that any plan fits."""
    gpu.set(memory=64 << 20)
    problem = Problem((1, 0), (2048, 2048), "s")
    with pytest.raises(GpuError, match=r"Fake GPU 0 \(sm_90\) has too little memory to time this: .* 32 MiB, 0 MiB"):
        tuned(problem)
    assert tuned(problem, 1).measurement is None


def test_what_does_not_fit_is_tuned_on_a_stand_in(gpu: FakeGpu, caplog: pytest.LogCaptureFixture) -> None:
    """Its code is not the problem's: that is built when it is called. The database knows what was timed."""
    gpu.set(memory=80 << 20)
    problem = Problem((1, 0), (1030, 2048), "s")
    for session in range(2):
        found, measured = (one := tuned(problem)), one.measurement
        assert measured is not None and measured.proxy and len(measured.timings) == 3
        small = stand_in(canonicalise(problem).canonical, 16 << 20)
        assert measured.gibs * measured.seconds * (1 << 30) == pytest.approx(small.bytes_moved)
        assert measured.ceiling == "device copy of Fake GPU 0 (sm_90)"
        assert ("in the memory of Fake GPU 0 (sm_90): tuned on a smaller stand-in" in caplog.text) == (session == 0)
        caplog.clear()
    a = np.random.default_rng(3).random((2048, 1030), np.float32)
    b = np.empty((1030, 2048), np.float32)
    found(Interface(gpu, a), Interface(gpu, b))
    assert np.array_equal(b, a.T)


def test_a_search_times_plans_that_the_model_does_not_like(gpu: FakeGpu) -> None:
    """It likes one strategy class alone for this problem; diversity seeds of others are timed beside it."""
    c, machine = canonicalise(PROBLEM).canonical, gpu_target.find("sm_90")
    first = {strategy(plan) for plan in islice(gpu_candidates.plans(c, machine), 12)}
    assert len(first) == 1
    measured = tuned(PROBLEM, 12).measurement
    assert measured is not None and len(measured.timings) == 12
    assert len({strategy(gpu_plan.parse(text)) for text, _ in measured.timings}) > 1


def test_without_pycuda(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "fake_pycuda" not in p])
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setattr("ttc_llvm.gpu.session.find_spec", lambda name: None)
    with pytest.raises(GpuError, match=r"without pycuda: pip install ttc_llvm\[cuda\]"):
        tuned()
    assert tuned(PROBLEM, 1).measurement is None, "the cost model needs no device"


def test_plans_timed_elsewhere_serve_where_nothing_can_be_timed(gpu: FakeGpu) -> None:
    found = ttc_llvm.compile(PROBLEM, 4, target="sm_90", verify=False)
    gpu.set(devices=0)
    assert ttc_llvm.compile(PROBLEM, 1, target="sm_90").plan == found.plan


@pytest.mark.parametrize("options", [{"forced": ttc_llvm.GpuForced(threads=64)}, {"hot_a": True, "hot_b": True}])
def test_plans_of_other_circumstances_do_not(gpu: FakeGpu, options: dict[str, Any]) -> None:
    """Decisions that somebody took once, and caches of which the model knows nothing."""
    model = gpu_candidates.model_plan(canonicalise(PROBLEM).canonical, gpu_target.find("sm_90"))
    offered = islice(gpu_candidates.plans(canonicalise(PROBLEM).canonical, gpu_target.find("sm_90")), 9)
    other = next(plan for plan in offered if plan != model)
    tuned(PROBLEM, 3, **options)
    with sqlite3.connect(default_path()) as database:
        database.execute("UPDATE solutions_v2 SET plan = ?", (str(other),))
    database.close()
    assert tuned(PROBLEM, 1).plan == model


def test_decisions_of_the_user(gpu: FakeGpu) -> None:
    forced = ttc_llvm.GpuForced(threads=64, order=(0, 1))
    found = tuned(PROBLEM, 3, forced=forced)
    assert (found.plan.threads, found.plan.order) == (64, (0, 1))
    assert all("threads=64 " in plan for plan, _ in found.measurement.timings)  # type: ignore[union-attr]
    with pytest.raises(OptionError, match="are a CPU's"):
        tuned(PROBLEM, 1, forced=ttc_llvm.Forced(streaming=True))
    with pytest.raises(OptionError, match="are a GPU's"):
        ttc_llvm.compile(PROBLEM, 1, forced=forced)


def test_boxes_make_up_the_index_space() -> None:
    for problem in (Problem((2, 1, 0), (7, 9, 11)), Problem((1, 0), (300, 2)), Problem((0, 2, 1), (2, 3, 5))):
        c = canonicalise(problem).canonical
        for limit in (1, 4, 50, 10_000):
            seen = np.zeros(c.extents, int)
            for box in boxes(c, limit=limit):
                part = tuple(slice(*ends) for ends in box)
                seen[part] += 1
                assert seen[part].size <= limit
            assert (seen == 1).all()
            some = boxes(c, 3, limit)
            assert set(some) <= set(boxes(c, limit=limit)) and len(some) <= 3


# --- arrays -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i1", "u2", "c16"])
def test_transposed_arrays_stay_on_the_device(gpu: FakeGpu, dtype: str) -> None:
    driver = importlib.import_module("pycuda.driver")
    gpuarray = importlib.import_module("pycuda.gpuarray")
    driver.init()
    context = driver.Device(0).retain_primary_context()
    context.push()
    x = np.random.default_rng(1).integers(0, 100, (6, 8, 10)).astype(dtype)
    y = ttc_llvm.transpose(gpuarray.to_gpu(x), (2, 0, 1))
    assert isinstance(y, gpuarray.GPUArray) and y.dtype == x.dtype
    assert np.array_equal(y.get(), x.transpose(2, 0, 1))
    context.pop()
    context.detach()


def test_transposed_into_out_with_arithmetic(gpu: FakeGpu) -> None:
    x, out = np.arange(48, dtype=np.float32).reshape(6, 8), np.ones((8, 12), np.float32)
    target = Interface(gpu, out[:, ::2])
    gpu.on_device(out)
    assert ttc_llvm.transpose(Interface(gpu, x), out=target, alpha=2, beta=3, stream=0x70) is target
    assert np.array_equal(out[:, ::2], 2 * x.T + 3)
    assert (out[:, 1::2] == 1).all()
    assert next(line for line in gpu.journal if line.startswith("launch")).endswith("stream 0x70")


def test_odd_addresses_move_smaller_units(gpu: FakeGpu) -> None:
    memory = gpu.on_device(np.zeros(4 * 35 + 2, np.uint8))
    x = memory[2:].view(np.float32).reshape(5, 7)
    x[...] = np.arange(35).reshape(5, 7)
    out = np.zeros((7, 5), np.float32)
    ttc_llvm.transpose(Interface(gpu, x), out=Interface(gpu, out))
    assert np.array_equal(out, x.T)
    with pytest.raises(ttc_llvm.ArrayError, match="arithmetic needs whole elements"):
        ttc_llvm.transpose(Interface(gpu, x), out=Interface(gpu, out), alpha=2)


def test_transpositions_that_are_refused(gpu: FakeGpu) -> None:
    x, out = np.zeros((4, 6), np.float32), np.zeros((6, 4), np.float32)
    here = Interface(gpu, x)
    for words, arguments in (
        ("do not permute", {"axes": (0, 0)}),
        ("pass out=", {}),
        ("out has shape", {"out": Interface(gpu, x.copy())}),
        ("out shares memory", {"out": Interface(gpu, x.reshape(6, 4))}),
        ("out is a ndarray", {"out": out}),
        ("without out", {"beta": 1}),
        ("order 'F' is for arrays on the host", {"order": "F", "out": Interface(gpu, out)}),
    ):
        with pytest.raises(ttc_llvm.ArrayError, match=words):
            ttc_llvm.transpose(here, **arguments)
    for make in (ttc_llvm.ascontiguousarray, ttc_llvm.asfortranarray):
        with pytest.raises(ttc_llvm.ArrayError, match=r"a is a Interface on a device: ttc_llvm\.transpose"):
            make(here)
    with pytest.raises(ttc_llvm.ArrayError, match="stream is for arrays on a device"):
        ttc_llvm.transpose(x, stream=3)


# --- what the command line says -----------------------------------------------------------------------------


def test_info_lists_devices(gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    gpu.set(devices=2, capability=(8, 7), memory=16 << 30, l2=4 << 20)
    assert cli.main(["info", "--no-ceilings", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["gpus"]
    assert found["0"] == {"name": "Fake GPU 0", "target": "sm_86", "memory": 16 << 30, "l2": 4 << 20}
    assert list(found) == ["0", "1"]
    gpu.set(capability=(3, 0))
    assert cli.main(["info", "--no-ceilings"]) == 0
    assert "capability 3.0 is not supported" in capsys.readouterr().out, "an old device is listed, too"
    gpu.set(devices=0)
    assert cli.main(["info", "--no-ceilings"]) == 0
    assert "there is no CUDA device" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--architecture=cuda"], r"there is no CUDA device.*; a search of 1 candidate takes the cost model's plan"),
        (["--cpu=gfx90a"], r"code for gfx90a cannot run here: .*; a search of 1 candidate"),
        (["--cpu=sm90"], "near matches are sm_90"),
        (["--architecture=cuad"], "near matches are cuda"),
        (["--cpu=sm_90", "--threadsPerBlock=0"], "--threadsPerBlock=0: numbers from 1"),
        (["--cpu=sm_90", "--generateOnly", "--size=100000000,100000000"], "no plan for sm_90 fits: .* blocks, more"),
    ],
)
def test_what_is_refused_in_one_sentence(
    gpu: FakeGpu, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    gpu.set(devices=0)
    assert cli.main(["--perm=1,0", "--size=8,8", *arguments]) == 2
    told = capsys.readouterr().err
    assert re.search(words, told) and told.count("\n") == 1, told


def test_what_was_timed_on_a_busy_machine_is_timed_again(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter((True, False))
    monkeypatch.setattr(SpeedLog, "is_busy", lambda self, gibs: next(left))
    counts = [found.provisional for _ in range(3) if (found := tuned().measurement) is not None]
    assert counts == [1, 0, 0]
