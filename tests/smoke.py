"""A small program that uses an installation, whatever machine it is on: `python tests/smoke.py [again]`.

Ends with one line and status 0 where all is well. A first run compiles and stores its code; with "again" a later run,
of the same `TTC_DATABASE`, must find that code. Needs nothing but the package and what it requires: `make release` runs
it in new environments, `make arm64` on an emulated machine.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import ttc_llvm
from ttc_llvm.contractions.fused import space
from ttc_llvm.contractions.fused.execution import FusedExecution
from ttc_llvm.contractions.merged import merge
from ttc_llvm.runtime import backend, runtime

RNG = np.random.default_rng(7)
TYPES = ("u1", "i2", "f4", "f8", "F", "D")
SHAPES = (((1, 0), (33, 65)), ((2, 1, 0), (13, 17, 9)), ((0, 2, 1), (9, 33, 10)), ((3, 1, 0, 2), (6, 5, 7, 8)))


def random(shape: tuple[int, ...], kind: str) -> npt.NDArray[Any]:
    """Any bit patterns but NaN."""
    if kind in "FD":
        return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(kind)
    return RNG.standard_normal(shape).astype(kind) if kind in ("f4", "f8") else RNG.integers(0, 200, shape, kind)


def arrays() -> None:
    """Every element, of a fresh result and of one that holds junk; alpha and beta; views."""
    for kind in TYPES:
        for axes, shape in SHAPES:
            x = random(shape, kind)
            wanted = np.ascontiguousarray(x.transpose(axes))
            assert np.array_equal(ttc_llvm.transpose(x, axes), wanted)
            out = np.full(wanted.shape, 77, kind)
            assert ttc_llvm.transpose(x, axes, out=out) is out and np.array_equal(out, wanted)
            assert np.array_equal(ttc_llvm.transpose(x[::-1], axes), x[::-1].transpose(axes))
    x, y = random((40, 50), "f8"), random((50, 40), "f8")
    assert np.allclose(ttc_llvm.transpose(x, alpha=2, beta=-3, out=y.copy()), 2 * x.T - 3 * y, rtol=1e-15)


def solutions() -> None:
    """Plans that are timed, and run by their own kernels."""
    for kind, (axes, shape) in zip("sdcz", SHAPES, strict=True):
        lda = tuple(extent + 3 for extent in shape)
        problem = ttc_llvm.Problem(axes, shape, kind, lda)
        solution = ttc_llvm.compile(problem, max_implementations=2, threads=2)
        numbers = {"s": "f4", "d": "f8", "c": "F", "z": "D"}[kind]
        a = np.asfortranarray(random(lda, numbers))
        b = np.full([shape[k] for k in axes], 5, numbers, order="F")
        solution(a, b)
        assert np.array_equal(b, a[tuple(map(slice, shape))].transpose(axes)), problem


def contractions() -> None:
    """Fused kernels, with vectors whole and in part. `einsum` would measure the machine first, which takes an emulator
    minutes."""
    size = {"i": 19, "j": 21, "k": 30, "l": 37}
    for kind in ("f4", "f8", "F", "D"):
        stated = ttc_llvm.Contraction("ijk,kl->ilj", size, np.dtype(kind).name)
        a, b, c = random((19, 21, 30), kind), random((30, 37), kind), np.full((19, 37, 21), np.nan, kind)
        for products in [*space.plans(merge(stated))][:3]:
            FusedExecution(stated, products, 2).run(a, b, c, 1, 0)
            bound = 200 * np.finfo(kind).eps * np.einsum("ijk,kl->ilj", abs(a), abs(b))
            assert (abs(c - np.einsum("ijk,kl->ilj", a, b)) <= bound).all(), products.plan
            c[...] = np.nan


def shared_calls() -> None:
    """One array by several workers, many times, and from several threads at once; large results, which are used again.
    """
    x, wrong = random((512, 640), "f8"), list[int]()
    wanted = x.T.copy()

    def work(number: int) -> None:
        for _ in range(10):
            if not np.array_equal(ttc_llvm.transpose(x, threads=4), wanted):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    work(3)
    for thread in threads:
        thread.join()
    assert not wrong


def children() -> None:
    """A child by fork, on one thread: qemu-user cannot start others in a child of a process that has some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, which this is about
        child = os.fork()
    if child == 0:
        try:
            x = random((300, 400), "f8")
            os._exit(0 if np.array_equal(ttc_llvm.transpose(x, threads=1), x.T) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def stored() -> None:
    """With "again": small arrays are served before LLVM is loaded."""
    x = random((24, 40), "f4")
    assert np.array_equal(ttc_llvm.transpose(x), x.T)
    assert "llvmlite.binding" not in sys.modules, "the database does not hold this machine's code"


STEPS: tuple[Callable[[], None], ...] = (arrays, solutions, contractions, shared_calls, children)


def main() -> None:
    """Run every step."""
    for step in ((stored, *STEPS) if sys.argv[1:] == ["again"] else STEPS):
        step()
        if os.environ.get("TTC_SMOKE_VERBOSE"):
            print(step.__name__, flush=True)
    own = backend.host_target()
    assert backend.runs_here(own)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    print(f"ttc_llvm {ttc_llvm.__version__} works: {own.cpu}, {own.vector_bits} bits, LLVM {backend.llvm_version()}, "
          f"Python {version}, NumPy {np.__version__}, {runtime.num_threads()} threads, {ttc_llvm.__path__[0]}")


if __name__ == "__main__":
    main()
