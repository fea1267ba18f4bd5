"""NVIDIA's assembler and LLVM's linker, where they are found: nothing but cubins and AMD's code objects needs them."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from collections.abc import Sequence
from functools import lru_cache

from ..errors import ArtifactError
from ..machine.gpu_target import GpuTarget
from ..native.linker import made
from ..runtime import children

VARIABLE = "TTC_PTXAS"  # a list of assemblers that are tried first
LEAST_LLD = 16
ROCM = "/opt/rocm/llvm/bin/ld.lld"
PLACES = ("/usr/local/cuda/bin/ptxas", f"{sys.prefix}/lib/python*/site-packages/nvidia/*/bin/ptxas")


def assemblers() -> tuple[str, ...]:
    """Every ptxas: those of TTC_PTXAS, of the PATH, of the CUDA toolkit and of NVIDIA's Python packages."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    found = [*named, shutil.which("ptxas") or "", *(path for place in PLACES for path in glob.glob(place))]
    return tuple(dict.fromkeys(filter(None, found)))


@lru_cache(maxsize=32)
def _knows(place: str, cpu: str) -> bool:
    """True where an assembler lists this GPU."""
    try:
        done = children.run([place, "--help"])
    except OSError:
        return False
    return f"'{cpu}'" in done.stdout


def cubin(ptx: bytes, target: GpuTarget) -> bytes:
    """A cubin of some PTX. ArtifactError where no ptxas knows the GPU, or where it refuses."""
    place = next((place for place in assemblers() if _knows(place, target.cpu)), None)
    if place is None:
        raise ArtifactError(
            f"a cubin for {target} needs a ptxas that knows it, but none is found on the PATH, in /usr/local/cuda or in"
            " NVIDIA's Python packages (nvidia-cuda-nvcc): PTX needs none"
        )
    command = [place, f"-arch={target.cpu}", "kernel.ptx", "-o", "kernel.cubin"]
    return made(command, {"kernel.ptx": ptx}, "kernel.cubin")


@lru_cache(maxsize=1)
def linker() -> str | None:
    """An ld.lld that knows AMD's code objects of version 5: the one on the PATH, a numbered one, or ROCm's."""
    names = ("ld.lld", *(f"ld.lld-{number}" for number in range(40, LEAST_LLD - 1, -1)), ROCM)
    return next((place for name in names if (place := shutil.which(name)) and _is_recent(place)), None)


def _is_recent(place: str) -> bool:
    try:
        done = children.run([place, "--version"])
    except OSError:
        return False
    found = re.search(r"LLD (\d+)", done.stdout)
    return found is not None and int(found[1]) >= LEAST_LLD


def code_object(objects: Sequence[bytes], target: GpuTarget) -> bytes:
    """One AMD code object of some relocatable ones. ArtifactError where there is no ld.lld, or where it refuses."""
    place = linker()
    if place is None:
        raise ArtifactError(
            f"a code object for {target} needs ld.lld {LEAST_LLD} or later on the PATH: objects need none"
        )
    files = {f"kernel{number}.o": data for number, data in enumerate(objects)}
    return made([place, "-shared", "--build-id=none", *files, "-o", "kernel.hsaco"], files, "kernel.hsaco")
