"""Other libraries, where they are present: NumPy, PyTorch, JAX, HPTT, MKL. None of them is a dependency."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import OptionError
from .results import Reference
from .stand import Contender, Stand

NAMES = ("numpy", "torch", "jax", "hptt", "hptt-measure", "mkl")


class Peer(Protocol):
    """A library that can do some of the cases."""

    @property
    def name(self) -> str:
        """In reports."""

    @property
    def version(self) -> str:
        """Of the library, as far as it tells; part of a result's key."""

    def contender(self, stand: Stand) -> Contender | None:
        """It at work on a stand, everything planned; None for what it cannot do. NotBuilt where it had to be compiled
        and could not be."""


@dataclass(frozen=True, slots=True)
class Found:
    """The peers that are here, and one sentence for each that was wanted and is not."""

    peers: tuple[Peer, ...]
    notices: tuple[str, ...]


def find(wanted: Sequence[str] | None = None, hptt: str | None = None, mkl: str | None = None) -> Found:
    """The peers of these names. None: all that are present, save `hptt-measure`, which takes up to 10 s a case.

    hptt, mkl: paths of shared libraries. Raises OptionError for an unknown name, and for what was asked for by its
    name or path and cannot be used.
    """
    for name in wanted or ():
        if name not in NAMES:
            raise OptionError(f"unknown peer {name[:40]!r}: the choices are {', '.join(NAMES)}, or none")
    names = wanted if wanted is not None else [name for name in NAMES if name != "hptt-measure"]
    peers: list[Peer] = []
    notices: list[str] = []
    for name in dict.fromkeys(names):
        try:
            peers += _FINDERS[name](name, hptt, mkl)
        except Absent as absent:
            if wanted is not None or absent.named:
                raise OptionError(f"peer {name}: {absent}") from None
            notices.append(f"peer {name} is left out: {absent}")
    return Found(tuple(peers), tuple(notices))


class Absent(Exception):
    """Why a peer cannot take part. named: the user pointed at it, so that this is a mistake."""

    def __init__(self, why: str, named: bool = False) -> None:
        super().__init__(why)
        self.named = named


class NotBuilt(Exception):
    """A reference that cannot take part in a case; its message says why."""

    def __init__(self, reference: Reference) -> None:
        super().__init__(reference.message)
        self.reference = reference


def _numpy(name: str, hptt: str | None, mkl: str | None) -> Iterator[Peer]:
    from .array_peers import Numpy

    yield Numpy()


def _torch(name: str, hptt: str | None, mkl: str | None) -> Iterator[Peer]:
    _need("torch")
    from .array_peers import Torch

    yield Torch()


def _jax(name: str, hptt: str | None, mkl: str | None) -> Iterator[Peer]:
    _need("jax")
    from .array_peers import Jax

    yield Jax()


def _need(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise Absent("it is not installed")


def _hptt(name: str, hptt: str | None, mkl: str | None) -> Iterator[Peer]:
    if hptt is None:
        raise Absent("--hptt=PATH names no shared library")
    from .hptt import Hptt, Mode

    if not Path(hptt).is_file():
        raise OptionError(f"--hptt={hptt} is no file: the path of a shared library is expected")
    yield Hptt.load(hptt, Mode.MEASURE if name == "hptt-measure" else Mode.ESTIMATE)


def _mkl(name: str, hptt: str | None, mkl: str | None) -> Iterator[Peer]:
    from .mkl import Mkl, find_library

    path = find_library() if mkl is None else mkl
    if path is None:
        raise Absent("libmkl_rt is not found; --mkl=PATH names it")
    yield Mkl.load(path, named=mkl is not None)


_FINDERS: dict[str, Callable[[str, str | None, str | None], Iterator[Peer]]] = {
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "hptt": _hptt,
    "hptt-measure": _hptt,
    "mkl": _mkl,
}
