"""Emitted contractions: entries in this process, files as compilers take them, and what is refused."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from contraction_calls import Call, linked, run
from fused_cases import Case
from native_build import STANDARDS, STRICT, compiler
from native_build import run as execute

import ttc_llvm
from ttc_llvm import Contraction
from ttc_llvm.cli.command import run as ttc
from ttc_llvm.contractions import emission
from ttc_llvm.contractions.fused import emitted, space
from ttc_llvm.contractions.merged import merge
from ttc_llvm.errors import OptionError
from ttc_llvm.ir_builders.fused import object_calls
from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.machine import lookup
from ttc_llvm.native import artifact
from ttc_llvm.native.contraction_artifact import ContractionSpec
from ttc_llvm.problem import names
from ttc_llvm.runtime import backend

WARNINGS = (*STRICT, "-Wconversion")
PAPER = {"a": 24, "i": 16, "b": 8, "j": 12, "c": 20, "k": 10}
TYPES = {"s": "float", "d": "double", "c": "float _Complex", "z": "double _Complex"}


def calls(case: Case) -> list[Call]:
    """All entries, with NULL and with arrays, whole and in parts, with memory of several sizes."""
    draw = random.Random(case.stated.spec)
    return [
        Call(), Call(strides=True), Call(sizes=True, strides=True), Call(parts=draw.randint(1, 5)),
        Call(parts=2, scratch=draw.choice([1, 20_000, 100_000, 8 << 20])),
        Call(sizes=True, strides=True, parts=3, scratch=draw.choice([0, 17_000, 1 << 20])),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_entries_compute_random_contractions(seed: int) -> None:
    case = Case(seed)
    plans = [None, *(x for x in case.plans() if not any(x.plan.copies))]
    loaded = linked(case.stated, backend.host_target(), random.Random(seed).choice(plans))
    for call in calls(case):
        assert case.wrong(partial(run, loaded, case.stated, case, call), str(call)) == ""


@pytest.mark.parametrize("seed", range(100, 112))
def test_entries_of_any_size_serve_other_extents(seed: int) -> None:
    case = Case(seed)
    stated = case.stated
    flags = stated.conjugate_a, stated.conjugate_b
    small = Contraction(stated.spec, dict.fromkeys(stated.extents, 3), case.dtype, None, None, None, 1, 0, *flags)
    loaded = linked(small, backend.host_target())
    for call in (Call(sizes=True, strides=True), Call(sizes=True, strides=True, parts=2)):
        assert case.wrong(partial(run, loaded, small, case, call), str(call)) == ""


@pytest.mark.parametrize("machine", ["avx512", "avx2", "sse2", "neon", "sve512", "vsx", "rvv", "wasm"])
def test_a_tile_has_room_on_the_stack(machine: str) -> None:
    """So there is always memory."""
    target = lookup.find(machine)
    for dtype in "sdcz":
        stated = Contraction("ik,kj->ij", {"i": 3, "j": 3, "k": 1}, dtype)
        assert MicroKernel.of(dtype, target).rows >= 1
        assert emitted.scratch([emitted.version(stated, target)]) <= object_calls.STACK


def test_native_plans_are_those_of_the_chooser() -> None:
    """At extents of every kind, what calls plan for themselves is one of the plans that are ranked, in its blocks."""
    for seed in range(40):
        case = Case(seed)
        if 0 in case.stated.extents.values():
            continue
        target, merged = backend.host_target(), merge(case.stated)
        own = emitted.version(case.stated, target).job
        every = [emitted.version(case.stated, target, x).job for x in space.plans(merged) if not any(x.plan.copies)]
        assert own in every, str(case.stated)


# --- files ----------------------------------------------------------------------------------------------


PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"
static const int64_t size[] = {name}_SIZE, strides_a[] = {name}_STRIDES_A;
int main(void)
{{
    FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
    {kind} *a = malloc({a} * sizeof *a), *b = malloc({b} * sizeof *b), *c = malloc({c} * sizeof *c);
    {kind} alpha = 2, beta = -1;
    if (!in || !out || !a || !b || !c) return 1;
    if (fread(a, sizeof *a, {a}, in) != {a} || fread(b, sizeof *b, {b}, in) != {b}) return 2;
    if (fread(c, sizeof *c, {c}, in) != {c}) return 3;
    {name}(a, b, c, {alpha}, {beta}, NULL, NULL, NULL);
    {name}_omp(a, b, c, {alpha}, {beta}, strides_a, NULL, NULL);
    {name}_any(a, b, c, {alpha}, {beta}, size, NULL, NULL, NULL);
    {name}_any_omp(a, b, c, {alpha}, {beta}, size, NULL, NULL, NULL);
    {name}_part(a, b, c, {alpha}, {beta}, NULL, NULL, NULL, 1, 2, NULL, 0);
    {name}_part(a, b, c, {alpha}, {beta}, NULL, NULL, NULL, 0, 2, NULL, 0);
    {name}_release();
    fwrite(c, sizeof *c, {c}, out);
    return fclose(out);
}}
"""


def _spec(dtype: str) -> ContractionSpec:
    stated = Contraction("aibj,bjck->aick", PAPER, dtype)
    return emission.spec(stated, None, [backend.host_target(), lookup.find("x86-64")])


@pytest.mark.parametrize("dtype", "sdcz")
@pytest.mark.parametrize("driver", ["gcc", "clang"])
def test_c_programs_use_objects(driver: str, dtype: str, tmp_path: Path) -> None:
    """Compiled and linked without a warning; nothing but memory functions is needed."""
    spec, kind = _spec(dtype), TYPES[dtype]
    name, stated = names.stem(spec.problem), spec.problem
    artifact.write(spec, tmp_path)
    rng, numpy_type = np.random.default_rng(3), np.dtype({"s": "f", "d": "d", "c": "F", "z": "D"}[dtype])
    a, b, c = (rng.standard_normal(stated.shape(x)).astype(numpy_type) for x in "abc")
    scalar = ("&alpha", "&beta") if dtype in "cz" else ("alpha", "beta")
    counts = {"a": f"{a.size}u", "b": f"{b.size}u", "c": f"{c.size}u"}
    text = PROGRAM.format(name=name, kind=kind, alpha=scalar[0], beta=scalar[1], **counts)
    (tmp_path / "main.c").write_text(text)
    (tmp_path / "in").write_bytes(a.tobytes() + b.tobytes() + c.tobytes())
    built = compiler(driver), "-std=c99", *WARNINGS
    execute(*built, "main.c", f"{name}.o", "-o", "main", cwd=tmp_path)
    execute(tmp_path / "main", cwd=tmp_path)
    product, wanted = 2 * np.einsum(stated.spec, a, b), c
    for _ in range(5):
        wanted = product - wanted
    got = np.frombuffer((tmp_path / "out").read_bytes(), numpy_type).reshape(c.shape)
    assert np.allclose(got, wanted, rtol=1e-3, atol=1e-3 if dtype in "sc" else 1e-9)
    undefined = execute(compiler("nm"), "-u", f"{name}.o", cwd=tmp_path).split()
    assert set(undefined) <= {"w", "U", "malloc", "free", "memcpy", "memset"}


@pytest.mark.parametrize("dtype", "dz")
def test_headers_and_modules_are_taken_by_compilers(dtype: str, tmp_path: Path) -> None:
    spec = _spec(dtype)
    name = names.stem(spec.problem)
    artifact.write(spec, tmp_path, ("header", "fortran"))
    element = {"d": "double", "z": "std::complex<double>"}[dtype]
    text = f'#include "{name}.h"\nvoid f(const {element} *a, const {element} *b, {element} *c)\n{{\n'
    text += f"    {name}_omp(a, b, c, {element}(1), {element}(0), 0, 0, 0);\n}}\n"
    (tmp_path / "main.cpp").write_text(text)
    (tmp_path / "main.c").write_text(f'#include "{name}.h"\nint x;\n')
    for driver, language, standard in STANDARDS:
        strong = [] if standard == "c99" else ["-DTTC_OMP_OBJECT"]
        options = f"-std={standard}", *WARNINGS, *strong, "-fopenmp", "-fsyntax-only"
        execute(compiler(driver), *options, "main.c" if language == "c" else "main.cpp", cwd=tmp_path)
    execute(compiler("gfortran"), "-std=f2018", "-Wall", "-Werror", "-c", f"{name}.f90", cwd=tmp_path)


def test_solutions_write_themselves(tmp_path: Path) -> None:
    stated = Contraction("ijk,kl->ilj", {"i": 4, "j": 5, "k": 3, "l": 6})
    solution = ttc_llvm.compile(stated, effort=1, progress=False)
    every = artifact.kinds()
    paths = solution.write(tmp_path / "build", every)
    assert [path.suffix for path in paths] == [".o", ".h", ".f90", ".o", ".s", ".ll", ".bc"]
    assert all(path.stat().st_size for path in paths)
    assert solution.write(tmp_path / "build", every) == paths  # they bear our mark
    paths[1].write_text("mine")
    with pytest.raises(OptionError, match="not written by ttc_llvm"):
        solution.write(tmp_path / "build")
    with pytest.raises(OptionError, match="unknown kind"):
        solution.write(tmp_path, ("static",))


def test_names_tell_contractions_apart() -> None:
    size = {"i": 4, "j": 5, "k": 3}
    every = [
        Contraction("ik,kj->ij", size), Contraction("ik,kj->ij", size, "s"), Contraction("ik,kj->ji", size),
        Contraction("ik,kj->ij", size, strides_a=(-3, 1)), Contraction("ik,kj->ij", size, strides_b=(8, 1)),
        Contraction("ik,kj->ij", size, "c"), Contraction("ik,kj->ij", size, "c", conjugate_a=True),
        Contraction("iK,Kj->ij", {"i": 4, "j": 5, "K": 3}), Contraction("Ik,kj->Ij", {"I": 4, "j": 5, "k": 3}),
    ]  # fmt: skip
    found = [names.stem(one).lower() for one in every]
    assert len(set(found)) == len(found)
    assert all(name.isidentifier() for name in found)


# --- the command line -----------------------------------------------------------------------------------


ASKED = ["--einsum=aibj,bjck->aick", "--size=a:24,i:16,b:8,j:12,c:20,k:10", "--dtype=float64"]


def test_the_command_line_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttc([*ASKED, "--generateOnly", f"--output-dir={tmp_path}", "--emit=obj,header,fortran"]) == 0
    told = capsys.readouterr().out
    assert "aibj,bjck->aick" in told
    assert "fused1 rows=" in told
    assert ttc([*ASKED, "--list-files", "--emit=obj,header,fortran"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(capsys.readouterr().out.split())


@pytest.mark.parametrize("index", "ab")
def test_objects_of_nothing_are_not_tuned(index: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of no elements, and of sums without terms: there is no plan to choose."""
    extents = ",".join(f"{letter}:{0 if letter == index else 6}" for letter in "aibjck")
    assert ttc([ASKED[0], f"--size={extents}", f"--output-dir={tmp_path}"]) == 0
    assert emission.AT_RUN_TIME in capsys.readouterr().out


def test_objects_for_other_machines_are_not_tuned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttc([*ASKED, "--architecture=neon", "--order=F", f"--output-dir={tmp_path}"]) == 0
    assert emission.AT_RUN_TIME in capsys.readouterr().out
    assert any("_sa1x24x384x3072" in path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize(("options", "message"), [
    (["--lda=1,2,3"], "--lda is an option of transpositions"),
    (["--size=a:2"], "size {'a': 2} has no extent of index i"),
    (["--size=3,4"], "--einsum needs the extent of each index"),
    (["--size=a:2,a:3"], "index a has two extents"),
    (["--size=ab:2"], "a letter and an extent for each index"),
    (["--emit=some"], "--emit=some: the choices are"),
    (["--name=x"], "--name=x names a library"),
    (["--emit=static,plan"], "plan makes plans of transpositions"),
    (["--architecture=cuda"], "compiled for CPUs"),
    (["--architecture=neon", "--plan=fused1 x"], "this machine's own code"),
    (["--plan=gemm1 m=0 n=2 k=1 loops="], "calls a BLAS, or copies"),
    (["--plan=fused1 rows=1 columns=0 terms=2 batches= block=24,8,9 a=2,1"], "calls a BLAS, or copies"),
    (["--einsum=ij->ji"], "is not of the form"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ttc([*ASKED, *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--strides-c=1,2", "--conjugate-b", "--size=a:2,b:3"])
def test_transpositions_refuse_what_is_for_contractions(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttc(["--perm=1,0", "--size=3,4", option]) == 2
    assert "--einsum states one" in capsys.readouterr().err
