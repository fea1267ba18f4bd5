"""Files for GPUs: PTX that assembles, cubins, code objects, headers that compile, and the C example, run."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import fake_gpu
import pytest
from device import hosted
from native_build import compiler
from toolchain import assemblers_for

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.errors import ArtifactError, OptionError
from ttc_llvm.gpu import artifact, tools
from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.ir_builders.gpu import module
from ttc_llvm.lowering.gpu import lower as gpu_lower
from ttc_llvm.lowering.gpu.launch import Launch, Slot
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.names import stem
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "cuda"
INCLUDES = [HERE / "stubs", *filter(Path.exists, [Path("/usr/local/cuda/include")])]
TYPES = ("s", "d", "c", "z", "sd", "zc", "i8", "bf16", "v3")
LAUNCHER = """
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int ttc_gpu_run(void *, void *, void *, const double *, int, unsigned, unsigned, unsigned, void *, size_t, uint64_t);
DECLARATIONS
static const struct { const char *entry; void *kernel; int scalars, wide; size_t shared; } table[] = { ROWS };
int fake_launch(const char *entry, unsigned grid, unsigned block, void **parameters)
{
    double values[4] = {0};
    for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
        if (strcmp(table[k].entry, entry))
            continue;
        for (int s = 0; s < table[k].scalars; s++)
            values[s] = table[k].wide ? *(double *)parameters[2 + s] : *(float *)parameters[2 + s];
        void *shared = aligned_alloc(64, (table[k].shared + 127) / 64 * 64);
        return 719 * !!ttc_gpu_run(table[k].kernel, *(void **)parameters[0], *(void **)parameters[1], values,
                                   table[k].wide, 0, grid, block, shared, table[k].shared, 1);
    }
    return 500;
}
"""


def solution(dtype: str = "s", target: str = "sm_80", beta: float = 0.0) -> ttc_llvm.GpuSolution:
    """The cost model's plan of a small problem."""
    found = ttc_llvm.compile(Problem((2, 1, 0), (8, 16, 16), dtype, beta=beta), 1, target=target)
    assert isinstance(found, ttc_llvm.GpuSolution)
    return found


@pytest.fixture(autouse=True)
def database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A solutions database of our own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.db"))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("target", ["sm_80", "gfx90a"])
def test_headers_compile_without_a_warning(dtype: str, target: str, tmp_path: Path) -> None:
    (header,) = solution(dtype, target).write(tmp_path, ["header"])
    source = tmp_path / "use.c"
    source.write_text(f'#include "{header.name}"\n#include "{header.name}"\nint unused;\n')
    includes = INCLUDES if target.startswith("sm_") else INCLUDES[:1]
    for folder in includes:
        for tool, language, standard in (("gcc", "c", "c99"), ("g++", "c++", "c++11")):
            command = [compiler(tool), "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror"]
            subprocess.run([*command, "-isystem", str(folder), "-fsyntax-only", str(source)], check=True)


@pytest.mark.parametrize("dtype", ["s", "z", "i8"])
def test_one_ptx_holds_every_kernel_and_assembles(dtype: str, tmp_path: Path) -> None:
    found = solution(dtype)
    path, header = found.write(tmp_path)
    text = path.read_text()
    entries = re.findall(r"\.visible \.entry (\w+)\(", text)
    name = stem(found.problem)
    words = ["copy"] if dtype == "i8" else list(artifact.KINDS)
    assert entries == [f"{name}_{word}{end}" for word in words for end in ("", "_single")]
    assert text.count(".version") == text.count(".address_size") == 1
    for entry in entries:
        assert f'#define {entry}_ENTRY "{entry}"' in header.read_text()
    command = [assemblers_for(found.target)[0], "-arch=sm_80", str(path), "-o", str(tmp_path / "out.cubin")]
    subprocess.run(command, check=True)


def test_cubins(tmp_path: Path) -> None:
    found = solution()
    assemblers_for(found.target)[0]
    (path,) = found.write(tmp_path, ["cubin"])
    assert path.suffix == ".cubin" and path.read_bytes().startswith(b"\x7fELF")


def test_without_an_assembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "assemblers", lambda: ())
    with pytest.raises(ArtifactError, match="a cubin for sm_80 needs a ptxas that knows it, but none is found"):
        solution().write(tmp_path, ["cubin"])
    assert not list(tmp_path.glob("*.cubin"))


def test_amd_code_objects(tmp_path: Path) -> None:
    if tools.linker() is None:
        pytest.skip(f"no ld.lld {tools.LEAST_LLD} or later for AMD's code objects")
    code, header = solution("s", "gfx90a", 1.0).write(tmp_path)
    assert code.suffix == ".hsaco"
    data = code.read_bytes()
    assert data[:4] == b"\x7fELF" and data[16] == 3, "a shared object"
    for word in artifact.KINDS:
        assert f"sTranspose210_8x16x16_{word}.kd".encode() in data
    assert "hipModuleLaunchKernel(" in header.read_text()


def test_amd_without_a_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "linker", lambda: None)
    files = solution("s", "gfx90a").write(tmp_path)
    assert [path.suffix for path in files] == [".o"] * 10 + [".h"]
    with pytest.raises(ArtifactError, match=r"a code object for gfx90a needs ld\.lld"):
        solution("s", "gfx90a").write(tmp_path, ["hsaco"])


def test_other_kinds_of_files(tmp_path: Path) -> None:
    files = solution().write(tmp_path, ("llvm", "asm"))
    assert {path.suffix for path in files} == {".ll", ".s"} and len(files) == 20
    with pytest.raises(OptionError, match=r"^emit hsaco: the choices for an NVIDIA GPU are ptx, cubin, header"):
        solution().write(tmp_path, ["hsaco"])


class Built(NamedTuple):
    """A kernel that is built for this CPU. text: its IR."""

    launch: Launch
    text: str


def host_kernels(found: ttc_llvm.GpuSolution, folder: Path) -> Path:
    """All kernels of a solution's PTX."""
    kernels, target = list[Built](), hosted(found.target)
    for word, kinds in artifact.KINDS.items():
        canonical = canonicalise(found.problem, kinds).canonical
        plan = found.plan_for(kinds)
        for end, one in (("", plan), (artifact.SINGLE, gpu_lower.unaligned(canonical, plan))):
            entry = f"{stem(found.problem)}_{word}{end}"
            nest = gpu_lower.lower(canonical, one, found.target)
            kernels.append(Built(gpu_kernel.launch(nest, entry), str(module.build(nest, target, entry))))
    return kernel_library(kernels, folder)


def kernel_library(kernels: Iterable[Built], folder: Path) -> Path:
    """Kernels built for this CPU, behind one function that launches them."""
    rows, declarations, objects = [], [], []
    for launch, text in kernels:
        entry = launch.entry
        objects.append(folder / f"{entry}.o")
        objects[-1].write_bytes(backend.compile_object(text, backend.host_target()))
        slots = [p.slot for p in launch.parameters[2:]]
        declarations.append(f"void {entry}(void);")
        rows.append(f'{{"{entry}", (void *){entry}, {len(slots)}, {int(Slot.F64 in slots)}, {launch.shared}}},')
    source = folder / "launcher.c"
    source.write_text(LAUNCHER.replace("DECLARATIONS", "\n".join(declarations)).replace("ROWS", "\n".join(rows)))
    library = folder / "kernels.so"
    command = [compiler("gcc"), "-O1", "-shared", "-fPIC", "-Wl,-Bsymbolic", str(source), str(HERE / "harness.c")]
    subprocess.run([*command, *map(str, objects), "-o", str(library)], check=True)
    return library


def run_example(name: str, written: Path, kernels: Path, folder: Path, tmp_path: Path) -> str:
    """What an example of `examples/cuda` says that is built, and runs on the fake driver. written: the PTX."""
    fake_gpu.build_driver(tmp_path)
    (tmp_path / "libcuda.so").symlink_to("libcuda.so.1")
    program = tmp_path / "program"
    command = [compiler("gcc"), "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", "-isystem", str(folder)]
    subprocess.run([*command, str(EXAMPLES / name), f"-L{tmp_path}", "-lcuda", "-o", str(program)], check=True)
    environment = os.environ | {"LD_LIBRARY_PATH": str(tmp_path), "TTC_FAKE_KERNELS": str(kernels)}
    done = subprocess.run([program, written], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    missing = subprocess.run([program, "nothing.ptx"], env=environment, capture_output=True, text=True, check=False)
    assert missing.returncode == 1 and missing.stderr.startswith("load: ")
    return done.stdout


@pytest.mark.parametrize("folder", INCLUDES)
def test_the_example_runs(folder: Path, tmp_path: Path) -> None:
    """Built against the stub header, and CUDA's own where it is there; run on the fake driver."""
    arguments = ("--perm=2,1,0", "--size=8,16,16", "--beta=1", "--generateOnly", f"--output-dir={tmp_path}")
    assert cli.main(["--architecture=cuda", "--cpu=sm_80", *arguments]) == 0
    kernels = host_kernels(solution(beta=1.0), tmp_path)
    said = run_example("transpose.c", tmp_path / "sTranspose210_8x16x16.ptx", kernels, folder, tmp_path)
    assert said == "0 of 2048 elements are wrong\n"


def test_every_gpu_has_files(tmp_path: Path) -> None:
    for name in gpu_target.names():
        found = solution("s", name)
        own = artifact.own(found.target.is_nvidia)
        assert found.write(tmp_path / name, (own,))
