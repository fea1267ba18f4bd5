"""Strong OpenMP entries of plans and groups, and the Fortran module of plans."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_build import STRICT, building, compiler, run

import ttc_llvm
from ttc_llvm.compiling.library import Library
from ttc_llvm.native import elf, library_files
from ttc_llvm.problem.interface import Symbols
from ttc_llvm.problem.problem import Problem

pytestmark = pytest.mark.usefixtures("own_place")
THREADED = {"my_planned_plan_execute_omp", "my_planned_group_execute_omp"}
KINDS = ("static", "shared", "plan", "omp", "fortran")

# An OpenMP library of three threads, which run one after the other, the last one first; or none.
PROGRAM = """\
#include <stdio.h>
#include "planned.h"
int regions, at, of;
#ifdef __cplusplus
extern "C" {
#endif
#ifdef THREADS
int omp_get_max_threads(void) { return THREADS; }
int omp_get_thread_num(void) { return at; }
int omp_get_num_threads(void) { return of; }
void GOMP_parallel(void (*f)(void *), void *data, unsigned n, unsigned flags)
{
    for (regions++, of = (int)n, at = of - 1; at >= 0; at--) f(data);
    (void)flags;
}
#endif
#ifdef __cplusplus
}
#endif
#define N 513
static double a[N * N], b[N * N], c[N * N], d[N * N];
int main(void)
{
    const int perm[] = {1, 0};
    const int64_t size[] = {N, N};
    const double alpha = 2, beta = 1;
    const void *const from[] = {a, a};
    void *to[] = {c, d};
    my_planned_plan *plan, *blocks[2];
    my_planned_group *group;
    int i, j, code, wrong = 0;
    for (i = 0; i < N * N; i++) { a[i] = i; b[i] = -1; c[i] = d[i] = 1; }
    code = my_planned_plan_create(&plan, 2, perm, size, NULL, NULL, "d", 3);
    blocks[0] = blocks[1] = plan;
    code += my_planned_group_create(&group, 2, (const my_planned_plan *const *)blocks, 3);
    code += my_planned_plan_execute_omp(plan, a, b, NULL, NULL);
    code += my_planned_group_execute_omp(group, from, to, &alpha, &beta);
    for (i = 0; i < N; i++) for (j = 0; j < N; j++) {
        wrong += b[i + N * j] != a[j + N * i];
        wrong += c[i + N * j] != 2 * a[j + N * i] + 1 || d[i + N * j] != c[i + N * j];
    }
    printf("%d %d %d %d ", code, wrong, regions, of);
    to[1] = c;
    printf("%d %d ", my_planned_plan_execute_omp(plan, a, a, NULL, NULL) == TTC_PLAN_OVERLAP,
        my_planned_group_execute_omp(group, from, to, NULL, NULL) == TTC_PLAN_SHARED);
    printf("%d", my_planned_plan_execute_omp(NULL, a, b, NULL, NULL) == TTC_PLAN_NULL);
    my_planned_group_destroy(group);
    my_planned_plan_destroy(plan);
    return 0;
}
"""

FORTRAN = """\
program main
  use, intrinsic :: iso_c_binding
  use ttc_planned
  implicit none
  integer, parameter :: n = 257
  real(8), target :: a(n, 60, 4), b(4, n, 60), c(4, n, 60), wide(n, 2, 4)
  integer(8) :: wrong
  type(c_ptr) :: plan, group, none
  call random_number(a)
  b = -1
  c = 1
  call expect(my_planned_plan_create(plan, 3, [2, 0, 1], shape(a, kind=8), types="d"//c_null_char, threads=3))
  call expect(my_planned_plan_execute_omp(plan, a, b))
  if (any(abs(b - reshape(a, shape(b), order=[2, 3, 1])) > 0)) error stop 2
  call expect(my_planned_group_create(group, 2_8, [plan, plan], 3))
  call expect(my_planned_group_check(group, [c_loc(a), c_loc(a)], [c_loc(b), c_loc(c)], wrong=wrong))
  if (wrong /= -1) error stop 3
  call expect(my_planned_group_execute_omp(group, [c_loc(a), c_loc(a)], [c_loc(b), c_loc(c)], 2d0, 1d0))
  if (any(abs(c - 1 - 2*reshape(a, shape(b), order=[2, 3, 1])) > 1d-14)) error stop 4
  call expect(my_planned_plan_execute_part(plan, a, c, part=0, parts=2))
  call expect(my_planned_plan_execute_part(plan, a, c, part=1, parts=2))
  call expect(my_planned_plan_execute(plan, a, b, beta=-1d0, alpha=4d0))
  if (any(abs(c - reshape(a, shape(b), order=[2, 3, 1])) > 0)) error stop 5
  if (any(abs(b - c) > 1d-14)) error stop 6
  call my_planned_group_destroy(group)
  call my_planned_plan_destroy(plan)
  ! Rows of one plane of a, in the other order.
  wide = 7
  call expect(my_planned_plan_create(plan, 2, [0, 1], [int(n, 8), 4_8], [-1_8, n*60_8], [1_8, n*2_8], &
    "d"//c_null_char, 1))
  call expect(my_planned_plan_execute(plan, a(n, 3, 1), wide(1, 2, 1)))
  if (any(abs(wide(:, 2, :) - a(n:1:-1, 3, :)) > 0) .or. any(abs(wide(:, 1, :) - 7) > 0)) error stop 7
  if (my_planned_plan_execute_omp(plan, a, a) /= TTC_PLAN_OVERLAP) error stop 8
  if (my_planned_plan_parts(plan) /= 1) error stop 9
  call my_planned_plan_destroy(plan)
  if (my_planned_plan_create(none, 2, [0, 2], [2_8, 2_8], types="d"//c_null_char, threads=1) /= TTC_PLAN_PERM) &
    error stop 10
  if (c_associated(none) .or. .not. c_associated(my_planned_plan_error_text(TTC_PLAN_PERM))) error stop 11
  if (.not. c_associated(my_planned_plan_lookup(2, [1, 0], [5_8, 7_8], types="d"//c_null_char))) error stop 12
  print *, "right"
contains
  subroutine expect(code)
    integer(c_int), intent(in) :: code
    if (code /= TTC_PLAN_OK) error stop 1
  end subroutine expect
end program main
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of plans whose entries have a prefix."""
    with building(tmp_path_factory) as (folder, _):
        solution = ttc_llvm.compile(Problem((1, 0), (5, 7), "d"), 1)
        Library("planned", [solution]).write(folder / "built", KINDS, prefix="my_")
    return folder / "built"


@pytest.mark.parametrize(
    "command, threads",
    [("gcc -std=c99", 3), ("g++ -std=c++11 -xc++", 3), ("clang -std=c11", 2), ("gcc -std=c99", 1), ("gcc -std=c99", 0)],
)
def test_all_parts_run_on_the_threads_there_are(command: str, threads: int, folder: Path, tmp_path: Path) -> None:
    """Also where the shared library finds no OpenMP; every part's code is told."""
    (tmp_path / "main.c").write_text(PROGRAM)
    driver, *language = command.split()
    defined = ["-DTTC_OMP_OBJECT", *([f"-DTHREADS={threads}"] if threads else [])]
    link = (f"-L{folder}/lib", "-lplanned", f"-Wl,-rpath,{folder}/lib", "-rdynamic")
    source = (*language, *defined, *STRICT, f"-I{folder}/include", str(tmp_path / "main.c"), "-xnone")
    run(compiler(driver), *source, *link, "-o", tmp_path / "main")
    forked = f"2 {threads}" if threads > 1 else "0 0"
    assert run(tmp_path / "main") == f"0 0 {forked} 1 1 1"


def test_fortran_programs_have_plans(folder: Path, tmp_path: Path) -> None:
    gfortran = compiler("gfortran")
    (tmp_path / "main.f90").write_text(FORTRAN)
    strict = ("-std=f2018", "-Wall", "-Werror", "-Wno-unused-dummy-argument", "-fcheck=all", "-fopenmp")
    sources = (folder / "include/planned.f90", tmp_path / "main.f90")
    built = folder / "lib" / "libplanned.a"
    run(gfortran, *strict, f"-J{tmp_path}", *sources, built, "-o", tmp_path / "main")
    assert run(tmp_path / "main", env={"OMP_NUM_THREADS": "3"}).split() == ["right"]


def test_without_a_library_they_are_an_object_of_their_own(tmp_path: Path) -> None:
    """What is listed is what is written."""
    solution = ttc_llvm.compile(Problem((1, 0), (6, 7), "i8"), 1, target="neon")
    emit = ("obj", "plan", "omp")
    written = Library("planned", [solution]).write(tmp_path, emit, prefix="my_")
    listed = library_files.file_names("planned", [solution.problem], emit, symbols=Symbols("my_"))
    assert {str(path.relative_to(tmp_path)) for path in written} == set(listed)
    assert set(elf.defined_symbols((tmp_path / "planned_plan_omp.o").read_bytes())) == THREADED
