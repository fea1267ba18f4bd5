"""References: the naive nest by compilers and by LLVM itself, on every type, and what happens when a build fails."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import native_build
import numpy as np
import pytest
from every_type import PROBLEMS
from other_user import needs_root, own_folder, passes_as_other
from processes import PATIENCE
from test_bench_results import result

from ttc_llvm.bench import Case, Settings, cases, run, workspace
from ttc_llvm.bench.cases import select
from ttc_llvm.bench.result_line import from_line, to_line
from ttc_llvm.bench.results import Reference, Timing
from ttc_llvm.bench.workspace import Memory, Workspace
from ttc_llvm.compare import builds, compilers, openmp, references, source, table
from ttc_llvm.compare.builds import Builder, Job
from ttc_llvm.compare.compiled import Compiled
from ttc_llvm.compare.compilers import Compiler
from ttc_llvm.compare.references import Vectorised, Wanted
from ttc_llvm.errors import OptionError
from ttc_llvm.ir_builders import reference_kernel as nests
from ttc_llvm.problem import dtypes, reference_loops
from ttc_llvm.problem.problem import Problem
from ttc_llvm.problem.reference_loops import Traverse
from ttc_llvm.runtime import backend, runtime
from ttc_llvm.runtime.affinity import Policy, parse, process_mask
from ttc_llvm.tuning.search import buffers, verify


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(workspace, "GRAIN", 1 << 16)
    monkeypatch.setattr(workspace, "FOREIGN_SECONDS", 0.0)


def compiler(name: str) -> Compiler:
    """A compiler of this machine; skips the test where it is not installed."""
    native_build.compiler(name)
    return compilers.find([name], {}).compilers[0]


def computes(peer: Any, problem: Problem) -> None:
    """Run a peer once: every element of B is the oracle's, and nothing else has changed."""
    made = Workspace.of(Case("x", "x", problem), backend.host_target(), 2, Memory())
    contender = peer.contender(made)
    assert contender.reference.message == ""
    start = made.b.memory.copy()
    before = buffers.strided(replace(made.b, memory=start.copy()), made.canonical, "b")
    contender.run(1)
    got = made.view("b")
    wanted = verify.expected(made.canonical, made.view("a"), before, *made.scalars)
    if problem.compute.kind is dtypes.Kind.OPAQUE:
        assert got.tobytes() == wanted.tobytes()
    else:  # C compilers fuse multiply and add
        assert np.allclose(got, wanted, rtol=1e-5 if min(problem.a.real_bits, problem.b.real_bits) == 32 else 1e-13)
    got[...] = before
    assert np.array_equal(made.b.memory, start)


# --- the nest ---------------------------------------------------------------------------------------------


def test_b_or_a_is_walked_from_end_to_end() -> None:
    problem = Problem((2, 0, 1), (3, 4, 5))
    output, into = (reference_loops.of(problem, traverse).loops for traverse in Traverse)
    assert [loop.number for loop in output] == [1, 0, 2]
    assert [loop.stride_b for loop in output] == [15, 5, 1]
    assert [loop.number for loop in into] == [2, 1, 0]
    assert [loop.stride_a for loop in into] == [12, 3, 1]
    assert reference_loops.of(Problem((), ())).loops[0].extent == 1


def test_large_tensors_need_longer_indices() -> None:
    assert reference_loops.of(Problem((1, 0), (1 << 15, 1 << 15))).fits_int
    assert not reference_loops.of(Problem((1, 0), (1 << 16, 1 << 15))).fits_int
    text = source.reference(Problem((1, 0), (1 << 16, 1 << 15)), Traverse.OUTPUT)
    assert "for (int64_t i0 = 0; i0 < 65536; ++i0)" in text


def test_the_source_is_the_paper_s_nest() -> None:
    text = source.reference(Problem((2, 0, 1), (3, 4, 5), beta=1.0), Traverse.OUTPUT)
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index("#pragma omp parallel for collapse(2)")
    assert lines[start + 1 : start + 5] == [
        "for (int i1 = 0; i1 < 4; ++i1)",
        "for (int i0 = 0; i0 < 3; ++i0)",
        "#pragma omp simd",
        "for (int i2 = 0; i2 < 5; ++i2)",
    ]
    assert "const type_a x = from[i1 * 3 + i0 + i2 * 12];" in text
    assert "type_b &y = into[i1 * 15 + i0 * 5 + i2];" in text
    assert "y = static_cast<type_b>(p * static_cast<wide>(x) + q * static_cast<wide>(y));" in text
    assert "sTranspose201_3x4x5_beta(const float *A, float *B, float alpha, float beta, const int *lda" in text
    assert "omp parallel for simd" in source.reference(Problem((0,), (9,)), Traverse.OUTPUT)


def test_tasks_are_enough_outer_iterations() -> None:
    assert nests.tasks(reference_loops.of(Problem((2, 1, 0), (8, 100, 50)))) == 800
    assert nests.tasks(reference_loops.of(Problem((3, 2, 1, 0), (64, 64, 64, 64)))) == 64 * 64
    assert nests.tasks(reference_loops.of(Problem((0,), (77,)))) == 77


def test_llvm_vectorises_the_innermost_loop() -> None:
    target = replace(backend.host_target(), cpu="skylake-avx512", features="-prefer-256-bit")
    text = str(nests.build(reference_loops.of(Problem((1, 0), (640, 480), beta=1.0)), target))
    assert "!llvm.access.group" in text and "llvm.loop.vectorize.enable" in text
    with backend._vectorised(text, target) as (machine, module):
        assembly = machine.emit_assembly(module)
    assert "%zmm" in assembly
    assert "%zmm" not in backend.assembly(text, target)


# --- what it computes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("traverse", list(Traverse))
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.dtype}-{len(p.size)}-{p.beta != 0}")
def test_llvm_computes_every_type(problem: Problem, traverse: Traverse, capfd: pytest.CaptureFixture[str]) -> None:
    computes(Vectorised(traverse), problem)
    assert capfd.readouterr().err == ""  # LLVM prints where it cannot do what the loop asks for


@pytest.mark.parametrize("name", ["g++", "clang++"])
def test_compilers_compute_every_type(name: str, tmp_path: Path) -> None:
    """With OpenMP's threads, or on one where the compiler has no library of that."""
    compiler(name)
    found = references.find(Wanted((name,), traverse=tuple(Traverse)), tmp_path)
    problems = [*PROBLEMS, Problem((2, 0, 1), (3, 40, 50), "uint8")]
    found.prepare(problems)
    for problem in problems:
        for peer in found.peers:
            computes(peer, problem)


def with_separate_library(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler of this name, the first on the PATH, whose OpenMP library is this file, which is missing."""
    library = folder / "libomp.so"
    script = f"""#!/bin/sh
for word; do
    [ "$word" != -fopenmp ] || [ -e {library} ] || {{ echo "ld: cannot find -lomp" >&2; exit 1; }}
done
exec {compiler("g++").path} "$@"
"""
    folder.mkdir()
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return library


def test_a_compiler_without_an_openmp_library_runs_on_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = with_separate_library("clang++", tmp_path / "bin", monkeypatch)
    wanted = Wanted(("clang++",), {"": ("-O1", "-fopenmp")})
    library.touch()
    assert references.find(wanted, tmp_path / "cache").notices == ()
    library.unlink()
    found = references.find(wanted, tmp_path / "cache")
    assert found.notices == ("clang++ has no OpenMP library (Debian: libomp-dev): its code runs on one thread",)
    (peer,) = found.peers
    assert peer.version.endswith(" -O1 -fopenmp-simd output")
    computes(peer, PROBLEMS[0])
    assert references.find(Wanted(("clang++",), {"": ("-O1",)}), tmp_path / "cache").notices == ()


def test_a_source_of_ones_own_is_built_without_an_openmp_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_separate_library("g++", tmp_path / "bin", monkeypatch)
    (tmp_path / "own.cpp").write_text('extern "C" void sTranspose10_30x20(const float *, float *, float, const int *,'
                                      " const int *) {}")  # fmt: skip
    found = references.find(Wanted((), against=str(tmp_path / "own.cpp")), tmp_path / "cache")
    assert found.notices == ("g++ has no OpenMP library (Debian: libgomp1): its code runs on one thread",)
    found.prepare([Problem((1, 0), (30, 20))])
    found.check_own([Problem((1, 0), (30, 20))])


def test_other_faults_are_no_missing_library(script: Callable[[str], Compiler], tmp_path: Path) -> None:
    """Such a compiler keeps its flags: what it says is told beside the cases that it spoils."""
    broken = replace(script("echo 'error: no licence'; exit 1"), flags=("-fopenmp",))
    assert references._able(Builder(tmp_path / "cache"), broken) == broken


def test_openmp_threads_are_placed_as_ours(tmp_path: Path) -> None:
    mask = process_mask() or frozenset()
    first, last = min(mask), max(mask)
    before = runtime.placement()
    try:
        runtime.set_affinity(parse(f"{first},{last}"))
        assert openmp.places(3) == (first, last, first)
        assert openmp.places(1) == (None,)
        computes(Compiled(Builder(tmp_path), compiler("g++"), Traverse.OUTPUT), PROBLEMS[0])
        assert process_mask() == mask  # the caller is where it was
    finally:
        runtime.set_affinity(before)
    assert openmp.places(2) == (None, None) if before.policy is Policy.NONE else True


def test_a_wrong_reference_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = tmp_path / "wrong.cpp"
    own.write_text('extern "C" void sTranspose10_30x20(const float *, float *B, float, const int *, const int *)'
                   " { B[0] = 1e9f; }")  # fmt: skip
    compiler("g++")
    found = references.find(Wanted(("g++",), against=str(own)), tmp_path / "cache")
    (one,) = run([Case("x", "x", Problem((1, 0), (30, 20)))], quick(found))
    assert set(one.peers) == {"g++"}
    assert one.references["wrong.cpp"].message == "its result differs"
    assert "wrong.cpp is left out of x/x/copy: its result differs" in caplog.text


# --- building ---------------------------------------------------------------------------------------------


def quick(found: references.FoundReferences) -> Settings:
    """The cost model's plan and three rounds."""
    return Settings(2, max_implementations=1, rounds=3, peers=found.peers)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Compiler]:
    """A compiler that is a shell script."""

    def make(text: str) -> Compiler:
        path = tmp_path / "g++-99"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return Compiler("g++-99", str(path), "99", ())

    return make


def test_libraries_are_remembered_by_content(tmp_path: Path) -> None:
    found = compiler("g++")
    job = Job(found, source.reference(PROBLEMS[0], Traverse.OUTPUT))
    builders = [Builder(tmp_path) for _ in range(2)]
    first, again = (builder.obtain(job) for builder in builders)
    assert (first.cached, again.cached) == (False, True)
    assert first.library is not None and again.library is not None
    assert (again.library.read_bytes(), again.seconds) == (first.library.read_bytes(), first.seconds)
    other = Job(replace(found, flags=("-O1",)), job.source)
    assert other.key != job.key and not Builder(tmp_path).obtain(other).cached
    (kept,) = (path for path in tmp_path.glob("*.so") if path.read_bytes() == first.library.read_bytes())
    kept.chmod(0o666)
    assert not Builder(tmp_path).obtain(job).cached, "others may have written it before the folder was closed to them"
    tmp_path.chmod(0o777)
    assert not Builder(tmp_path).obtain(job).cached, "others may have put anything there"
    assert len(list(tmp_path.glob("*.so"))) == 2


@needs_root
def test_nothing_is_loaded_out_of_a_folder_that_others_can_write(tmp_path: Path) -> None:
    """What they plant between two looks is not run: references are built and loaded in the process' own folder."""
    with own_folder() as folder:
        folder.chmod(0o777)
        builder, job = Builder(folder), Job(compiler("g++"), 'extern "C" int which() { return 1; }')
        library = builder.obtain(job).library
        assert library is not None and list(folder.iterdir()) == []
        planted = builder._places(job)[0]
        assert passes_as_other(lambda: planted.write_bytes(b"planted"), folder)
        again = builder.obtain(job).library
        assert again is not None and ctypes.CDLL(str(again)).which() == 1
        assert not passes_as_other(lambda: again.write_bytes(b"planted"), folder)


def test_a_cache_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    builder = Builder(tmp_path / "file")
    computes(Compiled(builder, compiler("g++"), Traverse.OUTPUT), PROBLEMS[0])


def test_the_oldest_libraries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "KEPT", 1)
    found = compiler("g++")
    for level in ("-O0", "-O1"):
        Builder(tmp_path).obtain(Job(replace(found, flags=(level,)), source.reference(PROBLEMS[0], Traverse.OUTPUT)))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_compiler_that_fails_says_why(script: Callable[[str], Compiler], tmp_path: Path) -> None:
    failing = script("echo noise; echo 'x.cpp:3: error: no such thing' >&2; exit 3")
    build = Builder(tmp_path).obtain(Job(failing, ""))
    assert (build.library, build.message) == (None, "x.cpp:3: error: no such thing")
    assert Builder(tmp_path).obtain(Job(script("exit 3"), "")).message == "it ended with status 3"
    assert Builder(tmp_path).obtain(Job(script("true"), "")).message == "it made no library"
    gone = replace(failing, path=str(tmp_path / "missing"))
    assert Builder(tmp_path).obtain(Job(gone, "")).message.startswith("it cannot be started: ")
    assert list(tmp_path.glob("*.so")) == []


def test_a_compiler_that_hangs_is_ended_with_its_children(
    script: Callable[[str], Compiler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = script(f"sleep {2 * PATIENCE} & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait")
    wait = subprocess.Popen.communicate

    def when_it_has_a_child(process: Any, *_: Any, timeout: float) -> Any:
        while not (tmp_path / "child").exists():
            time.sleep(0.01)
        return wait(process, timeout=timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", when_it_has_a_child)
    build = Builder(tmp_path, limit=0.5).obtain(Job(hanging, ""))
    assert build.message == "it took more than 0.5 s"
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    deadline = time.monotonic() + PATIENCE
    while child.exists() and child.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not child.exists() or child.read_text().split()[2] == "Z"


def test_ctrl_c_ends_the_compilers(script: Callable[[str], Compiler], tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    slow = script(f"sleep {2 * PATIENCE}")
    fast = replace(slow, path="/bin/true", name="fast")
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Builder(tmp_path).obtain_all([Job(fast, ""), Job(slow, "")], interrupt)
    assert time.monotonic() - start < PATIENCE


def test_the_others_stand_where_one_fails(script: Callable[[str], Compiler], tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    failing = Compiled(builder, script("echo 'error: not today'; exit 1"), Traverse.OUTPUT)
    found = references.FoundReferences((failing, Vectorised(Traverse.OUTPUT)), (), builder)
    chosen = select(cases(("ttc57",), ("update",)), ("3", "9"), limit=1 << 15)
    results = list(run(chosen, quick(found)))
    assert all(set(one.peers) == {"llvm"} for one in results)
    assert all(one.references["g++-99"].message == "error: not today" for one in results)
    text = "\n".join(table.lines(results))
    assert "  g++-99: 2 cases, first ttc57/03/update: error: not today" in text
    assert "x llvm  geomean " in text


# --- choosing ---------------------------------------------------------------------------------------------


def test_without_a_compiler_llvm_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = references.find(Wanted())
    assert [peer.name for peer in found.peers] == ["llvm"]
    assert "LLVM's own optimiser is the only reference" in found.notices[-1]
    with pytest.raises(OptionError, match=r"compiler g\+\+: it is not found"):
        references.find(Wanted(("g++",)))
    with pytest.raises(OptionError, match="cannot be built: no compiler is found"):
        references.find(Wanted(against=__file__))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(("gcc",)), "unknown compiler 'gcc': the choices are"),
        (Wanted(("nvcc",)), "compiler nvcc: it compiles for GPUs: --architecture=cuda sets solutions beside it"),
        (Wanted(("llvm",), {"g++": ()}), "flags are given for 'g\\+\\+', which is none of the compilers"),
        (Wanted(("llvm",), against="missing.cpp"), "--against=missing.cpp cannot be read"),
    ],
)
def test_choices_that_cannot_be(wanted: Wanted, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        references.find(wanted)


def test_flags_by_compiler() -> None:
    flags = compilers.parse_flags("-O2 -march=native; clang++=-Ofast '-DX=a b'")
    assert flags == {"": ("-O2", "-march=native"), "clang++": ("-Ofast", "-DX=a b")}
    assert compilers._flags("clang++", compilers.FAMILIES["clang++"], flags) == ("-Ofast", "-DX=a b")
    assert compilers._flags("g++", compilers.FAMILIES["g++"], flags) == ("-O2", "-march=native")
    assert compilers._flags("icpx", compilers.FAMILIES["icpx"], {}) == ("-O3", "-xHost", "-qopenmp")
    with pytest.raises(OptionError, match="are malformed"):
        compilers.parse_flags("'-O2")


def test_families_by_name_version_and_path() -> None:
    names = {"g++": "g++", "g++-13": "g++", "/opt/bin/clang++-18.1": "clang++", "icpx": "icpx"}
    assert {name: compilers.family_of(name).name for name in names} == names


def test_a_reference_is_part_of_the_key(tmp_path: Path) -> None:
    found = compiler("g++")
    case = Case("x", "x", Problem((1, 0), (30, 20)))
    keys = set()
    for flags, traverse in ((("-O1",), Traverse.OUTPUT), (("-O2",), Traverse.OUTPUT), (("-O2",), Traverse.INPUT)):
        settings = Settings(2, peers=(Compiled(Builder(tmp_path), replace(found, flags=flags), traverse),))
        keys.add(settings.key(case, settings.options(case)))
    assert len(keys) == 3


# --- what is written --------------------------------------------------------------------------------------


def compared() -> Any:
    """A result with a reference that was timed and one that was not."""
    made = Reference("g++", "g++ 12", ("-O3", "-fopenmp"), "output", 0.25, True)
    failed = replace(made, compiler="icpx", message="error: no licence")
    return result(peers={"g++": Timing(1 << 30, (0.1, 0.2))}, references={"g++": made, "icpx": failed})


def test_references_come_back_from_json() -> None:
    one = compared()
    assert from_line(to_line(one)) == one
    old = to_line(result()).replace(', "references": {}', "")
    assert "references" not in old and from_line(old) == result()
    for wrong in ('{"g++": 1}', '{"g++": {"compiler": "g++"}}', "[]"):
        line = to_line(result()).replace('"references": {}', f'"references": {wrong}')
        with pytest.raises(OptionError, match="no result of a benchmark"):
            from_line(line)


def test_rows_for_spreadsheets() -> None:
    head, *rows = (line.split(",") for line in table.to_csv([compared()]).splitlines())
    assert tuple(head) == table.CSV_COLUMNS
    text = table.to_csv([compared()])
    assert "g++,reference,10,0.1,0.15,2,5,6.25,g++,g++ 12,-O3 -fopenmp,output,0.25,,\n" in text
    assert "icpx,reference,,,,,,,icpx,g++ 12,-O3 -fopenmp,output,0.25,error: no licence,\n" in text
    assert len(rows) == 5


def test_the_table_and_its_summary() -> None:
    lines = table.lines([compared(), replace(compared(), name="01", peers={"g++": Timing(1 << 30, (0.02, 0.02))})])
    assert lines[0].split() == ["case", "perm", "size", "type", "ms", "GiB/s", "g++", "x", "g++"]
    assert "  x g++  geomean 2.17, least 0.75 (01), most 6.25 (00), 2 cases" in lines
    assert "g++   g++ 12  -O3 -fopenmp (output)  2 of 2 timed, compiled in 0.5 s" in lines
    assert lines[-1] == "  icpx: 2 cases, first ttc57/00/update: error: no licence"
    assert table.lines([]) == ["no results"]


@pytest.mark.parametrize(
    ("compiler", "flags", "traverse", "threads", "said"),
    [
        ("clang++", ("-O3", "-fopenmp-simd"), "output", 2, ", on one thread"),
        ("g++-13", ("-O2",), "input", 8, ", on one thread"),
        ("clang++", ("-O3", "-fopenmp-simd"), "output", 1, ""),  # so do we
        ("clang++", ("-O3", "-fopenmp=libomp"), "output", 2, ""),
        ("nvcc", ("-O3",), "output", 2, ""),
        ("llvm", ("-O3",), "output", 2, ""),
        ("g++", ("-O2", "-pthread"), "own.cpp", 2, ""),
        ("a compiler of the future", ("-O3",), "output", 2, ""),
    ],
)
def test_summaries_say_which_references_run_on_one_thread(
    compiler: str, flags: tuple[str, ...], traverse: str, threads: int, said: str
) -> None:
    made = replace(compared().references["g++"], compiler=compiler, flags=flags, traverse=traverse)
    one = replace(compared(), threads=threads, references={"g++": made})
    assert f"  x g++  geomean 6.25, least 6.25 (00), most 6.25 (00), 1 case{said}" in table.lines([one])
    assert table.remark("hptt", [one]) == "", "of no compiler"
