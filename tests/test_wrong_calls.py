"""Wrong calls end in one sentence of a TtcError: a slice of the campaign, and the ones that once did not."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forks import forked
from other_user import NOBODY, needs_root, own_folder

import ttc_llvm
from ttc_llvm import (
    ArrayError,
    CpuPlan,
    Forced,
    GpuForced,
    GpuPlan,
    Library,
    Measurement,
    OptionError,
    PlanError,
    Problem,
    ProblemError,
    Solution,
    TargetError,
    TtcError,
    cli,
)
from ttc_llvm.errors import NoDtypeError
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Exchange
from ttc_llvm.operands import streams

sys.path.append(str(Path(__file__).parent / "endurance"))

from campaign import Campaign
from wrong_calls import attack
from wrong_values import Hostile, Unreadable

PROBLEM = Problem((1, 0), (4, 5))
PLAN = CpuPlan((5, 4), (1, 1), (0, 1), (0, 1))
POINTER = ctypes.pointer(ctypes.c_long(1))  # which can be read for ever
HUGE = 10**5000  # more digits than Python prints
pytestmark = pytest.mark.usefixtures("own_place")


def test_a_slice_of_the_campaign_has_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign("wrong_calls", 31)
    attack(campaign, 400)
    assert campaign.done == 400
    assert not campaign.failures
    assert {"python OptionError", "python signature", "ttc exit 2"} <= campaign.counts.keys()


def solution() -> Solution:
    """One whose plan is the cost model's."""
    return ttc_llvm.compile(PROBLEM, 1, 1)


def endless() -> Any:
    """An iterator that never ends."""
    while True:
        yield 1


def nested() -> Any:
    """A list whose text Python cannot write."""
    found: list[Any] = []
    for _ in range(50_000):
        found = [found]
    return found


Wrong = tuple[Callable[..., Any], dict[str, Any], type[TtcError], str]
CALLS: dict[str, Wrong] = {
    "hot_a": (ttc_llvm.compile, {"hot_a": {1}}, OptionError, "hot_a = .1. is neither True nor False"),
    "verify": (ttc_llvm.compile, {"verify": "yes"}, OptionError, "verify = 'yes' is neither"),
    "database": (ttc_llvm.compile, {"database": 1.5}, OptionError, "database 1.5 is no path"),
    "database NUL": (ttc_llvm.compile, {"database": "a\0b"}, OptionError, "'a.x00b' holds a NUL"),
    "database surrogate": (ttc_llvm.compile, {"database": Path("a\ud800")}, OptionError, "cannot encode"),
    "progress": (ttc_llvm.compile, {"progress": 5}, OptionError, "progress is a int"),
    "target": (ttc_llvm.compile, {"target": 5}, TargetError, "target 5 is neither a Target nor"),
    "targets": (ttc_llvm.compile, {"target": endless()}, TargetError, "target <generator"),
    "forced": (ttc_llvm.compile, {"forced": 5}, OptionError, "forced is a int: it must be a Forced"),
    "forced on a GPU": (ttc_llvm.compile, {"forced": 5, "target": "sm_80"}, OptionError, "forced is a int"),
    "count": (ttc_llvm.compile, {"max_implementations": 1 << 40}, OptionError, "1099511627776 is more than"),
    "limit": (ttc_llvm.compile, {"time_limit": np.array([1, 2])}, OptionError, "time_limit = array.* is not a number"),
    "limit of many digits": (ttc_llvm.compile, {"time_limit": HUGE}, OptionError, "beyond the range"),
    "perm": (Problem, {"perm": endless()}, ProblemError, "perm <generator"),
    "perm nested": (Problem, {"perm": nested()}, ProblemError, "perm of type tuple is not a sequence of integers"),
    "perm unordered": (Problem, {"perm": {1, 0}}, ProblemError, "perm .0, 1. is not a sequence"),
    "size": (Problem, {"size": (HUGE, 1)}, ProblemError, "size.0. is an integer of more than 40 digits"),
    "alpha": (Problem, {"alpha": np.array([1, 2])}, ProblemError, "alpha = array.* is not a number"),
    "conjugate": (Problem, {"conjugate": np.array([1, 0])}, ProblemError, "conjugate = array.* is neither"),
    "dtype": (Problem, {"dtype": Hostile()}, ProblemError, "data type of type Hostile is none"),
    "streaming": (Forced, {"streaming": np.array([1, 2])}, OptionError, "forced streaming = array"),
    "prefetch": (Forced, {"prefetch": 5}, OptionError, "forced prefetch 5 is not a sequence of distances"),
    "blockings": (Forced, {"blockings": (4, 4)}, OptionError, "forced blockings .* is not a sequence of pairs"),
    "blockings of zero": (Forced, {"blockings": ((4, 0),)}, OptionError, "0 is less than 1"),
    "blockings of three": (Forced, {"blockings": ((4, 4, 4),)}, OptionError, "not a sequence of 2 positive sides"),
    "orders": (Forced, {"orders": ("ab",)}, OptionError, "forced orders .* is not a sequence of orders"),
    "GPU threads": (GpuForced, {"threads": "x"}, OptionError, "forced threads 'x' is not an integer"),
    "tile": (CpuPlan, {"tile": 5}, PlanError, "plan tile 5 is not a sequence of integers"),
    "store": (CpuPlan, {"store": "combined"}, PlanError, "plan store is a str: it must be a Store"),
    "vector": (GpuPlan, {"vector": 5}, PlanError, "plan vector 5 is not a sequence of integers"),
    "seconds": (Measurement, {"seconds": "x"}, OptionError, "measurement seconds = 'x' is not a number"),
    "timings": (Measurement, {"timings": [("cpu3", 5)]}, OptionError, "timings .* is not a sequence"),
    "plan": (Solution, {"plan": 5}, OptionError, "plan is a int: it must be a CpuPlan"),
    "plan of another form": (Solution, {"plan": replace(PLAN, tile=(1,))}, PlanError, "tile=1 needs 2"),
    "threads": (Solution, {"threads": 0}, OptionError, "threads 0 is less than 1"),
    "objects": (Solution, {"objects": {1: b""}}, OptionError, "a key of objects is a int"),
    "solutions": (Library, {"name": "x", "solutions": 5}, OptionError, "solutions 5 is not a sequence of solutions"),
    "library's name": (Library, {"name": HUGE, "solutions": ()}, OptionError, "library name of type int"),
    "axes": (ttc_llvm.transpose, {"a": np.ones((2, 3)), "axes": Hostile()}, ArrayError, "axes of type Hostile do not"),
    "axes by pointer": (ttc_llvm.transpose, {"a": np.ones((2, 3)), "axes": POINTER}, ArrayError, "axes <.*LP_c_"),
    "order": (ttc_llvm.transpose, {"a": np.ones((2, 3)), "order": np.array(["C", "F"])}, ArrayError, "order array"),
    "a": (ttc_llvm.transpose, {"a": [[1, 2], [3]]}, ArrayError, "a is a list that NumPy cannot read"),
    "array's alpha": (ttc_llvm.transpose, {"a": np.ones(3), "alpha": np.ones(1)}, ProblemError, "alpha = array"),
    "array's conjugate": (ttc_llvm.transpose, {"a": np.ones(3), "conjugate": 5}, ProblemError, "conjugate = 5"),
    "array's dtype": (ttc_llvm.ascontiguousarray, {"a": [1], "dtype": "no"}, NoDtypeError, "dtype 'no' is none"),
    "conversion": (ttc_llvm.asfortranarray, {"a": ["a"], "dtype": "f4"}, ArrayError, "cannot be converted to dtype"),
    "threads in use": (ttc_llvm.ascontiguousarray, {"a": [1], "threads": "x"}, OptionError, "threads 'x' is not"),
    "number of threads": (ttc_llvm.set_num_threads, {"threads": -HUGE}, OptionError, "more than 40 digits"),
}  # fmt: skip
REST: dict[Any, dict[str, Any]] = {  # the arguments that are right
    ttc_llvm.compile: {"problem": PROBLEM, "max_implementations": 1},
    Problem: {"perm": (1, 0), "size": (4, 5)},
    CpuPlan: {"tile": (5, 4), "block": (1, 1), "order": (0, 1), "inner": (0, 1)},
    GpuPlan: {"tile": (1,), "block": (1,), "order": (0,), "threads": 64},
    Measurement: {"seconds": 1.0, "gibs": 1.0, "ceiling_gibs": None, "ceiling": "copy"},
    Solution: {"problem": PROBLEM, "target": lookup.find("avx2"), "plan": PLAN, "threads": 1},
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_types_are_refused_in_one_sentence(name: str) -> None:
    call, wrong, error, message = CALLS[name]
    with pytest.raises(error, match=message) as caught:
        call(**{**REST.get(call, {}), **wrong})
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)


METHODS: dict[str, tuple[str, tuple[Any, ...], type[TtcError], str]] = {
    "write None": ("write", (None,), OptionError, "directory None is no path: a str or a pathlib.Path is expected"),
    "write NUL": ("write", ("a\0b",), OptionError, "directory 'a.x00b' holds a NUL"),
    "write long": ("write", ("x" * 300,), OptionError, "too long: at most 255 bytes a name"),
    "emit": ("write", (".", 5), OptionError, "emit 5 is not a sequence of texts"),
    "emit unhashable": ("write", (".", [[]]), OptionError, r"emit .*\[0\] \[\] is not a text"),
    "explain": ("explain", ("x",), OptionError, "count 'x' is not an integer"),
    "kinds": ("plan_for", (5,), ProblemError, "kinds is a int: it must be a Kinds"),
    "A": ("__call__", (5.0, 5), ArrayError, "A is a float: pass an array"),
    "B": ("__call__", (np.ones(20, np.float32), HUGE), ArrayError, "B is the integer of type int, which is no address"),
    "scalars": ("__call__", (1, 2, [1]), ProblemError, r"alpha = \[1\] is not a number"),
}


@pytest.mark.parametrize("name", METHODS)
def test_solutions_refuse_wrong_types(name: str) -> None:
    method, given, error, message = METHODS[name]
    with pytest.raises(error, match=message):
        getattr(solution(), method)(*given)


MACHINES: dict[str, dict[str, Any]] = {  # what LLVM ends the process on, or would say much about
    "of aarch64 is none": {"triple": "aarch64-unknown-linux-gnu"},
    "triple 'garbage' is none of x86": {"triple": "garbage"},
    "the feature '-64bit' is none": {"features": "+avx2,-64bit"},
    "the feature 'x' is none": {"features": "x"},
    "exchange segments is none of x86": {"exchange": Exchange.SEGMENTS},
    "exchange unpack is none of x86 with registers of any length": {"scalable": True},
    "family 'z80' is not one of x86": {"family": "z80"},
    "abi 'x' is none of x86": {"abi": "x"},
    "vector_bits 4 is less than 8": {"vector_bits": 4},
    "vector_bits 100 is not a power of two": {"vector_bits": 100},
    "small_vector_bits 24 is not a power of two": {"small_vector_bits": 24},
    "line 0 is less than 1": {"line": 0},
    "objects are neither ELF, Mach-O nor WebAssembly": {"triple": "x86_64-pc-windows-msvc"},
    "masked 4 is not a sequence": {"masked": 4},
    "name .* holds a NUL": {"name": "a\0b"},
}
GPUS: dict[str, dict[str, Any]] = {
    "triple 'garbage' is none of nvvm": {"triple": "garbage"},
    "intrinsics 'x' are not one of nvvm, amdgcn": {"intrinsics": "x"},
    "cpu 'gfx90a' is none of nvptx64-nvidia-cuda": {"cpu": "gfx90a"},
    "cpu 'sm_' is none of": {"cpu": "sm_"},
    "the feature 'x' is none": {"features": "x"},
    "ptx .7,. is not a sequence of 2 numbers": {"ptx": (7,)},
    "warp 0 is less than 1": {"warp": 0},
}


@pytest.mark.parametrize("message", GPUS)
def test_gpus_that_no_code_can_be_made_for(message: str) -> None:
    with pytest.raises(TargetError, match=message):
        replace(gpu_target.find("sm_80"), **GPUS[message])


def test_axes_are_named_as_they_were_given() -> None:
    for axes, said in (([0, -3], r"\[0, -3\]"), ((0, 2), r"\(0, 2\)"), (iter((1, 1)), r"\(1, 1\)")):
        with pytest.raises(ArrayError, match=f"axes {said} do not permute the 2 axes"):
            ttc_llvm.transpose(np.ones((2, 3)), axes)


@pytest.mark.parametrize("message", MACHINES)
def test_machines_that_no_code_can_be_made_for(message: str) -> None:
    with pytest.raises(TargetError, match=message.replace("of aarch64", ".*aarch64.*")):
        replace(lookup.find("avx2"), **MACHINES[message])


@pytest.mark.parametrize("error", [RuntimeError, TypeError, BufferError])
def test_arrays_that_cannot_be_read_say_why(error: type[Exception]) -> None:
    for call in (ttc_llvm.transpose, ttc_llvm.ascontiguousarray):
        with pytest.raises(ArrayError, match="a is a Unreadable that NumPy cannot read: something else in two lines"):
            call(Unreadable(error("something else\nin two lines")))


class Late(np.ndarray[Any, Any]):
    """An array in whose transposition the handler of a signal raises."""

    def transpose(self, *axes: Any) -> Any:
        raise TimeoutError("late")


class Count:
    """What raises when it is asked for its value."""

    def __index__(self) -> int:
        raise TimeoutError("late")


def test_what_handlers_of_signals_raise_is_no_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """They strike anywhere, also in checks of arguments; numbers and axes of Python's own types raise no such thing."""
    for axes in (None, (1, 0), [1, 0]):
        with pytest.raises(TimeoutError, match="late"):
            ttc_llvm.transpose(np.ones((3, 4)).view(Late), axes)
    with pytest.raises(OptionError, match="is not an integer"):
        ttc_llvm.set_num_threads(Count())  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match="do not permute the 2 axes of the array: late"):
        ttc_llvm.transpose(np.ones((3, 4)), (Count(), 0))
    with monkeypatch.context() as patch, pytest.raises(TimeoutError, match="late"):
        patch.setattr("operator.index", Count.__index__)
        ttc_llvm.set_num_threads(2)


LINES = {
    "cpu": (("--perm=1,0", "--size=4,5", "--cpu=--"), "--cpu=--: -- is no value"),
    "limit": (("--perm=1,0", "--size=4,5", "--time-limit=--"), "--time-limit=--: -- is no value"),
    "seed": (("bench", "--seed=--"), "--seed=--: -- is no value"),
    "NUL": (("report", "a\0b"), "argument 'a.x00b' holds a NUL"),
    "surrogate": (("--manifest=\ud800",), "the system cannot encode"),
    "long": (("bench", "x" * 5000), "unrecognized arguments: xxx"),
    "title": (("report", "--title=\udc80", "none"), "none cannot be read"),
}


@pytest.mark.parametrize("name", LINES)
def test_command_lines_end_with_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv, message = LINES[name]
    status = cli.main(argv)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("ttc: error: ")
    assert err.count("\n") == 1
    assert message.replace(".x00", "\\x00") in err
    assert len(err) < 1100


def test_machines_of_long_names_get_short_answers() -> None:
    with pytest.raises(TargetError) as caught:
        ttc_llvm.compile(PROBLEM, 1, 1, replace(lookup.find("avx2"), cpu="d/" * 3000))
    assert len(str(caught.value)) < 200


class Failing:
    """A stream whose handle cannot be had."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> Any:
        """Answer what is none, or raise."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [5, (), ZeroDivisionError("no")])
def test_streams_that_cannot_be_read(answer: object) -> None:
    with pytest.raises(ArrayError, match="stream is a Failing"):
        streams.stream_handle(Failing(answer))


def test_a_database_that_is_no_path() -> None:
    given: Any = np.array([1, 2])
    with pytest.raises(OptionError, match="database"):
        ttc_llvm.compile(PROBLEM, 1, database=given)


@needs_root
def test_folders_that_cannot_be_looked_into() -> None:
    made = ttc_llvm.compile(PROBLEM, 1, 1)
    with own_folder() as folder:
        (folder / "closed").mkdir(mode=0o700)
        made.write(folder / "open", ["header"])  # loads what the other user may have no right to read

        def check() -> bool:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            try:
                made.write(folder / "closed" / "deep" / "er", ["header"])
            except OptionError as error:
                return "Permission denied" in str(error)
            return False

        assert forked(check) == 0
