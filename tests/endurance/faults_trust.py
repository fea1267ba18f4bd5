"""Attacks on what a user trusts: others' homes and files, hostile imports, planted code, plans that were changed.

No code comes out of a file but what this user has signed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import hostile_files
from database_user import RECORDS, SAID, a_user, computes, filled, strictly, ttc
from faults import Attack
from forks import forked

from ttc_llvm.compare.builds import Builder, Job
from ttc_llvm.compare.compilers import Compiler
from ttc_llvm.compiling.stored_plans import open_database
from ttc_llvm.runtime import backend, kernel
from ttc_llvm.tuning.database import exchange, signing, trust
from ttc_llvm.tuning.database.database import Database
from ttc_llvm.tuning.database.solution_file import SolutionFile

NOBODY = 65534
PLANTED = "define void @kernel(ptr %a, ptr %b, ptr %s, ptr %p, ptr %x, i64 %begin, i64 %end) {\n  ret void\n}\n"


def another_user(chance: random.Random, folder: Path) -> Iterator[str]:
    """No home, a home of another's, a file of another's, as a user without rights."""
    if os.geteuid() != 0:
        yield "skipped: only root can be another user"
        return
    with a_user(folder) as path:
        filled(path, chance)
        path.chmod(chance.choice((0o600, 0o644, 0o666)))
        path.parent.chmod(chance.choice((0o700, 0o755, 0o777)))
        owner = chance.choice((0, NOBODY, 1234))
        os.chown(path, owner, owner)
        home = chance.choice(("own", "root's", "none"))
        if home == "own":
            (folder / "home").mkdir()
            os.chown(folder / "home", NOBODY, NOBODY)
        before = path.read_bytes()

        def check() -> bool:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
                os.environ.pop(name, None)
            os.environ.update({} if home == "none" else {"HOME": str(folder / "home" if home == "own" else folder)})
            signing._secret.cache_clear()
            for record in RECORDS:
                found = open_database(path).find(record.request, 1)
                assert found.record is None or found.record.objects == ()
                open_database(path).store(record)
                assert open_database(path).find(record.request, 1).sufficient
            strictly(SolutionFile(path).rows)
            return all(map(str.isprintable, SAID))

        assert forked(check) == 0, f"mode {path.stat().st_mode:o}, owner {owner}, home {home}"
        assert owner != 0 or path.stat().st_mode & 0o002 or path.read_bytes() == before
        yield f"home {home}"


def hostile_import(chance: random.Random, folder: Path) -> Iterator[str]:
    """An export whose values, names or bytes were changed."""
    with a_user(folder) as path:
        line = exchange.to_fields(chance.choice(RECORDS))
        kind = chance.choice(("value", "name", "bytes", "nested"))
        name = chance.choice(list(line))
        if kind == "value":
            line[name] = chance.choice((None, 7, -1, 1e308, "", "x" * 70_000, [], {}, [[]], {"a": 1}, -(10**400), True))
        elif kind == "name":
            line["evil\x1b"] = line.pop(name)
        text = bytearray(json.dumps(line).encode())
        if kind == "bytes":
            for _ in range(chance.randrange(1, 4)):
                text[chance.randrange(len(text))] = chance.randrange(256)
        elif kind == "nested":
            text = bytearray(b'{"extra":' + b"[" * 100_000)
        export = path.with_name("export.jsonl")
        export.write_bytes(exchange.to_line(RECORDS[0]) + bytes(text) + b"\n")
        words = chance.choice(([], ["--with-code"]))
        status, _ = ttc("database", "import", str(export), *words, f"--database={path}")
        assert status == 0 or not SolutionFile(path).rows(), "an import that failed left rows"
        assert words or not any(row.packed_bytes for row in SolutionFile(path).rows()), "code was taken"
        yield f"{kind}: {'taken' if status == 0 else 'refused'}"


LONG = (
    {"timings": [{"plan": "p" * 60_000, "seconds": [1.0]}] * 80},
    {"extra": {"a": "é" * (1 << 20)}},
    {"extra": {"a": "\0" * (5 << 20)}},
)


def long_import(chance: random.Random, folder: Path) -> Iterator[str]:
    """An export of rows that could be stored and not be read again, which take the place of a sound row."""
    with a_user(folder) as path:
        record = chance.choice(RECORDS)
        SolutionFile(path).put([record])
        line = exchange.to_fields(replace(record, effort=99)) | chance.choice(LONG)
        export = path.with_name("export.jsonl")
        export.write_text(json.dumps(line, ensure_ascii=chance.random() < 0.5) + "\n")
        assert ttc("database", "import", str(export), f"--database={path}")[0] == 2
        assert SolutionFile(path).get(record.request) == record, "a sound row is gone"
        yield "refused"


def beside(chance: random.Random, folder: Path) -> Iterator[str]:
    """A journal that names a file of the reader's, or is one, beside a database that others can write."""
    if os.geteuid() != 0:
        yield "skipped: only root can be another user"
        return
    with a_user(folder) as path:
        filled(path, chance)
        home, victim = folder / "home", folder / "home" / "thesis.tex"
        home.mkdir()
        victim.write_text("years of work")
        how = chance.choice(("names", "is", "write-ahead"))
        if how == "names":
            hostile_files.journal(path, victim)
        elif how == "is":
            os.link(victim, path.with_name(f"{path.name}-journal"))
        else:
            path.write_bytes(path.read_bytes()[:18] + b"\2\2" + path.read_bytes()[20:])
        reader, owner = chance.choice((0, NOBODY)), chance.choice((1234, 4321))
        for one in (path.parent, *path.parent.iterdir()):
            os.chown(one, owner, owner)
        path.parent.chmod(chance.choice((0o755, 0o777, 0o1777)))
        path.chmod(chance.choice((0o644, 0o666)))
        for one in (home, victim):
            os.chown(one, reader, reader)
        before = {one.name: one.stat() for one in path.parent.iterdir()}

        def check() -> bool:
            os.setgroups([])
            os.setgid(reader)
            os.setuid(reader)
            os.environ.update(HOME=str(home), XDG_STATE_HOME="", XDG_CACHE_HOME="")
            for record in RECORDS[:2]:
                assert Database(path).find(record.request, 1).record is not None
                Database(path).store(replace(record, effort=99))
                assert Database(path).find(record.request, 99).sufficient, "a solution was forgotten"
            strictly(SolutionFile(path).rows)
            strictly(SolutionFile(path).clear)
            return victim.read_text() == "years of work" and len(SAID) == 1

        assert forked(check) == 0, how
        found = {one.name: one.stat() for one in path.parent.iterdir()}
        assert found.keys() == before.keys(), f"{how}: files beside the database"
        assert all(found[name].st_uid == before[name].st_uid for name in found), f"{how}: an owner was changed"
        yield f"{how}, read by {'root' if reader == 0 else 'another'}"


def planted_library(chance: random.Random, folder: Path) -> Iterator[str]:
    """Others write what a compiled reference would be loaded from."""
    if os.geteuid() != 0 or shutil.which("cc") is None:
        yield "skipped: needs root and a C compiler"
        return
    kept = folder / "references"
    kept.mkdir(0o777)
    compiler = Compiler("cc", shutil.which("cc") or "", "1", ("-O0",))
    job = Job(compiler, "int which(void) { return 1; }")
    how = chance.choice(("folder", "file"))
    kept.chmod(0o777 if how == "folder" else 0o755)
    builder = Builder(kept)
    builder.obtain(job)
    place = builder._places(job)[0]
    place.write_bytes(b"planted")
    place.with_suffix(".json").write_text('{"seconds": 1}')
    place.chmod(0o666 if how == "file" else 0o644)
    os.chown(place, NOBODY, NOBODY)
    for one in (builder, Builder(kept)):
        build = one.obtain(job)
        assert build.library is not None, build.message
        assert build.library.read_bytes() != b"planted" and kept not in build.library.parents
    yield how


def relative_trust(chance: random.Random, folder: Path) -> Iterator[str]:
    """Entries of the list of trusted files that name whatever folder is the current one."""
    with a_user(folder) as path:
        SolutionFile(path).put(RECORDS)
        before = os.getcwd()
        os.chdir(path.parent)
        os.environ[trust.VARIABLE] = chance.choice((".", "solutions.sqlite3", "./", "../data"))
        os.environ["XDG_STATE_HOME"] = str(folder / "another")
        try:
            for record in RECORDS:
                found = SolutionFile(path).get(record.request)
                assert found is not None and found.objects == (), "unsigned code came out"
        finally:
            os.chdir(before)
        yield "ignored"


def planted(chance: random.Random, folder: Path) -> Iterator[str]:
    """Code that does nothing, well formed, signed by somebody else or lying where others can write."""
    with a_user(folder) as path:
        computes(path)
        (row,) = (one for one in SolutionFile(path).rows() if one.packed_bytes)
        code = backend.compile_object(PLANTED, backend.host_target())
        SolutionFile(path).put([replace(row.record, effort=7, objects=((kernel.NAME, code),))])
        how = chance.choice(("signature", "mode", "folder", "owner") if os.geteuid() == 0 else ("signature", "mode"))
        {
            "signature": lambda: os.environ.update(XDG_STATE_HOME=str(folder / "another")),
            "mode": lambda: path.chmod(chance.choice((0o660, 0o602, 0o666))),
            "folder": lambda: path.parent.chmod(chance.choice((0o770, 0o1777))),
            "owner": lambda: os.chown(path, NOBODY, NOBODY),
        }[how]()
        computes(path)
        (row,) = (one for one in SolutionFile(path).rows() if one.record.effort == 7)
        yield how


NUMBERS = ("0", "1", "2", "3", "16", "24", "40", str(1 << 20), str(1 << 40), str((1 << 63) - 1), str(1 << 64), "9" * 30)
WORDS = ("b", "carry", "shift", "rows", "far")


def hostile_plans(chance: random.Random, folder: Path) -> Iterator[str]:
    """Numbers and words in a plan are changed: it is refused, or gives the right result."""
    with a_user(folder) as path:
        computes(path)
        (row,) = (one for one in SolutionFile(path).rows() if one.packed_bytes)
        words = row.record.plan.split()
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(1, len(words))
            words[at] = re.sub(r"\d+", lambda _: chance.choice(NUMBERS), words[at])
            words[at] = re.sub("none|blocks", lambda _: chance.choice(WORDS), words[at])
        SolutionFile(path).put([replace(row.record, plan=" ".join(words), effort=7)])
        computes(path)
        yield "refused" if any("stored plan is ignored" in line for line in SAID) else "taken"


ATTACKS = {
    "another-user": Attack(another_user, 2),
    "import": Attack(hostile_import, 3),
    "long-import": Attack(long_import),
    "planted": Attack(planted, 2),
    "beside": Attack(beside, 2),
    "library": Attack(planted_library),
    "relative": Attack(relative_trust),
    "plans": Attack(hostile_plans, 2),
}
