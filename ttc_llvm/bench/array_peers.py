"""Array libraries as a user calls them: NumPy's assignment, PyTorch's copy_ of a permuted view, JAX's transpose."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import dtypes
from ..dtypes import DType, Kind, is_native
from ..problem import Problem, column_major
from ..tuning.buffers import Tensor
from .stand import Contender, Stand

Array = npt.NDArray[Any]


def views(stand: Stand) -> tuple[Array, Array]:
    """A and B with the problem's own axes: A permuted as B is, both slowest axis first, as NumPy prefers them."""
    problem = stand.case.problem
    a = _view(stand.a, problem.a, problem.size, column_major(problem.outer_a), stand.case.offset)
    b = _view(stand.b, problem.b, problem.size_b, column_major(problem.outer_b), stand.case.offset)
    return a.transpose(problem.perm).transpose(), b.transpose()


def _view(tensor: Tensor, t: DType, extents: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Array:
    np_type = dtypes.to_numpy(t)
    flat = tensor.memory[: len(tensor.memory) // t.itemsize * t.itemsize].view(np_type)
    return np.lib.stride_tricks.as_strided(flat[offset:], extents, tuple(s * t.itemsize for s in strides))


def _repeated(call: Callable[[], object]) -> Callable[[int], None]:
    def run(repeats: int) -> None:
        for _ in range(repeats):
            call()

    return run


class Numpy:
    """`b[...] = a` of a permuted view, or `b[...] = alpha * a + beta * b`; NumPy uses one thread."""

    name = "numpy"
    version = np.__version__

    def contender(self, stand: Stand) -> Contender | None:
        """NumPy at work; None where it has no such arithmetic (conjugated copies go through it, too)."""
        problem = stand.case.problem
        a, b = views(stand)
        if problem.beta == 0 and problem.alpha == 1 and not problem.conjugate:
            run = _repeated(lambda: np.copyto(b, a, casting="same_kind"))
        elif problem.compute.kind is Kind.OPAQUE:
            return None
        else:
            run = _repeated(_expression(problem, a, b))
        return Contender(self.name, stand.canonical.bytes_moved, run)


def _expression(problem: Problem, a: Array, b: Array) -> Callable[[], object]:
    scalar = dtypes.to_numpy(problem.compute).type
    alpha, beta = scalar(problem.alpha), scalar(problem.beta)

    def update() -> None:
        x = a.conj() if problem.conjugate else a
        b[...] = alpha * x if problem.beta == 0 else alpha * x + beta * b

    return update


class Torch:
    """`b.copy_(a)` of a permuted view, or `torch.add` of both products into b, on as many threads as we use."""

    name = "torch"

    def __init__(self) -> None:
        self._torch: Any = importlib.import_module("torch")
        self.version = str(self._torch.__version__)

    def contender(self, stand: Stand) -> Contender | None:
        """PyTorch at work; None for element types that it does not have."""
        torch, problem = self._torch, stand.case.problem
        a, b = views(stand)
        if not (is_native(problem.a) and is_native(problem.b)) or problem.conjugate:
            return None
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        alpha, beta = problem.alpha, problem.beta

        def call() -> None:
            if torch.get_num_threads() != stand.threads:
                torch.set_num_threads(stand.threads)
            if beta == 0 and alpha == 1:
                y.copy_(x)
            else:
                y.mul_(beta).add_(x, alpha=alpha)

        return Contender(self.name, stand.canonical.bytes_moved, _repeated(call), foreign=True)


class Jax:
    """A compiled transpose into a new array, which XLA cannot avoid; its threads are XLA's own choice."""

    name = "jax"

    def __init__(self) -> None:
        self._jax: Any = importlib.import_module("jax")
        self._jax.config.update("jax_enable_x64", True)
        self.version = str(self._jax.__version__)

    def contender(self, stand: Stand) -> Contender | None:
        """JAX at work; None for padded tensors, updates, mixed types, and types it lacks."""
        jax, problem = self._jax, stand.case.problem
        padded = problem.outer_a != problem.size or problem.outer_b != problem.size_b
        if padded or problem.beta != 0 or problem.alpha != 1 or problem.a != problem.b or not is_native(problem.a):
            return None
        rank = len(problem.perm)
        row_major = _view(stand.a, problem.a, problem.size, column_major(problem.size), stand.case.offset).transpose()
        axes = tuple(rank - 1 - p for p in problem.perm)[::-1]
        device = jax.devices("cpu")[0]
        x = jax.device_put(row_major, device).block_until_ready()
        compiled = jax.jit(lambda v: jax.numpy.transpose(v, axes)).lower(x).compile()

        def call() -> Any:
            return compiled(x).block_until_ready()

        own = np.asarray(x).reshape(-1).view(np.uint8)
        return Contender(
            self.name,
            stand.canonical.bytes_moved,
            _repeated(call),
            foreign=True,
            output=lambda: np.asarray(call()),
            reads=(own[: -(1 << 16)],) if len(own) > 1 << 17 else (),
        )
