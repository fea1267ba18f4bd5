"""The broad matrix of problems whose kernels are assembled for every GPU."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from ttc_llvm.problem.canonical import Canonical, canonicalise
from ttc_llvm.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Shape:
    """perm, size, lda, ldb of a problem, and what it stands for."""

    name: str
    perm: tuple[int, ...]
    size: tuple[int, ...]
    lda: tuple[int, ...] | None = None
    ldb: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Scaling:
    """Types, scalars and conjugation."""

    dtype: str
    alpha: float = 1.0
    beta: float = 0.0
    conjugate: bool = False


SHAPES = (
    Shape("square", (1, 0), (7296, 7296)),
    Shape("ragged", (1, 0), (355, 751)),
    Shape("remainder", (1, 0), (7264, 3000)),
    Shape("batch", (1, 0, 2), (384, 2320, 59)),
    Shape("small", (3, 2, 1, 0), (3, 5, 7, 20_000)),
    Shape("same-unit-axis", (0, 2, 1), (368, 384, 38)),
    Shape("reversed", (4, 3, 2, 1, 0), (48, 28, 28, 28, 48)),
    Shape("padded", (1, 0), (1000, 1000), (1024, 1000), (1008, 1000)),
    Shape("image", (2, 0, 1), (640, 480, 3)),
    Shape("planes", (1, 2, 0), (3, 640, 480)),
    Shape("bits", tuple(range(19, -1, -1)), (2,) * 20),
    Shape("beyond-2-to-the-31", (1, 0), (70_000, 70_000)),
    Shape("far-apart", (2, 1, 0), (5, 3, 9), (1 << 20, 1 << 12, 9)),
    Shape("single-elements", (1, 0), (1, 1)),
)
SCALINGS = (
    Scaling("s"),
    Scaling("s", 2.0),
    Scaling("s", 2.0, 3.0),
    Scaling("s", 0.0, 3.0),
    Scaling("d"),
    Scaling("d", 2.0, 3.0),
    Scaling("c", 2.0, 3.0, True),
    Scaling("c", conjugate=True),
    Scaling("z"),
    Scaling("z", 2.0, 3.0, True),
    Scaling("sd"),
    Scaling("ds", 2.0, 3.0),
    Scaling("cz", 2.0, 1.0, True),
    Scaling("zc"),
    Scaling("bf16"),
    Scaling("i8"),
    Scaling("v3"),
)


def matrix() -> tuple[tuple[str, Canonical], ...]:
    """Every shape in every scaling, by name."""
    return tuple((f"{shape.name}-{_name(how)}", form(shape, how)) for shape, how in product(SHAPES, SCALINGS))


def form(shape: Shape, how: Scaling) -> Canonical:
    """One of them."""
    problem = Problem(
        shape.perm, shape.size, how.dtype, shape.lda, shape.ldb, how.alpha, how.beta, how.conjugate
    )  # fmt: skip
    return canonicalise(problem).canonical


def _name(how: Scaling) -> str:
    return f"{how.dtype}-{how.alpha:g}-{how.beta:g}{'-conj' if how.conjugate else ''}"
