"""Whose machine code is run: planted code never is, wherever it lies and whoever owns the file."""

from __future__ import annotations

import json
import os
import pickle
import stat
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import hostile_files
import numpy as np
import pytest
from forks import forked
from hypothesis import given
from hypothesis import strategies as st
from other_user import NOBODY, needs_root, own_folder, passes_as_other

import ttc_llvm
from ttc_llvm import Problem
from ttc_llvm.compiling.stored_plans import open_database
from ttc_llvm.errors import DatabaseError
from ttc_llvm.runtime import backend, kernel, linking
from ttc_llvm.tuning.database import notices, packing, schema, signing, trust
from ttc_llvm.tuning.database.connection import connect
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.folders import user_path
from ttc_llvm.tuning.database.records import Record, Request, Timing
from ttc_llvm.tuning.database.solution_file import SolutionFile

PROBLEM = Problem((1, 0), (24, 40), "s")
REQUEST = Request("s 8:1:256", "x86_64 haswell", 2, "cold", "", "cpu1")
RECORD = Record(REQUEST, 20, "cpu1 tile=8", 0.25, (Timing("cpu1 tile=8", (0.25,)),), (("kernel", b"code" * 999),))
PLANTED = "define void @kernel(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {\n  ret void\n}\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of the test's own: cache, state and database."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "data" / "solutions.sqlite3"))
    monkeypatch.delenv(trust.VARIABLE, raising=False)
    signing._secret.cache_clear()
    notices._warned.clear()
    return tmp_path / "data" / "solutions.sqlite3"


def solved(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Solves the problem as a fresh process would; True where the result is right, False where nothing was moved."""
    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    a, b = np.arange(960, dtype="f4"), np.zeros(960, "f4")
    ttc_llvm.compile(PROBLEM, 1, threads=1)(a, b)
    right = np.array_equal(b.reshape(24, 40), a.reshape(40, 24).T)
    assert right or not b.any()
    return right


def plant(place: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """Puts code that does nothing where the problem's should be, signed by whoever this is, with timings."""
    assert solved(monkeypatch)
    (row,) = SolutionFile(place).rows()
    planted = backend.compile_object(PLANTED, backend.host_target())
    found = replace(row.record, effort=7, seconds=0.5, objects=((kernel.NAME, planted),))
    SolutionFile(place).put([found])
    return found


def another_user(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """From here on the secret is another one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(place.parent.parent / "another state"))


def forbid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> bytes:
        raise AssertionError("LLVM was asked to compile")

    monkeypatch.setattr(backend, "compile_object", refuse)


# ---- signatures


def test_code_of_the_user_s_own_is_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests below could not fail."""
    plant(place, monkeypatch)
    assert not solved(monkeypatch)


def test_planted_code_is_built_anew_and_effort_and_timings_stay(
    place: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    planted = plant(place, monkeypatch)
    another_user(monkeypatch, place)
    assert solved(monkeypatch)
    assert solved(monkeypatch)
    (message,) = lines()
    assert "has not signed" in message
    (row,) = SolutionFile(place).rows()
    assert (row.record.effort, row.record.seconds, row.record.plan) == (7, 0.5, planted.plan)
    forbid_compiling(monkeypatch)
    assert solved(monkeypatch), "what was built anew is signed and kept"


@pytest.mark.parametrize("column", ["plan", "versions", "objects", "image", "extra", "digest", "id"])
def test_every_part_of_the_code_is_signed(place: Path, column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SolutionFile(place)
    other = replace(RECORD, request=replace(REQUEST, threads=1), objects=(("kernel", b"other" * 99),))
    file.put([RECORD, other])
    change = {
        "plan": "UPDATE code_v2 SET plan = 'cpu1 tile=9'; UPDATE solutions_v2 SET plan = 'cpu1 tile=9'",
        "versions": "UPDATE code_v2 SET versions = 'cpu2'",
        "objects": f"UPDATE code_v2 SET objects = x'{packing.pack(RECORD.plan, (('kernel', b'evil'),)).hex()}'",
        "image": "UPDATE code_v2 SET image = x'00'",
        "extra": "UPDATE code_v2 SET extra = '{\"a\": 1}'",
        "digest": "UPDATE code_v2 SET digest = zeroblob(32)",
        "id": f"DELETE FROM code_v2 WHERE id = '{REQUEST.id}'; UPDATE code_v2 SET id = '{REQUEST.id}'",
    }[column]
    asked = replace(REQUEST, versions="cpu2") if column == "versions" else REQUEST
    connection = connect(str(place), 1.0)
    connection.executescript(change)
    connection.close()
    found = file.get(asked)
    assert found is not None and found.seconds == 0.25
    assert found.objects == ()


fields = st.lists(st.one_of(st.none(), st.binary(max_size=9), st.text(max_size=9)), max_size=5)


@given(fields, fields)
def test_signatures_of_different_fields_differ(one: list[Any], other: list[Any]) -> None:
    assert (signing.signature(b"key", one) == signing.signature(b"key", other)) == (one == other)


def test_fields_cannot_imitate_one_another() -> None:
    lists: list[list[str | bytes | None]] = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", None], ["abc", ""], [b"abc"]]
    lists += [["a\nstr 2\nbc"], []]
    assert len({signing.signature(b"key", one) for one in lists}) == len(lists)


def test_code_of_other_versions_is_kept_beside(place: Path) -> None:
    newer = replace(RECORD, request=replace(REQUEST, versions="cpu2"), objects=(("kernel", b"newer"),), effort=1)
    file = SolutionFile(place)
    assert file.put([RECORD, newer]) == [True, True]
    for record in (RECORD, newer):
        found = file.get(record.request)
        assert found == replace(RECORD, request=record.request, objects=record.objects, made_by="cpu1")
    assert file.get(replace(REQUEST, versions="cpu3")) == replace(
        RECORD, request=replace(REQUEST, versions="cpu3"), objects=(), made_by="cpu1"
    )


def test_a_newer_program_answers_from_the_row_and_builds_code(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(place, monkeypatch)
    monkeypatch.setattr(kernel, "REVISION", kernel.REVISION + 1)
    assert solved(monkeypatch)
    (row,) = SolutionFile(place).rows()
    assert row.record.effort == 7
    forbid_compiling(monkeypatch)
    assert solved(monkeypatch)
    monkeypatch.undo()


def test_a_plan_of_no_use_is_replaced_though_it_was_better(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = plant(place, monkeypatch)
    SolutionFile(place).put([replace(planted, plan="cpu9 of the future", seconds=0.001, objects=())])
    assert solved(monkeypatch)
    (row,) = SolutionFile(place).rows()
    assert row.record.plan == planted.plan


def test_code_for_another_machine_is_never_linked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(place, monkeypatch)
    solution = ttc_llvm.compile(PROBLEM, 1, threads=1)
    monkeypatch.setattr(kernel, "cache", kernel.KernelCache())
    monkeypatch.setattr(backend, "runs_here", lambda target: False)
    monkeypatch.setattr(linking, "load", lambda *_: pytest.fail("it was linked"))
    for wanted in (solution, ttc_llvm.compile(PROBLEM, 1, threads=1)):
        with pytest.raises(ttc_llvm.TargetError, match="cannot run here"):
            wanted(np.zeros(960, "f4"), np.zeros(960, "f4"))


def test_pickles_hold_no_code(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(place, monkeypatch)
    solution = ttc_llvm.compile(PROBLEM, 1, threads=1)
    (objects,) = solution._objects.values()
    text = pickle.dumps(solution)
    assert objects not in text and b"ELF" not in text
    assert str(solution.plan).encode() in text
    again = pickle.loads(text)
    assert (again.plan, again.measurement) == (solution.plan, solution.measurement)


# ---- files that others can write


def writable(path: Path) -> None:
    path.chmod(0o666)


def writable_folder(path: Path) -> None:
    path.parent.chmod(0o777)


def another_owner(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)


def another_owner_of_the_folder(path: Path) -> None:
    os.chown(path.parent, NOBODY, NOBODY)


OTHERS = [
    writable,
    writable_folder,
    pytest.param(another_owner, marks=needs_root),
    pytest.param(another_owner_of_the_folder, marks=needs_root),
]


@pytest.mark.parametrize("shared", OTHERS)
def test_code_that_others_can_write_is_not_run_though_it_is_signed(
    place: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]], shared: Callable[[Path], None]
) -> None:
    plant(place, monkeypatch)
    shared(place)
    before = place.read_bytes()
    assert solved(monkeypatch)
    (message,) = lines()
    assert "others than this user can write" in message and trust.VARIABLE in message
    assert place.read_bytes() == before, "a shared file is not rewritten"
    forbid_compiling(monkeypatch)
    assert solved(monkeypatch), "the code is kept in the user's own database"
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.parent.parent / "another cache"))
    monkeypatch.setenv(trust.VARIABLE, f"/nowhere:{place if shared is writable else place.parent}")
    assert not solved(monkeypatch), "a file that is named is trusted"


def test_new_results_go_to_the_user_s_own_database_where_others_can_write(
    place: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    place.parent.mkdir(0o700)
    place.parent.chmod(0o777)
    assert solved(monkeypatch)
    (message,) = lines()
    assert "nothing is written into it" in message
    assert list(place.parent.iterdir()) == []
    (row,) = SolutionFile(user_path()).rows()
    assert row.packed_bytes
    forbid_compiling(monkeypatch)
    assert solved(monkeypatch)
    with pytest.raises(DatabaseError, match="others than this user can write"):
        SolutionFile(place).put([RECORD])


def test_a_trusted_file_needs_no_signature(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(place, monkeypatch)
    another_user(monkeypatch, place)
    link = place.parent.parent / "link"
    link.symlink_to(place)
    monkeypatch.setenv(trust.VARIABLE, str(link))
    assert not solved(monkeypatch)
    assert SolutionFile(place).standing() == trust.Standing(True, True, True)


@needs_root
def test_only_what_root_alone_can_have_written_is_trusted_by_others() -> None:
    with own_folder() as home:
        file = os.path.realpath("/etc/passwd")
        ours = trust.standing(file)
        assert (ours.own, ours.trusted) == (True, False), "root may have copied it from anywhere"
        assert passes_as_other(lambda: trust.standing(file) == trust.Standing(False, True, True), home)
        (home / "db").touch()
        os.chown(home / "db", 0, 0)
        assert passes_as_other(lambda: not trust.standing(str(home / "db")).trusted, home), "the folder is not root's"
        os.chown(home, 0, 0)
        assert passes_as_other(lambda: not trust.standing(str(home / "db")).trusted, home), "all can write /tmp"
        os.chown(home / "db", 1234, 1234)
        assert passes_as_other(lambda: not trust.standing(str(home / "db")).safe, home)


@needs_root
def test_a_file_of_root_s_is_read_and_the_code_kept_at_home() -> None:
    """Plans and timings of a file that this user cannot write; code is signed in the user's own database."""
    with own_folder() as home, own_folder(0) as shared:
        path = shared / "solutions.sqlite3"
        SolutionFile(path).put([RECORD])
        path.chmod(0o644)

        def check() -> bool:
            database = Database(path)
            found = database.find(REQUEST, 20).record
            assert found == replace(RECORD, objects=()) and database.keeps_code
            database.keep(RECORD)
            return Database(path).find(REQUEST, 20).record == RECORD

        before = path.read_bytes()
        assert passes_as_other(check, home)
        assert path.read_bytes() == before
        own = home / ".cache" / "ttc_llvm" / "solutions.sqlite3"
        assert (own.stat().st_uid, stat.S_IMODE(own.stat().st_mode)) == (NOBODY, 0o600)


# ---- what is created


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_folders_are_the_user_s_alone(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    given.chmod(0o755)
    path = given / "one" / "two" / "solutions.sqlite3"
    before = os.umask(0)
    try:
        SolutionFile(path).put([RECORD])
        with schema.transaction(str(path), write=True, patience=1.0) as session:
            assert session is not None
            session.change("DELETE FROM solutions_v2")
            assert mode(path.with_name("solutions.sqlite3-journal")) == 0o600
    finally:
        os.umask(before)
    state = Path(os.environ["XDG_STATE_HOME"])
    assert [mode(one) for one in (given, given / "one", path.parent, path)] == [0o755, 0o700, 0o700, 0o600]
    assert [mode(one) for one in (state, state / "ttc_llvm", state / "ttc_llvm" / "secret")] == [0o700, 0o700, 0o600]
    path.chmod(0o644)
    SolutionFile(path).put([replace(RECORD, effort=21)])
    assert mode(path) == 0o644, "what was there keeps its mode"


# ---- the secret


def test_processes_that_come_first_together_agree(tmp_path: Path) -> None:
    hostile_files.agree_on_a_secret(tmp_path)


def readable(path: Path) -> None:
    path.write_bytes(bytes(32))
    path.chmod(0o640)


def another_s(path: Path) -> None:
    path.write_bytes(bytes(32))
    path.chmod(0o600)
    os.chown(path, NOBODY, NOBODY)


def short(path: Path) -> None:
    path.write_bytes(b"short")
    path.chmod(0o600)


def a_link(path: Path) -> None:
    readable(path.with_name("elsewhere"))
    path.with_name("elsewhere").chmod(0o600)
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "spoil",
    [
        readable, pytest.param(another_s, marks=needs_root), short, a_link, lambda path: path.mkdir(),
        lambda path: os.mkfifo(path, 0o600), lambda path: path.parent.rmdir() or path.parent.touch(),
    ],
)  # fmt: skip
def test_a_secret_that_is_none_is_not_used_and_said_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]], spoil: Callable[[Path], None]
) -> None:
    secret = Path(os.environ["XDG_STATE_HOME"]) / "ttc_llvm" / "secret"
    secret.parent.mkdir(parents=True)
    spoil(secret)
    assert solved(monkeypatch)
    assert solved(monkeypatch)
    (message,) = lines()
    assert str(secret) in message and "machine code is neither kept" in message
    (row,) = SolutionFile(place).rows()
    assert row.packed_bytes == 0


@needs_root
def test_without_a_home_everything_works_but_code_is_not_kept() -> None:
    def check() -> bool:
        for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        os.environ["TTC_DATABASE"] = str(home / "solutions.sqlite3")
        database = Database(home / "solutions.sqlite3")
        database.store(RECORD)
        return database.find(REQUEST, 20).record == replace(RECORD, objects=()) and len(notices._warned) == 1

    with own_folder() as home:
        assert passes_as_other(check, home)


def test_no_home_is_one_line_and_makes_no_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    monkeypatch.delenv("TTC_DATABASE")
    monkeypatch.setattr(ttc_llvm.tuning.database.folders, "user_folder", lambda kind: "~/.cache/ttc_llvm")
    monkeypatch.chdir(tmp_path)
    assert solved(monkeypatch)
    (message,) = lines()
    assert "no home directory" in message
    assert not (tmp_path / "~").exists()
    with pytest.raises(DatabaseError, match="no home directory"):
        ttc_llvm.tuning.database.folders.choose_path(None)


@needs_root
def test_a_read_only_home_costs_one_line() -> None:
    def check() -> bool:
        os.environ["TTC_DATABASE"] = ""
        database = open_database(None)
        database.store(RECORD)
        return database.find(REQUEST, 20).record == RECORD and len(notices._warned) == 1

    with own_folder(0) as home:
        assert passes_as_other(check, home)


# ---- sizes


def bomb(head: object, size: int) -> bytes:
    deflating = zlib.compressobj()
    parts = [deflating.compress(json.dumps(head).encode() + b"\n")]
    parts += [deflating.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join([*parts, deflating.flush()])


@pytest.mark.parametrize(
    "head",
    [
        ["plan", [["kernel", 1 << 40]]],
        ["plan", [["kernel", 256 << 20]]],
        ["plan", [["kernel", 8]]],
        ["plan", [["kernel", 1 << 20], ["other", -1]]],
        ["plan", [["kernel", 1e308]]],
        ["plan", [["kernel"]]],
        ["plan", 7],
        "x" * 100_000,
        ["other", [["kernel", 8]]],
    ],
)
def test_sizes_are_checked_before_code_is_unpacked(head: object) -> None:
    given = bomb(head, 64 << 20)
    tracemalloc.start()
    with pytest.raises(DatabaseError, match="objects are"):
        packing.unpack("plan", given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20


def test_code_that_is_too_large_is_left_out(place: Path, lines: Callable[[], list[str]]) -> None:
    big = replace(RECORD, objects=(("kernel", bytes(packing.MAX_CODE + 1)),))
    SolutionFile(place).put([big])
    assert SolutionFile(place).get(REQUEST) == replace(RECORD, objects=())
    assert len(lines()) == 1 and "too many" in lines()[0]


def test_a_fork_signs_as_its_parent_does(place: Path) -> None:
    SolutionFile(place).put([RECORD])
    assert forked(lambda: SolutionFile(place).get(REQUEST) == RECORD) == 0
