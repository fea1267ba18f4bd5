"""Array libraries as a user calls them: NumPy's assignment, PyTorch's copy_ of a permuted view, JAX's transpose."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..operands.operand import Array
from ..operands.types import named
from ..problem import dtypes
from ..problem.dtypes import DType, Kind, is_native
from ..problem.layouts import column_major
from ..problem.problem import Problem
from ..problem.type_names import SHORT
from .contender import Contender
from .workspace import Workspace, start_elements


def views(workspace: Workspace) -> tuple[Array, Array]:
    """A and B with the problem's own axes: A permuted as B is, both slowest axis first, as NumPy prefers them."""
    return _permuted(workspace, workspace.case.problem.perm), _view(workspace, "b").transpose()


def _permuted(workspace: Workspace, perm: tuple[int, ...]) -> Array:
    return np.transpose(_view(workspace, "a"), perm[::-1])


def _view(workspace: Workspace, which: str) -> Array:
    """A tensor with its own axes."""
    problem, case = workspace.case.problem, workspace.case
    tensor, t, extents, outer = (
        (workspace.source, problem.a, problem.size, problem.outer_a)
        if which == "a"
        else (workspace.b, problem.b, problem.size_b, problem.outer_b)
    )
    flat = tensor.memory[start_elements(case, which) * t.itemsize :]
    flat = flat[: len(flat) // t.itemsize * t.itemsize].view(_numpys(t) or dtypes.to_numpy(t))
    strides = tuple(step * t.itemsize for step in column_major(outer))
    return np.lib.stride_tricks.as_strided(flat, extents, strides)


def _numpys(t: DType) -> np.dtype[Any] | None:
    """The type of numbers that NumPy lacks, where ml_dtypes has it."""
    found = named(SHORT[t.stored]) if dtypes.is_foreign(t) else None
    return None if found is None or found.names else found


def _repeated(call: Callable[[], object]) -> Callable[[int], None]:
    def run(repeats: int) -> None:
        for _ in range(repeats):
            call()

    return run


class Numpy:
    """`b[...] = a` of a permuted view, or `b[...] = alpha * a + beta * b`, of all terms; NumPy uses one thread. In
    place it copies A first."""

    name = "numpy"
    version = np.__version__

    def contender(self, workspace: Workspace) -> Contender | None:
        """NumPy at work; None for updates of types without arithmetic, and for numbers of which it has no type."""
        problem = workspace.case.problem
        a, b = views(workspace)
        foreign = problem.a != problem.b and [t for t in (problem.a, problem.b) if dtypes.is_foreign(t)]
        if foreign and None in map(_numpys, foreign):
            return None
        if problem.beta == 0 and problem.alpha == 1 and not problem.conjugate and not problem.terms:
            run = _repeated(lambda: np.copyto(b, a, casting="unsafe"))
        elif problem.compute.kind is Kind.OPAQUE:
            return None
        else:
            parts = [(factor, _permuted(workspace, perm)) for factor, perm in problem.terms] or [(1, a)]
            run = _repeated(_expression(problem, parts, b))
        return Contender(self.name, workspace.canonical.bytes_moved, run, foreign=True)


def _expression(problem: Problem, parts: Sequence[tuple[complex, Array]], b: Array) -> Callable[[], object]:
    scalar = dtypes.to_numpy(problem.compute).type
    beta = scalar(problem.beta)
    terms = [(scalar(problem.alpha * factor), a) for factor, a in parts]

    def update() -> None:
        with np.errstate(all="ignore"):  # updated again and again, B grows out of its type's range
            total, *others = (alpha * (a.conj() if problem.conjugate else a) for alpha, a in terms)
            for one in others:
                total += one
            np.copyto(b, total if problem.beta == 0 else total + beta * b, casting="unsafe")

    return update


class Torch:
    """`b.copy_(a)` of a permuted view, or `torch.add` of both products into b, on as many threads as we use."""

    name = "torch"

    def __init__(self) -> None:
        self._torch: Any = importlib.import_module("torch")
        self.version = str(self._torch.__version__)

    def contender(self, workspace: Workspace) -> Contender | None:
        """PyTorch at work; None in place, of sums, and for element types that it does not have."""
        torch, problem = self._torch, workspace.case.problem
        unlike = problem.conjugate or problem.a.swapped or problem.inplace or problem.terms
        if not (is_native(problem.a) and is_native(problem.b)) or unlike:
            return None
        sides = zip(views(workspace), (problem.a, problem.b), strict=True)
        x, y = (self._tensor(view, t) for view, t in sides)
        alpha, beta = problem.alpha, problem.beta

        def call() -> None:
            if torch.get_num_threads() != workspace.threads:
                torch.set_num_threads(workspace.threads)
            if beta == 0 and alpha == 1:
                y.copy_(x)
            elif beta == 0:
                _ = torch.mul(x, alpha, out=y) if y.is_floating_point() else y.copy_(x * alpha)
            else:
                y.mul_(beta).add_(x, alpha=alpha)

        return Contender(self.name, workspace.canonical.bytes_moved, _repeated(call), foreign=True)

    def _tensor(self, view: Array, t: DType) -> Any:
        """PyTorch's own tensor of these numbers."""
        if not dtypes.is_foreign(t):
            return self._torch.from_numpy(view)
        return self._torch.from_numpy(view.view(dtypes.to_numpy(t))).view(getattr(self._torch, SHORT[t.stored]))


class Jax:
    """A compiled transpose into a new array, which XLA cannot avoid; its threads are XLA's own choice."""

    name = "jax"

    def __init__(self) -> None:
        self._jax: Any = importlib.import_module("jax")
        self._jax.config.update("jax_enable_x64", True)
        self.version = str(self._jax.__version__)

    def contender(self, workspace: Workspace) -> Contender | None:
        """JAX at work; None in place, of sums, for padded tensors, updates, mixed types, and types it lacks."""
        jax, problem = self._jax, workspace.case.problem
        unlike = problem.outer_a != problem.size or problem.outer_b != problem.size_b
        unlike = unlike or problem.inplace or bool(problem.terms)
        if unlike or problem.beta != 0 or problem.alpha != 1 or problem.a != problem.b or not is_native(problem.a):
            return None
        rank = len(problem.perm)
        row_major = _view(workspace, "a").transpose()
        axes = tuple(rank - 1 - p for p in problem.perm)[::-1]
        device = jax.devices("cpu")[0]
        x = jax.device_put(row_major, device).block_until_ready()
        compiled = jax.jit(lambda v: jax.numpy.transpose(v, axes)).lower(x).compile()

        def call() -> Any:
            return compiled(x).block_until_ready()

        own = np.asarray(x).reshape(-1).view(np.uint8)
        return Contender(
            self.name,
            workspace.canonical.bytes_moved,
            _repeated(call),
            foreign=True,
            output=lambda: np.asarray(call()),
            reads=(own[: -(1 << 16)],) if len(own) > 1 << 17 else (),
        )
