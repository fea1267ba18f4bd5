"""Groups as files: PTX with their tables, headers that launch them, the C example, and what is refused."""

from __future__ import annotations

import ctypes
import itertools
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from device import hosted
from fake_gpu import FakeGpu
from native_build import compiler
from test_gpu_artifact import HERE, INCLUDES, Built, kernel_library, run_example
from toolchain import assemblers_for

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.errors import ArrayError, OptionError
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.ir_builders.gpu import boxes
from ttc_llvm.lowering.gpu.launch import GpuImage
from ttc_llvm.problem import dtypes

SHAPES = [(3, 4, 5), (1, 16, 2), (40, 33, 9), (7,) * 3, (3, 4, 5), (0, 4, 4)]
AXES = (2, 0, 1)
CALLS = [(1, 0), (2, 0), (-1, 2), (0, 0), (0, 3)]  # alpha and beta of all kinds
SCALARS = {"": "", "f": "alpha[0], beta[0], ", "c": "alpha, beta, "}
PROGRAM = """
#include "group.h"
int go(const char *path, CUdeviceptr addresses, int aligned, const REAL *alpha, const REAL *beta)
{
    CUdevice device;
    CUcontext context;
    group_module found;
    int status;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxPushCurrent(context))
        return -1;
    (void)alpha, (void)beta;
    status = group_load(&found, path);
    if (!status)
        status = group_launch(&found, addresses, aligned, SCALARS NULL);
    return status ? status : (int)group_unload(&found);
}
"""


def plan(dtype: Any = "f8", shapes: Any = SHAPES, target: str = "sm_90", **options: Any) -> ttc_llvm.GpuGroupedPlan:
    made: ttc_llvm.GpuGroupedPlan = ttc_llvm.grouped(shapes, AXES, dtype, target=target, **options)
    return made


def program(folder: Path, compute: np.dtype[Any]) -> Any:
    """The function of PROGRAM, whose driver is the fake one of this process."""
    real = "float" if compute in (np.dtype("f4"), np.dtype("c8")) else "double"
    kind = compute.kind if compute.kind in "fc" else ""
    (folder / "go.c").write_text(PROGRAM.replace("REAL", real).replace("SCALARS", SCALARS[kind]))
    command = [compiler("gcc"), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command += ["-isystem", str(HERE / "stubs"), str(folder / "go.c"), "-o", str(folder / "go.so")]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "go.so")).go


@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("types", [("f4",) * 2, ("f8",) * 2, ("c8",) * 2, ("f4", "f8"), ("u1",) * 2, ("V12",) * 2])
def test_native_programs_launch_groups(types: tuple[str, str], conjugate: bool, gpu: FakeGpu, tmp_path: Path) -> None:
    """Every kind of scalars, at aligned addresses and at others."""
    of, to = map(np.dtype, types)
    if conjugate and of.kind != "c":
        pytest.skip("real numbers have no conjugates")
    code, _ = plan((of, to), conjugate=conjugate).write(tmp_path, "group")
    go, rng = program(tmp_path, to), np.random.default_rng(1)
    calls = CALLS if of.kind in "fc" else CALLS[:1]
    for (alpha, beta), aligned in itertools.product(calls, (1, 0)):
        list_a, list_b = ([_placed(gpu, rng, shape, t, aligned) for shape in shapes]
                          for t, shapes in ((of, SHAPES), (to, [tuple(s[k] for k in AXES) for s in SHAPES])))
        both = dtypes.from_numpy(of), dtypes.from_numpy(to)
        wanted = [reference.combine(x.transpose(AXES), y, both, alpha, beta, conjugate)
                  for x, y in zip(list_a, list_b, strict=True)]  # fmt: skip
        pairs = gpu.on_device(np.array([[x.ctypes.data, y.ctypes.data] for x, y in zip(list_a, list_b, strict=True)]))
        real = ctypes.c_float if to in (np.dtype("f4"), np.dtype("c8")) else ctypes.c_double
        numbers = [(real * 2)(value, 0) for value in (alpha, beta)]
        assert go(str(code).encode(), ctypes.c_ulonglong(pairs.ctypes.data), aligned, *numbers) == 0
        for found, value in zip(list_b, wanted, strict=True):
            np.testing.assert_array_equal(found, np.asarray(value, to))


def _placed(gpu: FakeGpu, rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], aligned: int) -> Any:
    """A block on the device, at a multiple of 16 bytes, or of its element and no more."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = gpu.on_device(np.zeros(size + 48, np.uint8))
    start = -memory.ctypes.data % 16 + (0 if aligned else dtype.itemsize & -dtype.itemsize)
    block = np.ndarray(shape, dtype, memory, start)
    numbers = rng.integers(0, 100, shape)
    block[...] = numbers.astype("u1").repeat(12).reshape(*shape, 12).copy().view("V12")[..., 0] \
        if dtype.kind == "V" else numbers.astype(dtype)
    return block


@pytest.mark.parametrize("folder", INCLUDES)
def test_the_example_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built against the stub header, and CUDA's own where it is there; run on the fake driver."""
    built, kernels = gpu_kernel.for_boxes, list[Built]()

    def noted(c: Any, axes: int, tasks: int, target: Any, entry: str = "boxes") -> GpuImage:
        image = built(c, axes, tasks, target, entry)
        kernels.append(Built(image.launch, str(boxes.build(c, axes, hosted(target), entry))))
        return image

    monkeypatch.setattr(gpu_kernel, "for_boxes", noted)
    manifest = tmp_path / "blocks.txt"
    manifest.write_text("--perm=1,0 --size=48,32\n--perm=2,1,0 --size=7,5,6\n--perm=1,0 --size=48,32\n")
    command = [f"--manifest={manifest}", "--architecture=cuda", "--cpu=sm_80", f"--output-dir={tmp_path}"]
    assert cli.main(command) == 0
    library = kernel_library(kernels, tmp_path)
    said = run_example("group.c", tmp_path / "blocks.ptx", library, folder, tmp_path)
    assert said == "0 of 3282 elements are wrong\n"


@pytest.mark.parametrize("dtype", ["f4", "c16", "u1", "V3"])
def test_one_ptx_holds_kernels_and_tables_and_assembles(dtype: str, tmp_path: Path) -> None:
    found = plan(dtype, target="sm_80")
    code, header = found.write(tmp_path, "group")
    text = code.read_text()
    entries = re.findall(r"\.visible \.entry (\w+)\(", text)
    kinds = ["copy"] if dtype in ("u1", "V3") else ["copy", "scale", "update", "clear", "rescale"]
    assert [entry for entry in entries if "_single" not in entry] == [f"group_{kind}" for kind in kinds]
    assert text.count(".version") == text.count(".address_size") == 1
    named = re.findall(r'\{"(\w+)", "(\w+)"\},', header.read_text())
    assert {entry for entry, _ in named} == set(entries) and len(named) == 2 * len(kinds)
    assert {table for _, table in named} == set(re.findall(r"\.b64 (\w+)\[", text))
    assemblers_for(found.target)
    (cubin,) = found.write(tmp_path, "group", ["cubin"])
    assert cubin.read_bytes().startswith(b"\x7fELF")
    assert found.write(tmp_path, "group", ["cubin"]) == (cubin,)  # it is ours


def test_groups_of_nothing_are_launched_as_nothing(gpu: FakeGpu, tmp_path: Path) -> None:
    code, _ = plan("f8", [(0, 3, 3)]).write(tmp_path, "group")
    go, one = program(tmp_path, np.dtype("f8")), (ctypes.c_double * 2)(1, 0)
    assert go(str(code).encode(), ctypes.c_ulonglong(4096), 1, one, one) == 0
    assert not any(line.startswith("launch") for line in gpu.journal)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"emit": ["obj"]}, "^emit obj: the choices for a group are ptx, cubin, header$"),
        ({"name": "a-b"}, "^group name 'a-b' is no C identifier of at most 100 characters"),
        ({"name": 3}, "^group name 3 is no C identifier"),
        ({"overwrite": "yes"}, "^overwrite"),
        ({"directory": 5}, "^directory"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(options: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=told):
        plan().write(**{"directory": tmp_path, "name": "group", **options})
    assert not list(tmp_path.iterdir())


def test_arithmetic_on_parts_of_elements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArrayError, match="blocks of A have elements at odd distances: arithmetic needs multiples of 8"):
        plan("f8", [(4, 5, 1)], strides=[(44, 8, 8)]).write(tmp_path, "group")


@pytest.mark.parametrize(
    ("lines", "options", "told"),
    [
        ("--perm=1,0 --size=4,5\n--perm=1,0 --size=4,5 --dataType=d", "", "all.txt:2: --dataType=d: that of the first"),
        ("--perm=1,0 --size=4,5 --dataType=c\n--perm=1,0 --size=4,5 --dataType=c --conjugate", "", "all.txt:2: --conj"),
        ("--perm=1,0 --size=4,4 --inplace", "", "all.txt:1: a problem in place is not served on GPUs"),
        ("--perm=1,0 --size=4,5 --dataType=uint8,float32", "", "groups do not convert uint8 to float32"),
        ("--perm=1,0 --size=4,5 --loopPerm=0,1", "", "all.txt:1: --loopPerm is a decision of a plan: the launch of a"),
        ("--perm=1,0 --size=4", "", "all.txt:1: "),
        ("--perm=1,0 --size=4,5", "--emit=obj", "--emit=obj: the choices for a group are ptx, cubin, header"),
        ("--perm=1,0 --size=4,5", "--name=1", "group name '1' is no C identifier"),
        ("--perm=1,0 --size=4,5", "--cpu=gfx90a", "target 'gfx90a' is no NVIDIA GPU: groups are for these"),
        ("--perm=1,0 --size=4,5", "--compiler=nvcc", "--compiler compares a single problem's solution: a group"),
        ("--perm=1,0 --size=4,5", "--list-files", "--list-files is for CPUs only"),
        ("--perm=1,0 --size=4,5", "--perm=1,0", "--perm contradicts --manifest"),
    ],
)
def test_wrong_manifests(
    lines: str, options: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("all.txt").write_text(lines)
    machine = [] if "--cpu" in options else ["--cpu=sm_80"]
    assert cli.main(["--manifest=all.txt", "--emit=ptx", *machine, *options.split()]) == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["all.txt"]
