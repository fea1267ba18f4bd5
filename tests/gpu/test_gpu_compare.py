"""Reference kernels for GPUs, by LLVM and in CUDA C++: run in the harness of fibres, compared on the fake device."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from case import Case, expected, fill, windows
from device import harness, hosted, run, scalars_of
from every_type import PROBLEMS
from fake_gpu import FakeGpu
from guards import Guarded
from native_build import compiler

from ttc_llvm import cli
from ttc_llvm.bench.result_line import from_line
from ttc_llvm.bench.results import Result
from ttc_llvm.compare import compilers, gpu_references, gpu_source
from ttc_llvm.compare.builds import Builder, Job
from ttc_llvm.gpu import kernel
from ttc_llvm.ir_builders.gpu import reference_threads as nests
from ttc_llvm.lowering.gpu import launch as grids
from ttc_llvm.lowering.gpu.launch import GpuImage
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem import reference_loops
from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.problem import Problem
from ttc_llvm.problem.reference_loops import ReferenceLoops, Traverse
from ttc_llvm.runtime import backend, linking

SHIM = Path(__file__).parent / "cuda_shim.h"
SM_90 = gpu_target.find("sm_90")


@dataclass(frozen=True, slots=True)
class Library:
    """A kernel of a shared library, called as `linking.Loaded` is."""

    loaded: ctypes.CDLL

    def address(self, name: str) -> int:
        """Where the reference's code lies, whatever the harness calls it."""
        return ctypes.cast(getattr(self.loaded, gpu_references.ENTRY), ctypes.c_void_p).value or 0


def by_llvm(nest: ReferenceLoops) -> linking.Loaded:
    """The kernel that LLVM makes for a GPU, made for this machine."""
    harness()  # kernels call it
    text = str(nests.build(nest, hosted(SM_90), "kernel"))
    return linking.load(backend.compile_object(text, backend.host_target()), ("kernel",))


def by_cpp(nest: ReferenceLoops, folder: Path) -> Library:
    """The CUDA C++ source, taken for plain C++ with the harness's indices."""
    compiler("g++")
    harness()
    place = folder / "reference.so"
    (folder / "reference.cu").write_text(gpu_source.reference(nest, gpu_references.ENTRY))
    subprocess.run([*HOST_COMMAND, "-o", str(place), str(folder / "reference.cu")], check=True)
    return Library(ctypes.CDLL(str(place)))


HOST_COMMAND = ("g++", "-x", "c++", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-include", str(SHIM))


def computes(built: Any, nest: ReferenceLoops, problem: Problem) -> None:
    """Run a kernel in the harness: B is the oracle's, its padding and all memory around are untouched."""
    case = Case.of(problem)
    guarded = [Guarded(w.span * t.itemsize, "end") for w, t in zip(windows(case), (case.a, case.b), strict=True)]
    a, b = (m.elements(reference.numpy_type(t)) for m, t in zip(guarded, (case.a, case.b), strict=True))
    fill(case, a, b)
    for storage in (a, b) if problem.compute.kind is not Kind.OPAQUE else ():
        plain = np.isfinite(storage) & (np.abs(storage) > 1e-3)
        storage[~plain] = 0.75  # what is fused is fused for infinities, too
    wanted, before = expected(case, a, b), a.copy()
    launch = grids.reference_launch(nest, "kernel")
    run(built, launch, guarded[0].address, guarded[1].address, scalars_of(case, launch))
    if problem.compute.kind is Kind.OPAQUE or case.plain:
        assert b.tobytes() == wanted.tobytes()
    else:  # sums are fused
        close = 1e-5 if min(problem.a.real_bits, problem.b.real_bits) == 32 else 1e-12
        assert np.allclose(b, wanted, rtol=close, atol=close)
    assert a.tobytes() == before.tobytes() and all(memory.intact() for memory in guarded)


@pytest.mark.parametrize("traverse", Traverse)
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_llvm_s_kernel_computes_every_type(problem: Problem, traverse: Traverse) -> None:
    nest = reference_loops.of(problem, traverse)
    computes(by_llvm(nest), nest, problem)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_the_cuda_source_computes_every_type(problem: Problem, tmp_path: Path) -> None:
    nest = reference_loops.of(problem, Traverse.INPUT if problem.beta else Traverse.OUTPUT)
    computes(by_cpp(nest, tmp_path), nest, problem)


def test_large_tensors_are_numbered_in_64_bits() -> None:
    small, large = (reference_loops.of(Problem((1, 0), (65536, size))) for size in (30000, 40000))
    assert " unsigned rest" in gpu_source.reference(small, "k") and " uint64_t rest" in gpu_source.reference(large, "k")
    assert "mul.lo.s64" not in kernel.code(str(nests.build(small, SM_90, "k")), SM_90).decode()
    assert grids.reference_blocks(large) == 65536 * 40000 // 256


@pytest.mark.parametrize("name", ["sm_35", "sm_90", "gfx90a"])
def test_llvm_makes_code_for_every_maker(name: str) -> None:
    target = gpu_target.find(name)
    for problem in PROBLEMS:
        found = gpu_references.image(reference_loops.of(problem), target)
        if target.is_nvidia:
            text = found.code.decode()
            assert f".visible .entry {gpu_references.ENTRY}(" in text and ".maxntid 256" in text
            assert ".local" not in text
        else:
            assert found.code[:4] == b"\x7fELF"


def test_threads_next_to_each_other_write_next_to_each_other() -> None:
    """The innermost loop is the fastest digit of a thread's number."""
    text = gpu_source.reference(reference_loops.of(Problem((1, 2, 0), (3, 20, 11))), "k")
    order = [line.split()[2] for line in text.splitlines() if line.startswith("    const unsigned i")]
    assert order == ["i1", "i2", "i0"]
    assert "into[i1 + i2 * 20 + i0 * 220]" in text.replace("i0 * 220 + i2 * 20 + i1", "i1 + i2 * 20 + i0 * 220")


@pytest.mark.parametrize("problem", PROBLEMS[::4], ids=str)
def test_nvcc_compiles_the_source(problem: Problem, tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed: a stand-in is called instead")
    found = compilers.find(["nvcc"], {}, "sm_90").compilers[0]
    builder = Builder(tmp_path)  # keeps what it has made
    made = builder.obtain(Job(found, gpu_source.reference(reference_loops.of(problem), gpu_references.ENTRY)))
    assert made.message == "" and made.library is not None
    assert made.library.read_bytes()[:4] == b"\x7fELF"


# --- nvcc's command -----------------------------------------------------------------------------------------


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in on the PATH: its arguments go to a file, and its cubins are libraries for this machine."""
    compiler("g++")
    folder = tmp_path / "bin"
    folder.mkdir()
    told = tmp_path / "nvcc.txt"
    (folder / "nvcc").write_text(
        f"""#!/bin/sh
if [ "$1" = --version ]; then
    printf 'nvcc: NVIDIA (R) Cuda compiler driver\\nCopyright (c) 2005-2025 NVIDIA Corporation\\n'
    echo 'Cuda compilation tools, release 13.0, V13.0.88'
    exit 0
fi
echo "$@" >> {told}
for word in "$@"; do
    case $last in -o) made=$word ;; esac
    last=$word
done
exec {' '.join(HOST_COMMAND)} -o "$made" "$last"
"""
    )
    (folder / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return told


def test_nvcc_makes_cubins_for_the_device(nvcc: Path) -> None:
    found = compilers.find(["nvcc"], {}, "sm_90").compilers[0]
    assert found.version == "Cuda compilation tools, release 13.0, V13.0.88"
    assert found.command(("reference.cu",))[1:] == (
        "-O3", "-arch=sm_90", "-cubin", "-o", "reference.cubin", "reference.cu",
    )  # fmt: skip
    own = compilers.find(["nvcc"], {"nvcc": ("-O2", "-gencode", "arch=compute_90,code=sm_90")}, "sm_90").compilers[0]
    assert own.flags == ("-O2", "-gencode", "arch=compute_90,code=sm_90")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gpu: FakeGpu) -> None:
    """The fake device runs naive kernels as well: LLVM's by their IR for this machine, libraries as they are."""
    monkeypatch.setattr("ttc_llvm.bench.gpu_prepare.cubin", lambda ptx, target: ptx)
    monkeypatch.setattr("ttc_llvm.compiling.gpu_trial.LEAST_RUNS", 2)
    monkeypatch.setattr("ttc_llvm.compiling.gpu_trial.RUNS_SECONDS", 0)
    made, run_of = gpu_references.image, gpu_references.run_of

    def image(nest: ReferenceLoops, target: GpuTarget) -> GpuImage:
        found = made(nest, target)
        teach(found, by_llvm(nest))
        return found

    def started(trial: Any, found: GpuImage) -> Any:
        if found.code[:4] == b"\x7fELF":
            place = tmp_path / f"{len(gpu.kernels)}.so"
            place.write_bytes(found.code)
            teach(found, Library(ctypes.CDLL(str(place))))
        return run_of(trial, found)

    def teach(found: GpuImage, built: Any) -> None:
        key: Any = ("naive", found.code)
        gpu.kernels[found.code] = key
        gpu._hosted[key] = (built, found.launch)

    monkeypatch.setattr(gpu_references, "image", image)
    monkeypatch.setattr(gpu_references, "run_of", started)


SMALL = ("compare", "--architecture=cuda", "--bytes=4K", "--jobs=0", "--maxImplementations=2")


def results(path: Path) -> list[Result]:
    return [from_line(line) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("loads")
def test_nvcc_and_llvm_are_compared_on_the_device(
    gpu: FakeGpu, nvcc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, sheet = tmp_path / "results.jsonl", tmp_path / "results.csv"
    arguments = (*SMALL, "--cases=::19", "--traverse=both", "--kind=both", f"--output={out}", f"--csv={sheet}")
    assert cli.main([*arguments]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    found = results(out)
    assert len(found) == 6
    for one in found:
        assert list(one.peers) == list(one.references) == ["nvcc", "llvm", "nvcc input", "llvm input"]
        assert not any(made.message for made in one.references.values())
        assert one.references["nvcc"].flags == ("-O3", "-arch=sm_90") and one.references["llvm"].flags == ("-O3",)
    assert "x nvcc input" in told.out and "Cuda compilation tools, release 13.0" in told.out
    assert sheet.read_text().count("Cuda compilation tools") == 12
    assert nvcc.read_text().splitlines()[0] == "-O3 -arch=sm_90 -cubin -o reference.cubin reference.cu"
    gpu.forget()
    assert cli.main([*arguments]) == 0
    assert not [line for line in gpu.journal if line.startswith("launch")], "all results were there"


@pytest.mark.usefixtures("loads")
def test_a_wrong_kernel_is_left_out(
    nvcc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = gpu_source.reference
    monkeypatch.setattr(gpu_source, "reference", lambda *given: right(*given).replace("p * ", "2 * p * "))
    out = tmp_path / "results.jsonl"
    assert cli.main([*SMALL, "--cases=0", "--compiler=nvcc,llvm", f"--output={out}"]) == 0
    one = results(out)[0]
    assert list(one.peers) == ["llvm"] and one.references["nvcc"].message == "its result differs"
    assert "nvcc is left out of ttc57/00/update: its result differs" in capsys.readouterr().err


@pytest.mark.usefixtures("loads")
def test_nvcc_s_own_words_are_shown(
    nvcc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_source, "reference", lambda nest, entry: "nothing that compiles")
    assert cli.main([*SMALL, "--cases=0"]) == 0
    assert "nvcc: ttc57/00/update: reference.cu:1:1: error: " in capsys.readouterr().out


@pytest.mark.usefixtures("loads")
def test_without_nvcc_llvm_remains(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ttc_llvm.compare.compilers.shutil.which", lambda name: None)
    assert cli.main([*SMALL, "--cases=0"]) == 0
    told = capsys.readouterr()
    assert "no compiler is found (nvcc): LLVM's own optimiser is the only reference" in told.err
    assert "x llvm" in told.out


ONE = ("--architecture=cuda", "--perm=1,0", "--size=40,30", "--beta=2", "--maxImplementations=2", "--emit=")


@pytest.mark.usefixtures("loads", "nvcc")
def test_one_problem_s_speedup_over_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ONE, "--compiler=nvcc,llvm", "--traverse=both"]) == 0
    told = capsys.readouterr().out
    for name in ("nvcc", "llvm", "nvcc input", "llvm input"):
        assert f"speedup over {name} " in told
    assert "left out" not in told and "-O3 -arch=sm_90, compiled in" in told
    assert cli.main([*ONE, "--compiler=llvm", "--json", "--hotA", "--hotB"]) == 0
    found = json.loads(capsys.readouterr().out)["comparison"]["references"]["llvm"]
    assert found["speedup"] > 0 and len(found["seconds"]) == 3
    assert cli.main([*ONE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparison"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--compiler=g++",), "compiler g++: it compiles for CPUs"),
        (("--against=my.cu", "--generateOnly"), "cannot be compared with: --generateOnly times nothing"),
        (("--against=my.cu",), "--against is for CPUs"),
        (("--traverse=input",), "--traverse without --compiler or --against"),
        (("--compiler=llvm", "--size=40,0"), "the tensors have no elements"),
    ],
)
def test_mistakes_of_one_problem(
    gpu: FakeGpu, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert cli.main([*ONE, *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--compiler=g++",), "compiler g++: it compiles for CPUs: --architecture=cuda sets solutions beside nvcc"),
        (("--compiler=none",), "no reference is left to compare with"),
        (("--against=my.cu",), "--against is for CPUs"),
        (("--numThreads=2",), "--numThreads is for CPUs"),
        (("--cpu=gfx90a",), "code for gfx90a cannot run here"),
        (("--cpu=haswell",), "haswell cannot be benchmarked by name"),
        (("--compiler=nvcc", "--compilerFlags=g++=-O2"), "flags are given for 'g++', which is none of the compilers"),
    ],
)
def test_mistakes(
    gpu: FakeGpu, nvcc: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert cli.main([*SMALL, *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_without_a_device(gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    gpu.set(devices=0)
    assert cli.main([*SMALL]) == 2
    assert "there is no CUDA device" in capsys.readouterr().err
    assert cli.main(["compare", "--architecture=cuda", "--list"]) == 0
    assert cli.main(["compare", "--jobs=2"]) == 2
    assert "--jobs is for GPUs" in capsys.readouterr().err
