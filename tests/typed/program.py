"""A program as users write them, with every public name: type checkers find nothing to say, and it runs."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import ttc_llvm
from ttc_llvm import Contraction, Forced, GpuForced, Problem, Progress, Solution, Target, TtcError

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        return value


def arrays(x: npt.NDArray[np.float64]) -> None:
    """Results have the types of their arrays."""
    assert_type(ttc_llvm.transpose(x, (2, 0, 1)), npt.NDArray[np.float64])
    assert_type(ttc_llvm.transpose(x, [-1, 0, 1], alpha=2, order="K"), npt.NDArray[np.float64])
    single: npt.NDArray[np.float32] = x.T.astype(np.float32)
    ttc_llvm.transpose(x, out=single, alpha=2.5, beta=np.float32(1), threads=2).sum()
    z: npt.NDArray[np.complex64] = ttc_llvm.transpose(x.astype(np.complex64), conjugate=True, alpha=1j, effort=3)
    assert_type(ttc_llvm.ascontiguousarray(x.T), npt.NDArray[np.float64])
    assert_type(ttc_llvm.asfortranarray(z), npt.NDArray[np.complex64])
    assert_type(ttc_llvm.asfortranarray(x, np.float32), npt.NDArray[np.float32])
    assert_type(ttc_llvm.ascontiguousarray([[1, 2], [3, 4]], np.dtype(np.int16)), npt.NDArray[np.int16])
    masked = np.ma.MaskedArray(x, x > 3)
    assert_type(ttc_llvm.transpose(masked).mask.any(), np.bool_)
    print(ttc_llvm.transpose([[1, 2], [3, 4]])[0], file=sys.stderr)
    assert ttc_llvm.rearrange(x, "a (b c) d -> b (a d) c", c=1).size == ttc_llvm.reshape(x, -1).size
    ttc_llvm.permute_reshape(x, (2, 0, 1), -1)
    assert ttc_llvm.permute_sum(x, [(2, (0, 1, 2)), (-1, (0, 1, 2))]).shape == x.shape
    plan: ttc_llvm.GroupedPlan = ttc_llvm.grouped([x.shape, (2, 3)], None, np.float64)
    assert_type(len(plan) + plan.nbytes, int)
    print(plan([x, np.ones((2, 3))])[1].shape, plan.explain(), file=sys.stderr)
    assert_type(ttc_llvm.grouped([(2, 3)], (1, 0), "f4", alpha=2, target="sm_80"), ttc_llvm.GpuGroupedPlan).explain()
    ttc_llvm.set_num_threads(2)
    ttc_llvm.set_result_pool(64 << 20)
    assert_type(ttc_llvm.num_threads(), int)


def contractions(x: npt.NDArray[np.float64]) -> None:
    """Products of tensors."""
    total = ttc_llvm.einsum("ijk,ljk->il", x, x, out=np.zeros((3, 3)), alpha=2, beta=1)
    assert np.allclose(total, 2 * ttc_llvm.tensordot(x, x, ([1, 2], [1, 2])))
    stated = ttc_llvm.Contraction("ij,jk->ik", {"i": 3, "j": 4, "k": 5}, np.float32, alpha=2)
    assert_type(stated.shape("c"), tuple[int, ...])


def show(progress: Progress) -> None:
    """A display of one's own."""
    assert_type(progress.phase, str)
    assert_type(progress.best, float | None)
    if progress.phase == "timing":
        print(f"{progress.done} of {progress.total}", file=sys.stderr)


def problems() -> Solution:
    """Problems from lists and tuples, and their solutions."""
    cube = Problem([1, 0], [8, 16])
    Problem((2, 1, 0), (8, 16, 12), np.float32, lda=[16, 16, 12], ldb=(12, 16, 8), alpha=2, beta=1)
    Problem(range(3), np.array([8, 16, 12]), "c64", conjugate=True, alpha=1 + 2j)
    Problem(size=(8, 8), dtype="d", terms=[(2, (0, 1)), (-0.5, [1, 0])])
    Problem.from_arrays(np.zeros((3, 4, 5)), (2, 0, 1))
    assert_type(cube.perm, tuple[int, ...])
    solution = ttc_llvm.compile(cube, max_implementations=2, progress=show, forced=Forced(prefetch=[0, 2]))
    assert_type(solution, Solution)
    assert_type(solution.target, Target)
    assert_type(solution.plan, ttc_llvm.CpuPlan)
    assert_type(solution.measurement, ttc_llvm.Measurement | None)
    if solution.measurement is not None:
        assert_type(solution.measurement.ratio, float | None)
    assert_type(solution.llvm_ir, str)
    assert_type(solution.assembly, str)
    a, b = np.ones((8, 16), np.float32, "F"), np.zeros((16, 8), np.float32, "F")
    solution(a, b, alpha=2.0, threads=1)
    assert np.array_equal(b, 2 * a.T)
    return solution


def planned_contractions() -> None:
    """Contractions as values, and their solutions."""
    stated = ttc_llvm.Contraction("ij,jk->ik", {"i": 3, "j": 4, "k": 5}, np.float64)
    found = ttc_llvm.compile(stated, 2, threads=1, progress=show)
    assert_type(found, ttc_llvm.ContractionSolution)
    assert_type(found.plan, ttc_llvm.ContractionPlan | ttc_llvm.FusedPlan)
    assert_type(found.measurement, ttc_llvm.Measurement | None)
    c = np.zeros((3, 5))
    found(np.ones((3, 4)), np.ones((4, 5)), c, alpha=2, beta=1)
    print(found.explain(), file=sys.stderr)


def files(solution: Solution, folder: Path) -> None:
    """What is written, of one solution and of many, and what is shared."""
    assert_type(solution.write(folder, emit=["obj", "header"]), tuple[Path, ...])
    library = ttc_llvm.Library("mine", [solution])
    assert_type([one.problem for one in library.solutions], list[Problem | Contraction])
    library.write(folder / "library")
    count = ttc_llvm.export_solutions(folder / "all.jsonl")
    assert_type(count, int)
    found = ttc_llvm.import_solutions(folder / "all.jsonl")
    assert_type(found, ttc_llvm.Imported)
    assert found.read == count


def gpus() -> None:
    """Kernels for a GPU, which need none to be made."""
    problem = Problem([1, 0], [64, 64])
    found = ttc_llvm.compile(problem, 1, target="sm_90", forced=GpuForced(order=[0, 1]))
    assert_type(found, ttc_llvm.GpuSolution)
    assert_type(found.plan, ttc_llvm.GpuPlan)
    assert_type(found.target, ttc_llvm.GpuTarget)


ERRORS: tuple[type[TtcError], ...] = (
    ttc_llvm.ArrayError, ttc_llvm.ArtifactError, ttc_llvm.CompileError, ttc_llvm.DatabaseError, ttc_llvm.GpuError,
    ttc_llvm.ModelError, ttc_llvm.OptionError, ttc_llvm.OutOfMemoryError, ttc_llvm.PlanError, ttc_llvm.ProblemError,
    ttc_llvm.TargetError, ttc_llvm.VerificationError,
)  # fmt: skip


def mistakes() -> None:
    """Errors, by their class."""
    try:
        ttc_llvm.transpose(np.ones((2, 3)), (0, 0))
    except ERRORS as error:
        assert isinstance(error, ttc_llvm.ArrayError)
        print(error, file=sys.stderr)


def main() -> None:
    """All of it; the argument is a folder for what is written."""
    print(f"ttc_llvm {ttc_llvm.__version__}", file=sys.stderr)
    warnings.simplefilter("error", ttc_llvm.OrderWarning)
    arrays(np.arange(24.0).reshape(2, 3, 4))
    contractions(np.random.rand(3, 4, 5))
    files(problems(), Path(sys.argv[1]))
    planned_contractions()
    gpus()
    mistakes()


if __name__ == "__main__":
    main()
