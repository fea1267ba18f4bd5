"""Work that another thread does meanwhile: its outcome, forks, the end of the process, one CPU; the first moves."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest
from known_layouts import NATIVE
from processes import PATIENCE, attempt

from ttc_llvm.runtime import meanwhile
from ttc_llvm.runtime.meanwhile import Meanwhile

two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")


@pytest.fixture
def _two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meanwhile, "cpu_count", lambda: 2)


def threads_of(work: Meanwhile[threading.Thread]) -> bool:
    """Whether the work was done by this thread."""
    return work.result() is threading.current_thread()


@pytest.mark.usefixtures("_two_cpus")
def test_another_thread_does_it() -> None:
    assert not threads_of(Meanwhile(threading.current_thread))


@pytest.mark.usefixtures("_two_cpus")
def test_it_is_over_when_the_work_is_done_and_more_may_follow() -> None:
    go, on, done = threading.Event(), threading.Event(), list[int]()

    def then() -> None:
        on.wait(PATIENCE)
        done.append(2)

    work = Meanwhile(lambda: go.wait(PATIENCE), then)
    assert not work.is_over
    go.set()
    assert work.result() and work.is_over and done == []
    on.set()
    meanwhile._finish()
    assert done == [2] and not meanwhile._begun


@pytest.mark.usefixtures("_two_cpus")
def test_measurements_wait_for_work_but_not_for_what_follows() -> None:
    on = threading.Event()
    work = Meanwhile(lambda: time.sleep(0.2), lambda: on.wait(PATIENCE))
    meanwhile.settle()
    assert work.is_over and meanwhile._begun
    on.set()
    meanwhile._finish()


@pytest.mark.usefixtures("_two_cpus")
def test_what_it_raises_is_raised_where_it_is_asked_for() -> None:
    followed = list[int]()
    work = Meanwhile(lambda: 1 // 0, lambda: followed.append(1))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            work.result()
    assert work.is_over and followed == []


def test_with_one_cpu_whoever_asks_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meanwhile, "cpu_count", lambda: 1)
    work = Meanwhile(threading.current_thread)
    assert work.is_over and threads_of(work)


@pytest.mark.usefixtures("_two_cpus")
def test_where_no_thread_can_be_had_whoever_asks_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    work = Meanwhile(threading.current_thread)
    assert work.is_over and threads_of(work) and not meanwhile._begun


@pytest.mark.usefixtures("_two_cpus")
def test_a_fork_waits_for_all_of_it() -> None:
    go, done = threading.Event(), list[int]()
    work = Meanwhile(lambda: go.wait(PATIENCE), lambda: done.append(1))
    threading.Timer(0.2, go.set).start()
    child = os.fork()
    if child == 0:
        os._exit(0 if work.is_over and work.result() and done == [1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.usefixtures("_two_cpus")
def test_a_child_that_was_forked_all_the_same_does_it_itself() -> None:
    go = threading.Event()
    work = Meanwhile(lambda: go.wait(PATIENCE) and os.getpid())
    before = dict(meanwhile._begun)
    meanwhile._begun.clear()  # as where a handler has raised
    child = os.fork()
    if child == 0:
        meanwhile._begun.update(before)
        meanwhile._forget()
        go.set()
        os._exit(0 if work.is_over and work.result() == os.getpid() else 1)
    go.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert work.result() == os.getpid()


# --- the first moves of a process whose database has no code ------------------------------------------------

BEGIN = """
import os, sys, threading, time, warnings
import numpy as np
import ttc_llvm
from ttc_llvm import locks
warnings.simplefilter("error")
rng = np.random.default_rng()
def moved(**more):
    x = rng.random((30, 40, 50))
    y = ttc_llvm.transpose(x, (2, 0, 1), **more)
    assert np.array_equal(y, x.transpose(2, 0, 1) * more.get("alpha", 1))
def code():
    from ttc_llvm.arrays import layout_code
    return layout_code._code()
def waited():
    for thread in threading.enumerate():
        if thread.name == "ttc-compiler":
            thread.join()
    moved()
    from ttc_llvm.arrays import native_entry
    assert native_entry.is_ready() and native_entry.is_bound()
"""


def ran(folder: Path, program: str, *wanted: str) -> None:
    """Run it after BEGIN, with a database in this folder, and look at what it prints."""
    home = {"TTC_DATABASE": str(folder / "solutions.sqlite3"), "HOME": str(folder), "XDG_STATE_HOME": ""}
    done = attempt(sys.executable, "-c", BEGIN + program, env=home)
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", list(wanted))


@NATIVE
@two_cpus
def test_the_first_result_waits_for_no_compilation(tmp_path: Path) -> None:
    ran(tmp_path, "moved(); print(code()._found is None, code().is_ready()); waited()", "True", "False")
    ran(tmp_path, "moved(); print('llvmlite' in sys.modules, threading.active_count())", "False", "1")


@NATIVE
@two_cpus
def test_a_process_that_ends_at_once_has_stored_the_code(tmp_path: Path) -> None:
    ran(tmp_path, "moved()")
    ran(tmp_path, "moved(); print('llvmlite' in sys.modules)", "False")


@NATIVE
@two_cpus
def test_forks_while_it_is_compiled(tmp_path: Path) -> None:
    fork = """
moved()
print(code().is_ready(), flush=True)
child = os.fork()
moved(); moved(alpha=2)
if child == 0:
    assert code().is_ready()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
waited()
"""
    ran(tmp_path, fork, "False")


@NATIVE
@two_cpus
def test_workers_of_multiprocessing_while_it_is_compiled(tmp_path: Path) -> None:
    workers = """
import multiprocessing
moved()
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.apply(moved); pool.apply(moved)
moved()
"""
    ran(tmp_path, workers)


@NATIVE
@two_cpus
@pytest.mark.parametrize("error", ["CompileError('no')", "TargetError('no')", "MemoryError"])
def test_what_compiling_raises_is_said_by_the_next_call(tmp_path: Path, error: str) -> None:
    failing = f"""
from ttc_llvm.arrays import layout_code
from ttc_llvm.errors import CompileError, TargetError
whole = layout_code.compiled_functions
def fail(_):
    time.sleep(0.3)
    raise {error}
layout_code.compiled_functions = fail
moved()
for thread in threading.enumerate():
    if thread.name == "ttc-compiler":
        thread.join()
layout_code.compiled_functions = {'whole' if error == 'MemoryError' else 'fail'}
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as caught:
    moved(); moved(alpha=2)
print(len(caught))
"""
    ran(tmp_path, failing, "0" if error == "MemoryError" else "1")


@NATIVE
def test_with_one_cpu_the_first_call_compiles(tmp_path: Path) -> None:
    alone = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); moved(); print(code()._found is not None)"
    ran(tmp_path, f"{alone}; print(threading.active_count() < 3)", "True", "True")


@NATIVE
@two_cpus
@pytest.mark.parametrize(
    "call",
    ["moved(alpha=2)", "moved(effort=2)", "y = ttc_llvm.transpose(np.ones((2200, 2000)))", "moved(); moved(); moved()"],
)
def test_what_numpy_is_not_to_do_waits(tmp_path: Path, call: str) -> None:
    ran(tmp_path, f"{call}; print(code()._found is not None)", "True")


@NATIVE
@two_cpus
def test_nobody_who_compiles_asks_for_what_those_hold_who_wait(tmp_path: Path) -> None:
    waiting = """
with locks.CODE:
    from ttc_llvm.arrays import native_entry
    assert not native_entry.is_ready()
    assert code()._code._is_over.wait(60) and code()._code._error is None
"""
    ran(tmp_path, waiting)


@NATIVE
@two_cpus
def test_threads_make_their_first_calls_at_one_moment(tmp_path: Path) -> None:
    crowd = """
gate, wrong = threading.Barrier(6), []
def work(k):
    gate.wait()
    try:
        for n in range(40):
            moved(**({"alpha": 2} if (n + k) % 7 == 6 else {}))
            time.sleep(0.01)
    except BaseException as error:
        wrong.append(error)
crowd = [threading.Thread(target=work, args=(k,)) for k in range(6)]
for thread in crowd: thread.start()
for thread in crowd: thread.join()
assert not wrong, wrong
waited()
"""
    ran(tmp_path, crowd)


# --- the first contractions by a fused plan -----------------------------------------------------------------

FUSED = """
from ttc_llvm.contractions import first_products, search
from ttc_llvm.contractions.fused.space import plans
from ttc_llvm.contractions.merged import Form, merge
from ttc_llvm.problem.contraction import Contraction
def contracted(run, spec, size, kind="d", *scalars):
    shapes = [[size[k] for k in part] for part in spec.replace("->", ",").split(",")]
    a, b, c = (rng.random(x) + 1j * rng.random(x) if kind == "z" else rng.random(x) for x in shapes)
    wanted = np.einsum(spec, a, b)
    if scalars:
        wanted = scalars[0] * wanted + scalars[1] * c
    else:
        c[...] = np.nan
    run.run(a, b, c, *scalars)
    np.testing.assert_allclose(c, wanted, 1e-12)
def run_of(spec, size, kind="d"):
    stated = Contraction(spec, {k: n for k, n in size.items() if k in spec}, kind)
    form = Form(stated, merge(stated))
    return search.execution(form, next(iter(plans(form.merged))).plan, 1, 1, waits=False)
size = dict(i=13, j=7, k=9, l=5, n=4)
"""


@NATIVE
@two_cpus
@pytest.mark.parametrize("kind", ["d", "z"])
@pytest.mark.parametrize("spec", ["ijk,kl->ilj", "nijk,nkl->nilj", "jik,lkn->lijn"])
def test_the_first_contraction_waits_for_no_compilation(tmp_path: Path, spec: str, kind: str) -> None:
    first = f"""
run = run_of({spec!r}, size, {kind!r})
contracted(run, {spec!r}, size, {kind!r}); print(run._code, run._native.is_over)
run._native.loaded()
contracted(run, {spec!r}, size, {kind!r}); print(run._code != 0)
"""
    ran(tmp_path, FUSED + first, "0", "False", "True")
    ran(tmp_path, f"{FUSED}run = run_of({spec!r}, size, {kind!r}); print(run._code != 0)", "True")


@NATIVE
@two_cpus
@pytest.mark.parametrize(
    "call",
    [
        "contracted(run, spec, size, 'd', 2, 0)",
        "contracted(run, spec, size, 'd', 1, 0.5)",
        "first_products.MOST = 13 * 7 * 9 * 5 - 1; contracted(run, spec, size)",
        "for _ in range(3): contracted(run, spec, size)\n",
        "first_products.AXES = 3; contracted(run, spec, size)",
    ],
)
def test_contractions_that_numpy_is_not_to_do_wait(tmp_path: Path, call: str) -> None:
    ran(tmp_path, f"{FUSED}spec = 'ijk,kl->ilj'; run = run_of(spec, size)\n{call}\nprint(run._code != 0)", "True")


@NATIVE
@two_cpus
def test_whoever_compiles_contractions_asks_for_nothing_that_those_hold_who_wait(tmp_path: Path) -> None:
    waiting = """
run = run_of("ijk,kl->ilj", size)
with locks.CODE:
    assert run._native._code._is_over.wait(60) and run._native._code._error is None
"""
    ran(tmp_path, FUSED + waiting)
