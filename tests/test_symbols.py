"""Names of entries and files with a prefix, and entries that shared libraries do not export."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_build import STRICT, compiler, run

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.compiling.library import Library
from ttc_llvm.compiling.solution import Solution
from ttc_llvm.errors import OptionError
from ttc_llvm.native import elf
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime.elf import Elf

PROBLEM = Problem((1, 0), (5, 7))
USE = """#include "my_sTranspose10_5x7.h"
void use(const float *a, float *b) { my_sTranspose10_5x7_omp(a, b, 1.0f, 0, 0); }
int elements(void) { return my_sTranspose10_5x7_ELEMENTS_A; }
"""

pytestmark = pytest.mark.usefixtures("own_place")


def solution() -> Solution:
    found: Solution = ttc_llvm.compile(PROBLEM, 1, target="sse2")
    return found


def test_a_prefix_is_everywhere(tmp_path: Path) -> None:
    kinds = ("obj", "header", "omp", "fortran", "asm", "llvm")
    written = solution().write(tmp_path, kinds, prefix="my_")
    assert [path.name for path in written] == [
        f"my_sTranspose10_5x7{end}" for end in (".o", ".h", "_omp.o", ".f90", ".s", ".ll")
    ]
    for path in written[:1] + written[2:3]:
        assert all(name.startswith("my_sTranspose10_5x7") for name in elf.defined_symbols(path.read_bytes()))
    for path in (*written[1:2], *written[3:]):
        text = path.read_text()
        assert "my_sTranspose10_5x7_any" in text and " sTranspose10" not in text
    solution().write(tmp_path, kinds, prefix="my_")  # they count as ours


def test_entries_with_a_prefix_run_beside_plain_ones(tmp_path: Path) -> None:
    cc = compiler("cc")
    for prefix in ("", "my_"):
        solution().write(tmp_path, prefix=prefix)
    (tmp_path / "use.c").write_text('#include "sTranspose10_5x7.h"\n' + USE)
    objects = ("my_sTranspose10_5x7.o", "sTranspose10_5x7.o")
    run(cc, *STRICT, "-std=c99", "-fPIC", "-shared", "use.c", *objects, "-o", "libuse.so", cwd=tmp_path)
    used: Any = ctypes.CDLL(str(tmp_path / "libuse.so"))
    a, b = np.random.default_rng(1).standard_normal((7, 5)).astype("f4"), np.zeros((5, 7), "f4")
    used.use(ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
    assert np.array_equal(b, a.T) and used.elements() == 35
    assert hasattr(used, "my_sTranspose10_5x7")


@pytest.mark.parametrize("kind", ["obj", "static"])
def test_hidden_entries_stay_inside(kind: str, tmp_path: Path) -> None:
    cc = compiler("cc")
    made = Library("ours", [solution()])
    made.write(tmp_path, (kind, "plan"), prefix="my_", visibility="hidden")
    folder, linked = tmp_path / "include", [f"{tmp_path}/lib/libours.a"]
    if kind == "obj":
        made.write(tmp_path, ("header", "plan"), prefix="my_", visibility="hidden")
        folder, linked = tmp_path, [str(path) for path in tmp_path.glob("*.o")]
    (tmp_path / "use.c").write_text(
        '#include "ours.h"\nint elements(void) { return my_sTranspose10_5x7_ELEMENTS_A; }\n'
        "int parts(void) { return my_ours_plan_parts(0); }\n"
        "void use(const float *a, float *b) { my_sTranspose10_5x7(a, b, 1.0f, 0, 0); }\n"
    )
    run(cc, *STRICT, "-fPIC", "-shared", f"-I{folder}", "use.c", *linked, "-o", "libuse.so", cwd=tmp_path)
    used: Any = ctypes.CDLL(str(tmp_path / "libuse.so"))
    assert used.elements() == 35 and used.parts() == 0
    assert not hasattr(used, "my_sTranspose10_5x7") and not hasattr(used, "my_ours_plan_parts")


def test_visibility_is_that_of_the_symbols(tmp_path: Path) -> None:
    for visibility, bits in (("default", 3), ("hidden", 2)):
        (path,) = solution().write(tmp_path, ("obj",), visibility=visibility)
        data = path.read_bytes()
        entries = [one for one in Elf(data).symbols() if one.name.startswith("sTranspose") and "." not in one.name]
        assert entries and {data[one.other] & 3 for one in entries} == {bits}


def test_manifests_and_lists_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.txt").write_text("--perm=1,0 --size=5,7\n")
    emitted = ("--emit=obj,header,plan", "--prefix=my_", "--cpu=sse2", "--generateOnly")
    given = ("--manifest=p.txt", "--name=ours", *emitted)
    assert cli.main([*given, "--list-files"]) == 0
    listed = capsys.readouterr().out.split()
    assert listed == ["my_sTranspose10_5x7.o", "ours_plan.o", "ours.h"]
    assert cli.main([*given, "--quiet"]) == 0
    assert all(Path(name).exists() for name in listed)
    assert "my_ours_plan_create(" in Path("ours.h").read_text()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("--prefix=1x",), "prefix '1x' cannot begin a C name: it takes letters, digits and _"),
        (("--prefix=a-b",), "prefix 'a-b' cannot begin"),
        ((f"--prefix={'x' * 41}",), "has more than 40 characters"),
        (("--visibility=secret",), "visibility 'secret' is unknown: the choices are default, hidden"),
        (("--visibility=hidden", "--emit=shared"), "visibility 'hidden' contradicts a shared library"),
        (("--prefix=x", "--architecture=cuda", "--cpu=sm_90"), "--prefix is for CPUs"),
        (("--visibility=hidden", "--architecture=cuda", "--cpu=sm_90"), "--visibility is for CPUs only"),
    ],
)
def test_refusals(given: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--perm=1,0", "--size=5,7", "--generateOnly", *given]) == 2
    assert reason in capsys.readouterr().err


def test_python_refuses_the_same(tmp_path: Path) -> None:
    wrong: tuple[dict[str, Any], ...] = ({"prefix": "a b"}, {"visibility": "protected"}, {"prefix": 3})
    for given in wrong:
        for write in (solution().write, Library("ours", [solution()]).write):
            with pytest.raises(OptionError):
                write(tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()
