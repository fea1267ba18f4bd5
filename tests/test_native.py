"""Native programs: what is emitted, compiled, linked and run in C, C++ and Fortran, on every OpenMP library."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Golden
from emissions import PAPER, PROGRAMS, spec
from entry_calls import Call, check, every_kind, other_outer
from native_build import STANDARDS, STRICT, compiler, has_openmp, needs_openmp, openmp_library, run

from ttc_llvm.native import artifact, fortran
from ttc_llvm.native.transposition_words import described
from ttc_llvm.problem import interface, names
from ttc_llvm.problem.dtypes import Kind
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

NATIVE = Path(__file__).parent / "native"


# --- native programs ------------------------------------------------------------------------------------


def definitions(problem: Problem, types: tuple[str, str, str]) -> list[str]:
    """What tests/native/check.c wants to know."""
    parts = {Kind.OPAQUE: 0, Kind.REAL: 1, Kind.COMPLEX: 2}[problem.compute.kind]
    lists = {"PERM": problem.perm, "SIZE": problem.size, "LDA": problem.outer_a, "LDB": problem.outer_b}
    stem = names.stem(problem)
    return [
        f'-DHEADER="{stem}.h"',
        f"-DNAME={stem}",
        f"-DPARTS={parts}",
        *(f"-D{name}={','.join(map(str, values))}" for name, values in lists.items()),
        *(f"-D{name}={t}" for name, t in zip(("TA", "TB", "SCALAR"), types, strict=True)),
    ]


LANGUAGES = {
    "c99": ["gcc", "-std=c99"],
    "c99 openmp": ["gcc", "-std=c99", "-fopenmp"],
    "c++98 openmp": ["g++", "-std=c++98", "-fopenmp", "-x", "c++"],
    "c++11": ["g++", "-std=c++11", "-x", "c++"],
    "c99 clang openmp": ["clang", "-std=c99", "-fopenmp"],
    "c++11 clang": ["clang++", "-std=c++11", "-x", "c++"],
    "c99 strong": ["gcc", "-std=c99", "-fopenmp", "-DTTC_OMP_OBJECT"],
    "c++11 clang strong": ["clang++", "-std=c++11", "-fopenmp", "-x", "c++", "-DTTC_OMP_OBJECT"],
}
FEW = ("c99", "c99 openmp", "c++98 openmp")  # with all programs; the others with three
CASES = [
    (problem, types, language)
    for number, (problem, types) in enumerate(PROGRAMS)
    for language in LANGUAGES
    if language in FEW or number % 3 == 0
]


@pytest.mark.parametrize(("problem", "types", "language"), CASES, ids=[f"{names.stem(p)}-{s}" for p, _, s in CASES])
def test_linked_program(problem: Problem, types: tuple[str, str, str], language: str, tmp_path: Path) -> None:
    driver, *options = LANGUAGES[language]
    if "-fopenmp" in options:
        needs_openmp(compiler(driver), tmp_path)
    objects = artifact.write(spec(problem), tmp_path, ("obj", "omp", "header"))[:2]
    for sizes in ([], ["-DANY_SIZE"]):
        build(compiler(driver), [*options, *sizes], (problem, types), objects, tmp_path)
        run(tmp_path / "check", env={"OMP_NUM_THREADS": "3"})


def build(
    driver: str,
    options: Sequence[str],
    program: tuple[Problem, tuple[str, str, str]],
    objects: Sequence[Path],
    folder: Path,
) -> None:
    """Compile check.c against the problem's header and link it with its objects: the second one only if asked for."""
    given = [*options, *STRICT, *definitions(*program), f"-I{folder}"]
    run(driver, *given, "-c", NATIVE / "check.c", "-o", folder / "check.o")
    threads = ["-fopenmp"] if "-fopenmp" in options else []
    needed = objects if "-DTTC_OMP_OBJECT" in options else objects[:1]
    run(driver, *threads, folder / "check.o", *needed, "-o", folder / "check")


@pytest.mark.parametrize("language", FEW)
def test_linked_program_in_place(language: str, tmp_path: Path) -> None:
    driver, *options = LANGUAGES[language]
    if "-fopenmp" in options:
        needs_openmp(compiler(driver), tmp_path)
    made, _ = artifact.write(spec(Problem((1, 0, 2), (9, 9, 4), "d", inplace=True)), tmp_path)
    threads = [option for option in options if option == "-fopenmp"]
    run(compiler(driver), *options, *STRICT, f"-I{tmp_path}", "-c", NATIVE / "in_place.c", "-o", tmp_path / "main.o")
    run(compiler(driver), *threads, tmp_path / "main.o", made, "-o", tmp_path / "main")
    run(tmp_path / "main", env={"OMP_NUM_THREADS": "3"})


def test_check_program_notices_wrong_results(tmp_path: Path) -> None:
    """The other tests believe check.c: here it is told the permutation of a different problem."""
    wrong = definitions(PAPER, ("float", "float", "float"))
    made = artifact.write(spec(PAPER), tmp_path)[0]
    wrong[wrong.index("-DPERM=2,1,0")] = "-DPERM=2,0,1"
    gcc = compiler("gcc")
    run(gcc, *wrong, f"-I{tmp_path}", NATIVE / "check.c", made, "-o", tmp_path / "check")
    assert subprocess.run([tmp_path / "check"], capture_output=True).returncode != 0


def test_shared_object_of_many_problems(tmp_path: Path) -> None:
    """All objects in one library: no clash of names, no text relocation, nothing undefined."""
    problems = [p for p, _ in PROGRAMS]
    objects = [artifact.write(spec(p), tmp_path, ["obj"])[0] for p in problems]
    library = tmp_path / "libtranspose.so"
    flags = ["-shared", "-nostdlib", "-Wl,-z,text,-z,defs,--fatal-warnings"]
    run(compiler("gcc"), *flags, *objects, "-o", library)
    loaded = ctypes.CDLL(str(library))

    def address(symbol: str) -> int:
        return ctypes.cast(loaded[symbol], ctypes.c_void_p).value or 0

    for problem in problems:
        for alpha, beta, through_beta in every_kind(problem):
            for lda in (None, other_outer(problem.outer_a, 2)):
                check(address, problem, Call(alpha, beta, lda, None, 2, through_beta))


def test_objects_need_nothing_and_export_the_entries_only(tmp_path: Path) -> None:
    nm = compiler("nm")
    for row in ("sse2", "avx", "avx2", "avx512", "knl"):
        for problem in (PAPER, Problem((1, 2, 0), (20, 30, 7), "zc"), Problem((1, 0), (40, 50), "v3")):
            made = artifact.write(spec(problem, backend.resolve(row)), tmp_path, ["obj"])[0]
            assert run(nm, "-u", made) == ""
            exported = re.findall(r" T (\w+)", run(nm, "-g", "--defined-only", made))
            wanted = [entry.name for entry in interface.entries(problem)]
            assert sorted(exported) == sorted(wanted)


def test_tools_know_what_functions_are(tmp_path: Path) -> None:
    """Local symbols are named after the problem, each has an unwinding table, and objects can be linked for IBT."""
    problem = Problem((1, 0), (600, 700), "zc")
    made = artifact.write(spec(problem), tmp_path, ("obj", "omp"))
    for one in made:
        symbols = run(compiler("nm"), one)
        functions = re.findall(r" [tT] (.+)", symbols)
        local = [name for name in re.findall(r" t (.+)", symbols)]
        assert local and all(name.startswith(names.stem(problem)) for name in local)
        tables = run(compiler("readelf"), "--debug-dump=frames", one).count(" FDE ")
        assert tables >= len(functions) - 2  # but for two that are a few bytes of machine code
        assert "IBT, SHSTK" in run(compiler("readelf"), "-n", one)


def test_code_as_text_says_what_functions_are(tmp_path: Path) -> None:
    stem = names.stem(PAPER)
    for made, sign in zip(artifact.write(spec(PAPER), tmp_path, ("asm", "llvm")), "#;", strict=True):
        text = made.read_text()
        assert text.startswith(f"{sign} {stem}: entries for C") and f"\n{sign}   own.ALPHA-BETA " in text
        defined = rf'^(?:define internal .*@"|\t\.type\t"?){re.escape(stem)}\.([\w.-]+)'
        local = set(re.findall(defined, text, re.MULTILINE))
        assert {"run", "run.i64", "general", "strided", "own.one-zero", "any.any-any", "strided.zero-any"} <= local


# --- the header -----------------------------------------------------------------------------------------

USE = """
#if defined(__cplusplus) && defined(_OPENMP)
extern "C" {{ // as programs do around headers of C
#endif
#include "{0}.h"
#include "{1}.h"
#include "{2}.h"
#include "{3}.h"
#include "{4}.h"
#include "{5}.h"
#if defined(__cplusplus) && defined(_OPENMP)
}}
#endif
static float a[{0}_ELEMENTS_A], b[{0}_ELEMENTS_B];
static const int64_t size[{0}_RANK] = {0}_SIZE, perm[] = {0}_PERM, strides[] = {0}_STRIDES_A;
static const int other[] = {{7, 7}};
#ifdef __cplusplus
static std::complex<double> x[{1}_ELEMENTS_A], alpha(1, 2);
static std::complex<float> y[{1}_ELEMENTS_B];
#define ALPHA alpha
static void templates(void)
{{
    {1}<300, 200>(x, y, alpha, NULL, NULL);
    {1}_beta_omp<3, 5>(x, y, alpha, 1.0, NULL, NULL);
    {1}<9, 7>(&x[0], &y[0], static_cast<const void *>(&alpha), NULL, NULL);
    {4}<80, 80>(x, alpha, NULL);
}}
#else
static double _Complex x[{1}_ELEMENTS_A], alpha = 2;
static float _Complex y[{1}_ELEMENTS_B];
#define ALPHA &alpha
#endif
int run(void);
int run(void)
{{
    int part;
    {0}_i64_beta(a, b, 1.0f, 2.0f, size, strides, NULL);
    for (part = 0; part < {0}_PARTS; ++part)
        {0}_part(a, b, 1.0f, NULL, NULL, part, {0}_PARTS);
    {1}_beta(x, y, ALPHA, ALPHA, NULL, NULL);
    {1}_i64_omp(x, y, ALPHA, NULL, NULL, NULL);
    {4}_beta(x, ALPHA, ALPHA, NULL);
    {4}_any_omp(x, ALPHA, other, NULL);
    {5}_omp(x, y, ALPHA);
    {5}_beta_part(x, y, ALPHA, ALPHA, 0, {5}_TERMS);
#ifdef __cplusplus
    templates();
#endif
    return (int)perm[0] + TTC_ABI + {0}_STACK + {3}_RANK + (int)sizeof({0}_GENERATOR);
}}
"""


def test_headers_under_every_standard_without_a_warning(tmp_path: Path) -> None:
    problems = [Problem((2, 1, 0), (80, 16, 16), "s", (80, 32, 32)), Problem((1, 0), (300, 200), "zc")]
    problems += [Problem((1, 0), (9_000_000_000, 5), "uint8"), Problem((), (), "z")]
    problems += [Problem((1, 0), (80, 80), "z", inplace=True)]
    problems += [Problem(size=(8, 80, 80), dtype="zc", terms=[(2, (0, 1, 2)), (-0.5, (0, 2, 1))])]
    for problem in problems:
        artifact.write(spec(problem), tmp_path, ["header"])
    (tmp_path / "use.c").write_text(USE.format(*map(names.stem, problems)))
    strict = (*STRICT, "-Wconversion", "-Wshadow", f"-I{tmp_path}", "-fsyntax-only")
    for number, (driver, language, standard) in enumerate(STANDARDS):
        found = compiler(driver)
        threads = ["-fopenmp"] if number % 2 and has_openmp(found, tmp_path) else []
        run(found, f"-std={standard}", *strict, *threads, "-x", language, tmp_path / "use.c")


def test_a_compiler_without_the_header_of_openmp(tmp_path: Path) -> None:
    """As clang is where another compiler's OpenMP alone is installed."""
    problem = Problem((1, 0), (300, 200), "s")
    artifact.write(spec(problem), tmp_path, ["header"])
    for driver, language in (("gcc", "c"), ("g++", "c++")):
        text = f'#define __has_include(name) 0\n#include "{names.stem(problem)}.h"\n'
        (tmp_path / "use.c").write_text(text)
        options = ("-fopenmp", "-Wall", "-Wextra", "-Wno-builtin-macro-redefined", "-fsyntax-only", "-x", language)
        assert "TTC_NO_OMP_H" in run(compiler(driver), *options, "-dM", "-E", tmp_path / "use.c")
        run(compiler(driver), *options, tmp_path / "use.c")


# --- the second object ----------------------------------------------------------------------------------

DLOPEN = """
import ctypes, sys
import numpy as np
library = ctypes.CDLL(sys.argv[1])
a = np.arange(300 * 400, dtype=np.float32).reshape(300, 400)
b = np.zeros((400, 300), np.float32)
size = np.array((400, 300), np.intc)
addresses = [ctypes.c_void_p(x.ctypes.data) for x in (a, b)]
library.sTranspose10_400x300_omp(*addresses, ctypes.c_float(2), None, None)
assert np.array_equal(b, 2 * a.T)
library.sTranspose10_400x300_any_beta_omp(
    *addresses, ctypes.c_float(1), ctypes.c_float(3), ctypes.c_void_p(size.ctypes.data), None, None)
assert np.array_equal(b, 7 * a.T)
"""


@pytest.mark.parametrize("driver", ["gcc", "clang"])
def test_threaded_entries_through_dlopen(driver: str, tmp_path: Path) -> None:
    """In a process of its own: what OpenMP library it loads is nobody else's business."""
    openmp = openmp_library(compiler(driver), tmp_path)
    objects = artifact.write(spec(Problem((1, 0), (400, 300), "s")), tmp_path, ("obj", "omp"))
    library = tmp_path / "libtranspose.so"
    run(compiler(driver), "-shared", "-Wl,-z,text,-z,defs", *objects, openmp, "-o", library)
    run(sys.executable, "-c", DLOPEN, library, env={"OMP_NUM_THREADS": "3"})


def test_threaded_entries_need_openmp_and_the_first_object_only(tmp_path: Path) -> None:
    problem = Problem((1, 0), (600, 700), "zc")
    first, second = artifact.write(spec(problem), tmp_path, ("obj", "omp"))
    symbols = run(compiler("nm"), second)
    wanted = sorted(entry.name for entry in interface.threaded(problem))
    assert sorted(re.findall(r" T (\w+)", symbols)) == wanted
    undefined = set(re.findall(r" U (\w+)", symbols)) - set(re.findall(r" T (\w+)", run(compiler("nm"), first)))
    openmp = {"omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num"}
    assert undefined == {"GOMP_parallel", *openmp}


def test_too_little_work_for_threads_needs_no_openmp(tmp_path: Path) -> None:
    second = artifact.write(spec(Problem((), (), "s")), tmp_path, ["omp"])[0]
    assert "omp_get" not in run(compiler("nm"), second)


# --- Fortran --------------------------------------------------------------------------------------------


def test_modules_of_all_types_compile(tmp_path: Path) -> None:
    problems = [p for p, _ in PROGRAMS] + [Problem((1, 0), (6, 7), t) for t in ("ds", "cz", "f16", "i32", "i64", "v12")]
    problems += [Problem((), (), "s"), Problem(tuple(reversed(range(26))), (2,) * 26, "s")]
    problems += [Problem((1, 0), (8, 8), "z", inplace=True)]
    problems += [Problem(size=(8, 8), dtype="c", terms=[(2, (0, 1)), (1j, (1, 0))])]
    modules = [artifact.write(spec(p), tmp_path, ["fortran"])[0] for p in problems]
    run(compiler("gfortran"), "-std=f2018", *STRICT, "-fsyntax-only", *modules, cwd=tmp_path)


def test_many_problems_share_one_module(golden: Golden) -> None:
    problems = (PAPER, Problem((1, 0), (300, 500), "i8"), Problem((1, 0), (3, 5), "zc"))
    every = [described(problem, "avx2", "") for problem in problems]
    golden.check("transposes.f90", fortran.text("transposes", "libtransposes.a", every, "0.1.0"))
