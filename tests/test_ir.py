"""The IR as text: golden files of small kernels, determinism, and what must not appear."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Golden

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan, Store
from ttc_llvm.machine import lookup
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.canonical import Axis, Canonical, Param, canonicalise
from ttc_llvm.problem.kinds import Alpha, Beta, Kinds
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

ROOT = Path(__file__).parent.parent
S = dtypes.dtype("s")
ANY = Kinds(Alpha.ANY, Beta.ANY)


def copy_4x4() -> str:
    """A 12 x 8 float transposition in 4 x 4 micro-tiles for SSE2."""
    c = canonicalise(Problem((1, 0), (8, 12), "s")).canonical
    plan = CpuPlan((8, 4), (4, 4), (1, 0), (0, 1), 1, prefetch=1)
    return str(module.build(lower(c, plan, lookup.find("sse2")), lookup.find("sse2")))


def update_ragged() -> str:
    """B <- alpha A + beta B with masked edges and a staged tile for AVX-512."""
    c = canonicalise(Problem((1, 0), (6, 5), "c", alpha=2, beta=3, conjugate=True)).canonical
    plan = CpuPlan((4, 4), (2, 2), (0, 1), (1, 0), 2)
    return str(module.build(lower(c, plan, lookup.find("avx512")), lookup.find("avx512")))


def any_size() -> str:
    """Run-time extents and strides."""
    c = canonicalise(Problem((1, 0), (6, 5), "d"), Kinds(Alpha.ANY, Beta.ZERO)).canonical
    n, m, s, t = (Param(k, name) for k, name in enumerate(("n", "m", "sa", "sb")))
    form = replace(c, axes=(Axis(n, s, 1), Axis(m, 1, t)))
    return str(module.build(lower(form, CpuPlan((4, 4), (2, 2), (1, 0), (0, 1), 2), SSE2), SSE2))


def streamed() -> str:
    """Rows of B that leave scratch by non-temporal stores, fenced."""
    c = canonicalise(Problem((1, 0), (16, 16), "d")).canonical
    plan = CpuPlan((16, 8), (4, 4), (1, 0), (0, 1), 1, 0, Store.COMBINED)
    return str(module.build(lower(c, plan, lookup.find("avx2")), lookup.find("avx2")))


SSE2 = lookup.find("sse2")
TEXTS = {f.__name__: f for f in (copy_4x4, update_ragged, any_size, streamed)}


@pytest.mark.parametrize("name", TEXTS)
def test_golden_text(name: str, golden: Golden) -> None:
    golden.check(f"{name}.ll", TEXTS[name]())


@pytest.mark.parametrize("name", TEXTS)
def test_llvm_accepts_the_text(name: str) -> None:
    assert backend.compile_object(TEXTS[name](), lookup.find("avx512"))


@pytest.mark.parametrize("name", TEXTS)
def test_building_twice_gives_the_same_text(name: str) -> None:
    assert TEXTS[name]() == TEXTS[name]()


def test_the_text_does_not_depend_on_hash_seeds() -> None:
    code = "import test_ir, hashlib; print([hashlib.sha256(f().encode()).hexdigest() for f in test_ir.TEXTS.values()])"
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_licenses_llvm_to_change_results(name: str) -> None:
    """No fast-math flags, no fused multiply-add; addresses are the only arithmetic that may not wrap."""
    assert not re.search(
        r"\b(fast|contract|reassoc|nnan|ninf|nsz|arcp|afn)\b|llvm\.fma|fmuladd", TEXTS[name]()
    )


def test_the_kernel_has_the_fixed_signature() -> None:
    signature = re.search(r"define void @\"kernel\"\(.*\)", copy_4x4())
    assert signature is not None
    assert signature[0] == (
        'define void @"kernel"(ptr noalias %"a", ptr noalias %"b", ptr %"scalars", ptr %"params", '
        'ptr noalias %"scratch", i64 %"begin", i64 %"end")'
    )


def test_alpha_zero_loads_nothing_of_a_and_beta_zero_nothing_of_b() -> None:
    for kinds, reads_a, reads_b in (
        (Kinds(Alpha.ZERO, Beta.ANY), False, True),
        (Kinds(Alpha.ANY, Beta.ZERO), True, False),
        (ANY, True, True),
    ):
        c = Canonical((Axis(8, 100, 1), Axis(8, 1, 100)), S, S, kinds)
        text = str(module.build(lower(c, CpuPlan((8, 8), (4, 4), (1, 0), (0, 1)), SSE2), SSE2))
        pointers = re.findall(r"load <\d+ x float>, ptr %\"([^\"]*)\"", text)
        assert _reaches(text, pointers, "a") == reads_a
        assert _reaches(text, pointers, "b") == reads_b


def _reaches(text: str, pointers: list[str], base: str) -> bool:
    """True where one of the pointers is derived from the argument `base` by address arithmetic."""
    step = r"%\"([^\"]*)\" = (?:getelementptr inbounds i8, ptr|freeze ptr) %\"([^\"]*)\""
    parent = dict(re.findall(step, text))
    for pointer in pointers:
        while pointer in parent:
            pointer = parent[pointer]
        if pointer == base:
            return True
    return False


def test_texts_of_modules_are_written_by_several_threads_and_after_interrupts() -> None:
    """llvmlite fills this table in steps when it is first used, and takes it for full whatever it holds."""
    program = "from llvmlite.ir import values; t = values._escape_string.__defaults__[0]; t[0] = '\\\\00'\n"
    program += "import ttc_llvm.ir_builders.llvmlite_extensions\n"
    program += "assert values._escape_string(bytes(range(256))) and len(t) == 256"
    subprocess.run([sys.executable, "-c", program], check=True)
