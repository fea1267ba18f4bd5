"""Array libraries on the device, PyTorch and CuPy, at work on our own tensors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from ..compiling.gpu_tensors import DeviceTensor
from ..compiling.gpu_trial import Trial
from ..problem import dtypes
from ..problem.canonical import static
from .contender import Contender
from .gpu_runner import GpuWorkspace

Tensors = tuple[DeviceTensor, DeviceTensor]
_MOVED = {1: "i1", 2: "i2", 4: "i4", 8: "i8", 16: "c16"}  # plain moves as other libraries know them


def interface(trial: Trial, which: str, side: DeviceTensor) -> SimpleNamespace:
    """A tensor of a set in the axes of the canonical form, as other libraries take it over."""
    t = trial.canonical.a if which == "a" else trial.canonical.b
    letter = dtypes.to_numpy(t).str if t.real_bits else _MOVED[t.itemsize]
    return SimpleNamespace(
        __cuda_array_interface__={
            "shape": trial.canonical.extents,
            "strides": tuple(static(s) * t.itemsize for s in trial.canonical.strides(which)),
            "typestr": f"<{letter.lstrip('<|')}",
            "data": (side.address, False),
            "stream": None,
            "version": 3,
        }
    )


def _contender(
    workspace: GpuWorkspace,
    name: str,
    view: Callable[[SimpleNamespace], Any],
    on_stream: Callable[[], AbstractContextManager[Any]],
    update: Callable[[Any, Any], object],
) -> Contender | None:
    """A library on our stream; None for what it cannot move. view: makes its own type of tensor, once for each of
    ours; on_stream: what work on our stream runs in; update: of A's and B's views."""
    trial = workspace.trial
    if trial.canonical.conjugate or trial.canonical.a.itemsize not in _MOVED:
        return None
    known: dict[tuple[int, int], tuple[Any, Any]] = {}

    def run(tensors: Tensors) -> None:
        key = tensors[0].address, tensors[1].address
        if key not in known:
            a, b = (view(interface(trial, which, side)) for which, side in zip("ab", tensors, strict=True))
            known[key] = a, b
        with on_stream():
            update(*known[key])

    return Contender(name, trial.canonical.bytes_moved, run, foreign=True)


class Torch:
    """`b.copy_(a)` of permuted views, or both products added in b."""

    name = "torch"

    def __init__(self) -> None:
        self._torch: Any = import_module("torch")
        self.version = str(self._torch.__version__)

    def contender(self, workspace: GpuWorkspace) -> Contender | None:
        """PyTorch on our stream."""
        torch, trial = self._torch, workspace.trial
        alpha, beta, stream = trial.alpha, trial.beta, torch.cuda.ExternalStream(trial.session.stream)

        def update(a: Any, b: Any) -> None:
            if alpha == 1 and beta == 0:
                b.copy_(a)
            else:
                b.mul_(beta).add_(a, alpha=alpha)

        view = partial(torch.as_tensor, device="cuda")
        return _contender(workspace, self.name, view, lambda: torch.cuda.stream(stream), update)


class Cupy:
    """`b[...] = a` of permuted views, or the sum of both products."""

    name = "cupy"

    def __init__(self) -> None:
        self._cupy: Any = import_module("cupy")
        self.version = str(self._cupy.__version__)

    def contender(self, workspace: GpuWorkspace) -> Contender | None:
        """CuPy on our stream."""
        cupy, trial = self._cupy, workspace.trial
        alpha, beta, stream = trial.alpha, trial.beta, cupy.cuda.ExternalStream(trial.session.stream)

        def update(a: Any, b: Any) -> None:
            b[...] = a if alpha == 1 and beta == 0 else alpha * a + beta * b

        return _contender(workspace, self.name, cupy.asarray, lambda: stream, update)
