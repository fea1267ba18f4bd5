"""`make gpu` rehearsed on the fake device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hardware
import pytest
from fake_gpu import LAUNCHER, FakeGpu

from ttc_llvm.compiling.gpu_trial import Trial
from ttc_llvm.gpu.driver import Driver

QUICK = ("--problems=6", "--cases=::29", "--bytes=4096", "--jobs=0")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small: the harness takes a thread of a kernel after the other; the fake device knows its kernels by their PTX."""
    monkeypatch.setattr(hardware, "MOST_ELEMENTS", 2000)
    monkeypatch.setattr("ttc_llvm.bench.gpu_prepare.cubin", lambda ptx, target: ptx)
    monkeypatch.setattr("ttc_llvm.compiling.gpu_trial.LEAST_RUNS", 2)
    monkeypatch.setattr("ttc_llvm.compiling.gpu_trial.RUNS_SECONDS", 0)


def run(tmp_path: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The command; its status and file."""
    path = tmp_path / "gpu.json"
    status = hardware.main([*QUICK, f"--output={path}", *arguments])
    return status, json.loads(path.read_text())


def test_problems_and_the_57_are_right(gpu: FakeGpu, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gpu.set(l2=0)
    status, found = run(tmp_path, "--only=problems,bench")
    assert status == 0
    assert found["counts"]["problems"] == {"right": 6}
    measured = [case for case in found["parts"]["bench"] if case["state"] == "right"]
    assert [case["name"] for case in measured] and len(measured) == 4
    ceilings = {name for case in measured for name in case["result"]["ceilings"]}
    assert ceilings == {"device copy", "device SAXPY"}
    assert found["facts"]["device"]["name"] == "Fake GPU 0"
    assert "gpu: 0 wrong" in capsys.readouterr().out


def test_groups_are_timed(gpu: FakeGpu, tmp_path: Path) -> None:
    status, found = run(tmp_path, "--only=groups", "--blocks=6")
    assert status == 0 and found["counts"]["groups"] == {"right": 2}  # the others are large
    assert {"launch", "new addresses", "copy", "a launch each"} < set(found["parts"]["groups"][0])
    status, found = run(tmp_path, "--only=groups", "--seconds=groups=0")
    assert found["ends"]["groups"].startswith("cut")


def test_the_file_is_whole_after_every_case(gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def seen(*_: Any) -> None:
        sizes.append(len(json.loads((tmp_path / "gpu.json").read_text())["parts"].get("problems", ())))

    monkeypatch.setattr(hardware, "check_problem", seen)
    monkeypatch.setattr(hardware, "check_plan", seen)
    run(tmp_path, "--only=problems")
    assert sizes == list(range(6))


def test_wrong_results_are_told(
    gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Driver, "launch", lambda *arguments: None)
    status, found = run(tmp_path, "--only=problems")
    assert status == 1 and found["counts"]["problems"]["wrong"] > 0
    assert ": wrong: " in capsys.readouterr().err


def test_wrong_results_of_the_benchmark_are_told(
    gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trial, "wrong", lambda *arguments: (1, 2))
    status, found = run(tmp_path, "--only=bench", "--cases=3")
    assert status == 1 and found["counts"]["bench"] == {"wrong": 2}


def test_time_ends_a_part(gpu: FakeGpu, tmp_path: Path) -> None:
    status, found = run(tmp_path, "--seconds=problems=0,bench=0", "--only=problems,bench")
    assert status == 0
    assert found["ends"]["problems"].startswith("cut after 0") and found["ends"]["bench"].startswith("0 of 4 measured")


def test_a_device_that_is_lost_ends_a_part(gpu: FakeGpu, tmp_path: Path) -> None:
    lost = LAUNCHER(lambda *_: 719)
    gpu.lib.fake_on_launch(lost)
    status, found = run(tmp_path, "--only=problems", "--problems=40")
    assert status == 0 and found["counts"]["problems"]["error"] >= hardware.LOST
    assert sum(found["counts"]["problems"].values()) < 40


TESTS = [("notices_a_wrong_result", "right"), ("random_problems_as_users", "skipped")]


@pytest.mark.parametrize(("name", "state"), TESTS)
def test_device_tests_run_in_a_process_of_their_own(gpu: FakeGpu, tmp_path: Path, name: str, state: str) -> None:
    words = f"tests/gpu/test_gpu_device.py -p no:xdist -k {name}"
    status, found = run(tmp_path, "--only=tests", "--seconds=tests=600", f"--tests={words}")
    assert status == 0 and found["counts"]["tests"] == {state: 1}, found


def test_tests_that_fail_or_cannot_run_are_told(gpu: FakeGpu, tmp_path: Path) -> None:
    failing = tmp_path / "test_failing.py"
    failing.write_text("def test_it():\n    assert False\n")
    status, found = run(tmp_path, "--only=tests", f"--tests={failing} -p no:xdist")
    assert status == 1 and found["counts"]["tests"] == {"wrong": 1}
    _, found = run(tmp_path, "--only=tests", "--tests=nothing.py -p no:xdist")
    assert found["counts"]["tests"] == {"error": 1}


def test_no_device_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(hardware.__file__)), f"--output={tmp_path}/gpu.json"]
    folders = os.pathsep.join(str(hardware.ROOT / folder) for folder in (".", "tests", "tests/gpu"))
    environment = os.environ | {"PYTHONPATH": folders, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("gpu: there is no ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "gpu.json").exists()
