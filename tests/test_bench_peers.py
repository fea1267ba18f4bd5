"""Peers behind C interfaces, stood in for by tiny libraries with the right semantics, compiled here."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_build import compiler
from processes import PATIENCE

from ttc_llvm.bench import Case, Settings, peers, run, workspace
from ttc_llvm.bench import ours as own
from ttc_llvm.bench.array_peers import Jax, Torch
from ttc_llvm.bench.cases import as_kind
from ttc_llvm.bench.check import Check
from ttc_llvm.bench.contender import Absent, Contender
from ttc_llvm.bench.hptt import Hptt, PlanMode
from ttc_llvm.bench.mkl import Mkl
from ttc_llvm.bench.workspace import Memory, Workspace
from ttc_llvm.compiling.stored_plans import Planned
from ttc_llvm.errors import OptionError
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend
from ttc_llvm.tuning.cost.model import model_plan

# What a transposition is, element by element, for any scalar type of C and C++.
LOOP = """
#define LOOP(T, CONJ) \\
    long n = 1; \\
    for (int k = 0; k < dim; k++) n *= size[k]; \\
    for (long e = 0; e < n; e++) { \\
        long rest = e, from = 0, to = 0, step = 1, index[64]; \\
        for (int k = 0; k < dim; k++) { \\
            index[k] = rest % size[k]; \\
            from += index[k] * step; \\
            rest /= size[k]; \\
            step *= outer_a ? outer_a[k] : size[k]; \\
        } \\
        step = 1; \\
        for (int k = 0; k < dim; k++) { \\
            to += index[perm[k]] * step; \\
            step *= outer_b ? outer_b[k] : size[perm[k]]; \\
        } \\
        T x = conj_a ? CONJ(A[from]) : A[from]; \\
        B[to] = is_zero ? alpha * x : alpha * x + beta * B[to]; \\
    }
"""

C = (
    """
#include <complex.h>
#include <stdbool.h>
static int calls;
int count(void) { return calls; }
#define SAME(x) (x)
#define DEFINE(NAME, T, CONJ, PARAMETER, VALUE) \\
    void NAME(const int *perm, int dim, T alpha PARAMETER, const T *A, const int *size, const int *outer_a, T beta, \\
              T *B, const int *outer_b, int threads, int row_major) { \\
        bool conj_a = VALUE, is_zero = beta == 0; \\
        calls += threads > 0 && !row_major; \\
        LOOP(T, CONJ) \\
    }
#define NONE
#define FLAG , bool conjugate
"""
    + LOOP
    + """
DEFINE(sTensorTranspose, float, SAME, NONE, false)
DEFINE(dTensorTranspose, double, SAME, NONE, false)
DEFINE(cTensorTranspose, float complex, conjf, FLAG, conjugate)
DEFINE(zTensorTranspose, double complex, conj, FLAG, conjugate)
"""
)

# The C++ interface with its names, so that the mangled ones are the compiler's own.
CPP = (
    """
#include <complex>
#include <memory>
#include <vector>
static int planned[4], executed;
extern "C" int plans(int mode) { return planned[mode]; }
extern "C" int count() { return executed; }
namespace hptt {
enum SelectionMethod { ESTIMATE, MEASURE, PATIENT, CRAZY };
template <typename T> struct Transpose {
    std::vector<int> perm_, size_, outer_a_, outer_b_;
    T alpha, beta; const T *A; T *B;
    void execute() noexcept;
};
template <typename T> static T same(T x) { return x; }
"""
    + LOOP
    + """
template <typename T> void Transpose<T>::execute() noexcept {
    const int dim = perm_.size(), *perm = perm_.data(), *size = size_.data();
    const int *outer_a = outer_a_.data(), *outer_b = outer_b_.data();
    const bool conj_a = false, is_zero = beta == T(0);
    executed++;
    LOOP(T, same)
}
#define DEFINE(T) \\
    template struct Transpose<T>; \\
    std::shared_ptr<Transpose<T>> create_plan(const int *perm, const int dim, const T alpha, const T *A, \\
            const int *size, const int *outer_a, const T beta, T *B, const int *outer_b, \\
            const SelectionMethod mode, const int threads, const int *ids, const bool row_major) { \\
        planned[mode] += threads > 0 && ids == nullptr && !row_major; \\
        auto plan = std::make_shared<Transpose<T>>(); \\
        plan->perm_.assign(perm, perm + dim); \\
        plan->size_.assign(size, size + dim); \\
        plan->outer_a_.assign(outer_a, outer_a + dim); \\
        plan->outer_b_.assign(outer_b, outer_b + dim); \\
        plan->alpha = alpha; plan->beta = beta; plan->A = A; plan->B = B; \\
        return plan; \\
    }
DEFINE(float)
DEFINE(double)
DEFINE(std::complex<float>)
DEFINE(std::complex<double>)
}
"""
)

MKL = """
#include <string.h>
static int threads;
typedef struct { double re, im; } pair;
void MKL_Get_Version_String(char *text, int length) { strncpy(text, "Stand-in 1.0  ", length); }
void MKL_Set_Num_Threads(int number) { threads = number; }
int count(void) { return threads; }
#define DEFINE(NAME, T) \\
    void NAME(char order, char trans, size_t rows, size_t cols, T alpha, const T *A, size_t lda, T *B, size_t ldb) { \\
        if (order == 'C' && trans == 'T') \\
            for (size_t j = 0; j < cols; j++) \\
                for (size_t i = 0; i < rows; i++) \\
                    B[j + i * ldb] = A[i + j * lda]; \\
    }
DEFINE(MKL_Somatcopy, float)
DEFINE(MKL_Domatcopy, double)
DEFINE(MKL_Zomatcopy, pair)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """Compile a source into a shared library; skips the test where there is no compiler."""
    folder = tmp_path_factory.mktemp("libraries")

    def build(name: str, source: str) -> str:
        driver, suffix = ("g++", "cpp") if name == "plans" else ("gcc", "c")
        found = compiler(driver)
        path = folder / f"{name}.{suffix}"
        path.write_text(source)
        made = folder / f"lib{name}.so"
        subprocess.run([found, "-O1", "-w", "-shared", "-fPIC", path, "-o", made], check=True, timeout=PATIENCE)
        return str(made)

    return build


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.setattr(workspace, "GRAIN", 1 << 16)
    monkeypatch.setattr(workspace, "FOREIGN_SECONDS", 0.0)


def workspace_of(problem: Problem, kind: str = "copy", **changes: Any) -> Workspace:
    """A workspace of a problem."""
    case = as_kind(Case("x", "y", problem, **changes), kind)
    assert case is not None
    return Workspace.of(case, backend.host_target(), 2, Memory())


def agrees(s: Workspace, contender: Contender | None) -> bool:
    """True where a contender computes what we compute, whose result is checked, too."""
    assert contender is not None
    plan = model_plan(s.canonical, s.target, s.threads)
    return Check(s, own.solution(s, Planned(plan)), full=True).agrees(contender)


PADDED = {"lda": (14, 9, 9), "ldb": (9, 13, 10)}


@pytest.mark.parametrize("kind", ["copy", "update"])
@pytest.mark.parametrize("letter", list("sdcz"))
@pytest.mark.parametrize("outer", [{}, PADDED], ids=["whole", "padded"])
def test_the_c_interface(
    library: Callable[[str, str], str], letter: str, kind: str, outer: dict[str, Any]
) -> None:
    peer = Hptt.load(library("calls", C), PlanMode.ESTIMATE)
    assert (peer.name, peer.version, peer.has_plans) == ("hptt", "C interface", False)
    s = workspace_of(Problem((1, 0, 2), (11, 8, 9), letter, **outer), kind, offset=2)
    contender = peer.contender(s)
    before = peer._library.count()
    assert agrees(s, contender)
    assert peer._library.count() == before + 1


def test_the_c_interface_conjugates(library: Callable[[str, str], str]) -> None:
    peer = Hptt.load(library("calls", C), PlanMode.ESTIMATE)
    s = workspace_of(Problem((1, 0), (11, 8), "z", conjugate=True), "update")
    assert agrees(s, peer.contender(s))


@pytest.mark.parametrize("kind", ["copy", "update"])
@pytest.mark.parametrize("letter", list("sdcz"))
@pytest.mark.parametrize("outer", [{}, PADDED], ids=["whole", "padded"])
def test_the_plans(library: Callable[[str, str], str], letter: str, kind: str, outer: dict[str, Any]) -> None:
    path = library("plans", CPP)
    for mode in PlanMode:
        peer = Hptt.load(path, mode)
        assert peer.has_plans
        s = workspace_of(Problem((1, 0, 2), (11, 8, 9), letter, **outer), kind, offset=2)
        planned, executed = peer._library.plans(mode.value), peer._library.count()
        contender = peer.contender(s)
        assert peer._library.plans(mode.value) == planned + 1
        assert agrees(s, contender)
        assert contender is not None
        contender.run(5)
        assert peer._library.plans(mode.value) == planned + 1, "planning is not timed"
        assert peer._library.count() == executed + 6, "calls are repeated natively"


def test_what_hptt_cannot_do(library: Callable[[str, str], str]) -> None:
    path = library("plans", CPP)
    estimate, measure = (Hptt.load(path, mode) for mode in PlanMode)
    assert (estimate.name, measure.name) == ("hptt", "hptt-measure")
    for letter in ("sd", "i8", "bf16"):
        assert estimate.contender(workspace_of(Problem((1, 0), (8, 8), letter))) is None
    ten = workspace_of(Problem(tuple(range(10))[::-1], (2,) * 10))
    assert estimate.contender(ten) is not None
    assert measure.contender(ten) is None, "it would list 10! loop orders"
    assert estimate.contender(workspace_of(Problem(tuple(range(20))[::-1], (2,) * 20))) is not None


def test_autotuning_needs_plans(library: Callable[[str, str], str]) -> None:
    with pytest.raises(Absent, match="exports no plans"):
        Hptt.load(library("calls", C), PlanMode.MEASURE)
    with pytest.raises(Absent, match="neither sTensorTranspose nor plans"):
        Hptt.load(library("mkl", MKL), PlanMode.ESTIMATE)
    with pytest.raises(OptionError, match=r"peer hptt-measure: .* exports no plans"):
        peers.find(("hptt-measure",), library("calls", C))


def test_a_run_against_both_modes(library: Callable[[str, str], str]) -> None:
    found = peers.find(("hptt", "hptt-measure", "numpy"), library("plans", CPP))
    assert [peer.name for peer in found.peers] == ["hptt", "hptt-measure", "numpy"]
    settings = Settings(threads=2, max_implementations=2, rounds=3, peers=found.peers)
    case = Case("x", "y", Problem((1, 0), (120, 90)))
    update = as_kind(case, "update")
    assert update is not None
    for result in run([case, update], settings):
        assert set(result.peers) == {"hptt", "hptt-measure", "numpy"}
        assert (result.pairs("hptt") or 0) > 0
    assert found.notices == ()


@pytest.mark.parametrize(("letter", "dtype"), [("s", "f4"), ("d", "f8"), ("z", "c16"), ("i32", "i4")])
def test_mkl_copies_matrices(library: Callable[[str, str], str], letter: str, dtype: str) -> None:
    peer = Mkl.load(library("mkl", MKL))
    assert peer.version == "Stand-in 1.0"
    s = workspace_of(Problem((1, 0), (11, 8), letter, (13, 8), (9, 11)))
    contender = peer.contender(s)
    assert agrees(s, contender)
    assert peer._library.count() == 2
    assert s.view("a").dtype.itemsize == np.dtype(dtype).itemsize


def test_mkl_does_nothing_else(library: Callable[[str, str], str]) -> None:
    peer = Mkl.load(library("mkl", MKL))
    assert peer.contender(workspace_of(Problem((1, 0, 2), (8, 8, 8)))) is None
    assert peer.contender(workspace_of(Problem((1, 0), (8, 8)), "update")) is None
    assert peer.contender(workspace_of(Problem((1, 0), (8, 8), "sd"))) is None
    assert peer.contender(workspace_of(Problem((1, 0), (8, 8), "i8"))) is None
    assert peer.contender(workspace_of(Problem((1, 0, 2), (8, 1, 8)))) is None, "a plain copy"


# --- array libraries that are rarely installed: their protocol on stand-ins that are NumPy inside ------------


class FakeTensor:
    """The few methods of a torch.Tensor that are called."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def copy_(self, other: FakeTensor) -> None:
        """B <- A."""
        self.array[...] = other.array

    def mul_(self, factor: float) -> FakeTensor:
        """In place."""
        self.array *= np.asarray(factor, self.array.dtype)
        return self

    def add_(self, other: FakeTensor, alpha: float) -> None:
        """In place."""
        self.array += np.asarray(alpha, self.array.dtype) * other.array


@pytest.mark.parametrize("kind", ["copy", "update"])
def test_torch_is_told_our_threads(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    threads = [7]
    fake = types.SimpleNamespace(
        __version__="9.9",
        from_numpy=FakeTensor,
        get_num_threads=lambda: threads[-1],
        set_num_threads=threads.append,
    )
    monkeypatch.setitem(sys.modules, "torch", fake)
    peer = Torch()
    s = workspace_of(Problem((2, 0, 1), (5, 6, 7), "d"), kind)
    assert agrees(s, peer.contender(s))
    assert threads[-1] == 2
    assert peer.version == "9.9"
    assert peer.contender(workspace_of(Problem((1, 0), (5, 6), "v3"))) is None


class FakeArray:
    """What JAX's arrays are asked for."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def block_until_ready(self) -> FakeArray:
        """Itself."""
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


def test_jax_returns_a_new_array(monkeypatch: pytest.MonkeyPatch) -> None:
    def jit(function: Any) -> Any:
        compiled = types.SimpleNamespace(compile=lambda: lambda x: FakeArray(function(x.array)))
        return types.SimpleNamespace(lower=lambda x: compiled)

    fake = types.SimpleNamespace(
        __version__="9.9",
        config=types.SimpleNamespace(update=lambda name, value: None),
        devices=lambda kind: [kind],
        device_put=lambda array, device: FakeArray(array.copy()),
        jit=jit,
        numpy=np,
    )
    monkeypatch.setitem(sys.modules, "jax", fake)
    peer = Jax()
    for place in ({}, {"hot": True}, {"offset": 3}):
        s = workspace_of(Problem((2, 0, 1), (5, 6, 7)), **place)
        assert agrees(s, peer.contender(s))
    assert peer.contender(workspace_of(Problem((2, 0, 1), (5, 6, 7)), "update")) is None
    assert peer.contender(workspace_of(Problem((1, 0), (5, 6), "sd"))) is None
    assert peer.contender(workspace_of(Problem((1, 0), (5, 6), lda=(6, 6)))) is None
