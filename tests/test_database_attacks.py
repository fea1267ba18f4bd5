"""What others put into a database, or beside it, costs its reader neither files nor time nor memory nor solutions."""

from __future__ import annotations

import io
import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import hostile_files
import pytest
from forks import forked
from other_user import NOBODY, needs_root, own_folder, passes_as_other, use_home
from processes import PATIENCE

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.compiling import stored_plans
from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database import connection, exchange, file_access, notices, packing, rows, signing, trust
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request, Timing
from ttc_llvm.tuning.database.solution_file import SolutionFile

REQUEST = Request("s 8:1:256", "x86_64 haswell", 2, "cold", "", "cpu1")
RECORD = Record(REQUEST, 20, "cpu1 tile=8", 0.25, (Timing("cpu1 tile=8", (0.25,)),), (("kernel", b"code" * 999),))
OTHER = replace(RECORD, request=replace(REQUEST, threads=1))
ANOTHER = 1234  # neither root nor NOBODY
ROOT = str(Path(next(iter(ttc_llvm.__path__))).parent)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, folder in (("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.delenv(trust.VARIABLE, raising=False)
    notices._warned.clear()
    return tmp_path / "data" / "solutions.sqlite3"


def execute(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


# ---- what lies beside the file


def names_it(path: Path, victim: Path) -> None:
    """SQLite would remove the victim, which the journal names."""
    hostile_files.journal(path, victim)


def is_it(path: Path, victim: Path) -> None:
    """SQLite would write the victim, which is the journal."""
    os.link(victim, path.with_name(f"{path.name}-journal"))


def write_ahead(path: Path, victim: Path) -> None:
    """SQLite would make files beside the database, whose header says that it has them."""
    data = bytearray(path.read_bytes())
    data[18:20] = b"\2\2"
    path.write_bytes(data)


@needs_root
@pytest.mark.parametrize("plant", [names_it, is_it, write_ahead])
@pytest.mark.parametrize("owner", [ANOTHER, NOBODY])
def test_what_lies_beside_a_file_that_others_can_write_is_left_alone(
    plant: Callable[[Path, Path], None], owner: int
) -> None:
    with own_folder() as home, own_folder(owner) as shared:
        path, victim = shared / "solutions.sqlite3", home / "thesis.tex"
        os.chown(shared, 0, 0)  # root makes nothing below another's folder
        SolutionFile(path).put([RECORD])
        victim.write_text("years of work")
        plant(path, victim)
        for one, mode in ((shared, 0o777), (path, 0o666), (victim, 0o600)):
            os.chown(one, *[NOBODY if one is victim else owner] * 2)
            one.chmod(mode)
        before = sorted(shared.iterdir())

        def check() -> bool:
            database = Database(path)
            assert database.find(REQUEST, 20).record == replace(RECORD, objects=())
            database.store(OTHER)
            with suppress(DatabaseError):
                SolutionFile(path).clear()
            assert Database(path).find(OTHER.request, 20).record == OTHER, "it is in the user's own database"
            return victim.read_text() == "years of work" and len(notices._warned) == 1

        assert passes_as_other(check, home)
        assert sorted(shared.iterdir()) == before
        assert forked(lambda: SolutionFile(path).rows()) == 0, "root reads it, too"
        assert victim.exists() and sorted(shared.iterdir()) == before


@needs_root
def test_a_group_s_database_that_is_named_is_read_and_written() -> None:
    with own_folder() as home, own_folder(0) as shared:
        path = shared / "solutions.sqlite3"
        SolutionFile(path).put([RECORD])
        for one, mode in ((shared, 0o770), (path, 0o660)):
            os.chown(one, 0, NOBODY)
            one.chmod(mode)

        def check() -> bool:
            os.environ[trust.VARIABLE] = str(path)
            Database(path).store(OTHER)
            return len(SolutionFile(path).rows()) == 2

        assert passes_as_other(check, home)


@needs_root
def test_root_makes_nothing_below_another_s_folder() -> None:
    """As sudo has it, which keeps HOME."""
    with own_folder() as home:

        def check() -> bool:
            use_home(home)
            database = stored_plans.open_database(None)
            database.store(RECORD)
            assert database.find(REQUEST, 20).record == RECORD and not signing.own_secret()
            os.environ[trust.VARIABLE] = str(home)
            with pytest.raises(DatabaseError, match=f"belongs to user {NOBODY}, and root makes nothing below it"):
                SolutionFile(home / "solutions.sqlite3").put([RECORD])
            return not list(home.iterdir())

        assert forked(check) == 0


@pytest.mark.parametrize("entry", [".", "data", "~nobody-of-that-name"])
def test_only_absolute_paths_are_trusted(
    path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]], entry: str
) -> None:
    path.parent.mkdir()
    monkeypatch.chdir(path.parent if entry == "." else path.parent.parent)
    monkeypatch.setenv(trust.VARIABLE, f"{entry}:/nowhere")
    assert not any(trust.standing(str(path)).trusted for _ in range(2))
    (message,) = lines()
    assert f"{entry} is not an absolute path" in message


# ---- pages that are used more than once


@pytest.mark.parametrize("name", hostile_files.HOSTILE)
def test_tables_without_an_end_take_neither_time_nor_memory(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_SECONDS", 0.5)
    file = SolutionFile(path)
    file.put([RECORD])
    hostile_files.HOSTILE[name](path)
    operations: list[Callable[[], object]] = [
        lambda: file.get(REQUEST),
        lambda: file.look_up(REQUEST, None, -1),
        file.rows,
        lambda: file.export(io.BytesIO()),
        lambda: file.delete([REQUEST.id]),
        lambda: file.clear_older("cpu2"),
    ]

    def check() -> bool:
        before = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (before + (200 << 20), before + (200 << 20)))
        resource.setrlimit(resource.RLIMIT_CPU, (15, 15))
        for operation in operations:
            try:
                operation()
            except DatabaseError as error:
                assert not isinstance(error.__cause__, MemoryError)
        return not Database(path).find(OTHER.request, 20).hints or name == "endless"

    assert forked(check) == 0
    assert file.clear().moved is not None
    assert file.put([RECORD]) == [True]


# ---- rows


def test_a_row_that_is_no_text_costs_no_other_solution(path: Path, lines: Callable[[], list[str]]) -> None:
    SolutionFile(path).put([RECORD])
    execute(path, "UPDATE solutions_v2 SET extra = CAST(x'7b2261223a22ff227d' AS TEXT)")
    database = Database(path)
    found = database.find(REQUEST, 20).record
    assert found is None
    with pytest.raises(DatabaseError, match="extra = "):
        replace(RECORD, extra='{"a": "\udcff"}')
    database.store(OTHER)
    assert SolutionFile(path).get(OTHER.request) == OTHER


@pytest.mark.parametrize("error", [sqlite3.DataError("string or blob too big"), UnicodeEncodeError("x", "", 0, 1, "")])
def test_a_record_that_cannot_be_stored_is_given_up_and_the_others_are_stored(
    path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]], error: Exception
) -> None:
    encode = rows.encode

    def failing(record: Record) -> connection.SqlRow:
        if record.request == REQUEST:
            raise error
        return encode(record)

    monkeypatch.setattr(rows, "encode", failing)
    database = Database(path)
    with monkeypatch.context() as context:
        context.setattr(database, "_flush", lambda: None)
        database.store(RECORD)
    database.store(OTHER)
    assert SolutionFile(path).get(OTHER.request) == OTHER
    (message,) = lines()
    assert f"solution {REQUEST.id} is not stored" in message and "clear --all" not in message


LONG = [
    {"timings": [{"plan": "p" * 60_000, "seconds": [1.0]}] * 80},
    {"timings": [{"plan": "é" * 20_000, "seconds": [1.0]}] * 40},
    {"extra": {"a": "é" * (1 << 20)}},
    {"extra": {"a": json.loads("[" * 900 + "]" * 900)}},
]


@pytest.mark.parametrize("changed", LONG)
def test_what_could_not_be_read_again_is_not_imported(path: Path, changed: dict[str, Any]) -> None:
    file = SolutionFile(path)
    file.put([RECORD])
    line = json.dumps(exchange.to_fields(replace(RECORD, effort=99)) | changed).encode()
    with pytest.raises(DatabaseError, match=f"line 1: {next(iter(changed))}"):
        file.import_([line], "export")
    assert file.get(REQUEST) == RECORD


def test_everything_that_is_stored_fits_into_a_line_of_an_export(path: Path) -> None:
    """The largest fields at once, each of the characters that grow most."""
    text = "\0" * (1 << 16)
    request = Request(text, text, 1, "cold", text, text, text)
    plans = tuple(Timing("\0" * 60_000, (1.0,)) for _ in range(11))
    objects = (("kernel", os.urandom(packing.MAX_CODE)),)
    extra = json.dumps({"a": "é" * 170_000})
    big = Record(request, 1, "plan", 1.0, plans, objects, note=text, made_by=text, extra=extra)
    file = SolutionFile(path)
    file.put([big])
    stream = io.BytesIO()
    file.export(stream)
    copy = SolutionFile(path.with_name("copy"))
    copy.import_(exchange.lines_of(io.BytesIO(stream.getvalue())), "export", objects=True)
    assert [row for row in copy.rows() if row.packed_bytes] == file.rows()


def test_objects_of_one_name_or_none_leave_the_plan(path: Path, lines: Callable[[], list[str]]) -> None:
    file = SolutionFile(path)
    file.put([RECORD])
    os.environ[trust.VARIABLE] = str(path)
    try:
        for names in (("kernel", "kernel"), ("kernel", "\ud800"), ("kernel", 7)):
            packed = packing.pack(RECORD.plan, tuple((name, b"x") for name in names))  # type: ignore[misc]
            execute(path, "UPDATE code_v2 SET objects = ?", packed)
            assert file.get(REQUEST) == replace(RECORD, objects=())
    finally:
        del os.environ[trust.VARIABLE]
    assert len(lines()) == 1 and "not distinct texts" in lines()[0]


def test_code_that_is_too_large_is_counted_and_not_kept(path: Path) -> None:
    big = replace(OTHER, objects=(("kernel", bytes(packing.MAX_CODE + 1)),))
    export = path.with_name("export.jsonl")
    path.parent.mkdir()
    export.write_bytes(exchange.to_line(RECORD) + exchange.to_line(big))
    found = SolutionFile(path).import_(exchange.lines_of(export.open("rb")), "export", objects=True)
    assert [(one.changed, one.coded) for one in found] == [(True, True), (True, False)]
    before = path.read_bytes()
    Database(path).keep(replace(big, effort=99))
    assert path.read_bytes() == before


# ---- clearing


def test_clear_older_leaves_what_these_versions_use(path: Path) -> None:
    """A plan that an older program found, with code for this one, and code whose solution is gone."""
    file = SolutionFile(path)
    file.put([RECORD, OTHER])
    newer = replace(REQUEST, versions="cpu2")
    found = file.get(newer)
    assert found is not None
    file.put([replace(found, objects=(("kernel", b"new"),))])
    execute(path, "INSERT INTO code_v2 (id, versions, plan) VALUES ('gone', 'cpu2', 'p')")
    assert file.clear_older("cpu2").rows == 1
    assert [row.record.request.id for row in file.rows()] == [REQUEST.id]
    assert execute(path, "SELECT id, versions FROM code_v2") == [(REQUEST.id, "cpu2")]
    left = file.get(newer)
    assert left is not None and left.objects == (("kernel", b"new"),)


def test_clear_older_leaves_native_code_of_these_versions(path: Path) -> None:
    file = SolutionFile(path)
    requests = [replace(REQUEST, kind="native code", problem=name, versions=name) for name in ("ttc1", "ttc2")]
    for request in requests:
        file.put_native([(Record(request, 1, "p", objects=(("module", b"image"),)), None)])
    assert file.clear_older("cpu2", "ttc2").rows == 0
    assert [file.native(request, "p") for request in requests] == [(), (("module", b"image"),)]


def test_copies_of_a_shared_file_s_code_are_listed_and_removed(path: Path) -> None:
    SolutionFile(path).put([RECORD])
    path.chmod(0o666)
    database = Database(path)
    database.keep(RECORD)
    own = SolutionFile(ttc_llvm.tuning.database.folders.user_path())
    (row,) = own.rows()
    assert row.packed_bytes and Database(path).find(REQUEST, 20).record == RECORD
    assert own.delete([REQUEST.id]).rows == 1
    assert execute(Path(own.path), "SELECT count(*) FROM code_v2") == [(0,)]


@pytest.mark.parametrize("columns", [3, 150])
def test_another_program_s_tables_are_no_damage(path: Path, columns: int) -> None:
    """More columns than we let SQLite read, too."""
    path.parent.mkdir()
    execute(path, f"CREATE TABLE wide ({','.join(f'c{n}' for n in range(columns))})")
    before = path.read_bytes()
    operations: list[Callable[[], object]] = [SolutionFile(path).rows, SolutionFile(path).clear]
    for operation in (*operations, file_access.FileAccess(path).move_aside):
        with pytest.raises(DatabaseError, match="belongs to another program"):
            operation()
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1


def test_two_files_that_are_moved_in_a_second_keep_their_contents(path: Path) -> None:
    path.parent.mkdir()
    link = path.with_name("link")
    link.symlink_to(path)
    texts = [f"document {n}".encode() for n in range(3)]
    for text in texts:
        path.write_bytes(text)
        moved = SolutionFile(link).clear().moved
        assert moved is not None and Path(moved).read_bytes() == text
        assert link.is_symlink() and not path.exists()
    assert sorted(one.read_bytes() for one in path.parent.iterdir() if one != link) == texts


def test_a_file_that_is_sound_meanwhile_is_not_moved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    path.write_bytes(b"garbage" * 99)
    move = file_access.FileAccess.move_aside

    def late(self: file_access.FileAccess) -> str | None:
        """Behind another process, which has cleared the file and stored a solution."""
        monkeypatch.undo()
        assert SolutionFile(path).clear().moved is not None
        SolutionFile(path).put([RECORD])
        return move(self)

    monkeypatch.setattr(file_access.FileAccess, "move_aside", late)
    assert SolutionFile(path).clear().moved is None
    assert SolutionFile(path).get(REQUEST) is not None


# ---- the secret


@needs_root
def test_the_secret_is_that_of_whoever_asks_now() -> None:
    with own_folder(0) as home:

        def check() -> bool:
            use_home(home)
            own = signing.own_secret()
            os.seteuid(NOBODY)
            other = signing.own_secret()
            os.seteuid(0)
            return own is not None and other is None and signing.own_secret() == own

        assert forked(check) == 0


def test_a_secret_that_could_not_be_had_is_looked_for_again(path: Path) -> None:
    state = Path(os.environ["XDG_STATE_HOME"])
    state.write_text("no folder")
    assert signing.own_secret() is None
    state.unlink()
    assert signing.own_secret() is not None


def test_file_systems_without_links_have_one_secret(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write = signing._write

    def slowly(path: str) -> None:
        """Others find the file empty meanwhile."""
        if os.path.basename(path) == "secret":
            with open(os.open(path, signing._NEW, 0o600), "wb") as stream:
                time.sleep(0.2)
                stream.write(os.urandom(32))
        else:
            write(path)

    monkeypatch.setattr(signing, "_write", slowly)
    hostile_files.agree_on_a_secret(path.parent.parent)


# ---- the process


PATIENT = """
import os, sys
from pathlib import Path
from ttc_llvm.tuning.database import file_access
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.records import Record, Request
file_access.PATIENCE = 0.05
database = Database(Path(sys.argv[1]))
database.store(Record(Request("late", "target", 1, "cold", "", "cpu1"), 1, "plan"))
if os.fork() == 0:
    sys.exit()
os.wait()
print("stored", flush=True)
sys.stdin.readline()
"""


def test_what_a_busy_file_has_refused_is_stored_when_the_process_ends(path: Path) -> None:
    SolutionFile(path).put([RECORD])
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])}
    pipe = subprocess.PIPE
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        command = [sys.executable, "-W", "ignore", "-c", PATIENT, str(path)]
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environ)
        assert process.stdout is not None and process.stdout.readline() == "stored\n"
        holder.execute("COMMIT")
    assert "late" not in {row.record.request.problem for row in SolutionFile(path).rows()}
    _, said = process.communicate("\n", timeout=PATIENCE)
    assert "late" in {row.record.request.problem for row in SolutionFile(path).rows()}
    assert said.count("\n") == 1 and "is locked" in said


@pytest.mark.parametrize(("own", "wanted"), [(True, "1"), (False, None)])
def test_a_caller_s_process_keeps_its_environment(own: bool, wanted: str | None) -> None:
    program = "import os, sys; from ttc_llvm import cli; sys.argv[1:] = ['--version']; "
    program += f"cli.main({'' if own else ['--version']}); print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environ["PYTHONPATH"] = os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environ, check=True)
    assert done.stdout.splitlines()[-1] == str(wanted)


def test_the_command_counts_what_came_with_code(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.parent.mkdir()
    export = path.with_name("export.jsonl")
    export.write_bytes(exchange.to_line(RECORD) + exchange.to_line(replace(OTHER, objects=())))
    assert cli.main(["database", "import", str(export), "--with-code", f"--database={path}"]) == 0
    assert capsys.readouterr().out.endswith("2 of them new or better than what was stored, 1 stored with code\n")
