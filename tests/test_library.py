"""Libraries of many problems: the files, the header, consumers through linkers and pkg-config, and the command line."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Ttc
from native_build import compiler, openmp_library, run
from processes import PATIENCE, QUIET, attempt

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.compiling.library import Library
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.errors import ArtifactError, OptionError, TargetError
from ttc_llvm.native import archive, artifact, elf, library_files
from ttc_llvm.native.package_files import Package, files
from ttc_llvm.problem import names
from ttc_llvm.problem.contraction import Contraction
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

ROOT = Path(__file__).parent.parent
NATIVE = Path(__file__).parent / "native"
PROBLEMS = (
    Problem((2, 1, 0), (8, 16, 16), "s", (32, 32, 32)),
    Problem((1, 0), (33, 65), "d"),
    Problem((0, 2, 1), (9, 33, 40), "c"),
    Problem((1, 0), (300, 500), "i8"),
)
MANIFEST = """\
--perm=2,1,0 --size=8,16,16 --lda=32,32,32
--perm=1,0 --size=33,65 --dataType=d
--perm=0,2,1 --size=9,33,40 --dataType=c
--perm=1,0 --size=300,500 --dataType=i8
"""
TREE = [
    "include/ours.h", "lib/cmake/ours/oursConfig.cmake", "lib/cmake/ours/oursConfigVersion.cmake", "lib/libours.a",
    "lib/libours.so", "lib/libours.so.3", "lib/libours.so.3.1", "lib/pkgconfig/ours.pc",
]  # fmt: skip
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")

pytestmark = pytest.mark.usefixtures("own_place")


@pytest.fixture
def solutions() -> tuple[Solution, ...]:
    """The cost model's solutions of the problems, for a machine that runs everywhere."""
    return tuple(ttc_llvm.compile(problem, 1, target="sse2") for problem in PROBLEMS)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the value and its files ------------------------------------------------------------------------------


def test_the_tree(solutions: tuple[Solution, ...], tmp_path: Path) -> None:
    compiler("cc")
    made = Library("ours", solutions, "3.1")
    written = made.write(tmp_path / "out", ("static", "shared"))
    assert sorted(tree(tmp_path / "out")) == TREE
    assert {str(path.relative_to(tmp_path / "out")) for path in written} == set(TREE)
    assert set(library_files.file_names("ours", PROBLEMS, ("static", "shared"), "3.1")) == set(TREE)
    header = (tmp_path / "out/include/ours.h").read_text()
    for problem in PROBLEMS:
        assert f"void {names.stem(problem)}(" in header
    assert header.count("#ifndef TTC_ours_H") == 1


def test_every_combination_of_kinds_writes_what_it_says(solutions: tuple[Solution, ...], tmp_path: Path) -> None:
    made = Library("ours", solutions[:2])
    for number, emit in enumerate((("obj", "header"), ("obj", "static"), ("header",), ("static", "asm", "header"), ())):
        folder = tmp_path / str(number)
        made.write(folder, emit)
        assert set(tree(folder)) == set(library_files.file_names("ours", PROBLEMS[:2], emit)), emit
    objects = tree(tmp_path / "1")
    for problem in PROBLEMS[:2]:
        assert objects[f"{names.stem(problem)}.o"] in objects["lib/libours.a"]


def test_objects_are_those_of_single_problems(solutions: tuple[Solution, ...], tmp_path: Path) -> None:
    Library("ours", solutions).write(tmp_path, "static")
    members = [archive.Member(f"{names.stem(s.problem)}.o", artifact.parts(s.spec_for(s.targets), ("obj",)).files[0][1])
               for s in solutions]  # fmt: skip
    assert (tmp_path / "lib/libours.a").read_bytes() == archive.write(members)


CONTRACTED = Contraction("ik,kj->ij", {"i": 30, "k": 20, "j": 40}, "s")
MIXED = """\
#include <stdio.h>
#include "both.h"
int main(void)
{
    static float a[600], b[800], c[1200], d[1200], e[1200];
    int i;
    for (i = 0; i < 600; i++) a[i] = (float)(i % 7);
    for (i = 0; i < 800; i++) b[i] = (float)(i % 5);
    my_sContract_ik_kj_ij_30x20x40(a, b, c, 1.0f, 0.0f, 0, 0, 0);
    my_sContract_ik_kj_ij_30x20x40_any_omp(a, b, d, 1.0f, 0.0f, 0, 0, 0, 0);
    my_sTranspose10_40x30(c, e, 1.0f, 0, 0);
    for (i = 0; i < 1200; i++) if (c[i] != d[i] || e[i % 40 * 30 + i / 40] != c[i]) return 2;
    my_sContract_ik_kj_ij_30x20x40_release();
    printf("%g %g %d", c[0], c[1199], my_sContract_ik_kj_ij_30x20x40_PARTS);
    return 0;
}
"""


@pytest.mark.parametrize("kind", ["static", "shared"])
def test_transpositions_and_contractions_go_together(kind: str, tmp_path: Path) -> None:
    """One header, one library, strong OpenMP entries of both; programs in C and C++, and a Fortran module."""
    both = ttc_llvm.compile(Problem((1, 0), (40, 30)), 1), ttc_llvm.compile(CONTRACTED, 1, progress=False)
    made = Library("both", both)
    made.write(tmp_path, (kind, "omp", "fortran"), prefix="my_")
    title = (tmp_path / "lib/pkgconfig/both.pc").read_text()
    assert "Tensor transpositions and contractions for" in title
    (tmp_path / "main.c").write_text(MIXED)
    include, libs = f"-I{tmp_path}/include", [f"-L{tmp_path}/lib", "-lboth", f"-Wl,-rpath,{tmp_path}/lib"]
    a, b = np.arange(600.0).reshape(30, 20) % 7, np.arange(800.0).reshape(20, 40) % 5
    wanted = f"{(a @ b)[0, 0]:g} {(a @ b)[-1, -1]:g} 1"
    for driver, options in (("gcc", ["-std=c99"]), ("g++", ["-std=c++11", "-x", "c++"])):
        source = [*options, include, "-DTTC_OMP_OBJECT", "-fopenmp", *WARNINGS, "main.c", "-x", "none", *libs]
        run(compiler(driver), *source, "-o", "main", cwd=tmp_path)
        assert run(tmp_path / "main", cwd=tmp_path) == wanted
    run(compiler("gfortran"), "-std=f2018", "-c", tmp_path / "include/both.f90", cwd=tmp_path)


def test_plans_need_a_transposition(tmp_path: Path) -> None:
    made = Library("ours", [ttc_llvm.compile(CONTRACTED, 1, progress=False)])
    with pytest.raises(OptionError, match="plans of transpositions: there is none in this library"):
        made.write(tmp_path, ("static", "plan"))
    made.write(tmp_path, ("static",), visibility="hidden")
    assert "Tensor contractions for" in (tmp_path / "lib/pkgconfig/ours.pc").read_text()


def test_bytes_are_the_same_every_time(solutions: tuple[Solution, ...], tmp_path: Path) -> None:
    compiler("cc")
    for name in ("one", "two"):
        Library("ours", solutions).write(tmp_path / name, ("static", "shared"))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_libraries_are_frozen_values(solutions: tuple[Solution, ...]) -> None:
    made = Library("ours", list(solutions))
    assert made.solutions == solutions and made == Library("ours", solutions)
    with pytest.raises(AttributeError):
        made.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", ["", "1st", "a b", "a/b", "-x", "ü", "a::b", "x" * 101, "a\n", None])
def test_names_that_nothing_can_have(solutions: tuple[Solution, ...], name: Any) -> None:
    with pytest.raises(OptionError, match="is not a letter followed by"):
        Library(name, solutions)


@pytest.mark.parametrize("version", ["", "1.", "v1", "1.2.3.4.5", "1,2", 1])
def test_versions_that_nothing_can_compare(solutions: tuple[Solution, ...], version: Any) -> None:
    with pytest.raises(OptionError, match="is not one to four numbers"):
        Library("ours", solutions, version)


def test_what_does_not_belong_together(solutions: tuple[Solution, ...]) -> None:
    with pytest.raises(OptionError, match="needs at least one"):
        Library("ours", ())
    with pytest.raises(OptionError, match="sTranspose210_8x16x16_lda32x32x32 is twice"):
        Library("ours", (solutions[0], solutions[0]))
    other = ttc_llvm.compile(Problem((1, 0), (3, 4)), 1, target="haswell")
    with pytest.raises(TargetError, match="one target: its solutions are for sse2 and for haswell"):
        Library("ours", (solutions[0], other))
    alone, shared = (ttc_llvm.compile(Problem((1, 0), (3, n)), 1, target=cpus)
                     for n, cpus in ((4, "haswell"), (5, "haswell,x86-64-v2")))  # fmt: skip
    with pytest.raises(TargetError, match="for haswell and for haswell, x86-64-v2, x86-64"):
        Library("ours", (alone, shared))
    with pytest.raises(OptionError, match="is a Problem: it must be a Solution"):
        Library("ours", (PROBLEMS[0],))  # type: ignore[arg-type]


def test_all_machines_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    cpus = "--cpu=haswell,x86-64-v2"
    assert cli.main(["--perm=1,0", "--size=48,32", cpus, "--generateOnly", "--emit=static", "--name=ours"]) == 0
    assert "objects also serve x86-64-v2, x86-64\n" in capsys.readouterr().out
    assert "for haswell, x86-64-v2, x86-64 (" in Path("lib/pkgconfig/ours.pc").read_text()


@pytest.mark.parametrize("cpu", ["wasm", "aarch64-apple-darwin", "x86_64-apple-darwin"])
@pytest.mark.parametrize("kind", ["static", "shared"])
def test_other_formats_have_no_libraries(cpu: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--perm=1,0", "--size=48,32", f"--cpu={cpu}", "--generateOnly", f"--emit={kind}"]
    assert cli.main(given) == 2
    assert "libraries are made of ELF objects" in capsys.readouterr().err


@pytest.mark.parametrize("cpu", ["neon", "aarch64-linux-musl", "rvv", "vsx", "vsx-be"])
def test_shared_libraries_for_other_machines(cpu: str, ttc: Ttc) -> None:
    compiler(f"{backend.resolve(cpu).triple.partition('-')[0]}-linux-gnu-gcc")
    ttc("--perm=1,0", "--size=48,32", f"--cpu={cpu}", "--generateOnly", "--emit=shared", "--name=ours")
    assert "sTranspose10_48x32_any" in run(compiler("readelf"), "--dyn-syms", "--wide", Path("lib/libours.so"))


def test_nothing_is_written_where_something_is_wrong(
    solutions: tuple[Solution, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(OptionError, match=r"'exe': the choices are obj, .*static, shared"):
        Library("ours", solutions).write(tmp_path / "out", ("static", "exe"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArtifactError, match="needs a linker"):
        Library("ours", solutions).write(tmp_path / "out", ("static", "shared"))
    assert sorted(os.listdir(tmp_path)) == before


# --- programs that use it ---------------------------------------------------------------------------------

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include "ours.h"
int main(void)
{
    static float a[32 * 32 * 32], b[16 * 16 * 8];
    static double c[33 * 65], d[33 * 65];
    int i, j, k, wrong = 0;
    for (i = 0; i < 32 * 32 * 32; i++) a[i] = (float)i;
    for (i = 0; i < 33 * 65; i++) c[i] = i;
    sTranspose210_8x16x16_lda32x32x32(a, b, 2.0f, NULL, NULL);
    dTranspose10_33x65_omp(c, d, 1.0, NULL, NULL);
    for (k = 0; k < 16; k++) for (j = 0; j < 16; j++) for (i = 0; i < 8; i++)
        wrong += b[k + 16 * (j + 16 * i)] != 2.0f * a[i + 32 * (j + 32 * k)];
    for (j = 0; j < 65; j++) for (i = 0; i < 33; i++) wrong += d[j + 65 * i] != c[i + 33 * j];
    printf("%d\\n", wrong);
    return wrong != 0;
}
"""


FORTRAN = """\
program main
  use ttc_ours
  implicit none
  real(8) :: a(33, 65), b(65, 33)
  call random_number(a)
  call dTranspose10_33x65(a, b, 1.d0)
  call dTranspose10_33x65_beta_omp(a, b, 1.d0, -1.d0)
  print *, maxval(abs(b))
end program
"""


@pytest.mark.parametrize("kind", ["static", "shared"])
def test_fortran_and_openmp(solutions: tuple[Solution, ...], tmp_path: Path, kind: str) -> None:
    """The module of all problems in include/, strong OpenMP entries in the library."""
    gfortran = compiler("gfortran")
    made = Library("ours", solutions)
    emit = (kind, "fortran", "omp")
    made.write(tmp_path, emit)
    files = set(library_files.file_names("ours", PROBLEMS, emit))
    assert {"include/ours.f90", "include/ours.h"} < files <= set(tree(tmp_path))
    (tmp_path / "main.f90").write_text(FORTRAN)
    sources = (tmp_path / "include/ours.f90", tmp_path / "main.f90")
    link = (f"-L{tmp_path}/lib", "-lours", "-fopenmp")
    run(gfortran, f"-J{tmp_path}", *sources, *link, "-o", tmp_path / "main")
    assert float(run(tmp_path / "main", env={"LD_LIBRARY_PATH": str(tmp_path / "lib")})) == 0


@pytest.fixture
def moved(solutions: tuple[Solution, ...], tmp_path: Path) -> Path:
    """A library's tree after it has been moved to a folder with blanks, and a program beside it."""
    compiler("cc")
    Library("ours", solutions, "2.1.0").write(tmp_path / "built", ("static", "shared"))
    place = tmp_path / "moved to" / "another place"
    place.parent.mkdir()
    shutil.move(tmp_path / "built", place)
    (tmp_path / "main.c").write_text(PROGRAM)
    return place


@pytest.mark.parametrize("language", [("gcc", "-std=c99"), ("gcc", "-std=c99", "-fopenmp"), ("g++", "-xc++")])
@pytest.mark.parametrize("kind", ["static", "shared"])
def test_pkg_config_finds_it(moved: Path, tmp_path: Path, language: tuple[str, ...], kind: str) -> None:
    pkg_config = compiler("pkg-config")
    if kind == "static":
        alone = Package("ours", "2.1.0", ("static",), "")
        (moved / "lib/pkgconfig/ours.pc").write_text(files(alone)["lib/pkgconfig/ours.pc"])
    env = {"PKG_CONFIG_PATH": str(moved / "lib/pkgconfig")}
    assert run(pkg_config, "--modversion", "ours", env=env) == "2.1.0\n"
    flags = shlex.split(run(pkg_config, "--cflags", "--libs", "ours", env=env))
    driver, *options = language
    run(compiler(driver), *options, *WARNINGS, tmp_path / "main.c", "-xnone", *flags, "-o", tmp_path / "main")
    assert run(tmp_path / "main") == "0\n"
    needed = run(compiler("readelf"), "-d", tmp_path / "main")
    assert ("[libours.so.2]" in needed) == (kind == "shared")


UNTHREADED = """
import ctypes, sys
import numpy as np
if len(sys.argv) > 2:
    ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(sys.argv[1])
a = np.arange(300 * 500, dtype=np.int8).reshape(500, 300)
b = np.zeros((300, 500), np.int8)
library.i8Transpose10_300x500_omp(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b)), None, None)
assert np.array_equal(b, a.T)
"""


def test_threaded_entries_of_a_shared_library_need_no_openmp(
    solutions: tuple[Solution, ...], tmp_path: Path
) -> None:
    """Without an OpenMP library in the process they run on one thread."""
    Library("ours", solutions).write(tmp_path, ("shared", "omp"))
    library = tmp_path / "lib" / "libours.so.1"
    assert set(re.findall(r" w (\w+)", run(compiler("nm"), "-D", "-u", library))) == {
        "GOMP_parallel", "omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num",
    }  # fmt: skip
    run(sys.executable, "-c", UNTHREADED, library, env={"OMP_NUM_THREADS": "3", "LD_BIND_NOW": "1"})
    openmp = openmp_library(compiler("gcc"), tmp_path)
    run(sys.executable, "-c", UNTHREADED, library, openmp, env={"OMP_NUM_THREADS": "3"})


def test_a_library_replaces_its_own_links_alone(solutions: tuple[Solution, ...], tmp_path: Path) -> None:
    compiler("cc")
    link = tmp_path / "lib" / "libours.so"
    for version in ("1.2", "1.2", "2", "1.3.0"):
        Library("ours", solutions, version).write(tmp_path, "shared")
        assert link.resolve().name == f"libours.so.{version}"
    link.unlink()
    link.symlink_to("elsewhere.so.1")
    with pytest.raises(OptionError, match=r"libours\.so is a link"):
        Library("ours", solutions).write(tmp_path, "shared")
    assert str(link.readlink()) == "elsewhere.so.1"


def test_without_a_shared_library_pkg_config_names_the_archive(
    solutions: tuple[Solution, ...], tmp_path: Path
) -> None:
    """A libours.so of an earlier run must not be linked with the new header."""
    pkg_config = compiler("pkg-config")
    Library("ours", solutions).write(tmp_path, "static")
    (tmp_path / "lib" / "libours.so").write_bytes(b"stale")
    libs = run(pkg_config, "--libs", "ours", env={"PKG_CONFIG_PATH": str(tmp_path / "lib/pkgconfig")})
    assert shlex.split(libs)[0].endswith("lib/libours.a")


def test_the_shared_library_exports_the_entries_only(moved: Path) -> None:
    nm = compiler("nm")
    exported = set(re.findall(r" T (\w+)", run(nm, "-D", "--defined-only", moved / "lib/libours.so")))
    assert {names.stem(problem) for problem in PROBLEMS} <= exported
    assert all(any(name.startswith(names.stem(p)) for p in PROBLEMS) for name in exported)
    assert run(nm, "-D", "-u", moved / "lib/libours.so") == ""


def test_no_file_holds_a_path_of_this_machine(moved: Path, tmp_path: Path) -> None:
    for name, data in tree(moved).items():
        assert str(tmp_path).encode() not in data and b"/tmp/" not in data, name


# --- the command line -------------------------------------------------------------------------------------


def test_a_manifest_becomes_a_library(ttc: Ttc, tmp_path: Path) -> None:
    compiler("cc")
    Path("p.txt").write_text(MANIFEST)
    found = ttc("--manifest=p.txt", "--name=ours", "--library-version=3.1", "--emit=static,shared",
                "--maxImplementations=3", "--output-dir=out")  # fmt: skip
    assert found["library"] == {"name": "ours", "version": "3.1"}
    assert [p["name"] for p in found["problems"]] == [names.stem(problem) for problem in PROBLEMS]
    assert {p["source"] for p in found["problems"]} == {"tuned"}
    assert all(len(p["measurement"]["timings"]) == 3 and p["measurement"]["verified"] for p in found["problems"])
    assert sorted(found["files"]) == [f"out/{name}" for name in TREE]
    symbols = [s for _, data in members(tmp_path / "out/lib/libours.a") for s in elf.defined_symbols(data)]
    assert {names.stem(problem) for problem in PROBLEMS} <= set(symbols)


def members(path: Path) -> list[tuple[str, bytes]]:
    """The objects of an archive; read here so that no tool is needed."""
    data, place, found = path.read_bytes(), 8, []
    while place < len(data):
        name, size = data[place : place + 16].decode().strip(), int(data[place + 48 : place + 58])
        found.append((name, data[place + 60 : place + 60 + size]))
        place += 60 + size + size % 2
    return [(name, content) for name, content in found if name not in ("/", "//")]


def test_a_second_run_takes_the_database_and_writes_the_same_bytes(ttc: Ttc, tmp_path: Path) -> None:
    compiler("cc")
    Path("p.txt").write_text(MANIFEST)
    arguments = ("--manifest=p.txt", "--emit=static,shared", "--maxImplementations=3")
    first = ttc(*arguments, "--output-dir=one")
    second = ttc(*arguments, "--output-dir=two")
    assert {p["source"] for p in first["problems"]} == {"tuned"}
    assert {p["source"] for p in second["problems"]} == {"database"}
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_options_of_a_problem_steer_its_own_search(ttc: Ttc) -> None:
    Path("p.txt").write_text("--perm=1,0 --size=48,32 --maxImplementations=4\n--perm=1,0 --size=64,32\n")
    found = ttc("--manifest=p.txt", "--maxImplementations=2", "--numThreads=1")
    assert [len(p["measurement"]["timings"]) for p in found["problems"]] == [4, 2]
    assert {p["threads"] for p in found["problems"]} == {1}


def test_a_library_for_another_machine(ttc: Ttc) -> None:
    Path("p.txt").write_text(MANIFEST)
    found = ttc("--manifest=p.txt", "--cpu=knl", "--generateOnly")
    assert found["target"]["cpu"] == "knl"
    assert {p["source"] for p in found["problems"]} == {"cost model"}
    assert {p["measurement"] for p in found["problems"]} == {None}


def test_one_problem_is_a_library_too(ttc: Ttc) -> None:
    found = ttc("--perm=1,0", "--size=48,32", "--generateOnly", "--emit=static")
    assert "lib/libsTranspose10_48x32.a" in found["files"] and "include/sTranspose10_48x32.h" in found["files"]
    named = ttc("--perm=1,0", "--size=48,32", "--generateOnly", "--emit=static", "--name=flip")
    assert "lib/libflip.a" in named["files"]


def test_the_summary_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.txt").write_text(MANIFEST)
    assert cli.main(["--manifest=p.txt", "--maxImplementations=2"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["problem", "GiB/s", "ceiling", "ratio", "source"]
    assert [line.split()[0] for line in lines[1:5]] == [names.stem(problem) for problem in PROBLEMS]
    assert all(line.endswith("tuned") for line in lines[1:5])
    assert lines[6].startswith("library  p 1.0.0, 4 problems, ")
    assert "lib/libp.a" in out and err == ""


def test_verbose_tells_which_problem_is_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.txt").write_text(MANIFEST)
    assert cli.main(["--manifest=p.txt", "--maxImplementations=2", "--verbose"]) == 0
    err = capsys.readouterr().err
    for number, problem in enumerate(PROBLEMS, 1):
        assert f"ttc: problem {number} of 4: {names.stem(problem)}\n" in err


@pytest.mark.parametrize("arguments", [("--manifest=p.txt",), ("--perm=1,0", "--size=3,4")])
def test_quiet_is_silent(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    Path("p.txt").write_text(MANIFEST)
    assert cli.main([*arguments, "--generateOnly", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_keeping_candidates(ttc: Ttc) -> None:
    Path("p.txt").write_text(MANIFEST)
    found = ttc("--manifest=p.txt", "--maxImplementations=2", "--keep")
    folders = [name for name in found["files"] if name.endswith(".candidates")]
    assert folders == [f"{names.stem(problem)}.candidates" for problem in PROBLEMS]
    assert all(Path(folder, "plans.txt").exists() for folder in folders)


def test_no_files_where_none_are_wanted(ttc: Ttc, tmp_path: Path) -> None:
    Path("p.txt").write_text(MANIFEST)
    assert ttc("--manifest=p.txt", "--generateOnly", "--emit=")["files"] == []
    assert not (tmp_path / "lib").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--manifest=p.txt", "--emit=obj,header"), ["sTranspose10_48x32.o", "dTranspose10_48x32.o", "p.h"]),
        (("--perm=1,0", "--size=3,4"), ["sTranspose10_3x4.o", "sTranspose10_3x4.h"]),
        (("--perm=1,0", "--size=3,4", "--emit=asm"), ["sTranspose10_3x4.s"]),
    ],
)
def test_listing_files_writes_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], expected: list[str]
) -> None:
    Path("p.txt").write_text("--perm=1,0 --size=48,32\n--perm=1,0 --size=48,32 --dataType=d\n")
    cli.main([*arguments, "--generateOnly", "--list-files"])  # which makes the database
    capsys.readouterr()
    before = sorted(os.listdir(tmp_path))
    assert cli.main([*arguments, "--list-files", "--output-dir=out"]) == 0
    assert capsys.readouterr().out.splitlines() == expected
    assert cli.main([*arguments, "--print-target", "--cpu=neoverse-n1", "--generateOnly", "--output-dir=out"]) == 0
    assert capsys.readouterr().out == "aarch64-unknown-linux-gnu\n"
    assert sorted(os.listdir(tmp_path)) == before
    assert cli.main([*arguments, "--generateOnly", "--quiet", "--output-dir=out"]) == 0
    assert sorted(tree(tmp_path / "out")) == sorted(expected)


REFUSALS = [
    (("--manifest=p.txt", "--perm=1,0"), "--perm contradicts --manifest"),
    (("--manifest=p.txt", "--lda=1,0"), "--lda contradicts --manifest"),
    (("--manifest=p.txt", "--name=a b"), "library name 'a b' is not a letter"),
    (("--manifest=p.txt", "--library-version=x"), "library version 'x'"),
    (("--manifest=p.txt", "--emit=exe"), "the choices are obj, "),
    (("--manifest=p.txt", "--compiler=gcc"), "--compiler compares a single problem's solution"),
    (("--manifest=p.txt", "--architecture=axv"), "near matches are"),
    (("--manifest=p.txt", "--output-dir=/proc/nowhere"), "cannot be made"),
    (("--manifest=1 2.txt",), "library name '1 2' is not a letter followed by letters, digits and _ . + -, at most"),
    (("--manifest=p.txt", "--name=m"), "library name 'm' is that of a system library or header, which its files would"),
    (("--manifest=p.txt", "--name=stdint"), "library name 'stdint' is that of a system library or header"),
    (("--manifest",), "expected one argument"),
    (("--perm=1,0", "--size=3,4", "--name=x"), "--name=x names a library: it needs --manifest"),
    (("--perm=1,0", "--size=3,4", "--library-version=2.0.0"), "--library-version=2.0.0 is of a library: it needs"),
    (("--perm=1,0", "--size=3,x", "--emit=static"), "'x' is not an integer"),
]


@pytest.mark.parametrize(("arguments", "reason"), REFUSALS, ids=[reason for _, reason in REFUSALS])
def test_refusals(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], reason: str) -> None:
    for name in ("p.txt", "1 2.txt"):
        Path(name).write_text(MANIFEST)
    before = sorted(Path().rglob("*"))
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("ttc: error: ") and err.count("\n") == 1 and reason in err, err
    assert sorted(Path().rglob("*")) == before


def test_no_linker_is_said_before_anything_is_tuned(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("p.txt").write_text(MANIFEST)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("ttc_llvm.cli.compile.compile", None)
    assert cli.main(["--manifest=p.txt", "--emit=shared"]) == 2
    assert "needs a linker, but none of cc, gcc, clang, ld.lld, ld is on the PATH" in capsys.readouterr().err


def test_an_error_on_the_way_names_its_line_and_leaves_no_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("p.txt").write_text(MANIFEST)
    trials: list[None] = []

    def verify(*_: object) -> tuple[int, ...] | None:
        trials.append(None)
        return (1, 2) if len(trials) == 3 else None

    monkeypatch.setattr("ttc_llvm.compiling.trial.Trial.verify", verify)
    assert cli.main(["--manifest=p.txt", "--maxImplementations=2", "--output-dir=out"]) == 2
    assert capsys.readouterr().err.startswith("ttc: error: p.txt:3: the kernel of plan ")
    assert not (tmp_path / "out").exists() or tree(tmp_path / "out") == {}


def test_interrupting_writes_nothing_and_the_same_command_goes_on(tmp_path: Path) -> None:
    lines = [f"--perm=1,0 --size={64 + k},48" for k in range(5)]
    (tmp_path / "p.txt").write_text("\n".join(lines))
    command = [sys.executable, "-c", QUIET, "--manifest=p.txt", "--maxImplementations=24", "--output-dir=out"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        [*command, "--verbose"], env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stderr is not None
    for line in started.stderr:
        if "problem 3 of 5" in line:
            break
    time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=PATIENCE)
    assert started.returncode == 130
    found = re.search(r"interrupted, nothing is written: (\d) of 5 problems are done and stored", err)
    assert found is not None, err
    assert tree(tmp_path / "out") == {}
    done = int(found[1])
    assert 2 <= done < 5
    again = attempt(*command, "--json", env={"PYTHONPATH": str(ROOT)})
    sources = [problem["source"] for problem in json.loads(again.stdout)["problems"]]
    assert sources[:done] == ["database"] * done and sources[done] == "tuned"
    assert (tmp_path / "out/lib/libp.a").exists()


def test_where_cmake_finds_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--cmake-dir"]) == 0
    folder = Path(capsys.readouterr().out.rstrip("\n"))
    assert (folder / "ttc_llvm-config.cmake").exists() and folder.is_absolute()
