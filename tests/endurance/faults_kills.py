"""Processes that end at any moment: tuning on a shared database, and generating files."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from faults import Attack

import ttc_llvm
from ttc_llvm.cli import candidate_files
from ttc_llvm.cli import main as ttc
from ttc_llvm.compiling.stored_plans import open_database
from ttc_llvm.tuning.database.records import Record, Request
from ttc_llvm.tuning.search.speed import SpeedLog

PROCESSES = 8
LIFE_SECONDS = 3.0  # at most, of a tuning process
PATIENCE_SECONDS = 60.0
ENDS = (*[signal.SIGKILL] * 8, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
INTERRUPTED, EXITED = 130, 7
SIZES = tuple((m, n) for m in range(3, 40, 3) for n in range(4, 40, 5))


def _forked(work: Callable[[], object]) -> int:
    """A child that does this and ends; its process id. It has imported and linked what this process has."""
    child = os.fork()
    if child:
        return child
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGUSR1, _exit)
        work()
        os._exit(0)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    except SystemExit:
        os._exit(EXITED)
    except BaseException as error:
        os.write(2, f"child: {type(error).__name__}: {error}\n".encode())
        os._exit(1)


RAISED = (signal.SIGINT, signal.SIGUSR1)  # signals that raise an exception


def _exit(number: int, frame: object) -> None:
    """A program that ends itself, wherever it is."""
    raise SystemExit


def _ended(child: int) -> int:
    """The status of a child that ends by itself or was told to."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"a process did not end within {PATIENCE_SECONDS:g} s of a signal")


# --- tuning ----------------------------------------------------------------------------------------------


class _Refused(logging.Handler):
    """Whether the database refused a row: a warning says so."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.happened = False

    def emit(self, record: logging.LogRecord) -> None:
        self.happened = True


def _tune(seed: int, database: Path, log: Path) -> None:
    """Tune for ever; the log gets a line for every problem whose solution was timed and stored, when `compile` has
    returned: what the model alone has chosen is written later."""
    chance, refused = random.Random(seed), _Refused()
    logging.getLogger("ttc_llvm").addHandler(refused)
    stream = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        refused.happened = False
        words = (chance.choice("sd"), *chance.choice(SIZES), chance.choice((1, 2, 4)))
        measured = _solved(words, database).measurement
        if not refused.happened and measured and not measured.interrupted:
            os.write(stream, (json.dumps(words) + "\n").encode())


def _solved(words: Sequence[Any], database: Path, progress: Any = None) -> ttc_llvm.Solution:
    letter, rows, columns, effort = words
    problem = ttc_llvm.Problem((1, 0), (rows, columns), letter)
    return ttc_llvm.compile(problem, effort, threads=1, database=database, progress=progress)


@mock.patch.object(SpeedLog, "is_busy", lambda self, gibs: False)  # eight processes are: all would be timed again
def tuning(chance: random.Random, folder: Path) -> Iterable[str]:
    """Eight processes tune on one database and are ended one by one: it is whole, and holds all that they stored."""
    database, logs = folder / "solutions.sqlite3", [folder / f"log{number}" for number in range(PROCESSES)]
    _solved(("s", 4, 4, 1), folder / "warm.sqlite3")
    children = []
    for log in logs:
        seed = chance.getrandbits(32)
        children.append(_forked(partial(_tune, seed, database, log)))
    try:
        features = list(_killed(chance, children))
    finally:
        for child in children:  # those that are left, where one is a fault: they would tune for ever
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(child, os.WNOHANG) == (0, 0):
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
    _check_whole(database)
    lines = {line for log in logs if log.exists() for line in log.read_text().splitlines(keepends=True)}
    stored = {tuple(json.loads(line)) for line in lines if line.endswith("\n")}
    for words in sorted(stored):
        _check_stored(words, database)
    return [*features, *["row that a process had stored"] * len(stored)]


def _killed(chance: random.Random, children: list[int]) -> Iterator[str]:
    for child in chance.sample(children, len(children)):
        time.sleep(chance.random() * 2 * LIFE_SECONDS / len(children))
        number = chance.choice(ENDS)
        os.kill(child, number)
        status = _ended_again(child, number)
        expected = (-number, INTERRUPTED, EXITED)
        assert status in expected, f"a process ended with status {status} instead of by {number.name}"
        yield f"end by {number.name}"


def _ended_again(child: int, number: signal.Signals) -> int:
    """Ctrl-C ends a search, not the program: this one goes on to its next problem, until one strikes outside. What is
    raised in a destructor (llvmlite has some) is swallowed by Python."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while number in RAISED and time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
        os.kill(child, number)
    return _ended(child)


def _check_whole(database: Path) -> None:
    if not database.exists():
        return
    with contextlib.closing(sqlite3.connect(database, timeout=PATIENCE_SECONDS)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchall()
    assert found == [("ok",)], f"integrity check: {found[:3]}"


def _check_stored(words: Sequence[Any], database: Path) -> None:
    searched: list[object] = []
    solution = _solved(words, database, searched.append)
    assert not searched, f"the solution of {words} was stored, and is lost"
    source = np.arange(words[1] * words[2], dtype={"s": "f4", "d": "f8"}[words[0]])
    target = np.zeros_like(source)
    solution(source, target)
    wanted = source.reshape(words[2], words[1]).T.reshape(-1)
    assert (target == wanted).all(), f"{words}: wrong elements"


# --- generating ------------------------------------------------------------------------------------------


def _object(folder: Path, version: int) -> list[str]:
    cpu = ("haswell", "sandybridge")[version]
    problem = ["--perm=1,0", "--size=30,40"]
    return [*problem, "--generateOnly", "--quiet", "--keep", f"--cpu={cpu}", f"--output-dir={folder}"]


def _library(folder: Path, version: int) -> list[str]:
    return [word for word in _object(folder, version) if word != "--keep"] + ["--emit=static,fortran", "--name=made"]


def _page(folder: Path, version: int) -> list[str]:
    return ["explain", "--perm=1,0", f"--size=30,{40 + version}", f"--html={folder}/page.html", "--cpu=haswell"]


def _export(folder: Path, version: int) -> list[str]:
    path = folder.parent / f"exported{version}.sqlite3"
    if not path.exists():
        store = open_database(path)
        for number in range(200 + version):
            request = Request(f"s 8:1:{256 + number}", "x86_64 haswell", 2, "cold", "", "cpu1")
            store.store(Record(request, 1, "plan", objects=(("kernel", bytes(2000)),)))
    return ["database", "export", f"{folder}/exported.jsonl", f"--database={path}"]


COMMANDS = {"object": _object, "library": _library, "page": _page, "export": _export}


def _run(arguments: list[str]) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os._exit(ttc(arguments))


def _contents(folder: Path) -> dict[str, bytes]:
    """Files under final names by their path; what is written aside has a name of its own."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {str(path): (folder / path).read_bytes() for path in paths if ".ttc." not in str(path)}


def generating(chance: random.Random, folder: Path) -> Iterable[str]:
    """Commands write files over older ones and are killed: every file is the old one or the new one, whole."""
    name = chance.choice(list(COMMANDS))
    whole, seconds = [], 0.0
    for version in (0, 1):
        place = folder / f"whole{version}"
        place.mkdir()
        command = COMMANDS[name](place, version)
        start = time.monotonic()
        status = _ended(_forked(partial(_run, command)))
        seconds = time.monotonic() - start
        assert status == 0, f"ttc {' '.join(command)}: status {status}"
        whole.append(_contents(place))
    for number in range(8):
        place = folder / f"killed{number}"
        if chance.random() < 0.7:
            shutil.copytree(folder / "whole0", place)
        place.mkdir(exist_ok=True)
        command = COMMANDS[name](place, 1)
        child = _forked(partial(_run, command))
        time.sleep(chance.random() * 1.2 * seconds)
        os.kill(child, signal.SIGKILL)
        status = _ended(child)
        for path, content in _contents(place).items():
            begun = candidate_files.HEADING.encode() if path.endswith(candidate_files.LIST) else None
            assert content in [begun, *[made.get(path) for made in whole]], f"ttc {' '.join(command)}: {path} is torn"
        yield f"{name} {'done' if status == 0 else 'killed'}"


# A round takes seconds, of generating half a minute: rare among attacks of milliseconds.
ATTACKS = {"tuning-kills": Attack(tuning, 0.1), "generating-kills": Attack(generating, 0.02)}
