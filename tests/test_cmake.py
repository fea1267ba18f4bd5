"""CMake: kernels generated while building, and libraries that find_package finds; with Ninja and with Make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from configparser import ConfigParser
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest
from native_build import compiler, run
from processes import attempt

import ttc_llvm
from ttc_llvm.cli import manifest, reading
from ttc_llvm.compiling.library import Library
from ttc_llvm.problem.problem import Problem

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ttc_llvm" / "cmake"
GENERATORS = {"Ninja": "ninja", "Unix Makefiles": "make"}


@pytest.fixture(params=list(GENERATORS))
def generator(request: pytest.FixtureRequest) -> str:
    """A build tool by CMake's name; skips the test where it, CMake or a compiler is not installed."""
    for name in ("cmake", "cc", "c++", GENERATORS[request.param]):
        compiler(name)
    return str(request.param)


# What these show does not depend on the build tool.
one_generator = pytest.mark.parametrize("generator", ["Ninja"], indirect=True)


@pytest.fixture
def ttc(tmp_path: Path) -> Path:
    """A program `ttc` of this checkout, in a folder with blanks; it notes its calls in calls.txt."""
    program = tmp_path / "with blanks" / "ttc"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$*" >> "{tmp_path}/calls.txt"\n'
        f'PYTHONPATH="{ROOT}" TTC_DATABASE="{tmp_path}/solutions.db" exec "{sys.executable}" -m ttc_llvm "$@"\n'
    )
    program.chmod(0o755)
    return program


@dataclass(frozen=True)
class Project:
    """A CMake project in a folder of its own and what it is built with."""

    source: Path
    build: Path
    generator: str
    ttc: Path

    def write(self, **files: str) -> Project:
        """Write files; `CMakeLists` is CMakeLists.txt behind what all of them begin with, `x_c` is x.c."""
        self.source.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if name == "CMakeLists":
                (self.source / "CMakeLists.txt").write_text(HEAD + text)
            else:
                (self.source / ".".join(name.rsplit("_", 1))).write_text(text)
        return self

    def configure(self, *more: str) -> subprocess.CompletedProcess[str]:
        """Run cmake for the build folder."""
        return attempt(
            "cmake", "-S", self.source, "-B", self.build, "-G", self.generator, f"-DTTC_EXECUTABLE={self.ttc}",
            f"-Dttc_llvm_DIR={PACKAGE}", *more,
        )  # fmt: skip

    def made(self, *more: str) -> str:
        """Build on two processors, configuring first where that was not done; returns what was printed."""
        if not (self.build / "CMakeCache.txt").exists():
            done = self.configure(*more)
            assert done.returncode == 0, done.stdout + done.stderr
        return run("cmake", "--build", self.build, "-j2")

    def result(self, program: str) -> str:
        """What a program of the build prints."""
        return run(self.build / program).strip()

    @property
    def generated(self) -> int:
        """How often ttc was called to generate."""
        calls = (self.ttc.parent.parent / "calls.txt").read_text().splitlines()
        asked = re.compile("--(list-files|print-target)")
        return len([call for call in calls if "--emit=obj" in call and not asked.search(call)])


HEAD = """\
cmake_minimum_required(VERSION 3.16)
project(consumer C CXX)
find_package(ttc_llvm CONFIG REQUIRED)
"""
MAIN = """\
#include <stdio.h>
#include "sTranspose10_3x2.h"
int main(void)
{
    float a[6] = {0, 1, 2, 3, 4, 5}, b[6];
    int i;
    sTranspose10_3x2(a, b, 1.0f, NULL, NULL);
    for (i = 0; i < 6; i++) printf("%g ", b[i]);
    return 0;
}
"""
FLIPPED = "0 3 1 4 2 5"
ONE = "add_executable(app main.c)\nttc_add_transpose(app PERM 1 0 SIZE 3 2 {})\n"
SYMBOLS = """\
#include <stdio.h>
#include "many.h"
int main(void)
{
    double a[6] = {0, 1, 2, 3, 4, 5}, b[6];
    float c[6] = {6, 7, 8, 9, 10, 11}, d[6];
    dTranspose10_3x2(a, b, 1.0, NULL, NULL);
    sTranspose10_3x2(c, d, 1.0f, NULL, NULL);
    printf("%g %g", b[1], d[1]);
    return 0;
}
"""
MANIFEST = "--perm=1,0 --size=3,2\n--perm=1,0 --size=3,2 --dataType=d\n"


@pytest.fixture
def project(tmp_path: Path, generator: str, ttc: Path) -> Project:
    """An empty project; all its folders have blanks in their names."""
    return Project(tmp_path / "the source", tmp_path / "the build", generator, ttc)


def later() -> None:
    """Let the clock of file systems and of Make tick."""
    time.sleep(0.05)


# --- generated while building -----------------------------------------------------------------------------


def test_a_transpose_is_as_easy_as_a_source_file(project: Project) -> None:
    """Built once; nothing is done again; other arguments, and only they, make it again, also the way back."""
    project.write(main_c=MAIN, CMakeLists=ONE.format("CPU haswell"))
    project.made()
    assert project.result("app") == FLIPPED and project.generated == 1
    before = (project.build / "app").stat().st_mtime_ns
    header = project.build / "ttc" / "app" / "sTranspose10_3x2.h"
    assert "haswell" in header.read_text()
    project.made()
    assert project.configure().returncode == 0
    project.made()
    assert project.generated == 1 and (project.build / "app").stat().st_mtime_ns == before
    for number, cpu in enumerate(("x86-64", "haswell"), 2):
        later()
        project.write(CMakeLists=ONE.format(f"CPU {cpu}"))
        project.made()
        assert f" {cpu} " in header.read_text() and project.generated == number
    assert (project.build / "app").stat().st_mtime_ns > before
    later()
    (project.build / "ttc" / "app" / "sTranspose10_3x2.o").unlink()
    project.made()
    assert project.result("app") == FLIPPED and project.generated == 4
    later()
    (project.build / "ttc" / "app" / "1.arguments").touch()  # what old tools go by that do not compare commands
    project.made()
    assert project.generated == 5


@one_generator
def test_types_and_efforts_by_name(project: Project) -> None:
    """DTYPE, EFFORT and THREADS are what DATATYPE, MAX_IMPLEMENTATIONS and NUM_THREADS are."""
    named = "DTYPE float32 EFFORT measure THREADS 1"
    project.write(main_c=MAIN, CMakeLists=ONE.format(named) + "ttc_add_transpose(app PERM 1 0 SIZE 3 4 DATATYPE <i2)\n")
    project.made()
    assert project.result("app") == FLIPPED and project.generated == 2
    calls = (project.ttc.parent.parent / "calls.txt").read_text()
    assert "--dtype=float32" in calls and "--effort=measure" in calls and "--threads=1" in calls
    assert (project.build / "ttc" / "app" / "i16Transpose10_3x4.h").exists()


def test_a_manifest_becomes_a_library(project: Project) -> None:
    """A changed manifest makes it again, with the new problems; an unchanged one does not."""
    text = "ttc_add_library(many MANIFEST list.txt)\nadd_executable(app main.c)\ntarget_link_libraries(app many)\n"
    project.write(main_c=SYMBOLS, CMakeLists=text, list_txt=MANIFEST)
    project.made()
    assert project.result("app") == "3 9" and project.generated == 1
    project.made()
    assert project.generated == 1
    later()
    replaced = SYMBOLS.replace("sTranspose10_3x2", "sTranspose10_2x3")
    project.write(list_txt=MANIFEST + "--perm=1,0 --size=2,3\n", main_c=replaced)
    project.made()
    assert project.result("app") == "3 8" and project.generated == 2
    later()
    project.write(list_txt=MANIFEST + "--perm=1,0 --size=2,3 --beta=1\n")  # the same names
    project.made()
    assert project.generated == 3
    assert (project.build / "libmany.a").exists()
    later()
    project.write(list_txt="--perm=1,1 --size=3,2\n")
    failed = attempt("cmake", "--build", project.build)
    assert failed.returncode != 0
    assert re.search(r"list\.txt:1:\s+perm\s+1,1\s+is\s+not\s+a\s+permutation", failed.stdout + failed.stderr)


LINKED = """\
add_subdirectory(below)
ttc_add_transpose(flip PERM 1 0 SIZE 3 2)
ttc_add_transpose(flip PERM 2,1,0 SIZE 4 5 6 DATATYPE z LDA 5 5 6 LDB 6 5 8 ALPHA 1,2 BETA 3 CONJUGATE
  OPTIONS --hotA --no-vec)
ttc_add_transpose(flip PERM 0 2 1 SIZE 2 3 4 ORDER C)
ttc_add_transpose(flip PERM 1 0 SIZE 3 3 INPLACE)
ttc_add_transpose(flip TERMS 2:0,1 -1:1,0 SIZE 3 3)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE flip many)
add_library(mine SHARED mine.c)
ttc_add_transpose(mine PERM 1 0 SIZE 7 9)
install(TARGETS flip PUBLIC_HEADER DESTINATION include)
"""
BELOW = """\
ttc_add_library(many SHARED MANIFEST list.json MAX_IMPLEMENTATIONS 2 NUM_THREADS 1)
install(TARGETS many PUBLIC_HEADER DESTINATION include)
"""
BOTH = """\
#include "many.h"
#include "sTranspose10_3x2.h"
#include "sSum2_01_m1_10_3x3.h"
#include "sTranspose102_4x3x2.h"
#include "sTranspose10_3x3_inplace.h"
#include "zTranspose210_4x5x6_lda5x5x6_ldb6x5x8_conj.h"
#include <cstdio>
int main()
{
    float a[6] = {0, 1, 2, 3, 4, 5}, b[6];
    double c[6] = {6, 7, 8, 9, 10, 11}, d[6];
    static double x[2 * 5 * 5 * 6], y[2 * 6 * 5 * 8];
    const double alpha[2] = {0, 1}, beta[2] = {0, 0};
    float square[9] = {0, 1}, sum[9];
    float rows[2][3][4] = {{{0, 1, 2, 3}}}, turned[2][4][3];
    x[2] = 5;
    rows[1][2][3] = 23;
    sTranspose10_3x2(a, b, 1.0f, 0, 0);
    dTranspose10_3x2(c, d, 1.0, 0, 0);
    zTranspose210_4x5x6_lda5x5x6_ldb6x5x8_conj_beta(x, y, alpha, beta, 0, 0);
    sTranspose102_4x3x2(&rows[0][0][0], &turned[0][0][0], 1.0f, 0, 0);
    sTranspose10_3x3_inplace(square, 7.0f, 0);
    sSum2_01_m1_10_3x3(square, sum, 1.0f);
    std::printf("%g %g %g %g %g %g", b[1], d[1], y[2 * 6 * 5 + 1], turned[0][3][0], turned[1][3][2], square[3]);
    std::printf(" %g", sum[1]);
}
"""


def test_libraries_of_every_kind(project: Project, tmp_path: Path) -> None:
    """Static and shared, made by the functions or there before, tuned while building, in parallel; installed."""
    manifest = '[{"perm": [1, 0], "size": [3, 2], "dataType": "d"}]'
    project.write(main_cpp=BOTH, CMakeLists=LINKED)
    below = project.source / "below"
    below.mkdir()
    (below / "list.json").write_text(manifest)
    (below / "CMakeLists.txt").write_text(BELOW)
    project.write(mine_c='#include "sTranspose10_7x9.h"\nvoid *mine(void);\nvoid *mine(void) { return 0; }\n')
    out = project.made()
    assert project.result("app") == "3 9 5 3 23 7 -7"
    assert (project.build / "below" / "libmany.so").exists() and (project.build / "libflip.a").exists()
    assert "tuned" in out
    run("cmake", "--install", project.build, "--prefix", tmp_path / "installed")
    installed = {path.name for path in (tmp_path / "installed").rglob("*") if path.is_file()}
    assert {"libmany.so", "libflip.a", "many.h", "sTranspose10_3x2.h"} <= installed
    assert "sTranspose10_7x9" in run(compiler("nm"), "-D", project.build / "libmine.so")
    record = (project.build / "ttc" / "flip" / "2.arguments").read_text().splitlines()
    given = ("--perm=2,1,0", "--lda=5,5,6", "--ldb=6,5,8", "--alpha=1,2", "--beta=3", "--conjugate", "--hotA")
    assert set(given) <= set(record)


CONTRACTED = """\
ttc_add_contraction(products SHARED EINSUM ki,kj->ij SIZE i:3 j:2 k:2 DATATYPE float64 PREFIX my_ EMIT omp
  STRIDES_A 1 2 ALPHA 2 THREADS 1)
ttc_add_library(both MANIFEST list.txt VISIBILITY hidden)
add_executable(app main.c)
ttc_add_contraction(app EINSUM "ik,kj->ij" SIZE "i:3,j:2,k:2" DTYPE z ORDER F CONJUGATE_B CPU haswell sandybridge)
target_link_libraries(app PRIVATE products both)
add_library(plugin SHARED plugin.c)
target_link_libraries(plugin PRIVATE both)
"""
PRODUCTS = """\
#include <stdio.h>
#include "both.h"
#include "my_dContract_ki_kj_ij_2x3x2_sa1x2.h"
#include "zContract_ik_kj_ij_3x2x2_sa1x3_sb1x2_sc1x3_conjb.h"
int main(void)
{
    double a[6] = {0, 1, 2, 3, 4, 5}, b[4] = {1, 2, 3, 4}, c[6], d[6];
    ttc_complex_double x[6] = {1, 2, 3, 4, 5, 6}, y[4] = {0}, z[6], alpha = 1, beta = 0;
    ((double *)y)[1] = 1;
    my_dContract_ki_kj_ij_2x3x2_sa1x2(a, b, c, 1.0, 0.0, NULL, NULL, NULL);
    my_dContract_ki_kj_ij_2x3x2_sa1x2_any_omp(a, b, d, 1.0, 0.0, NULL, NULL, NULL, NULL);
    zContract_ik_kj_ij_3x2x2_sa1x3_sb1x2_sc1x3_conjb(x, y, z, &alpha, &beta, NULL, NULL, NULL);
    printf("%g %g %g %g|%g %g", c[0], c[1], c[5], d[5], ((double *)z)[1], ((double *)z)[5]);
    sTranspose10_3x2((float *)a, (float *)d, 1.0f, NULL, NULL);
    sContract_ik_kj_ij_3x2x2((float *)a, (float *)b, (float *)d, 1.0f, 0.0f, NULL, NULL, NULL);
    return 0;
}
"""
PLUGIN = """\
#include "both.h"
void plugin(const float *a, float *b);
void plugin(const float *a, float *b) { sTranspose10_3x2(a, b, 1.0f, 0, 0); }
"""


@one_generator
def test_contractions_prefixes_and_visibility(project: Project) -> None:
    """As libraries, as sources of a program, in manifests beside transpositions."""
    manifest = "--perm=1,0 --size=3,2\n--einsum=ik,kj->ij --size=i:3,j:2,k:2\n"
    project.write(CMakeLists=CONTRACTED, main_c=PRODUCTS, plugin_c=PLUGIN, list_txt=manifest)
    project.made()
    # Columns of A: 0 1, 2 3, 4 5.
    assert project.result("app") == "3 4 28 28|-1 -3"
    exported = run(compiler("nm"), "-D", "--defined-only", project.build / "libproducts.so")
    assert {"my_dContract_ki_kj_ij_2x3x2_sa1x2_omp", "my_dContract_ki_kj_ij_2x3x2_sa1x2_part"} <= {*exported.split()}
    assert run(compiler("nm"), "-D", "--defined-only", project.build / "libplugin.so").split()[2:] == ["plugin"]
    project.made()
    assert project.generated == 3


@one_generator
def test_prefixes_and_visibility_of_transpositions(project: Project) -> None:
    text = "add_library(mine SHARED mine.c)\nttc_add_transpose(mine PERM 1 0 SIZE 7 9 {} PREFIX our_)\n"
    project.write(mine_c='#include "our_sTranspose10_7x9.h"\nvoid *mine(void);\nvoid *mine(void) { return 0; }\n')
    exported = []
    for visibility in ("default", "hidden"):
        project.write(CMakeLists=text.format(f"VISIBILITY {visibility}"))
        project.made()
        exported.append(run(compiler("nm"), "-D", "--defined-only", project.build / "libmine.so"))
        later()
    assert "our_sTranspose10_7x9_beta_part" in exported[0] and " sTranspose" not in exported[0]
    assert exported[1].split()[2:] == ["mine"]


FORTRAN = """\
enable_language(Fortran)
ttc_add_transpose(flip STATIC PERM 1 0 SIZE 3 2 EMIT fortran omp asm)
add_executable(app main.f90)
target_link_libraries(app PRIVATE flip)
ttc_add_transpose(large SHARED PERM 1 0 SIZE 700 600 EMIT fortran omp)
add_executable(app_large large.f90)
target_link_libraries(app_large PRIVATE large)
"""
FORTRAN_MAIN = """\
program main
  use ttc_sTranspose10_3x2
  implicit none
  real :: a(3, 2) = reshape([0., 1., 2., 3., 4., 5.], [3, 2]), b(2, 3)
  call sTranspose10_3x2(a, b, 1.)
  call sTranspose10_3x2_beta_omp(a, b, 1., 1.)
  print '(6f4.0)', b
end program
"""


FORTRAN_LARGE = """\
program large
  use ttc_sTranspose10_700x600
  implicit none
  real, allocatable :: a(:, :), b(:, :)
  allocate(a(700, 600), b(600, 700))
  call random_number(a)
  call sTranspose10_700x600_omp(a, b, 1.)
  print '(l1)', all(b == transpose(a))
end program
"""


def test_fortran_modules_and_openmp_entries(project: Project) -> None:
    compiler("gfortran")
    project.write(CMakeLists=FORTRAN, main_f90=FORTRAN_MAIN, large_f90=FORTRAN_LARGE)
    project.made()
    assert project.result("app_large") == "T"
    assert re.search("NEEDED.*lib(gomp|omp|iomp5)", run(compiler("readelf"), "-d", project.build / "liblarge.so"))
    assert project.result("app").split() == ["0.", "6.", "2.", "8.", "4.", "10."]
    assert (project.build / "ttc" / "flip" / "sTranspose10_3x2.s").exists()


FAULTS = {
    "ttc_add_transpose(app PERM 1 1 SIZE 3 2)": "perm 1,1 is not a permutation",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 ORDER R)": "F (column-major) or C (row-major) is expected",
    "ttc_add_transpose(app TERMS 1,0 PERM 1 0 SIZE 3 3)": "--perm and --terms both say how A is permuted",
    "ttc_add_transpose(app TERMS 1,0)": "ttc_add_transpose(app): SIZE is missing",
    "ttc_add_transpose(app SIZE 3 2)": "ttc_add_transpose(app): PERM is missing",
    "ttc_add_transpose(app PERM 1 0)": "ttc_add_transpose(app): SIZE is missing",
    "ttc_add_contraction(app EINSUM ij->ji SIZE i:2 j:3)": "is not of the form",
    "ttc_add_contraction(app SIZE i:2 j:3)": "ttc_add_contraction(app): EINSUM is missing",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 VISIBILITY none)": "visibility",
    "ttc_add_transpose(app PERM 1 0 SIZE)": "no value follows SIZE",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 TYPE d)": "'TYPE' is not an integer",
    "ttc_add_transpose(app FAST PERM 1 0 SIZE 3 2)": "unknown arguments FAST",
    "ttc_add_transpose(app STATIC PERM 1 0 SIZE 3 2)": "STATIC and SHARED are for new ones",
    "ttc_add_transpose(new STATIC SHARED PERM 1 0 SIZE 3 2)": "STATIC contradicts SHARED",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 CPU hasswell)": "near matches are haswell",
    "ttc_add_transpose(header PERM 1 0 SIZE 3 2)": "only to executables",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2)\nttc_add_transpose(app PERM 1 0 SIZE 3 2)": "the target already has",
    "ttc_add_library(many MANIFEST missing.txt)": "missing.txt cannot be read: No such file",
    "ttc_add_library(many)": "MANIFEST is missing",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 DTYPE s DATATYPE d)": "DATATYPE and DTYPE are two names of one option",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 EFFORT 1 MAX_IMPLEMENTATIONS 1)": "MAX_IMPLEMENTATIONS and EFFORT are two",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 DTYPE float)": "data type 'float' is float32 to some and float64",
    "ttc_add_transpose(app PERM 1 0 SIZE 3 2 EFFORT hard)": "--effort=hard: a count from 1",
    "add_subdirectory(below)\nttc_add_transpose(inner PERM 1 0 SIZE 3 2)": "belongs to",
    "ttc_add_library(many MANIFEST bad.json)": 'bad.json:2: unknown key "prem"',
}


@one_generator
def test_mistakes_stop_the_configuration(project: Project) -> None:
    """Each in a build tree of its own would take CMake's compiler checks: one tree, one mistake after the other."""
    project.write(main_c=MAIN, bad_json='[\n{"prem": [1, 0]}]')
    (project.source / "below").mkdir()
    (project.source / "below" / "CMakeLists.txt").write_text("add_executable(inner ../main.c)")
    for call, reason in FAULTS.items():
        project.write(CMakeLists=f"add_executable(app main.c)\nadd_library(header INTERFACE)\n{call}\n")
        done = project.configure()
        said = " ".join(done.stderr.split())
        assert done.returncode != 0 and reason in said, f"{call}\n{said}"
        assert "CMakeLists.txt:6" in said or "CMakeLists.txt:7" in said, said


@one_generator
def test_objects_have_to_fit_the_system(project: Project) -> None:
    works = ("-DCMAKE_C_COMPILER_WORKS=1", "-DCMAKE_CXX_COMPILER_WORKS=1")
    for system, processor, cpu, wrong in (
        ("Linux", "arm64", "", "PROCESSOR arm64"), ("Linux", "arm64", "haswell", "PROCESSOR arm64"),
        ("Linux", "arm64", "neoverse-n1", ""), ("Linux", "armv7l", "neoverse-n1", "PROCESSOR armv7l"),
        ("Linux", "aarch64", "aarch64-apple-darwin", "NAME Linux"), ("Windows", "AMD64", "haswell", "NAME Windows"),
    ):  # fmt: skip
        project.write(main_c=MAIN, CMakeLists=ONE.format(cpu and f"CPU {cpu}"))
        shutil.rmtree(project.build, ignore_errors=True)
        done = project.configure(f"-DCMAKE_SYSTEM_NAME={system}", f"-DCMAKE_SYSTEM_PROCESSOR={processor}", *works)
        said = " ".join(done.stderr.split())
        assert (done.returncode == 0) == (not wrong), said
        assert not wrong or f"do not fit CMAKE_SYSTEM_{wrong}: give a CPU of that system" in said


@one_generator
def test_another_ttc_than_the_packages_is_refused(project: Project, tmp_path: Path) -> None:
    other = program(tmp_path / "other", "0.0.9") / "ttc"
    project.write(main_c=MAIN, CMakeLists=ONE.format(""))
    done = project.configure(f"-DTTC_EXECUTABLE={other}")
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and f"says 'ttc 0.0.9', but this package is {ttc_llvm.__version__}" in said


COMPILERS = {"gcc": "g++", "clang": "clang++"}


@pytest.mark.parametrize(("generator", "c"), [*zip(GENERATORS, COMPILERS, strict=True)], indirect=["generator"])
def test_the_example(generator: str, c: str, ttc: Path, tmp_path: Path) -> None:
    """Without warnings, right, and clean under valgrind, which knows nothing beyond AVX2."""
    valgrind = compiler("valgrind")
    example = Project(ROOT / "examples" / "cmake", tmp_path / "build", generator, ttc)
    flags = "-Wall -Wextra -Werror"
    compilers = (f"-DCMAKE_C_COMPILER={compiler(c)}", f"-DCMAKE_CXX_COMPILER={compiler(COMPILERS[c])}")
    example.made(*compilers, f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}", "-DCPU=haswell")
    for name, said in (("one", "one: 0 of 2048 elements are wrong"), ("many", "many: 0 elements are wrong")):
        assert run(valgrind, "-q", "--error-exitcode=9", example.build / name).strip() == said


# --- docs/cmake.md ----------------------------------------------------------------------------------------


def shown(language: str) -> list[str]:
    """The code blocks of one language in docs/cmake.md."""
    page = (ROOT / "docs" / "cmake.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


PAGE = """\
#include "transposes.h"
#include "sTranspose210_8x16x16.h"
static float a[3 * 30720], b[3 * 30720];
int main(void)
{
    sTranspose10_3x30720(a, b, 1.0f, NULL, NULL);
    sTranspose210_8x16x16(a, b, 1.0f, NULL, NULL);
    return 0;
}
"""


@one_generator
def test_the_page_shows_what_works(project: Project, tmp_path: Path) -> None:
    """Its project is built, its Python is run, and its package is found."""
    listed, _ = shown("text")
    consumer, building = shown("cmake")
    (example,) = shown("python")
    quick = listed.replace("--maxImplementations=500", "--maxImplementations=5")
    project.write(transposes_txt=quick, main_c=PAGE)
    (project.source / "CMakeLists.txt").write_text(building)
    project.made()
    assert project.result("app") == ""
    (tmp_path / "example.py").write_text(example)
    environment = {"PYTHONPATH": str(ROOT), "TTC_DATABASE": str(tmp_path / "example.db")}
    run(sys.executable, tmp_path / "example.py", cwd=tmp_path, env=environment)
    other = Project(tmp_path / "other", tmp_path / "other build", project.generator, project.ttc)
    other.write(main_c='#include "transposes.h"\nint main(void) { return 0; }\n')
    head = "cmake_minimum_required(VERSION 3.16)\nproject(app C)\nadd_executable(app main.c)\n"
    (other.source / "CMakeLists.txt").write_text(head + consumer)
    other.made(f"-DCMAKE_PREFIX_PATH={tmp_path / 'build'}")
    assert other.result("app") == ""


def test_both_manifests_of_the_page_are_the_same() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name, text in (("m.txt", shown("text")[0]), ("m.json", shown("json")[0])):
            path = Path(folder) / name
            path.write_text(text)
            found.append([reading.command(entry.given) for entry in manifest.read(str(path))])
    assert found[0] == found[1] and len(found[0]) == 5


# --- find_package -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["0.1", f"{ttc_llvm.__version__} EXACT"])
def test_versions_of_the_package_that_fit(asked: str, tmp_path: Path) -> None:
    assert "VERSION 0" in found_package(asked, tmp_path)


@pytest.mark.parametrize("asked", ["99.0", "1.0", "0.0.1 EXACT"])
def test_versions_of_the_package_that_do_not(asked: str, tmp_path: Path) -> None:
    assert "NOT FOUND" in found_package(asked, tmp_path)


def found_package(asked: str, folder: Path, package: Path = PACKAGE, **env: str) -> str:
    """What CMake, without any language, says of ttc_llvm in this version; a `ttc` is on the PATH by default."""
    cmake = compiler("cmake")
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(x NONE)\nfind_package(ttc_llvm {asked} CONFIG QUIET PATHS "
        f'"{package}" NO_DEFAULT_PATH)\nif(ttc_llvm_FOUND)\n'
        'message("VERSION ${ttc_llvm_VERSION} BY ${TTC_EXECUTABLE}")\nelse()\n'
        'message("NOT FOUND: ${ttc_llvm_NOT_FOUND_MESSAGE}")\nendif()\n'
    )
    shell = {"PATH": f"{program(folder / 'bin')}:{os.environ['PATH']}", "VIRTUAL_ENV": ""}
    generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
    if generator != "Ninja":
        compiler("make")
    done = attempt(cmake, "-S", folder, "-B", folder / "b", f"-G{generator}", env=shell | env)
    assert done.returncode == 0, done.stderr
    return done.stderr


def program(folder: Path, version: str = ttc_llvm.__version__) -> Path:
    """Make a `ttc` in this folder that knows its version only; returns the folder."""
    folder.mkdir(parents=True)
    (folder / "ttc").write_text(f"#!/bin/sh\necho ttc {version}\n")
    (folder / "ttc").chmod(0o755)
    return folder


def installed(environment: Path) -> Path:
    """The CMake package as pip installs it into a virtual environment."""
    package = environment / "lib" / "python3.11" / "site-packages" / "ttc_llvm"
    shutil.copytree(PACKAGE, package / "cmake")
    shutil.copy(ROOT / "ttc_llvm" / "__init__.py", package)
    return package / "cmake"


def test_the_program_beside_the_package_comes_first(tmp_path: Path) -> None:
    package = installed(tmp_path / "an environment")
    program(tmp_path / "an environment" / "bin")
    assert f"BY {tmp_path}/an environment/bin/ttc" in found_package("", tmp_path, package)


def test_the_path_comes_next(tmp_path: Path) -> None:
    assert f"BY {tmp_path}/bin/ttc" in found_package("", tmp_path, installed(tmp_path / "environment"))


def test_no_program_is_said(tmp_path: Path) -> None:
    package = installed(tmp_path / "environment")
    ninja = tmp_path / "tools"
    ninja.mkdir()
    (ninja / "ninja").symlink_to(compiler("ninja"))
    assert "NOT FOUND: the program ttc is not found" in found_package("", tmp_path, package, PATH=str(ninja))


def test_the_files_are_installed() -> None:
    """What setup.cfg and MANIFEST.in name is what there is."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    patterns = config["options.package_data"]["ttc_llvm"].split()
    for path in PACKAGE.iterdir():
        assert any(fnmatch(f"cmake/{path.name}", pattern) for pattern in patterns)
    words = [line.split() for line in (ROOT / "MANIFEST.in").read_text().splitlines()]
    carried = {folder: kinds for command, folder, *kinds in words if command == "recursive-include"}
    assert carried["ttc_llvm/cmake"] == ["*.cmake"]
    files = [path for path in (ROOT / "tests").rglob("*.*") if path.is_file() and path.parent.name != "__pycache__"]
    assert files and [path for path in files if not any(fnmatch(path.name, kind) for kind in carried["tests"])] == []


CONSUMER = """\
cmake_minimum_required(VERSION 3.16)
project(consumer C CXX)
find_package(many 2.1 CONFIG REQUIRED COMPONENTS static shared)
add_executable(app main.c)
target_link_libraries(app PRIVATE many::many)
add_executable(app_shared main.cpp)
target_link_libraries(app_shared PRIVATE many::shared)
foreach(asked IN ITEMS 2.2 3.0 1.0)
  find_package(many ${asked} CONFIG QUIET)
  if(many_FOUND)
    message(FATAL_ERROR "version ${asked} was found")
  endif()
endforeach()
find_package(many CONFIG QUIET COMPONENTS fortran)
if(many_FOUND)
  message(FATAL_ERROR "a component that is not there was found")
endif()
find_package(PkgConfig REQUIRED)
set(ENV{PKG_CONFIG_PATH} "${CMAKE_PREFIX_PATH}/lib/pkgconfig")
pkg_check_modules(pc REQUIRED IMPORTED_TARGET many>=2.1)
add_executable(app_pc main.c)
target_link_libraries(app_pc PRIVATE PkgConfig::pc)
"""


def test_an_installed_library_is_found(generator: str, tmp_path: Path) -> None:
    """C and C++, static and shared, by CMake's package and through pkg-config, from a tree that was moved."""
    compiler("pkg-config")
    problems = (Problem((1, 0), (3, 2)), Problem((1, 0), (3, 2), "d"))
    solutions = tuple(ttc_llvm.compile(problem, 1, target="sse2") for problem in problems)
    Library("many", solutions, "2.1.3").write(tmp_path / "written", ("static", "shared"))
    place = tmp_path / "moved to"
    os.rename(tmp_path / "written", place)
    source = tmp_path / "the source"
    source.mkdir()
    for name, text in (("CMakeLists.txt", CONSUMER), ("main.c", SYMBOLS), ("main.cpp", SYMBOLS)):
        (source / name).write_text(text)
    build = tmp_path / "the build"
    run("cmake", "-S", source, "-B", build, "-G", generator, f"-DCMAKE_PREFIX_PATH={place}")
    run("cmake", "--build", build, "-j2")
    for program in ("app", "app_shared", "app_pc"):
        assert run(build / program) == "3 9"
    assert "libmany.so" in run(compiler("readelf"), "-d", build / "app_shared")
    assert "libmany" not in run(compiler("readelf"), "-d", build / "app")
    (place / "lib" / "libmany.a").unlink()
    done = attempt("cmake", "-S", source, "-B", build)
    assert done.returncode != 0 and "libmany.a is missing beside" in " ".join(done.stderr.split())
