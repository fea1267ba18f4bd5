"""Other libraries, where they are present: NumPy, PyTorch, JAX, HPTT, MKL; for GPUs cuTENSOR, PyTorch, CuPy. None of
them is a dependency."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from . import gpu_peers, mkl
from .array_peers import Jax, Numpy, Torch
from .contender import Absent, FoundPeers, Peer
from .cutensor import Cutensor
from .hptt import Hptt, PlanMode
from .mkl import Mkl

UNASKED = "hptt-measure"  # takes up to 10 s a case: only where it is asked for


@dataclass(frozen=True, slots=True)
class _Paths:
    """Shared libraries that the user named."""

    hptt: str | None
    mkl: str | None


Finder = Callable[[_Paths], Peer[Any]]  # Absent where the peer is not here


def _package(name: str, peer: Callable[[], Peer[Any]]) -> Finder:
    def found(paths: _Paths) -> Peer[Any]:
        if importlib.util.find_spec(name) is None:
            raise Absent("it is not installed")
        return peer()

    return found


def _hptt(mode: PlanMode, paths: _Paths) -> Peer[Any]:
    if paths.hptt is None:
        raise Absent("--hptt=PATH names no shared library")
    if not Path(paths.hptt).is_file():
        raise OptionError(f"--hptt={paths.hptt} is no file: the path of a shared library is expected")
    return Hptt.load(paths.hptt, mode)


def _mkl(paths: _Paths) -> Peer[Any]:
    path = mkl.find_library() if paths.mkl is None else paths.mkl
    if path is None:
        raise Absent("libmkl_rt is not found; --mkl=PATH names it")
    return Mkl.load(path, named=paths.mkl is not None)


CPU: Mapping[str, Finder] = {
    "numpy": lambda paths: Numpy(),
    "torch": _package("torch", Torch),
    "jax": _package("jax", Jax),
    "hptt": partial(_hptt, PlanMode.ESTIMATE),
    "hptt-measure": partial(_hptt, PlanMode.MEASURE),
    "mkl": _mkl,
}
GPU: Mapping[str, Finder] = {
    "cutensor": lambda paths: Cutensor(),
    "torch": _package("torch", gpu_peers.Torch),
    "cupy": _package("cupy", gpu_peers.Cupy),
}
NAMES = tuple(CPU)


def find(wanted: Sequence[str] | None = None, hptt: str | None = None, mkl: str | None = None) -> FoundPeers:
    """The peers of these names. None: all that are present, save `hptt-measure`, which takes up to 10 s a case.

    hptt, mkl: paths of shared libraries. Raises OptionError for an unknown name, and for what was asked for by its
    name or path and cannot be used.
    """
    return _found(CPU, wanted, _Paths(hptt, mkl), "the choices are")


def find_gpu(wanted: Sequence[str] | None = None) -> FoundPeers:
    """The same for GPUs. None: all that are present."""
    return _found(GPU, wanted, _Paths(None, None), "the choices for GPUs are")


def _found(known: Mapping[str, Finder], wanted: Sequence[str] | None, paths: _Paths, choices: str) -> FoundPeers:
    for name in wanted or ():
        if name not in known:
            raise OptionError(f"unknown peer {name[:40]!r}: {choices} {', '.join(known)}, or none")
    peers: list[Peer[Any]] = []
    notices: list[str] = []
    for name in dict.fromkeys(wanted if wanted is not None else [name for name in known if name != UNASKED]):
        try:
            peers.append(known[name](paths))
        except Absent as absent:
            if wanted is not None or absent.named:
                raise OptionError(f"peer {name}: {absent}") from None
            notices.append(f"peer {name} is left out: {absent}")
    return FoundPeers(tuple(peers), tuple(notices))
