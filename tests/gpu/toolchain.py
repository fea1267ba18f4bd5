"""NVIDIA's assembler, wherever it is: one that knows a GPU, or none."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from ttc_llvm.machine.gpu_target import GpuTarget

PLACES = ("/usr/local/cuda/bin/ptxas", f"{sys.prefix}/lib/python*/site-packages/nvidia/*/bin/ptxas")


@dataclass(frozen=True, slots=True)
class Report:
    """What ptxas says of one kernel."""

    registers: int
    stack: int
    spilled: int


@lru_cache(maxsize=1)
def assemblers() -> tuple[tuple[str, frozenset[str]], ...]:
    """Every ptxas of TTC_PTXAS (a list of files), the path, the usual places and NVIDIA's Python packages, and the GPUs
    that each knows."""
    named = os.environ.get("TTC_PTXAS", "").split(os.pathsep)
    on_path = shutil.which("ptxas")
    places = [*named, *([on_path] if on_path else []), *(f for place in PLACES for f in glob.glob(place))]
    found = []
    for place in dict.fromkeys(filter(None, places)):
        told = subprocess.run([place, "--help"], capture_output=True, text=True, check=False).stdout
        values = re.search(r"^--gpu-name .*?(?=^--)", told, re.DOTALL | re.MULTILINE)
        found.append((place, frozenset(re.findall(r"'(sm_\d+)'", values[0] if values else ""))))
    return tuple(found)


def assemblers_for(target: GpuTarget) -> tuple[str, ...]:
    """Every ptxas that knows this GPU; the test is skipped where there is none."""
    found = tuple(place for place, known in assemblers() if target.cpu in known)
    if not found:
        pytest.skip(f"no ptxas knows {target} (packages nvidia-cuda-nvcc-cu11, -cu12, nvidia-cuda-nvcc)")
    return found


def assemble(ptx: bytes, target: GpuTarget, assembler: str, folder: Path) -> Report:
    """Assemble a kernel; AssertionError with what ptxas says where it refuses."""
    source, output = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_bytes(ptx)
    command = [assembler, f"-arch={target.cpu}", "-v", str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    stack = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", told)
    registers = re.search(r"Used (\d+) registers", told)
    assert stack and registers, told
    return Report(int(registers[1]), int(stack[1]), int(stack[2]) + int(stack[3]))
