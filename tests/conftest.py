"""Options and tiers of the test-suite."""

from __future__ import annotations

import atexit
import gc
import json
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import pytest
import tiers
from hypothesis import HealthCheck, settings
from known_speeds import known_speeds

from ttc_llvm import cli
from ttc_llvm.contractions import measuring
from ttc_llvm.runtime import backend, meanwhile
from ttc_llvm.tuning.database import connection, late_writer
from ttc_llvm.tuning.search.speed import SpeedLog

GOLDEN = Path(__file__).parent / "golden"
Ttc = Callable[..., dict[str, Any]]

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    max_examples=tiers.count(100),
)
settings.load_profile("fixed")

# The secret that signs stored code is of this run, not of whoever runs it: processes that tests start inherit it.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="ttc-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# So is the database: what is in the user's own was signed by another secret.
os.environ["TTC_DATABASE"] = os.path.join(os.environ["XDG_STATE_HOME"], "solutions.sqlite3")

os.environ["COLUMNS"] = "300"  # tests look for whole lines; `test_tables.py` has terminals of its own

if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # nohup's doing, and tests hang up on processes
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background jobs ignore Ctrl-C, and so would processes
    signal.signal(signal.SIGINT, signal.default_int_handler)  # that tests start and interrupt


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes what the golden tests see instead of comparing."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/* from this run")


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """LLVM takes most of the time, and many tests compile the same modules: each is compiled once for a while.

    `test_backend.py` does without, and shows that the same module gives the same bytes.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "compile_object", lru_cache(maxsize=128)(backend.compile_object))
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_by_whoever_asks() -> Iterator[None]:
    """Calls are served by our code from the first one on: `test_meanwhile.py` has another thread compile it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meanwhile, "cpu_count", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def _written_at_once() -> Iterator[None]:
    """Tests look into files: `test_database.py` and processes that tests start write soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late_writer, "SOON", 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _never_busy() -> Iterator[None]:
    """Other work beside the tests makes no difference to them: `test_speed.py` shows when a machine is busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpeedLog, "is_busy", lambda self, gibs: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_outlives_a_power_cut() -> Iterator[None]:
    """Databases of this process wait for no disk: a transaction takes three waits of some milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_PRAGMAS", (*connection._PRAGMAS, "synchronous = OFF"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _known_speeds() -> Iterator[None]:
    """Products are measured by the one test that measures them (`measuring._measured.__wrapped__`)."""
    known = wraps(measuring._measured)(lambda dtype: known_speeds())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "_measured", known)
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected lives to the end: nothing of it is garbage, and nobody looks for garbage there again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """`make quick` does not read files all of whose tests it leaves out."""
    return True if tiers.QUICK and tiers.is_slow_file(collection_path.relative_to(Path(__file__).parent)) else None


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `full` run where they are asked for: `-m full`, or TTC_FULL=1 in the environment."""
    names = [item.nodeid for item in items]
    usual = tiers.SHARES if tiers.CI else tiers.SHARES | tiers.CI_SHARES
    not_quick, not_usual = (tiers.beyond(shares, names) for shares in (tiers.QUICK_SHARES, usual))
    for item in items:
        if tiers.is_slow(item.nodeid) or item.nodeid in not_quick:
            item.add_marker("slow")
        if item.nodeid in not_usual:
            item.add_marker("full")
    if "full" in config.option.markexpr or tiers.FULL:
        return
    skip = pytest.mark.skip(reason="long: run with -m full or TTC_FULL=1")
    for item in items:
        if "full" in item.keywords:
            item.add_marker(skip)


class Golden:
    """Compare a text with the file of that name under tests/golden, or write it with `--update-golden`."""

    def __init__(self, update: bool) -> None:
        self._update = update

    def check(self, name: str, text: str) -> None:
        """Fail where the text differs from the file's."""
        path = GOLDEN / name
        if self._update:
            path.write_text(text)
        assert path.exists(), f"{path} is missing: run with --update-golden"
        assert text == path.read_text(), f"differs from {path}: if that is meant, run with --update-golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden files."""
    return Golden(bool(request.config.getoption("--update-golden")))


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test has a database and a current directory of its own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "solutions.sqlite3"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def module_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any) -> None:
    """The tests of a module have a database of their own, which they share."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path_factory.getbasetemp() / f"{request.module.__name__}.sqlite3"))


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Warnings of the package so far."""
    caplog.set_level(logging.WARNING, logger="ttc_llvm")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "ttc_llvm"]


@pytest.fixture
def ttc(capsys: pytest.CaptureFixture[str]) -> Ttc:
    """Run `ttc ... --json` in this process, expect success and silence on stderr, and return the object."""

    def call(*arguments: str) -> dict[str, Any]:
        status = cli.main([*arguments, "--json"])
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        found = json.loads(out)
        assert isinstance(found, dict)
        return found

    return call


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A fake CUDA device (`tests/gpu/fake_gpu.py`), and a solutions database of its own."""
    from fake_gpu import fake_gpu

    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "gpu.db"))
    with fake_gpu(monkeypatch) as found:
        yield found
