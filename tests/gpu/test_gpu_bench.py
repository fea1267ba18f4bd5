"""`ttc bench --architecture=cuda` on the fake device: suites, results, peers, resuming, and what is refused."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_gpu import FakeGpu

from ttc_llvm import cli
from ttc_llvm.bench import cutensor, gpu_peers, gpu_runner, peers, suites
from ttc_llvm.bench.contender import Contender, FoundPeers
from ttc_llvm.bench.gpu_prepare import prepare, prepared
from ttc_llvm.compiling.gpu_tensors import Box, DeviceTensor
from ttc_llvm.compiling.gpu_trial import Built, Trial
from ttc_llvm.errors import GpuError
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.problem import Problem

SMALL = ("bench", "--architecture=cuda", "--bytes=4K", "--jobs=0", "--maxImplementations=2", "--peers=none")


@pytest.fixture(autouse=True)
def ptx_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake device knows its kernels by their PTX."""
    monkeypatch.setattr("ttc_llvm.bench.gpu_prepare.cubin", lambda ptx, target: ptx)


def bench(*arguments: str) -> int:
    """The command on tiny tensors."""
    return cli.main([*SMALL, *arguments])


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_case_is_in_the_file_with_its_ceiling(
    gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ttc_llvm.compiling.gpu_trial.LEAST_RUNS", 2)
    monkeypatch.setattr("ttc_llvm.compiling.gpu_trial.RUNS_SECONDS", 0)
    gpu.set(l2=0)
    out = tmp_path / "results.jsonl"
    chosen = ("--suite=ttc57,small-dims", "--cases=::29", f"--output={out}")
    assert bench(*chosen) == 0
    found = lines(out)
    assert Counter(str(one["suite"]) for one in found) == {"ttc57": 4, "small-dims": 6}
    for one in found:
        ceiling = "device SAXPY" if one["kind"] == "update" else "device copy"
        assert one["ceiling"] == ceiling and list(one["ceilings"]) == [ceiling]  # type: ignore[call-overload]
        assert one["verified"] and one["facts"]["device"] == "Fake GPU 0"  # type: ignore[index]
        assert one["facts"]["model_first"] <= 1  # type: ignore[index]
    shown = capsys.readouterr().out
    assert "ttc57, beta = 0" in shown and "of device copy" in shown
    gpu.forget()
    assert bench(*chosen) == 0
    assert not [line for line in gpu.journal if line.startswith("launch")], "all results were there"
    assert lines(out) == found


def test_the_time_ends_the_run_and_the_file_keeps_what_is_there(
    gpu: FakeGpu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    assert bench("--cases=0", "--suite=ttc57", f"--output={out}", "--budget=0.000001") == 0
    told = capsys.readouterr()
    assert "the time is up: 2 of 2 cases are left" in told.err and "no results" in told.out
    assert lines(out) == []


@pytest.mark.parametrize("right", [True, False])
def test_peers_work_on_our_tensors_and_are_checked(
    gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    class Peer:
        name, version = "other", "1"

        def contender(self, workspace: gpu_runner.GpuWorkspace) -> Contender:
            trial = workspace.trial
            built = trial.build(next(iter(trial_plans(trial))))
            scalars = (trial.alpha if right else 7.0, trial.beta)

            def run(tensors: tuple[DeviceTensor, DeviceTensor]) -> None:
                shape = gpu_peers.interface(trial, "b", tensors[1]).__cuda_array_interface__
                assert shape["shape"] == trial.canonical.extents and shape["typestr"] == "<f4"
                trial.enqueue(built, tensors[0].address, tensors[1].address, scalars)

            return Contender(self.name, trial.canonical.bytes_moved, run, foreign=True)

    def trial_plans(trial: Trial):  # type: ignore[no-untyped-def]
        from ttc_llvm.tuning.gpu import candidates as gpu_candidates

        return gpu_candidates.plans(trial.canonical, trial.target)

    monkeypatch.setattr(peers, "find_gpu", lambda names: FoundPeers((Peer(),), ()))
    out = tmp_path / "results.jsonl"
    assert bench("--cases=0", "--suite=ttc57", "--kind=update", f"--output={out}") == 0
    assert list(lines(out)[0]["peers"]) == (["other"] if right else [])  # type: ignore[call-overload]
    assert ("its result differs" in capsys.readouterr().err) is not right


class Tensor:
    """The few methods of a torch.Tensor that are called, on memory of the fake device."""

    def __init__(self, x: Any, device: str = "cuda") -> None:
        self.array = on_host(x)

    def copy_(self, other: Tensor) -> None:
        self.array[...] = other.array

    def mul_(self, factor: float) -> Tensor:
        self.array *= np.float32(factor)
        return self

    def add_(self, other: Tensor, alpha: float) -> None:
        self.array += np.float32(alpha) * other.array


def on_host(x: Any) -> Any:
    """A tensor of the fake device, whose memory is this process' own, as a NumPy array."""
    told = x.__cuda_array_interface__
    item = np.dtype(told["typestr"]).itemsize
    size = item + sum((n - 1) * step for n, step in zip(told["shape"], told["strides"], strict=True))
    flat = np.frombuffer((ctypes.c_char * size).from_address(told["data"][0]), np.dtype(told["typestr"]))
    return np.lib.stride_tricks.as_strided(flat, told["shape"], told["strides"])


@pytest.mark.parametrize("kind", ["copy", "update"])
def test_array_libraries_work_on_our_tensors_and_stream(
    gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """PyTorch and CuPy, stood in for by NumPy."""
    streams: list[Any] = []

    def entered(stream: Any) -> Any:
        streams.append(stream)
        return stream

    cuda = SimpleNamespace(ExternalStream=nullcontext, stream=entered)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2", as_tensor=Tensor, cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(__version__="13", asarray=on_host, cuda=cuda))
    monkeypatch.setattr(peers, "find_gpu", lambda names: FoundPeers((gpu_peers.Torch(), gpu_peers.Cupy()), ()))
    out = tmp_path / "results.jsonl"
    assert bench("--cases=0", "--suite=ttc57", f"--kind={kind}", f"--output={out}") == 0
    (found,) = lines(out)
    assert list(found["peers"]) == ["torch", "cupy"]  # type: ignore[call-overload]
    assert found["facts"]["peers"] == {"torch": "2", "cupy": "13"}  # type: ignore[index]
    assert streams and len(set(map(id, streams))) == 1


def test_cases_that_do_not_fit_are_left_out(gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    gpu.set(memory=65 << 20)
    assert cli.main([*SMALL, "--bytes=1M", "--cases=0", "--suite=ttc57", "--kind=copy"]) == 0
    assert "is skipped: Fake GPU 0 (sm_90) has too little memory" in capsys.readouterr().err


def test_cases_that_fail_do_not_stop_the_others(
    gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right, out, turns = Trial.wrong, tmp_path / "results.jsonl", [True, True, False, True]

    def sometimes(self: Trial, built: Built, among: list[Box]) -> tuple[int, ...] | None:
        return (0, 0) if turns.pop() else right(self, built, among)

    monkeypatch.setattr(Trial, "wrong", sometimes)
    assert bench("--cases=:4", "--suite=ttc57", "--kind=copy", f"--output={out}") == 0
    told = capsys.readouterr().err
    assert len(lines(out)) == 1 and "3 of 4" not in told and "1 of 4 cases are measured" in told
    assert told.count("computed a wrong element") == 3
    turns += [True] * 4
    assert bench("--cases=:4", "--suite=ttc57", "--kind=update") == 2, "after three in a row it gives up"
    assert capsys.readouterr().err.strip().splitlines()[-1].startswith("ttc: error: ttc57/02/update: the kernel of")


def dies(*arguments: object) -> None:
    os._exit(1)


def test_a_process_that_dies_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttc_llvm.bench.gpu_prepare.prepare", dies)
    case = suites.cases(("ttc57",), ("copy",), gpu=True)[0]
    with pytest.raises(GpuError, match="a process that makes kernels ahead has died"):
        next(prepared([case], gpu_target.find("sm_80"), 1, 1, False))


def test_processes_that_cannot_be_started_are_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    case = suites.cases(("ttc57",), ("copy",), gpu=True)[0]
    with pytest.raises(GpuError, match=r"^no process can be started to make kernels ahead: can't .* --jobs=0 does"):
        next(prepared([case], gpu_target.find("sm_80"), 1, 1, False))


def test_cutensor_says_why_it_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cutensor" / "lib"
    folder.mkdir(parents=True)
    (folder / "libcutensor.so.2").write_bytes(b"no library")
    monkeypatch.syspath_prepend(str(tmp_path))
    cutensor.library.cache_clear()
    notices = peers.find_gpu().notices
    cutensor.library.cache_clear()
    told = next(text for text in notices if "cutensor" in text)
    assert told.startswith("peer cutensor is left out: it cannot be loaded: ") and "cutensor-cu13" in told


def test_workers_make_what_this_process_makes() -> None:
    target = gpu_target.find("sm_80")
    cases = tuple(
        case for case in suites.cases(("ttc57",), ("copy",), gpu=True) if case.name in ("00", "14")
    )  # fmt: skip
    for case, found in prepared(cases, target, 2, 1, False):
        own = prepare(case.canonical, target, 2, False)
        assert found == own
        assert len(found.plans) == 2 and len(found.images) > 2


def test_the_57_at_a_gibibyte() -> None:
    found = suites.cases(("ttc57-1g",), ("copy",), gpu=True)
    assert len(found) == 57
    for case in found:
        assert 0.9 < case.problem.elements * 4 / 2**30 < 1.15, case.id


def test_all_suites_are_known() -> None:
    found = suites.cases(tuple(suites.GPU_SUITES), gpu=True)
    assert [name for name in dict.fromkeys(case.suite for case in found)] == list(suites.GPU_SUITES)
    assert len({case.id for case in found}) == len(found)
    assert isinstance(found[0].problem, Problem)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--suite=hot",), "the choices for GPUs are ttc57, ttc57-1g"),
        (("--peers=hptt",), "unknown peer 'hptt': the choices for GPUs are cutensor, torch, cupy"),
        (("--peers=cupy",), "peer cupy: it is not installed"),
        (("--numThreads=2",), "--numThreads is for CPUs"),
        (("--budget=soon",), "a number of seconds"),
        (("--budget=-1",), "a positive number of seconds is expected"),
        (("--cpu=gfx90a",), "code for gfx90a cannot run here"),
        (("--cpu=haswell",), "haswell cannot be benchmarked by name"),
        (("--cases=nothing",), "match nothing"),
    ],
)
def test_mistakes(gpu: FakeGpu, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    assert bench(*arguments) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_without_a_device(gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    gpu.set(devices=0)
    assert bench() == 2
    assert "there is no CUDA device" in capsys.readouterr().err
    assert cli.main(["bench", "--architecture=cuda", "--list", "--suite=pow2"]) == 0
    assert cli.main(["bench", "--jobs=2"]) == 2
    assert "--jobs is for GPUs" in capsys.readouterr().err


def test_a_run_ends_within_eight_minutes() -> None:
    assert gpu_runner.BUDGET <= 8 * 60 and gpu_runner.MAX_IMPLEMENTATIONS <= 10
