"""Small problems of every element type and mix, of both kinds, and of odd ranks."""

from __future__ import annotations

from ttc_llvm.problem.problem import Problem

PROBLEMS = (
    Problem((1, 0), (37, 29)),
    Problem((1, 0), (37, 29), beta=0.5),
    Problem((2, 0, 1), (5, 17, 9), "d", alpha=-2.0, beta=3.0),
    Problem((0, 2, 1), (16, 6, 7), "c", alpha=2 + 1j, beta=-1j, conjugate=True),
    Problem((3, 1, 0, 2), (4, 5, 6, 7), "z", conjugate=True),
    Problem((1, 0), (20, 30), "sd", alpha=3.0, beta=2.0),
    Problem((1, 0), (20, 30), "ds"),
    Problem((1, 2, 0), (3, 20, 11), "cz", alpha=1j),
    Problem((1, 0), (20, 30), "zc", alpha=2 - 1j, beta=1 + 1j),
    *(Problem((1, 0), (33, 18), t) for t in ("i8", "i16", "i32", "i64", "f16", "bf16", "v3", "v16", "v24")),
    Problem((2, 1, 0), (8, 5, 6), lda=(11, 7, 6), ldb=(9, 6, 8), beta=1.0),
    Problem((0,), (1000,), beta=2.0),
    Problem((), ()),
    Problem(tuple(range(12))[::-1], (2,) * 12),
)
