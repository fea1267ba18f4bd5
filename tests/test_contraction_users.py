"""Libraries that contract by our functions, as docs/einsum.md says: each calls them, and gets what it got before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ttc_llvm

SPEC, SHAPES = "ij,jkl,lm,mn->nki", ((4, 5), (5, 6, 3), (3, 4), (4, 7))


class Counted:
    """A function of ours, and how often it was called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *given: Any, **options: Any) -> Any:
        self.calls += 1
        return self.function(*given, **options)


@pytest.fixture
def ours() -> tuple[Counted, Counted]:
    """`einsum` and `tensordot`."""
    return Counted(ttc_llvm.einsum), Counted(ttc_llvm.tensordot)


@pytest.fixture
def autoray(ours: tuple[Counted, Counted]) -> Iterator[Any]:
    """Autoray with our functions for NumPy's arrays."""
    found = pytest.importorskip("autoray")
    names = "einsum", "tensordot"
    before = [found.get_lib_fn("numpy", name) for name in names]
    for name, function in zip(names, ours, strict=True):
        found.register_function("numpy", name, function)
    yield found
    for name, function in zip(names, before, strict=True):
        found.register_function("numpy", name, function)


def arrays() -> list[Any]:
    draw = np.random.default_rng(1)
    return [draw.standard_normal(shape) for shape in SHAPES]


def test_opt_einsum_takes_the_module(ours: tuple[Counted, Counted], monkeypatch: pytest.MonkeyPatch) -> None:
    opt_einsum = pytest.importorskip("opt_einsum")
    for name, function in zip(("einsum", "tensordot"), ours, strict=True):
        monkeypatch.setattr(ttc_llvm, name, function)
    monkeypatch.setattr(opt_einsum.backends.dispatch, "_cached_funcs", {})
    got = opt_einsum.contract(SPEC, *arrays(), backend="ttc_llvm")
    assert np.allclose(got, np.einsum(SPEC, *arrays()))
    assert sum(function.calls for function in ours) >= 3


def test_cotengra_takes_the_functions(ours: tuple[Counted, Counted]) -> None:
    cotengra = pytest.importorskip("cotengra")
    got = cotengra.einsum(SPEC, *arrays(), implementation=ours)
    assert np.allclose(got, np.einsum(SPEC, *arrays()))
    assert sum(function.calls for function in ours) >= 3


def test_autoray_takes_what_is_registered(autoray: Any, ours: tuple[Counted, Counted]) -> None:
    a, b = np.random.rand(3, 4), np.random.rand(4, 5)
    assert np.allclose(autoray.do("einsum", "ij,jk->ik", a, b), a @ b)
    assert np.allclose(autoray.do("tensordot", a, b, 1), a @ b)
    assert [function.calls for function in ours] == [1, 1]


@pytest.mark.filterwarnings("ignore")  # of quimb's about packages that find better paths
def test_quimb_contracts_a_circuit(autoray: Any, ours: tuple[Counted, Counted]) -> None:
    tensor = pytest.importorskip("quimb.tensor")

    def amplitude() -> complex:
        circuit = tensor.Circuit(6)
        for layer in range(3):
            for k in range(6):
                circuit.ry(0.3 * k + layer, k)
            for k in range(5):
                circuit.cz(k, k + 1)
        return complex(circuit.amplitude("010101", optimize="greedy"))

    got = amplitude()
    assert sum(function.calls for function in ours) > 5
    for name in ("einsum", "tensordot"):
        autoray.register_function("numpy", name, getattr(np, name))
    assert abs(got - amplitude()) < 1e-12
    assert abs(got) > 1e-6


def test_pyscf_finds_the_same_energy(ours: tuple[Counted, Counted], monkeypatch: pytest.MonkeyPatch) -> None:
    lib, gto, scf, rccsd = (pytest.importorskip(f"pyscf.{name}") for name in ("lib", "gto", "scf", "cc.rccsd"))
    atoms = "O 0 0 0; H 0 -0.757 0.587; H 0 0.757 0.587"
    field = scf.RHF(gto.M(atom=atoms, basis="6-31g", verbose=0)).run(conv_tol=1e-12)

    def energy() -> float:
        return float(rccsd.RCCSD(field).set(conv_tol=1e-10).run().e_corr)

    monkeypatch.setattr(lib.numpy_helper, "EINSUM_BACKEND", "numpy")  # TBLIS' threads spin, beside other tests
    before = energy()
    monkeypatch.setattr(lib, "einsum", ours[0])
    assert abs(energy() - before) < 1e-9
    assert before < -0.1
    assert ours[0].calls > 100
