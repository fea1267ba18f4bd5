"""Files of a solution: what is written and when, and that native programs can use it."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Golden
from entry_calls import Call, check, every_kind, other_outer

from ttc_llvm import artifact, backend, header, interface, names
from ttc_llvm.artifact import Spec
from ttc_llvm.bodies import default_plan
from ttc_llvm.canonical import canonicalise
from ttc_llvm.dtypes import Kind
from ttc_llvm.errors import OptionError, TtcError
from ttc_llvm.header import Described
from ttc_llvm.plan import CpuPlan
from ttc_llvm.problem import Problem
from ttc_llvm.target import Target

PAPER = Problem((2, 1, 0), (8, 16, 16), "s", (32, 32, 32))
NATIVE = Path(__file__).parent / "native"
STRICT = ("-pedantic", "-Wall", "-Wextra", "-Werror")

# Each problem with the C types of A's, B's and the scalars' parts.
PROGRAMS = [
    (PAPER, ("float", "float", "float")),
    (Problem((2, 0, 1), (60, 70, 80), "s"), ("float", "float", "float")),
    (Problem((1, 0), (33, 65), "d", None, (70, 33)), ("double", "double", "double")),
    (Problem((0, 2, 1), (9, 33, 40), "c"), ("float", "float", "float")),
    (Problem((3, 1, 0, 2), (6, 5, 7, 8), "z", (7, 5, 7, 8)), ("double", "double", "double")),
    (Problem((1, 2, 0), (17, 6, 30), "sd"), ("float", "double", "double")),
    (Problem((2, 1, 0), (11, 12, 13), "zc"), ("double", "float", "double")),
    (Problem((1, 0), (300, 500), "i8"), ("int8_t", "int8_t", "")),
]


def spec(problem: Problem, target: Target | None = None, **facts: Any) -> Spec:
    """What would be emitted for a solution with the default plan."""
    machine = target or backend.host_target()
    return Spec(problem, machine, default_plan(canonicalise(problem).canonical, machine), **facts)


def compiler(name: str) -> str:
    """A native compiler; skips the test where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: native programs cannot be built")
    return found


def run(*command: str | Path) -> str:
    """Run a command to its end and return what it printed; AssertionError where it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


# --- which files, and how they appear -------------------------------------------------------------------


def test_object_and_header_by_default(tmp_path: Path) -> None:
    written = artifact.write(spec(PAPER), tmp_path / "new" / "folder")
    stem = "sTranspose210_8x16x16_lda32x32x32"
    assert [path.name for path in written] == [f"{stem}.o", f"{stem}.h"]
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == [f"{stem}.h", f"{stem}.o"]
    assert written[0].read_bytes()[:4] == b"\x7fELF"


def test_every_kind_in_the_order_asked_for(tmp_path: Path) -> None:
    emit = ("bitcode", "llvm", "asm", "header", "obj")
    assert set(emit) == set(artifact.kinds())
    written = artifact.write(spec(PAPER), tmp_path, emit)
    assert [path.suffix for path in written] == [".bc", ".ll", ".s", ".h", ".o"]
    bitcode, ir_text, assembly, *_ = written
    assert bitcode.read_bytes()[:2] == b"BC"
    assert ir_text.read_text() == artifact.module_text(spec(PAPER))
    assert f"\n{names.stem(PAPER)}_beta_part:" in assembly.read_text()


def test_one_kind_as_a_string(tmp_path: Path) -> None:
    assert [path.suffix for path in artifact.write(spec(PAPER), tmp_path, "header")] == [".h"]


def test_unknown_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'exe': the choices are obj, header, asm, llvm, bitcode"):
        artifact.write(spec(PAPER), tmp_path, ("obj", "exe"))
    assert os.listdir(tmp_path) == []


def test_files_are_replaced_not_rewritten(tmp_path: Path) -> None:
    path = artifact.write(spec(PAPER), tmp_path, ["header"])[0]
    old = path.open()
    before = path.stat().st_ino
    artifact.write(spec(PAPER, note="second"), tmp_path, ["header"])
    assert "second" not in old.read() and "second" in path.read_text()
    assert path.stat().st_ino != before and len(os.listdir(tmp_path)) == 1
    old.close()


def test_files_have_the_users_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    path = artifact.write(spec(PAPER), tmp_path, ["header"])[0]
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_unwritable_directory_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TtcError, match=r"^directory .*file.* cannot be written: [A-Z][^\n]*$"):
        artifact.write(spec(PAPER), tmp_path / "file")
    with pytest.raises(TtcError, match="cannot be written"):
        artifact.write(spec(PAPER), tmp_path / "file" / "below")


def test_failed_replacement_leaves_no_temporary(tmp_path: Path) -> None:
    (tmp_path / f"{names.stem(PAPER)}.h").mkdir()
    with pytest.raises(OptionError, match="cannot be written"):
        artifact.write(spec(PAPER), tmp_path, ["header"])
    assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == []


@pytest.mark.parametrize(
    ("problem", "fact"),
    [
        (Problem((1, 0), (1 << 31, 2), "i8"), r"lda\[0\] = 2147483648"),
        (Problem((1, 0), (4, 5), "s", (4, 1 << 40)), r"lda\[1\] = 1099511627776"),
        (Problem((1, 0), (4, 5), "s", None, (1 << 31, 4)), r"ldb\[0\] = 2147483648"),
    ],
)
def test_outer_sizes_beyond_int_are_refused(problem: Problem, fact: str) -> None:
    with pytest.raises(OptionError, match=fact + " exceeds 2147483647: C entries take it as int"):
        artifact.module_text(spec(problem))


def test_outer_sizes_that_are_never_read_may_be_large() -> None:
    assert "define" in artifact.module_text(spec(Problem((0,), (1 << 33,), "i8")))


# --- the header -----------------------------------------------------------------------------------------


def alone(one: Described) -> str:
    """The header of a single object."""
    stem = names.stem(one.problem)
    return header.text(stem, f"{stem}.o", [one], "0.1.0")


def test_header_of_the_papers_example(golden: Golden) -> None:
    plan = CpuPlan((8, 2, 16), (8, 1, 8), (2, 1, 0), (2, 1, 0), 2, 1)
    target = backend.resolve("avx2")
    one = Described(PAPER, str(target), str(plan), 41.23, note="best of 200 candidates")
    golden.check("sTranspose210_8x16x16_lda32x32x32.h", alone(one))


def test_header_of_threaded_complex_entries(golden: Golden) -> None:
    problem = Problem((1, 0), (384, 355), "zc", conjugate=True, beta=1.0)
    plan = CpuPlan((8, 8), (4, 4), (1, 0), (1, 0))
    golden.check("zcTranspose10_384x355_conj.h", alone(Described(problem, "avx2", str(plan), 7.0, stack=4096)))


def test_many_problems_share_one_header(golden: Golden) -> None:
    problems = (PAPER, Problem((1, 0), (300, 500), "i8"))
    described = [Described(problem, "avx2", str(spec(problem, backend.resolve("avx2")).plan)) for problem in problems]
    golden.check("transposes.h", header.text("transposes", "libtransposes.a", described, "0.1.0"))


def test_notes_cannot_end_the_comment() -> None:
    text = alone(Described(PAPER, "avx2", "", note="a */ int x; /* b\nc"))
    assert text.count("*/") == text.count("/*") and " * note:     a * / int x; / * b c\n" in text


def test_headers_compile_as_c99_and_as_every_cpp(tmp_path: Path) -> None:
    problems = [p for p, _ in PROGRAMS] + [
        Problem((1, 0), (600, 700), t) for t in ("ds", "cz", "f16", "bf16", "i16", "i32", "i64", "v12")
    ]
    problems += [Problem((), (), "s"), Problem(tuple(reversed(range(26))), (2,) * 26, "s")]
    headers = [artifact.write(spec(p), tmp_path, ["header"])[0].name for p in problems]
    unit = tmp_path / "all.c"
    unit.write_text("".join(f'#include "{name}"\n' for name in [*headers, *headers]) + "int x;\n")
    for openmp in ([], ["-fopenmp"]):
        run(compiler("gcc"), "-std=c99", *STRICT, *openmp, "-c", unit, "-o", tmp_path / "all.o")
        for standard in ("c++98", "c++20"):
            run(
                compiler("g++"), f"-std={standard}", *STRICT, *openmp, "-x", "c++", "-c", unit,
                "-o", tmp_path / "all.o",
            )  # fmt: skip


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
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("problem", "types"), PROGRAMS, ids=[names.stem(p) for p, _ in PROGRAMS])
def test_linked_program(problem: Problem, types: tuple[str, str, str], language: str, tmp_path: Path) -> None:
    driver, *options = LANGUAGES[language]
    build(compiler(driver), options, problem, types, tmp_path)
    run(tmp_path / "check")


def build(
    driver: str, options: Sequence[str], problem: Problem, types: tuple[str, str, str], folder: Path
) -> None:
    """Compile check.c against the problem's header and link it with its object."""
    made = artifact.write(spec(problem), folder)[0]
    given = [*options, *STRICT, *definitions(problem, types), f"-I{folder}"]
    run(driver, *given, "-c", NATIVE / "check.c", "-o", folder / "check.o")
    threads = ["-fopenmp"] if "-fopenmp" in options else []
    run(driver, *threads, folder / "check.o", made, "-o", folder / "check")


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
