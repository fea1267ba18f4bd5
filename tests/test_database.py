"""The solutions database: which row answers which request, what is kept, what survives a round trip."""

from __future__ import annotations

import io
import json
import math
import os
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import reduce
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ttc_llvm.errors import DatabaseError
from ttc_llvm.tuning.database import exchange, packing, rows, schema
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.field_rules import EXHAUSTIVE
from ttc_llvm.tuning.database.folders import choose_path, default_path
from ttc_llvm.tuning.database.outcomes import Stored
from ttc_llvm.tuning.database.records import MODES, Record, Request, Timing, covers, merge
from ttc_llvm.tuning.database.solution_file import SolutionFile

REQUEST = Request("s 8:1:256,16:8:1 one-zero", "x86_64 haswell +avx2", 2, "cold", "", "cpu1 llvm22.1")
RECORD = Record(
    request=REQUEST,
    effort=20,
    plan="cpu1 tile=8,16",
    seconds=0.25,
    timings=(Timing("cpu1 tile=8,16", (0.25, 0.5)), Timing("cpu1 tile=8,8", (0.75,))),
    objects=(("kernel", b"\x7fELF\n\0 code" * 40), ("any size", b"")),
    ceiling_gibs=58.5,
    note="first",
)

texts = st.text(max_size=12)
numbers = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
efforts = st.one_of(st.just(EXHAUSTIVE), st.integers(1, 1 << 62))
requests = st.builds(Request, texts, texts, st.integers(1, 1 << 40), st.sampled_from(MODES), texts, texts, texts)
timings = st.builds(Timing, texts, st.lists(numbers, max_size=3).map(tuple))
objects = st.dictionaries(texts, st.binary(max_size=60), max_size=3).map(lambda d: tuple(d.items()))
records = st.builds(
    Record,
    requests,
    efforts,
    plan=texts,
    seconds=st.none() | numbers,
    timings=st.lists(timings, max_size=3).map(tuple),
    objects=objects,
    ceiling_gibs=st.none() | numbers,
    note=texts,
    made_by=texts,
    provisional=st.integers(0, 1 << 62),
    extra=st.dictionaries(texts, texts, max_size=2).map(json.dumps),
)


def as_listed(record: Record) -> Record:
    """A record as listings have it: without code, asked for by those who made it."""
    return replace(record, objects=(), request=replace(record.request, versions=record.made_by))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "ünï %3f?#.sqlite3"


def execute(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


# ---- paths


def test_path_is_the_explicit_one_then_the_variable_then_the_cache() -> None:
    environ = {"TTC_DATABASE": "/some/where.db"}
    usual = str(Path(platformdirs.user_cache_dir("ttc_llvm")) / "solutions.sqlite3")
    assert choose_path("/else.db", environ) == "/else.db"
    assert choose_path(None, environ) == default_path(environ) == "/some/where.db"
    assert default_path({"TTC_DATABASE": ""}) == default_path({}) == usual
    assert choose_path("~/x.db") == str(Path.home() / "x.db")


# ---- the answer rule


@pytest.mark.parametrize(
    ("stored", "asked", "sufficient"),
    [
        (1, 1, True),
        (1, 2, False),
        (20, 20, True),
        (20, 1, True),
        (20, 21, False),
        (20, EXHAUSTIVE, False),
        (EXHAUSTIVE, 10**9, True),
        (EXHAUSTIVE, EXHAUSTIVE, True),
    ],
)
def test_a_row_answers_requests_of_at_most_its_effort(
    path: Path, stored: int, asked: int, sufficient: bool
) -> None:
    record = replace(RECORD, effort=stored)
    Database(path).store(record)
    answer = Database(path).find(REQUEST, asked)
    assert answer.sufficient is sufficient
    assert answer.record == record
    assert answer.hints == (() if sufficient else (record.plan,))


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [  # (effort, seconds, provisional), in order of the rules
        ((20, 1.0, 0), (100, 2.0, 1), "new"),  # more effort
        ((100, 1.0, 1), (20, 2.0, 0), "old"),  # less effort and slower, whatever it is founded on
        ((100, 2.0, 1), (20, 1.0, 0), "new"),  # well founded and faster, though with less effort
        ((100, 2.0, 0), (20, 1.0, 0), "old"),
        ((20, 1.0, 1), (20, 2.0, 0), "new"),  # well founded, however fast the other looked
        ((20, 2.0, 0), (20, 1.0, 1), "old"),
        ((20, 1.0, 0), (20, 2.0, 0), "old"),  # faster
        ((20, 2.0, 1), (20, 1.0, 2), "new"),
    ],
)
def test_what_is_well_founded_replaces_what_is_not(
    old: tuple[int, float, int], new: tuple[int, float, int], kept: str
) -> None:
    first, second = (
        replace(RECORD, plan=name, effort=effort, seconds=seconds, provisional=provisional)
        for name, (effort, seconds, provisional) in (("old", old), ("new", new))
    )
    assert merge(first, second).plan == kept


def test_timing_a_busy_machine_is_not_forgotten() -> None:
    for seconds in (1.0, 3.0):
        kept = merge(replace(RECORD, seconds=2.0, provisional=1), replace(RECORD, seconds=seconds, provisional=2))
        assert (kept.seconds, kept.provisional) == (min(seconds, 2.0), 2)


@pytest.mark.parametrize(("provisional", "due"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_provisional_solution_is_due_twice(provisional: int, due: bool) -> None:
    assert replace(RECORD, provisional=provisional).is_due == due


@pytest.mark.parametrize(
    ("extra", "timed"),
    [("{}", None), ('{"timed": 92}', 92), ('{"timed": 1}', None), ('{"timed": "9"}', None), ('{"timed": true}', None)],
)
def test_a_row_tells_how_many_were_timed(extra: str, timed: int | None) -> None:
    assert replace(RECORD, extra=extra).timed == timed


def test_a_well_founded_solution_of_another_file_comes_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Database(path.parent / "shared")
    shared.store(replace(RECORD, provisional=0, objects=()))
    own = Database(path)
    own.store(replace(RECORD, provisional=1, seconds=0.1, objects=()))
    both = (own.file, shared.file)
    monkeypatch.setattr(own, "_files", lambda: both)
    found = own.find(REQUEST, 20).record
    assert found is not None and found.provisional == 0


@pytest.mark.parametrize(
    "change",
    [
        {"problem": "other"},
        {"target": "other"},
        {"threads": 3},
        {"mode": "hot-a"},
        {"options": "streamingStores=off"},
        {"kind": "contraction"},
    ],
)
@pytest.mark.parametrize("in_memory", [True, False])
def test_every_field_of_the_request_is_part_of_the_key(
    path: Path, change: dict[str, str | int], in_memory: bool
) -> None:
    database = Database(None if in_memory else path)
    database.store(RECORD)
    other = replace(REQUEST, **change)  # type: ignore[arg-type]
    assert other.id != REQUEST.id
    answer = database.find(other, 1)
    assert answer.record is None
    assert not answer.sufficient
    related = not in_memory and not change.keys() & {"problem", "target", "kind"}
    assert answer.hints == ((RECORD.plan,) if related else ())


def test_hints_put_similar_requests_first_and_repeat_nothing(path: Path) -> None:
    database = Database(path)
    others = ((8, "cold", "far"), (3, "cold", "near"), (2, "hot-ab", "hot"), (4, "cold", "near"))
    for threads, mode, plan in others:
        database.store(replace(RECORD, request=replace(REQUEST, threads=threads, mode=mode), plan=plan))
    database.store(replace(RECORD, effort=3, plan="own"))
    assert database.find(REQUEST, 20).hints == ("own", "near", "far", "hot")


def test_ignoring_the_database_still_stores(path: Path) -> None:
    ignoring = Database(path, read=False)
    ignoring.store(RECORD)
    assert ignoring.find(REQUEST, 1).record is None
    assert Database(path).find(REQUEST, 1).record == RECORD


def test_what_is_written_is_not_kept_in_memory_too(path: Path) -> None:
    database = Database(path)
    database.store(RECORD)
    SolutionFile(path).clear()
    assert database.find(REQUEST, 1).record is None


def test_looking_creates_nothing(path: Path) -> None:
    assert Database(path).find(REQUEST, 1).record is None
    assert SolutionFile(path).rows() == []
    assert SolutionFile(path).clear().rows == 0
    assert not path.parent.exists()


# ---- what is kept


@pytest.mark.parametrize(
    ("old", "new", "replaced"),
    [
        ((5, 1.0), (6, 2.0), True),
        ((6, 2.0), (5, 1.0), False),
        ((5, 1.0), (5, 0.5), True),
        ((5, 1.0), (5, 1.0), True),
        ((5, 1.0), (5, 1.5), False),
        ((EXHAUSTIVE, 2.0), (10**9, 1.0), False),
        ((10**9, 1.0), (EXHAUSTIVE, 2.0), True),
        ((1, None), (1, None), True),
        ((1, None), (1, 9.0), True),
        ((1, 9.0), (1, None), False),
    ],
)
@pytest.mark.parametrize("in_memory", [True, False])
def test_the_better_row_is_kept(
    path: Path,
    old: tuple[int, float | None],
    new: tuple[int, float | None],
    replaced: bool,
    in_memory: bool,
) -> None:
    before = replace(RECORD, effort=old[0], seconds=old[1], plan="old")
    after = replace(RECORD, effort=new[0], seconds=new[1], plan="new")
    database = Database(None if in_memory else path)
    database.store(before)
    database.store(after)
    assert database.find(REQUEST, 1).record == (after if replaced else before)


@given(st.lists(st.tuples(efforts, numbers), min_size=1, max_size=6))
def test_merging_in_any_order_ends_with_most_effort_then_least_time(pairs: list[tuple[int, float]]) -> None:
    def rank(effort: int) -> float:
        return math.inf if effort == EXHAUSTIVE else effort

    entries = [replace(RECORD, effort=effort, seconds=seconds) for effort, seconds in pairs]
    kept = reduce(merge, entries[1:], entries[0])
    most = max(rank(effort) for effort, _ in pairs)
    assert rank(kept.effort) == most
    assert kept.seconds == min(seconds for effort, seconds in pairs if rank(effort) == most)
    assert all(covers(kept.effort, effort) for effort, _ in pairs)


def test_objects_join_the_plan_they_belong_to(path: Path) -> None:
    bare = replace(RECORD, objects=())
    file = SolutionFile(path)
    assert file.put([bare, RECORD, bare]) == [True, True, False]
    assert file.get(REQUEST) == RECORD
    assert file.put([replace(RECORD, seconds=99.0, objects=(("late", b"x"),))]) == [False]
    other = replace(bare, plan="another", effort=21)
    assert file.put([other]) == [True]
    assert file.get(REQUEST) == other, "objects of another plan must not be taken over"


# ---- records and round trips


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("effort", 0),
        ("effort", -2),
        ("effort", True),
        ("effort", 1.5),
        ("effort", 1 << 63),
        ("plan", None),
        ("plan", "\ud800"),
        ("seconds", math.nan),
        ("seconds", -1.0),
        ("seconds", "1"),
        ("ceiling_gibs", math.inf),
        ("created", "yesterday"),
        ("note", b"bytes"),
        ("timings", [("p", (1.0,))]),
        ("objects", (("twice", b""), ("twice", b""))),
        ("objects", (("text", "text"),)),
        ("objects", (("one",),)),
    ],
)
def test_malformed_records_are_refused_by_field(field: str, value: object) -> None:
    with pytest.raises(DatabaseError, match=f"^{field} = "):
        replace(RECORD, **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("field", "value"), [("mode", "warm"), ("threads", 0), ("problem", 1)])
def test_malformed_requests_are_refused_by_field(field: str, value: object) -> None:
    with pytest.raises(DatabaseError, match=f"^{field} = "):
        replace(REQUEST, **{field: value})  # type: ignore[arg-type]


@given(records)
def test_records_survive_rows_and_lines(record: Record) -> None:
    assert rows.decode(rows.encode(record), record.request.versions) == replace(record, objects=())
    assert packing.unpack(record.plan, packing.pack(record.plan, record.objects)) == record.objects
    (read,) = exchange.from_lines(io.BytesIO(exchange.to_line(record)), "test", objects=True)
    assert read == record
    (bare,) = exchange.from_lines([exchange.to_line(record, objects=False)], "test", objects=True)
    assert bare == replace(record, objects=())


@given(records)
@examples(20)
def test_records_survive_the_file(tmp_path: Path, record: Record) -> None:
    file = SolutionFile(tmp_path / "all.sqlite3")
    file.clear()
    file.put([record])
    assert file.get(record.request) == record
    assert [row.record for row in file.rows()] == [as_listed(record)]
    assert file.show(record.request.id[:8], record.request.versions) == record


def test_export_and_import_carry_everything_over(path: Path, tmp_path: Path) -> None:
    source, copy = SolutionFile(path), SolutionFile(tmp_path / "copy.sqlite3")
    source.put([RECORD, replace(RECORD, request=replace(REQUEST, threads=1), effort=EXHAUSTIVE)])
    for keep in (False, True):
        stream = io.BytesIO()
        assert source.export(stream, objects=keep) == 2
        assert (b"objects" in stream.getvalue()) is keep
        assert copy.import_(stream.getvalue().splitlines(True), "x", objects=True) == [Stored(True, keep)] * 2
    assert [row for row in copy.rows() if row.packed_bytes] == source.rows()
    assert copy.import_(stream.getvalue().splitlines(True), "again", objects=True) == [Stored(False)] * 2
    assert copy.get(REQUEST) == RECORD


def test_import_takes_machine_code_only_if_told(path: Path) -> None:
    file = SolutionFile(path)
    file.import_([exchange.to_line(RECORD)], "x")
    assert file.get(REQUEST) == replace(RECORD, objects=())


def test_exports_of_format_1_are_read(path: Path) -> None:
    line = exchange.to_fields(replace(RECORD, made_by=""))
    for name in ("kind", "made_by", "provisional", "extra"):
        del line[name]
    line["format"] = 1
    file = SolutionFile(path)
    assert file.import_([json.dumps(line).encode()], "old.jsonl", objects=True) == [Stored(True, True)]
    assert file.get(REQUEST) == RECORD


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{", "not JSON"),
        (b"\xff\n", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"format": 3}', "format = 3"),
        (b'{"format": {}}', "format = {}"),
        (b'{"format": 1}', "problem is missing"),
        ({"more": 1}, "'more' is unknown"),
        ({"extra": 1}, "extra = '1' is not a JSON object"),
        ({"extra": {"x": math.inf}}, "is not a JSON object"),
        ({"provisional": -1}, "provisional = -1"),
        ({"seconds": -(10**400)}, "seconds = -1000"),
        ({"threads": -(10**400)}, "threads = -1000"),
        ({"note": "x" * 70_000}, "is not text of at most 65536 bytes"),
        ({"effort": "many"}, "effort = 'many'"),
        ({"seconds": "NaN"}, "seconds = 'NaN'"),
        ({"threads": 2.0}, "threads = 2.0"),
        ({"timings": [{"plan": "p"}]}, "timings are not"),
        ({"timings": [{"plan": "p", "seconds": "12"}]}, "timings.seconds = "),
        ({"objects": {"kernel": "%%%"}}, "objects are not base64"),
        ({"objects": ["kernel"]}, "objects are not a mapping"),
    ],
)
def test_a_malformed_line_is_named_and_nothing_is_imported(
    path: Path, line: bytes | dict[str, object], complaint: str
) -> None:
    if isinstance(line, dict):
        line = json.dumps(exchange.to_fields(RECORD) | line).encode()
    file = SolutionFile(path)
    with pytest.raises(DatabaseError) as caught:
        file.import_([exchange.to_line(RECORD), b"\n", line], "old.jsonl", objects=True)
    message = str(caught.value)
    assert message.startswith("old.jsonl, line 3: ")
    assert complaint in message
    assert "\n" not in message
    assert file.rows() == []


# ---- selecting and clearing


def test_rows_are_found_and_removed_by_the_start_of_their_id(path: Path) -> None:
    file = SolutionFile(path)
    file.put(replace(RECORD, request=replace(REQUEST, threads=n)) for n in range(1, 30))
    for bad, complaint in (
        ("zz", "hexadecimal"),
        ("", "hexadecimal"),
        ("f" * 33, "no solutions"),
        ("%", "hex"),
    ):
        with pytest.raises(DatabaseError, match=complaint):
            file.show(bad)
    ((crowded, _),) = Counter(row.record.request.id[0] for row in file.rows()).most_common(1)
    with pytest.raises(DatabaseError, match="exactly one"):
        file.delete([REQUEST.id, crowded])
    assert len(file.rows()) == 29
    assert file.delete([REQUEST.id[:12]]).rows == 1
    assert file.get(REQUEST) is None


def test_clearing_older_versions_spares_the_current_and_newer_schemas(path: Path) -> None:
    file = SolutionFile(path)
    for threads, versions in ((2, "cpu1 llvm22.1"), (3, "cpu0"), (4, "cpu2")):
        request = replace(REQUEST, threads=threads, versions=versions)
        file.put([replace(RECORD, request=request, made_by=versions)])
    execute(path, "CREATE TABLE solutions_v0 (id)")
    execute(path, "CREATE TABLE solutions_v999 (id)")
    assert file.clear_older(REQUEST.versions).rows == 2
    assert [row.record.request for row in file.rows()] == [REQUEST]
    names = execute(path, "SELECT name FROM sqlite_master WHERE type = 'table'")
    assert set(names) == {(schema.SOLUTIONS,), (schema.CODE,), ("solutions_v999",)}
    assert len(execute(path, "SELECT id FROM code_v2")) == 1


def test_clearing_gives_the_space_back(path: Path) -> None:
    file = SolutionFile(path)
    file.put([replace(RECORD, objects=(("kernel", os.urandom(200_000)),))])
    before = path.stat().st_size
    assert file.clear().rows == 1
    assert path.stat().st_size < before / 4
    assert file.rows() == []


def test_later_schemas_live_in_the_same_file(path: Path) -> None:
    file = SolutionFile(path)
    file.put([RECORD])
    execute(path, "CREATE TABLE solutions_v3 (id)")
    execute(path, "PRAGMA user_version = 3")
    assert file.get(REQUEST) == RECORD
    file.put([replace(RECORD, note="again")])
    assert file.clear().rows == 1
    assert execute(path, "PRAGMA user_version") == [(3,)]
    assert execute(path, "SELECT id FROM solutions_v3") == []
    assert execute(path, "PRAGMA journal_mode") == [("delete",)]
