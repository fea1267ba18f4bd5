"""Attacks on the solutions database."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from faults import Attack

from ttc_llvm.tuning.database import Database, Record, Request

REQUEST = Request("s 8:1:256", "x86_64 haswell", 2, "cold", "", "cpu1")


def random_bytes(chance: random.Random, folder: Path) -> Iterable[str]:
    """A file of chance where the database should be."""
    path = folder / "solutions.sqlite3"
    path.write_bytes(chance.randbytes(chance.randrange(20_000)))
    database = Database(path)
    assert database.find(REQUEST, 1).record is None, "a solution was found in random bytes"
    database.store(Record(REQUEST, 1, "plan"))
    assert database.find(REQUEST, 1).sufficient, "a solution was forgotten"
    return ()


ATTACKS = {"random": Attack(random_bytes)}
