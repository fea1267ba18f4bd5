"""Files of a solution: what is written and when, and that native programs can use it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Golden
from emissions import PAPER, PROGRAMS, module_text, spec
from native_build import STRICT, compiler, run

from ttc_llvm.errors import OptionError, TtcError
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.native import artifact, header, marks
from ttc_llvm.native.header import Block
from ttc_llvm.native.transposition_words import described
from ttc_llvm.problem import names
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

# --- which files, and how they appear -------------------------------------------------------------------


def test_object_and_header_by_default(tmp_path: Path) -> None:
    written = artifact.write(spec(PAPER), tmp_path / "new" / "folder")
    stem = "sTranspose210_8x16x16_lda32x32x32"
    assert [path.name for path in written] == [f"{stem}.o", f"{stem}.h"]
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == [f"{stem}.h", f"{stem}.o"]
    assert written[0].read_bytes()[:4] == b"\x7fELF"


def test_every_kind_in_the_order_asked_for(tmp_path: Path) -> None:
    emit = ("bitcode", "llvm", "asm", "header", "obj", "fortran", "omp")
    assert set(emit) == set(artifact.kinds())
    written = artifact.write(spec(PAPER), tmp_path, emit)
    assert [path.suffix for path in written] == [".bc", ".ll", ".s", ".h", ".o", ".f90", ".o"]
    bitcode, ir_text, assembly, *_ = written
    assert bitcode.read_bytes()[:2] == b"BC"
    assert ir_text.read_text() == module_text(spec(PAPER)) and marks.MARK in ir_text.read_text()
    assert f"\n{names.stem(PAPER)}_beta_part:" in assembly.read_text()


def test_one_kind_as_a_string(tmp_path: Path) -> None:
    assert [path.suffix for path in artifact.write(spec(PAPER), tmp_path, "header")] == [".h"]


def test_unknown_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'exe': the choices are obj, header, fortran, omp, asm, llvm, bitcode"):
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
    with pytest.raises(OptionError, match="is a folder: nothing is written in its place"):
        artifact.write(spec(PAPER), tmp_path, ["header"])
    assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == []


# --- the header -----------------------------------------------------------------------------------------


def alone(one: Block) -> str:
    """The header of a single object."""
    return header.text(one.stem, f"{one.stem}.o", [one], "0.1.0")


def test_header_of_the_papers_example(golden: Golden) -> None:
    plan = CpuPlan((8, 2, 16), (8, 1, 8), (2, 1, 0), (2, 1, 0), 2, 1)
    target = backend.resolve("avx2")
    one = described(PAPER, str(target), str(plan), 41.23, note="best of 200 candidates")
    golden.check("sTranspose210_8x16x16_lda32x32x32.h", alone(one))


def test_header_of_threaded_complex_entries(golden: Golden) -> None:
    problem = Problem((1, 0), (384, 355), "zc", conjugate=True, beta=1.0)
    plan = CpuPlan((8, 8), (4, 4), (1, 0), (1, 0))
    golden.check("zcTranspose10_384x355_conj.h", alone(described(problem, "avx2", str(plan), 7.0, stack=4096)))


def test_many_problems_share_one_header(golden: Golden) -> None:
    problems = (PAPER, Problem((1, 0), (300, 500), "i8"))
    every = [described(problem, "avx2", str(spec(problem, backend.resolve("avx2")).plan)) for problem in problems]
    golden.check("transposes.h", header.text("transposes", "libtransposes.a", every, "0.1.0"))


@pytest.mark.parametrize("driver", ["gcc", "g++"])
def test_headers_that_hold_the_same_problem_go_together(driver: str, tmp_path: Path) -> None:
    """Each alone declares all, both together nothing twice, in any order."""
    shared, other = described(PAPER, "sse2", "a plan"), described(Problem((1, 0), (300, 200)), "sse2", "a plan")
    (tmp_path / "one.h").write_text(header.text("one", "libone.a", [shared], "1"))
    (tmp_path / "two.h").write_text(header.text("two", "libtwo.a", [other, shared], "1"))
    source = tmp_path / ("use.c" if driver == "gcc" else "use.cpp")
    calls = "".join(f"    {one.stem}_any_omp(0, 0, 1, 0, 0, 0);\n" for one in (shared, other))
    for included in (("one", "two"), ("two", "one")):
        lines = "".join(f'#include "{name}.h"\n' for name in included)
        source.write_text(f"{lines}void use(void);\nvoid use(void)\n{{\n{calls}}}\n")
        run(compiler(driver), *STRICT, "-fopenmp", "-fsyntax-only", source)


def test_notes_cannot_end_the_comment() -> None:
    text = alone(described(PAPER, "avx2", "", note="a */ int x; /* b\nc"))
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
