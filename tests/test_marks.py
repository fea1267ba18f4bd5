"""Files of others in the place of ours: refused without `overwrite`; ours are known by their mark."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import ttc_llvm
from ttc_llvm import Library, OptionError, Problem, Solution, cli
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.machine import lookup
from ttc_llvm.native import artifact, library_files, marks
from ttc_llvm.native.publish import publish
from ttc_llvm.runtime import backend

PROBLEM = Problem((1, 0), (8, 9))
FOREIGN = b"mine\n"
TRIPLES = [name for name in lookup.triples() if lookup.find(name).triple == name]


@pytest.fixture(autouse=True)
def _own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.db"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def solution() -> Solution:
    """One for this machine."""
    found: Solution = ttc_llvm.compile(PROBLEM, 1, ignore_database=True)
    return found


def refused(write: Callable[[bool], object], files: list[Path]) -> None:
    """Each file in turn is another's: nothing is written, unless it is asked for; ours are replaced without asking."""
    write(False)
    for path in files:
        ours = {one: one.read_bytes() for one in files}
        path.unlink()  # it may be a link
        path.write_bytes(FOREIGN)
        with pytest.raises(OptionError, match=f"{path.name} is there, and not written by ttc_llvm"):
            write(False)
        assert path.read_bytes() == FOREIGN
        assert all(one.is_symlink() or one.read_bytes() == data for one, data in ours.items() if one != path)
        write(True)
        assert path.read_bytes() == ours[path]
    write(False)


def test_files_of_others_stay(tmp_path: Path, solution: Solution) -> None:
    out = tmp_path / "out"
    kinds = artifact.kinds()
    files = [out / name for name in artifact.file_names(PROBLEM, kinds)]
    refused(lambda overwrite: solution.write(out, kinds, overwrite=overwrite), files)


def test_files_of_others_stay_where_a_library_goes(tmp_path: Path, solution: Solution) -> None:
    made, out = Library("moves", (solution,)), tmp_path / "out"
    kinds = ("static", "fortran", "header", *(("shared",) if shutil.which("cc") else ()))
    files = [out / name for name in library_files.file_names("moves", [PROBLEM], kinds)]
    refused(lambda overwrite: made.write(out, kinds, overwrite=overwrite), files)


@pytest.mark.parametrize(("name", "kinds"), [("sm_80", ("ptx", "header", "llvm", "asm")), ("gfx90a", ("obj", "asm"))])
def test_files_of_others_stay_where_a_gpu_s_go(tmp_path: Path, name: str, kinds: tuple[str, ...]) -> None:
    solution, out = ttc_llvm.compile(PROBLEM, 1, target=name), tmp_path / "out"
    written = solution.write(out, kinds)
    from ttc_llvm.gpu import artifact as gpu_artifact

    names = gpu_artifact.file_names(PROBLEM, gpu_target.find(name).is_nvidia, kinds)
    assert list(written) == [out / one for one in names]
    picked = [path for path in written if path.suffix in (".ptx", ".h") or path.stem.endswith("_copy")]
    refused(lambda overwrite: solution.write(out, kinds, overwrite=overwrite), picked)


@pytest.mark.parametrize("triple", TRIPLES)
def test_objects_of_every_format_are_known(tmp_path: Path, triple: str) -> None:
    kinds = ("obj", "asm", "llvm", "bitcode", "omp")
    solution = ttc_llvm.compile(PROBLEM, 1, target=triple, ignore_database=True)
    for path in solution.write(tmp_path / "out", kinds):
        assert marks.MARK.encode() in path.read_bytes(), path.name
    solution.write(tmp_path / "out", kinds)


@pytest.mark.parametrize("name", ["sTranspose10_8x9.h", "sTranspose10_8x9.f90", "sTranspose10_8x9.s"])
@pytest.mark.parametrize(
    "text",
    [
        "/* my own wrapper around the kernels written by ttc_llvm */\nint mine;\n",
        "int mine; /* for code that was\n * written by ttc_llvm 0.1.0 */\n",
        '// "written by ttc_llvm 0.1.0"\n',
        "! mine.f90: I use what was written by ttc_llvm 0.1.0.\n",
    ],
)
def test_texts_about_us_are_not_ours(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(OptionError, match="not written by ttc_llvm"):
        publish(tmp_path, [(name, b"new")])
    assert (tmp_path / name).read_text() == text


def test_long_names_do_not_hide_the_mark(tmp_path: Path, solution: Solution) -> None:
    made = Library("moves-" * 16 + "x", (solution,))
    for kinds in (("header", "fortran"), ("static", "fortran")):
        made.write(tmp_path, kinds)
        made.write(tmp_path, kinds)


@pytest.mark.parametrize("stripped", [False, True])
def test_libraries_of_others_with_our_objects_are_not_ours(tmp_path: Path, solution: Solution, stripped: bool) -> None:
    compiler = shutil.which("cc")
    if compiler is None or not shutil.which("ar"):
        pytest.skip("no C compiler")
    (ours,) = solution.write(tmp_path, ("obj",))
    (tmp_path / "mine.c").write_text("int mine(void) { return 1; }\n")
    subprocess.run([compiler, "-fPIC", "-c", "mine.c"], check=True, cwd=tmp_path)
    (tmp_path / "out/lib").mkdir(parents=True)
    flags = ["-shared", *(["-s"] if stripped else [])]
    made = {
        "shared": [compiler, *flags, "-o", "out/lib/libfoo.so"],
        "static": ["ar", "rcs", "out/lib/libfoo.a"],
        "obj": [compiler, "-r", "-nostdlib", "-o", f"out/{ours.name}"],
    }
    for kind, command in made.items():
        subprocess.run([*command, "mine.o", str(ours)], check=True, cwd=tmp_path)
        theirs = tmp_path / command[-1]
        before = theirs.read_bytes()
        assert marks.MARK.encode() in before
        with pytest.raises(OptionError, match="not written by ttc_llvm"):
            Library("foo", (solution,)).write(tmp_path / "out", (kind,))
        assert theirs.read_bytes() == before


def test_the_mark_takes_no_memory(tmp_path: Path, solution: Solution) -> None:
    (path,) = solution.write(tmp_path, ("obj",))
    data = path.read_bytes()
    start, size, count = struct.unpack_from("<Q10xHH", data, 40)
    sections = [struct.unpack_from("<IIQQQQ", data, start + k * size) for k in range(count)]
    holding = [s for s in sections if s[1] != 8 and marks.MARK.encode() in data[s[4] : s[4] + s[5]]]
    assert len(holding) == 1
    assert holding[0][2] & 2 == 0, "SHF_ALLOC: the section would be loaded"
    assert holding[0][5] < 64


def test_a_cubin_is_known_by_its_kernels(tmp_path: Path) -> None:
    """NVIDIA's assembler drops whatever else could tell: an object of its machine number stands for it."""
    text = f'target triple = "x86_64-unknown-linux-gnu"\ndefine void @{"NAME"}_copy() {{ ret void }}\n'
    data = bytearray(backend.compile_object(text, backend.host_target()))
    data[18:20] = (190).to_bytes(2, "little")
    for stem, ours in (("NAME", True), ("OTHER", False)):
        path = tmp_path / f"{stem}.cubin"
        path.write_bytes(data)
        if ours:
            publish(tmp_path, [(path.name, b"new")])
        else:
            with pytest.raises(OptionError, match="not written by ttc_llvm"):
                publish(tmp_path, [(path.name, b"new")])


# --- links, folders, devices ----------------------------------------------------------------------------------


def test_empty_files_are_nobody_s(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    publish(tmp_path, [("a", b"new")])
    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("broken", [False, True])
def test_links_are_asked_for_and_replaced_not_followed(tmp_path: Path, broken: bool) -> None:
    theirs = tmp_path / "theirs"
    if not broken:
        theirs.write_bytes(marks.MARK.encode())
    (tmp_path / "a").symlink_to(theirs)
    with pytest.raises(OptionError, match="a is a link: it is replaced with overwrite=True, --force"):
        publish(tmp_path, [("a", b"new")])
    publish(tmp_path, [("a", b"new")], overwrite=True)
    assert not (tmp_path / "a").is_symlink() and (tmp_path / "a").read_bytes() == b"new"
    assert theirs.exists() is not broken and (broken or theirs.read_bytes() == marks.MARK.encode())


def test_a_link_comes_back_where_a_later_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").symlink_to("elsewhere")
    replace = os.replace

    def failing(old: Path, new: Path) -> None:
        if Path(new).name == "b":
            raise OSError(28, "No space left on device")
        replace(old, new)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OptionError, match="No space left"):
        publish(tmp_path, [("a", b"new"), ("b", b"new")], overwrite=True)
    assert os.readlink(tmp_path / "a") == "elsewhere"


@pytest.mark.parametrize("overwrite", [False, True])
def test_folders_and_pipes_are_never_replaced(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "b")
    for name, what in (("a", "a folder"), ("b", "no file")):
        with pytest.raises(OptionError, match=f"{name} is {what}: nothing is written in its place"):
            publish(tmp_path, [(name, b"new")], overwrite)


def test_single_files_may_be_links_and_devices(tmp_path: Path) -> None:
    """Their place was named by somebody, and is where they lead to."""
    theirs, link = tmp_path / "theirs", tmp_path / "link"
    link.symlink_to(theirs)
    marks.check_file(link, overwrite=False)
    theirs.write_bytes(FOREIGN)
    with pytest.raises(OptionError, match="link is there, and not written by ttc_llvm"):
        marks.check_file(link, overwrite=False)
    theirs.write_bytes(f"# {marks.MARK}\n".encode())
    marks.check_file(link, overwrite=False)
    marks.check_file(Path(os.devnull), overwrite=False)


# --- the command line -----------------------------------------------------------------------------------------


def run(*arguments: str) -> int:
    """`ttc`, without a word."""
    return cli.main([*arguments])


SMALL = ("--perm=1,0", "--size=8,9", "--quiet")


def test_the_command_refuses_before_it_tunes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out" / "sTranspose10_8x9.h"
    path.parent.mkdir()
    path.write_bytes(FOREIGN)
    monkeypatch.setattr("ttc_llvm.cli.compile.compile", lambda *_, **__: pytest.fail("tuned"))
    (tmp_path / "p.txt").write_text("--perm=1,0 --size=8,9\n")
    assert run(*SMALL, "--output-dir=out") == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "sTranspose10_8x9.h is there, and not written by ttc_llvm" in said
    path.rename(path.with_name("p.h"))
    assert run("--manifest=p.txt", "--output-dir=out", "--emit=header,obj") == 2
    assert "p.h is there" in capsys.readouterr().err
    gpu = path.with_name("sTranspose10_8x9.ptx")
    gpu.write_bytes(FOREIGN)
    assert run(*SMALL, "--output-dir=out", "--architecture=sm_80", "--generateOnly") == 2
    assert "sTranspose10_8x9.ptx is there" in capsys.readouterr().err


def test_force_replaces(tmp_path: Path) -> None:
    path = tmp_path / "sTranspose10_8x9.h"
    path.write_bytes(FOREIGN)
    assert run(*SMALL, "--maxImplementations=1", "--force") == 0
    assert path.read_bytes() != FOREIGN
    assert run(*SMALL, "--maxImplementations=1") == 0


def test_kept_candidates_of_others_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "sTranspose10_8x9.candidates"
    folder.mkdir()
    theirs = folder / "001.ll"
    theirs.write_bytes(FOREIGN)
    command = (*SMALL, "--maxImplementations=2", "--generateOnly", "--keep", "--emit=")
    assert run(*command) == 2
    assert "holds no plans.txt: --force" in capsys.readouterr().err
    assert theirs.read_bytes() == FOREIGN
    assert run(*command, "--force") == 0
    assert theirs.read_bytes() != FOREIGN
    assert run(*command) == 0
    (folder / "plans.txt").write_bytes(FOREIGN)
    assert run(*command) == 2


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["explain", "--perm=1,0", "--size=8,9", "--html=page.html"], "page.html"),
        (["database", "export", "rows.jsonl"], "rows.jsonl"),
        (["compare", "--compiler=llvm", "--bytes=4K", "--cases=3", "--maxImplementations=1", "--csv=r.csv"], "r.csv"),
    ],
)
def test_single_files_of_others_stay(command: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*SMALL, "--maxImplementations=1", "--emit=") == 0
    path = Path(name)
    assert run(*command) == 0
    ours = path.read_bytes()
    assert len(ours) > 100 and run(*command) == 0
    path.write_bytes(FOREIGN)
    capsys.readouterr()
    assert run(*command) == 2
    assert f"{name} is there, and not written by ttc_llvm" in capsys.readouterr().err
    assert path.read_bytes() == FOREIGN
    for notes in (b"my notes on\n" + ours, b'{"format": "of my own"}\n') if not name.endswith("html") else ():
        path.write_bytes(notes)
        assert run(*command) == 2
        assert path.read_bytes() == notes
    assert run(*command, "--force") == 0
    assert path.read_bytes()[:9] == ours[:9]


def test_a_report_s_files_of_others_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    results = next((Path(__file__).parent.parent / "benchmarks/results").glob("*.jsonl"))
    (tmp_path / "r.jsonl").write_text("".join(results.read_text().splitlines(keepends=True)[:9]))
    command = ("report", "r.jsonl", "--output=page")
    assert run(*command) == 0
    written = sorted((tmp_path / "page").iterdir())
    assert all(marks.MARK.encode() in path.read_bytes() for path in written)
    picture = next(path for path in written if path.suffix == ".png")
    for path in (tmp_path / "page/index.html", picture):
        path.write_bytes(FOREIGN)
        assert run(*command) == 2
        assert f"{path.name} is there" in capsys.readouterr().err
        assert run(*command, "--force") == 0
        assert path.read_bytes() != FOREIGN


def test_shared_libraries_and_programs_link(tmp_path: Path, solution: Solution) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    objects = [str(path) for path in solution.write(tmp_path, ("obj",))]
    subprocess.run([compiler, "-shared", "-o", str(tmp_path / "made.so"), *objects], check=True)
    assert marks.MARK.encode() in (tmp_path / "made.so").read_bytes()


