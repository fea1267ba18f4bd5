"""Other libraries on the device, where they are present: cuTENSOR, PyTorch, CuPy. They work on our own tensors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from .. import dtypes
from ..canonical import static
from ..dtypes import DType
from ..errors import OptionError
from ..gpu.stage import Side
from ..gpu.trial import Trial
from ..problem import Problem
from .results import Reference

Run = Callable[[tuple[Side, Side]], None]
_MOVED = {1: "i1", 2: "i2", 4: "i4", 8: "i8", 16: "c16"}  # plain moves as other libraries know them


class GpuPeer(Protocol):
    """A library that can do some of the cases."""

    @property
    def name(self) -> str:
        """In reports."""

    @property
    def version(self) -> str:
        """Of the library; part of a result's key."""

    def run(self, trial: Trial, dtype: tuple[DType, DType]) -> Run | None:
        """It at work on a trial's tensors and stream, everything planned; None for what it cannot do."""


class GpuReference(Protocol):
    """A naive kernel by some compiler."""

    @property
    def name(self) -> str:
        """In reports."""

    @property
    def version(self) -> str:
        """Of the compiler, with its flags; part of a result's key."""

    def at_work(self, trial: Trial, problem: Problem) -> tuple[Run, Reference]:
        """It on a trial's tensors and stream, and how it was made; NotBuilt where it could not be."""


@dataclass(frozen=True, slots=True)
class Interface:
    """One of our tensors in the axes of the canonical form, as other libraries take it over."""

    __cuda_array_interface__: dict[str, Any]


def interface(trial: Trial, which: str, side: Side) -> Interface:
    """A tensor of a set, with the canonical axes."""
    t = trial.canonical.a if which == "a" else trial.canonical.b
    letter = dtypes.to_numpy(t).str if t.real_bits else _MOVED[t.itemsize]
    return Interface(
        {
            "shape": trial.canonical.extents,
            "strides": tuple(static(s) * t.itemsize for s in trial.canonical.strides(which)),
            "typestr": f"<{letter.lstrip('<|')}",
            "data": (side.address, False),
            "stream": None,
            "version": 3,
        }
    )


class Views:
    """Both tensors of each set in a library's own type, made once."""

    def __init__(self, trial: Trial, make: Callable[[Interface], Any]) -> None:
        self._trial, self._make = trial, make
        self._known: dict[tuple[int, int], tuple[Any, Any]] = {}

    def of(self, tensors: tuple[Side, Side]) -> tuple[Any, Any]:
        """The views of A and B."""
        key = tensors[0].address, tensors[1].address
        if key not in self._known:
            a, b = (
                self._make(interface(self._trial, which, side)) for which, side in zip("ab", tensors, strict=True)
            )
            self._known[key] = a, b
        return self._known[key]


class Torch:
    """`b.copy_(a)` of permuted views, or both products added in b."""

    name = "torch"

    def __init__(self) -> None:
        self._torch: Any = import_module("torch")
        self.version = str(self._torch.__version__)

    def run(self, trial: Trial, dtype: tuple[DType, DType]) -> Run | None:
        """PyTorch on our stream."""
        torch, alpha, beta = self._torch, trial.alpha, trial.beta
        if trial.canonical.conjugate or trial.canonical.a.itemsize not in _MOVED:
            return None
        stream = torch.cuda.ExternalStream(trial.session.stream)
        views = Views(trial, lambda x: torch.as_tensor(x, device="cuda"))

        def run(tensors: tuple[Side, Side]) -> None:
            a, b = views.of(tensors)
            with torch.cuda.stream(stream):
                if alpha == 1 and beta == 0:
                    b.copy_(a)
                else:
                    b.mul_(beta).add_(a, alpha=alpha)

        return run


class Cupy:
    """`b[...] = a` of permuted views, or the sum of both products."""

    name = "cupy"

    def __init__(self) -> None:
        self._cupy: Any = import_module("cupy")
        self.version = str(self._cupy.__version__)

    def run(self, trial: Trial, dtype: tuple[DType, DType]) -> Run | None:
        """CuPy on our stream."""
        cupy, alpha, beta = self._cupy, trial.alpha, trial.beta
        if trial.canonical.conjugate or trial.canonical.a.itemsize not in _MOVED:
            return None
        stream = cupy.cuda.ExternalStream(trial.session.stream)
        views = Views(trial, cupy.asarray)

        def run(tensors: tuple[Side, Side]) -> None:
            a, b = views.of(tensors)
            with stream:
                b[...] = a if alpha == 1 and beta == 0 else alpha * a + beta * b

        return run


NAMES = ("cutensor", "torch", "cupy")


@dataclass(frozen=True, slots=True)
class Found:
    """The peers that are here, and one sentence for each that was wanted and is not."""

    peers: tuple[GpuPeer, ...]
    notices: tuple[str, ...]


def find(wanted: Sequence[str] | None = None) -> Found:
    """The peers of these names, None: all that are present. OptionError for a name that is unknown or not there."""
    from . import cutensor

    makers: dict[str, Callable[[], GpuPeer]] = {"cutensor": cutensor.Cutensor, "torch": Torch, "cupy": Cupy}
    peers: list[GpuPeer] = []
    notices: list[str] = []
    for name in NAMES if wanted is None else dict.fromkeys(wanted):
        if name not in makers:
            raise OptionError(f"unknown peer {name[:40]!r}: the choices for GPUs are {', '.join(NAMES)}, or none")
        why = _absence(name)
        if why is None:
            peers.append(makers[name]())
        elif wanted is not None:
            raise OptionError(f"peer {name}: {why}")
        else:
            notices.append(f"peer {name} is left out: {why}")
    return Found(tuple(peers), tuple(notices))


def _absence(name: str) -> str | None:
    if name != "cutensor":
        return None if importlib.util.find_spec(name) else "it is not installed"
    from . import cutensor

    try:
        cutensor.library()
    except OSError as error:
        return f"it cannot be loaded: {error} (package cutensor-cu13 or -cu12)"
    return None
