"""The first call of a new process whose database has the code: LLVM is not loaded, nothing is compiled."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from known_layouts import NATIVE

CALLS = """
import os, pickle, sys
import numpy as np
import ttc_llvm
def checked():
    x = np.random.default_rng().random((40, 60))
    assert np.array_equal(ttc_llvm.transpose(x), x.T)
    b = np.full((60, 40), np.nan, order="F")
    solution(np.asfortranarray(x), b)
    assert np.array_equal(b, x.T)
path = sys.argv[1]
if os.path.exists(path):
    solution = pickle.loads(open(path, "rb").read())
else:
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (40, 60), "d"), max_implementations=1)
    open(path, "wb").write(pickle.dumps(solution))
checked()
child = os.fork()
if child == 0:
    checked()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
if "llvmlite" not in sys.modules:
    print("no LLVM")
    accesses = [line.split()[1] for line in open("/proc/self/maps")]
    assert not [found for found in accesses if "w" in found and "x" in found]
"""


def _run(tmp_path: Path, **variables: str) -> str:
    home = {"TTC_DATABASE": str(tmp_path / "solutions.sqlite3"), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", CALLS, str(tmp_path / "solution")]
    done = subprocess.run(command, env={**os.environ, **home, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("folder", [None, "/nowhere"])
def test_arrays_and_unpickled_solutions_run_without_llvm(tmp_path: Path, folder: str | None) -> None:
    """Also in a forked child, and where there is no folder for temporary files; no page can be written and executed."""
    assert _run(tmp_path) == ""  # it compiles
    assert _run(tmp_path, **({"TMPDIR": folder} if folder else {})) == "no LLVM"


def test_unpickled_solutions_compile_where_the_database_lacks_their_code(tmp_path: Path) -> None:
    """And store what they compile, which is no solution."""
    _run(tmp_path)
    other = str(tmp_path / "other.sqlite3")
    assert _run(tmp_path, TTC_DATABASE=other) == ""
    assert _run(tmp_path, TTC_DATABASE=other) == "no LLVM"
    with closing(sqlite3.connect(other)) as connection:
        kinds = "SELECT count(*) FROM code_v2 WHERE plan = 'unpickled solution'", "SELECT count(*) FROM solutions_v2"
        assert [connection.execute(query).fetchone() for query in kinds] == [(1,), (0,)]


UNPICKLED = """
import pickle, sys
import numpy as np
if sys.argv[2:] == ["elsewhere"]:
    import ttc_llvm.runtime.cpuid as cpuid
    cpuid.identity = lambda: "another processor"
def placed(shape):  # the same kernels run in every process
    memory = np.empty(512 * 520 + 8)
    first = (16 - memory.ctypes.data) % 64 // 8
    return memory[first : first + 512 * 520].reshape(shape, order="F")
a, b = placed((512, 520)), placed((520, 512))
a[...] = np.random.default_rng().random((512, 520))
if sys.argv[2:] == ["made"]:
    import ttc_llvm
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), a.shape, "d"), effort=1, threads=1)
    open(sys.argv[1], "wb").write(pickle.dumps(solution))
else:
    pickle.load(open(sys.argv[1], "rb"))(a, b)
    assert np.array_equal(b, a.T)
    print(*sys.modules, sep="\\n")
"""


def test_a_later_unpickled_solution_works_nothing_out(tmp_path: Path) -> None:
    """What the first one has worked out is kept beside its code."""
    home = {"TTC_DATABASE": str(tmp_path / "solutions.sqlite3"), "HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    loaded = []
    for what in (["made"], [], [], ["elsewhere"]):
        command = [sys.executable, "-c", UNPICKLED, str(tmp_path / "solution"), *what]
        done = subprocess.run(command, env=os.environ | home, stdout=subprocess.PIPE, text=True, check=True)
        loaded.append({*done.stdout.split()})
    worked_out = {"ttc_llvm.lowering.fallback", "ttc_llvm.machine.lookup", "ttc_llvm.compiling.stored_plans", "json"}
    assert worked_out <= loaded[1]
    assert not (worked_out | {"llvmlite", "ttc_llvm.runtime.pool", "ttc_llvm.runtime.backend"}) & loaded[2]
    assert worked_out | {"llvmlite"} <= loaded[3]  # what was found out about another machine says nothing


# --- the shortest way --------------------------------------------------------------------------------------

CALL = """
import os, sys, threading
import numpy as np
before = {*sys.modules}
import ttc_llvm
x = np.arange(2400.0).reshape(40, 60)
PREPARED
assert np.array_equal(ttc_llvm.transpose(x), x.T)
found = {*sys.modules} - before
assert np.array_equal(ttc_llvm.ascontiguousarray(x.T), x.T)
assert np.array_equal(ttc_llvm.transpose(x[::-1], (1, 0), alpha=2), 2 * x[::-1].T)
found |= {*sys.modules} & {"llvmlite.binding"}  # which another thread may have begun to load
print(*sorted(found), sep="\\n")
"""
AGAINST = {"logging", "threading", "json", "llvmlite", "fcntl", "numpy.typing"}


def _called(tmp_path: Path, prepared: str = "", **variables: str) -> set[str]:
    """The modules that a first call loads in a new process."""
    home = {"TTC_DATABASE": str(tmp_path / "solutions.sqlite3"), "HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    command = [sys.executable, "-c", CALL.replace("PREPARED", prepared)]
    done = subprocess.run(command, env={**os.environ, **home, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {*done.stdout.split()}


@NATIVE
def test_a_first_call_with_stored_code_loads_little(tmp_path: Path) -> None:
    assert "llvmlite.binding" in _called(tmp_path)
    found = _called(tmp_path)
    assert not found & AGAINST
    packages = {name.split(".")[1] for name in found if name.startswith("ttc_llvm.")}
    assert not packages & {"machine", "problem", "lowering", "compiling"}
    assert not found & {"ttc_llvm.runtime.backend", "ttc_llvm.runtime.pool", "ttc_llvm.arrays.transposing"}
    assert len(found) < 64


@NATIVE
def test_a_first_large_result_loads_little_more(tmp_path: Path) -> None:
    large = "x = np.ones((512, 512))"
    _called(tmp_path, large)
    found = _called(tmp_path, large)
    packages = {name.split(".")[1] for name in found if name.startswith("ttc_llvm.")}
    assert not packages & {"machine", "problem", "lowering", "compiling"}
    assert not found & {"ttc_llvm.runtime.backend", "ttc_llvm.arrays.transposing", *AGAINST} - {"threading"}
    assert len(found) < 80


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    _called(folder)
    return folder


@pytest.fixture
def stored(_made: Path, tmp_path: Path) -> Path:
    """A folder with a copy of a database that has the code."""
    shutil.copytree(_made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _garbage(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)


def _changed(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            assert connection.execute(statement).rowcount > 0

    return change


def _shared(path: Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink, _garbage, _shared, _changed("UPDATE code_v2 SET image = substr(image, 1, 400)"),
        _changed("UPDATE code_v2 SET image = zeroblob(length(image))"), _changed("DELETE FROM code_v2 WHERE rowid = 2"),
        _changed("UPDATE code_v2 SET plan = 'another'"), _changed("UPDATE code_v2 SET digest = zeroblob(32)"),
    ],
)  # fmt: skip
def test_what_is_stored_is_not_run_where_it_may_be_wrong(stored: Path, spoil: Callable[[Path], None]) -> None:
    spoil(stored / "solutions.sqlite3")
    assert "llvmlite.binding" in _called(stored, "import sys, io; sys.stderr = io.StringIO()")


OTHERS = {
    "processor": "import ttc_llvm.runtime.cpuid as cpuid; cpuid.identity = lambda: 'another'",
    "llvmlite": "import ttc_llvm.runtime.here as here; here._installation = lambda: 'another'",
    "sources": "import ttc_llvm.arrays.layout_code as code; code._SOURCES = code._SOURCES[1:]",
    "places": "import ttc_llvm.operands.object_fields as fields; fields.MORE = 7",
}


@pytest.mark.parametrize("what", OTHERS)
def test_code_for_another_machine_or_program_is_not_run(stored: Path, what: str) -> None:
    assert "llvmlite.binding" in _called(stored, OTHERS[what])
    assert "llvmlite.binding" not in _called(stored, OTHERS[what])  # it has code of its own by now


THREADS = """
import threading
gate, wrong = threading.Barrier(8), []
def work():
    y = np.random.default_rng().random((30, 20))
    gate.wait()
    if not np.array_equal(ttc_llvm.transpose(y), y.T): wrong.append(y)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
if FORKS:
    child = os.fork()
    if child == 0: os._exit(0 if np.array_equal(ttc_llvm.transpose(x), x.T) else 1)
    assert os.waitpid(child, 0)[1] == 0
for thread in threads: thread.join()
assert not wrong
"""


@pytest.mark.parametrize("forks", [False, True])
def test_first_calls_of_many_threads(tmp_path: Path, forks: bool) -> None:
    for _ in range(3):
        _called(tmp_path, THREADS.replace("FORKS", str(forks)))


def test_a_database_that_cannot_be_written_serves(stored: Path) -> None:
    path = stored / "solutions.sqlite3"
    path.chmod(0o400)
    stored.chmod(0o500)
    try:
        assert "llvmlite.binding" not in _called(stored)
    finally:
        stored.chmod(0o700)


# --- the system's ways ---------------------------------------------------------------------------------------

NO_EXECUTION = """
import mmap, os
try:  # as in libraries of this folder
    with open(os.path.join(os.environ["TMPDIR"], "code"), "w+b") as file:
        file.write(bytes(4096)); file.flush()
        mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    sys.exit("the folder allows execution")
except PermissionError:
    pass
"""


def _without_execution(folder: Path, program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program where no folder that everybody may write to, nor this one, allows execution."""
    needed = sys.prefix, sys.base_prefix, str(Path(__file__))
    writable = [path for path in ("/tmp", "/var/tmp", "/dev/shm") if Path(path).is_dir()]
    places = [str(folder), *(path for path in writable if not any(one.startswith(f"{path}/") for one in needed))]
    mounts = " && ".join(f"mount --bind {p} {p} && mount -o remount,bind,noexec {p}" for p in places)
    command = ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh", sys.executable, "-c", program]
    home = {"TTC_DATABASE": str(folder / "solutions.sqlite3"), "HOME": str(folder), "TMPDIR": str(folder)}
    environ = {**os.environ, **home, **variables}
    return subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def namespaces() -> None:
    tried = ["unshare", "--mount", "sh", "-c", "mount --bind /tmp /tmp && mount -o remount,bind,noexec /tmp"]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("this machine cannot run programs without folders that allow execution")


@pytest.mark.usefixtures("namespaces")
def test_code_runs_where_temporary_folders_allow_no_execution(tmp_path: Path) -> None:
    program = CALL.replace("PREPARED", NO_EXECUTION)
    for llvm in (True, False):
        done = _without_execution(tmp_path, program)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert ("llvmlite.binding" in done.stdout.split()) == llvm


PERF = """
import os, sys, re
import numpy as np
import ttc_llvm
from ttc_llvm.arrays import native_entry
native_entry.native_moves()
x = np.arange(2400.0).reshape(40, 60)
assert np.array_equal(ttc_llvm.transpose(x), x.T)
def named():
    path = f"/tmp/perf-{os.getpid()}.map"
    try:
        lines = open(path).read().splitlines()
    except FileNotFoundError:
        return print("none")
    os.unlink(path)
    runs = [line.split()[0] for line in open("/proc/self/maps") if " r-xp" in line]
    spans = [[int(text, 16) for text in span.split("-")] for span in runs]
    for line in lines:
        start, size, name = line.split(" ", 2)
        start, size = int(start, 16), int(size, 16)
        assert size > 0 and any(low <= start and start + size <= high for low, high in spans), line
        print(name)
named()
child = os.fork()
if child == 0:
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (40, 60), "d"), max_implementations=1)
    solution(np.asfortranarray(x), np.empty((60, 40), order="F"))
    print("in the child")
    named()
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_functions_are_named_for_perf_where_the_environment_asks(tmp_path: Path) -> None:
    home = {"TTC_DATABASE": str(tmp_path / "solutions.sqlite3"), "HOME": str(tmp_path)}
    for asked in ("1", "1", ""):  # compiled, stored, stored
        environ = {**os.environ, **home, "TTC_PERF_MAP": asked}
        done = subprocess.run([sys.executable, "-c", PERF], env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        own, _, childs = done.stdout.partition("in the child\n")
        if not asked:
            assert own == childs == "none\n"
            continue
        wanted = ("ttc_llvm:transpose layouts of arrays\n", "ttc_llvm:kernel any-size kernel ")
        assert all(name in own and name in childs for name in wanted)
        assert "ttc_llvm:kernel i64>i64 one-zero 60:40:1 40:1:60: cpu" in childs  # of the solution


NO_MAP = """
import atexit, resource, signal
path = f"/tmp/perf-{os.getpid()}.map"
HINDRANCE
atexit.register(os.unlink, path)
signal.alarm(60)
"""


@NATIVE
@pytest.mark.parametrize("hindrance", ["os.mkfifo(path)", "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"])
def test_a_map_that_cannot_be_written_is_left_out(stored: Path, hindrance: str) -> None:
    """A pipe that nobody reads, a folder without room."""
    assert "llvmlite" not in _called(stored, NO_MAP.replace("HINDRANCE", hindrance), TTC_PERF_MAP="1")
