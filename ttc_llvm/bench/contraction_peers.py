"""Libraries that contract tensors, beside us: each as a function that fills the same result."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec

import numpy as np

from ..operands.operand import Array
from ..problem.contraction import Contraction
from ..runtime import backend

Run = Callable[[], object]
Make = Callable[[Contraction, Array, Array, Array, int], Run]  # of a case, its arrays and threads: what is timed


def _numpy(stated: Contraction, a: Array, b: Array, out: Array, threads: int) -> Run:
    return lambda: np.copyto(out, np.einsum(stated.spec, a, b, optimize=True))


def _opt_einsum(stated: Contraction, a: Array, b: Array, out: Array, threads: int) -> Run:
    contract = importlib.import_module("opt_einsum").contract
    return lambda: np.copyto(out, contract(stated.spec, a, b))


def _torch(stated: Contraction, a: Array, b: Array, out: Array, threads: int) -> Run:
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)
    tensors, place = [torch.from_numpy(x) for x in (a, b)], torch.from_numpy(out)
    return lambda: place.copy_(torch.einsum(stated.spec, *tensors))


def _tblis(stated: Contraction, a: Array, b: Array, out: Array, threads: int) -> Run:
    library = importlib.import_module("pytblis")
    library.set_num_threads(threads)
    return lambda: library.contract(stated.spec, a, b, out=out)


PEERS: Mapping[str, tuple[str, Make]] = {
    "numpy": ("numpy", _numpy),
    "opt_einsum": ("opt_einsum", _opt_einsum),
    "torch": ("torch", _torch),
    "tblis": ("pytblis", _tblis),
}
"""By name: the package that has to be there, and how it computes a case; results are C-contiguous for every library."""


def present(wanted: tuple[str, ...] | None) -> tuple[dict[str, Make], list[str]]:
    """The peers that are here, of these names or all; and a sentence for each that is not."""
    found: dict[str, Make] = {}
    absent: list[str] = []
    for name in PEERS if wanted is None else wanted:
        package, make = PEERS[name]
        if find_spec(package) is None:
            absent.append(f"peer {name} is left out: {package} is not installed")
        else:
            found[name] = make
    return found, absent


def versions(names: tuple[str, ...]) -> dict[str, str]:
    """The versions of these peers."""
    return {name: importlib.metadata.version(PEERS[name][0]) for name in names}


BLIS = "BLIS_ARCH_TYPE"
"""The variable that says which kernels TBLIS takes."""
_BLIS_KERNELS = {512: "skx", 256: "haswell"}  # by the bits of x86's registers
_FIRST = "import numpy, pytblis; x = numpy.ones((2, 2)); pytblis.contract('ij,jk->ik', x, x)"


def tblis_kernels(environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that has TBLIS take the kernels that it chooses in such an environment or, instead of generic ones,
    those of an older machine with such registers. Nothing where it is not there, or says nothing."""
    if BLIS in environment or find_spec("pytblis") is None:
        return {}
    wordy = {**environment, "BLIS_ARCH_DEBUG": "1"}
    asked = subprocess.run([sys.executable, "-c", _FIRST], env=wordy, capture_output=True, text=True, check=False)
    found = re.search(r"sub-configuration '(\w+)'", asked.stdout + asked.stderr)
    if found is None:
        return {}
    target = backend.host_target()
    better = _BLIS_KERNELS.get(target.vector_bits) if found[1] == "generic" and target.family == "x86" else None
    return {BLIS: better or found[1]}


def blas_kernels() -> list[str]:
    """The BLAS libraries of this process and the kernels that they chose, as far as threadpoolctl tells; and those that
    TBLIS was told to take."""
    told = [f"tblis {os.environ[BLIS]}"] if BLIS in os.environ else []
    if find_spec("threadpoolctl") is None:
        return told
    found = importlib.import_module("threadpoolctl").threadpool_info()
    return [f"{x['internal_api']} {x.get('version')} {x.get('architecture', '')}".strip() for x in found] + told
