"""LLVM behind our verbs: right code, one-line errors, flat memory, and forks in the middle of it all."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forks import forked
from processes import PATIENCE

from ttc_llvm import locks
from ttc_llvm.errors import CompileError, OutOfMemoryError, TargetError
from ttc_llvm.machine import cpu_features, host, lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.runtime import backend, heap, linking

ADD = """
define i64 @add(i64 %a, i64 %b) {
  %sum = add i64 %a, %b
  ret i64 %sum
}
"""
COPY = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @copy(ptr %to, ptr %from, i64 %bytes) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}
"""
CONSTANT = """
@table = private constant [4 x i64] [i64 3, i64 1, i64 4, i64 1]
define i64 @pick(i64 %k) {
  %at = getelementptr [4 x i64], ptr @table, i64 0, i64 %k
  %value = load i64, ptr %at
  ret i64 %value
}
"""
TRIPLE = """
define void @triple(ptr %a, ptr %b) {
  %x = load <16 x float>, ptr %a, align 4
  %y = fadd <16 x float> %x, %x
  %z = fadd <16 x float> %y, %x
  store <16 x float> %z, ptr %b, align 4
  ret void
}
"""


@pytest.fixture(autouse=True)
def _compiled_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "compile_object", backend.compile_object.__wrapped__)  # type: ignore[attr-defined]


def optimised(ir_text: str, wanted: Target) -> str:
    """The module as it reaches code generation."""
    with backend._optimised(ir_text, wanted) as (_, made):
        return str(made)


def stages() -> str:
    """Several milliseconds of code generation: four stages of shuffles over a 16 x 16 block."""
    lines = ["define void @stages(ptr %a, ptr %b) {"]
    for r in range(16):
        lines.append(f"  %a{r} = getelementptr float, ptr %a, i64 {1000 * r}")
        lines.append(f"  %s0r{r} = load <16 x float>, ptr %a{r}, align 4")
    for s, r in itertools.product(range(4), range(16)):
        left, right = f"<16 x float> %s{s}r{r}", f"<16 x float> %s{s}r{(r + 1) % 16}"
        mask = ", ".join(f"i32 {(e * 2 + r) % 32}" for e in range(16))
        lines.append(f"  %s{s + 1}r{r} = shufflevector {left}, {right}, <16 x i32> <{mask}>")
    for r in range(16):
        lines.append(f"  %b{r} = getelementptr float, ptr %b, i64 {1000 * r}")
        lines.append(f"  store <16 x float> %s4r{r}, ptr %b{r}, align 4")
    return "\n".join([*lines, "  ret void", "}"])


STAGES = stages()


def resident() -> int:
    """Resident memory of this process in KiB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def build(text: str, symbol: str) -> linking.Loaded:
    return linking.load(backend.compile_object(text, backend.host_target()), [symbol])


def test_a_loaded_function_computes() -> None:
    code = build(ADD, "add")
    assert ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(code.address("add"))(40, 2) == 42


def test_constants_and_library_calls_are_linked() -> None:
    pick = build(CONSTANT, "pick")
    table = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(pick.address("pick"))
    assert [table(k) for k in range(4)] == [3, 1, 4, 1]
    copy = build(COPY, "copy")
    source, sink = ctypes.create_string_buffer(b"transposed"), ctypes.create_string_buffer(11)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(copy.address("copy"))
    call(ctypes.addressof(sink), ctypes.addressof(source), 10)
    assert sink.value == b"transposed"


def test_loaded_code_outlives_its_neighbours() -> None:
    obj = backend.compile_object(ADD, backend.host_target())
    loaded = [linking.load(obj, ["add"]) for _ in range(40)]
    kept = loaded[::7]
    del loaded
    gc.collect()
    more = [linking.load(obj, ["add"]) for _ in range(40)]
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)
    assert all(prototype(code.address("add"))(k, 1) == k + 1 for k, code in enumerate(kept + more))


def interrupted(work: Callable[[], object], at: int) -> list[str] | None:
    """The files that an interrupt passes on its way out of the work, where it strikes at the so many-th step of
    llvmlite's handling of LLVM's objects; None where there are fewer steps. It may arrive a moment later."""
    steps = itertools.count()

    def strike(frame: types.FrameType, event: str, _: object) -> None:
        if frame.f_code.co_filename.endswith("llvmlite/binding/ffi.py") and next(steps) == at:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    try:
        sys.setprofile(strike)
        work()
        sys.setprofile(None)
        if next(steps) <= at:
            return None
        time.sleep(PATIENCE)
    except KeyboardInterrupt as error:
        return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    finally:
        sys.setprofile(None)
    raise AssertionError(f"the interrupt at step {at} was swallowed")


def test_interrupts_arrive_when_llvmlite_is_done_with_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside, they have objects freed twice; inside destructors, they are swallowed."""
    swallowed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        build(ADD, "add")
        every = (interrupted(lambda: build(ADD, "add"), k) for k in itertools.count())
        ends = [*itertools.takewhile(lambda end: end is not None, every)]
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(ends) > 50
    assert not [file for end in ends for file in end or () if "llvmlite" in file]
    assert not swallowed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("define void @f() { ret i32 0 }", "cannot parse"),
        ("this is not IR", "cannot parse"),
        ("define void @f() {\n br label %x\nx:\n %a = phi i32 [0, %x]\n ret void }", "PHI"),
    ],
)
def test_a_bad_module_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(CompileError, match=said) as caught:
        backend.compile_object(text, backend.host_target())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cut", [0, 1, 100, 0.5, -10])
def test_a_damaged_object_is_refused(cut: float) -> None:
    obj = backend.compile_object(ADD, backend.host_target())
    end = int(cut * len(obj)) if isinstance(cut, float) else cut
    with pytest.raises(CompileError, match="cannot be linked"):
        linking.load(obj[:end], ["add"])


def test_a_missing_symbol_is_refused() -> None:
    obj = backend.compile_object(ADD, backend.host_target())
    with pytest.raises(CompileError, match="subtract"):
        linking.load(obj, ["add", "subtract"])
    calls = (
        "declare void @no_such_function()\ndefine void @f() {\n call void @no_such_function()\n ret void }"
    )
    with pytest.raises(CompileError):
        build(calls, "f")


def registers(text: str) -> set[str]:
    """The kinds of vector registers that additions use."""
    additions = [line for line in text.splitlines() if "addps" in line]
    return {kind for line in additions for kind in re.findall(r"([xyz]mm)\d+", line)}


@pytest.mark.parametrize(
    ("name", "register"), [("avx512", "zmm"), ("avx2", "ymm"), ("avx", "ymm"), ("sse2", "xmm")]
)
def test_vectors_have_the_target_s_full_width(name: str, register: str) -> None:
    assert registers(backend.assembly(TRIPLE, lookup.find(name))) == {register}


def test_the_host_uses_its_full_width() -> None:
    own = backend.host_target()
    register = {128: "xmm", 256: "ymm", 512: "zmm"}[own.vector_bits]
    assert registers(backend.assembly(TRIPLE, own)) == {register}


MAGIC = {"wasm": b"\0asm", "darwin": b"\xcf\xfa\xed\xfe", "linux": b"\x7fELF"}


def test_every_target_compiles_in_every_form() -> None:
    for name in (*lookup.spellings(), *lookup.triples()):
        wanted = lookup.find(name)
        magic = next(start for system, start in MAGIC.items() if system in wanted.triple)
        assert backend.compile_object(TRIPLE, wanted)[:4] == magic
        assert backend.bitcode(TRIPLE, wanted)[:2] in (b"BC", b"\xde\xc0")  # plain, or wrapped as macOS wants it
        assert wanted.triple in optimised(TRIPLE, wanted)


def test_optimisation_keeps_the_planned_shuffles_and_arithmetic() -> None:
    text = optimised(STAGES, lookup.find("avx512"))
    assert text.count("shufflevector") == 64
    assert optimised(TRIPLE, lookup.find("avx512")).count("fadd") == 2


def test_the_same_module_gives_the_same_bytes() -> None:
    own = backend.host_target()
    assert backend.compile_object(STAGES, own) == backend.compile_object(STAGES, own)


def test_targets_resolve() -> None:
    own = backend.host_target()
    assert (
        backend.resolve(None) is own and backend.resolve("host") is own and backend.resolve(" Native ") is own
    )
    assert backend.resolve(own) is own
    assert backend.resolve("haswell").cpu == "haswell"
    with pytest.raises(TargetError, match="near matches"):
        backend.resolve("hasswell")


def test_names_that_llvm_would_die_of_never_reach_it() -> None:
    for cpu in ("avx2", "no-such-cpu"):
        with pytest.raises(TargetError):
            backend.compile_object(ADD, replace(lookup.find("avx2"), cpu=cpu))
    with pytest.raises(TargetError, match="is none of x86"):
        backend.compile_object(ADD, replace(lookup.find("avx2"), triple="no-such-machine"))


def test_the_host_describes_itself() -> None:
    own = backend.host_target()
    assert own.name == "host" and own.triple.startswith("x86_64") and own.cpu in lookup.spellings()
    switches = [switch for switch in own.features.split(",") if "prefer" not in switch]
    assert switches == sorted(switches, key=lambda switch: switch[1:])
    assert own.l1 >= 8 << 10 and own.l2 >= own.l1 and min(own.ways, own.l2_ways) >= 1 and own.line in (32, 64, 128)
    assert backend.runs_here(own) and backend.runs_here(lookup.find("sse2"))


def test_what_a_cpu_needs_is_known_for_every_target() -> None:
    for cpu in lookup.cpus("x86"):
        needed = cpu_features.needs(lookup.find(cpu))
        assert "sse2" in needed and needed <= set(cpu_features.PLACES)
    assert {"avx512vbmi", "avx2", "gfni"} <= cpu_features.needs(lookup.find("icelake-server"))
    with pytest.raises(TargetError):
        cpu_features.needs(replace(lookup.find("avx"), cpu="no-such-cpu"))


def test_a_machine_lacks_what_a_target_needs() -> None:
    old = dict.fromkeys(cpu_features.needs(lookup.find("ivybridge")), True) | {"avx2": False}
    assert host.missing(lookup.find("sandybridge"), old) == ()
    assert "avx2" in host.missing(lookup.find("haswell"), old)
    foreign = replace(lookup.find("avx"), features="+f16c,+xop,-pclmul")
    assert host.missing(foreign, old) == ("xop",)


def test_cache_sizes_are_read(tmp_path: Path) -> None:
    rows = (
        ("1", "Data", "48K", "12", "64"),
        ("1", "Instruction", "32K", "8", "64"),
        ("2", "Unified", "2M", "16", "64"),
    )
    for index, row in enumerate(rows):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, value in zip(
            ("level", "type", "size", "ways_of_associativity", "coherency_line_size"), row, strict=True
        ):
            (folder / name).write_text(value + "\n")
    assert host.caches(tmp_path) == {
        "page": host.caches()["page"],
        "l1": 48 << 10,
        "ways": 12,
        "line": 64,
        "l2": 2 << 20,
        "l2_ways": 16,
    }
    assert set(host.caches(tmp_path / "absent")) == {"page"}
    assert host.last_cache(tmp_path) == 2 << 20
    assert host.last_cache(tmp_path / "absent") == 0


def test_llvm_says_nothing_of_functions_that_are_not_optimised(capfd: pytest.CaptureFixture[str]) -> None:
    """A pass builder that ran before keeps pointers into that run: it chatted on stderr, if it did not crash."""
    kept = ADD.replace(") {", ") noinline optnone {", 1)
    assert "optnone" in kept

    def deeper(frames: int) -> int:
        """Compile further down the stack of C, where the run before has left nothing."""
        if frames:
            sorted([0], key=lambda _: deeper(frames - 1))
        else:
            backend.compile_object(kept, backend.host_target())
        return frames

    for number in range(20):
        deeper(number % 5 * 3)
    assert capfd.readouterr() == ("", "")


def test_llvm_is_not_called_without_memory_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "LEAST", 1 << 56)
    with pytest.raises(OutOfMemoryError, match=r"^the compilation of a kernel takes [0-9]+ MiB, which the system"):
        backend.compile_object(ADD, backend.host_target())


@needs_proc
def test_memory_stays_flat_while_compiling() -> None:
    own = backend.host_target()
    for _ in range(40):
        backend.compile_object(TRIPLE, own)
    before = resident()
    for _ in range(300):
        backend.compile_object(TRIPLE, own)
    assert resident() - before < 4 << 10


@needs_proc
def test_memory_stays_flat_while_loading() -> None:
    obj = backend.compile_object(CONSTANT, backend.host_target())
    for _ in range(100):
        linking.load(obj, ["pick"])
    before = resident()
    for _ in range(2000):
        linking.load(obj, ["pick"])
    assert resident() - before < 4 << 10


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_child_forked_while_threads_compile_can_compile() -> None:
    own, stop = backend.host_target(), threading.Event()

    def compile_all_day() -> None:
        while not stop.is_set():
            linking.load(backend.compile_object(STAGES, own), ["stages"])

    busy = [threading.Thread(target=compile_all_day) for _ in range(2)]
    for thread in busy:
        thread.start()
    try:
        codes = [_forked(own) for _ in range(8)]
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert codes == [0] * 8


def _forked(own: Target) -> int:
    """Exit status of a child that compiles and runs a function; -1 if it does not end within 20 s."""

    def adds() -> bool:
        code = linking.load(backend.compile_object(ADD, own), ["add"])
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)
        return bool(prototype(code.address("add"))(1, 2) == 3)

    return forked(adds)


def test_importing_the_backend_loads_no_llvm() -> None:
    program = (
        "import sys, ttc_llvm.runtime.backend; print([m for m in sys.modules if m.startswith('llvmlite.binding')])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


FORKED_WHILE_IMPORTING = """
import os, sys, threading, time
import ttc_llvm
if not sys.argv[1].startswith(("ttc_llvm.compiling.front", "numpy")):
    from ttc_llvm.runtime import backend, kernel
slow = threading.Event()
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            slow.set()
            time.sleep(0.3)
sys.meta_path.insert(0, Finder())
late = {
    "ttc_llvm.arrays.transposing": lambda: ttc_llvm.transpose([[1.0, 2.0]]),
    "llvmlite.binding": lambda: ttc_llvm.runtime.backend.llvm_version(),
    "ttc_llvm.ir_builders.module": lambda: ttc_llvm.runtime.kernel._builder(),
}.get(sys.argv[1], lambda: (ttc_llvm.compile, ttc_llvm.transpose, ttc_llvm.GpuSolution))
thread = threading.Thread(target=late)
thread.start()
slow.wait(200)
child = os.fork()
if child == 0:
    late()
    os._exit(0)
deadline = time.monotonic() + 200
while os.waitpid(child, os.WNOHANG)[0] == 0:
    if time.monotonic() > deadline:
        os.kill(child, 9)
        sys.exit("the child waits for ever")
    time.sleep(0.01)
"""


@needs_fork
@pytest.mark.parametrize(
    "name",
    [
        "llvmlite.binding", "ttc_llvm.ir_builders.module", "ttc_llvm.compiling.front", "ttc_llvm.arrays.public",
        "ttc_llvm.arrays.transposing", "numpy",
    ],
)
def test_a_fork_waits_for_late_imports(name: str, tmp_path: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-c", FORKED_WHILE_IMPORTING, name]
    own = os.environ | {"TTC_DATABASE": str(tmp_path / "solutions")}
    done = subprocess.run(program, env=own, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_fork
def test_a_half_imported_llvmlite_does_not_stop_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite.binding.ffi", types.ModuleType("llvmlite.binding.ffi"))
    locks._before_fork()
    locks._after_fork()
    assert locks._held == []


STRUCK = """
class Descriptor:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

class Owner:
    one = Descriptor()
"""


def test_an_interrupt_of_an_import_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "struck_while_imported.py").write_text(STRUCK, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        locks.imported("struck_while_imported")
