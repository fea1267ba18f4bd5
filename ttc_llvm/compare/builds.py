"""Sources become libraries and cubins: in a temporary folder, within a time limit, several at once, kept by content."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from ..errors import DatabaseError
from ..lazy_dataclasses import dataclass
from ..runtime import children, interrupts
from ..runtime.affinity import cpu_count
from ..tuning.database import trust
from ..tuning.database.folders import user_path
from ..tuning.search.crew import spread
from .compilers import Compiler

LIMIT_SECONDS = 60.0
KEPT = 4096  # files of about 16 KiB
PATIENCE = 2  # builds of a compiler that ran into the limit, and none that did not: it hangs
SHOWN_LINES = 4  # of a compiler's message
SHOWN = 400  # characters
_TELLING = ("error", "cannot", "undefined")
INTERRUPTED = "it was interrupted"
_OWN = "own.cpp"


@dataclass(frozen=True, slots=True)
class Job:
    """The description of a build. own: a second source, which takes in a file of the user's own; "" = none."""

    compiler: Compiler
    source: str
    own: str = ""

    @property
    def key(self) -> str:
        """Equal for what gives equal code on this machine."""
        parts = (*self.compiler.command(()), self.compiler.version, self.source)
        return sha256("\0".join(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Build:
    """The result of a build. library: its file, None where there is none: message says why; seconds: that compiling
    took."""

    library: Path | None
    seconds: float
    cached: bool = False
    message: str = ""


class Builder:
    """Builds and remembers. folder: of what is remembered, None = the user's cache; limit: seconds a build."""

    def __init__(self, folder: Path | None = None, limit: float = LIMIT_SECONDS) -> None:
        self._limit = limit
        self._known: dict[Job, Build] = {}
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.RLock()  # a signal that ends us stops the builds wherever the main thread is
        self._late: Counter[Compiler] = Counter()  # builds that ran into the limit
        self._able: set[Compiler] = set()  # those that have built something
        self._stopped = False
        with interrupts.held():
            self._temporary = tempfile.TemporaryDirectory(prefix="ttc-references-", ignore_cleanup_errors=True)
            interrupts.at_end(self._close)
        self._folder = folder or self._lasting()  # nothing is loaded out of it, only copies of what is nobody else's

    def obtain(self, job: Job) -> Build:
        """The build of a job: known in this process, remembered, or made now."""
        found = self._known.get(job) or self._remembered(job) or self._built(job)
        if not self._stopped:
            self._known[job] = found
        return found

    def obtain_anew(self, job: Job) -> Build:
        """The same, built now: what was remembered turned out to be damaged."""
        for path in self._places(job):
            path.unlink(missing_ok=True)
        self._known.pop(job, None)
        return self.obtain(job)

    def obtain_all(self, jobs: Iterable[Job], report: Callable[[int, int], None] | None = None) -> None:
        """Make what is missing, as many at once as there are CPUs. report: (done, all). Ctrl-C ends the compilers."""
        wanted = [job for job in dict.fromkeys(jobs) if job not in self._known]
        numbers, lock = itertools.count(1), threading.Lock()

        def obtained(job: Job) -> None:
            with self._ending():
                self.obtain(job)
                with lock:
                    done = next(numbers)
                    if report is not None:
                        report(done, len(wanted))

        with self._ending():  # also where Ctrl-C finds this thread waiting for the others
            spread(obtained, wanted, cpu_count())

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """What is running ends with the first that fails, and nothing new is started."""
        try:
            yield
        except BaseException:
            self._stop()
            raise

    # --- remembered ---

    def _lasting(self) -> Path:
        """The user's cache; where there is no home directory, nothing lasts."""
        try:
            return Path(user_path()).with_name("references")
        except DatabaseError:
            return Path(self._temporary.name)

    def _remembered(self, job: Job) -> Build | None:
        """A user's own source may include others: it is built anew in every run. So is what others can have written."""
        library, facts = self._places(job)
        if job.own or not self._is_private():
            return None
        try:
            seconds = float(json.loads(facts.read_text())["seconds"])
            copy = Path(tempfile.mkdtemp(dir=self._temporary.name)) / library.name
            copy.write_bytes(trust.read_private(str(library)))
            library.touch()  # the last ones used are kept
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return Build(copy, seconds, cached=True)

    def _is_private(self) -> bool:
        return trust.standing(os.path.join(os.path.realpath(self._folder), "any")).private

    def _places(self, job: Job) -> tuple[Path, Path]:
        kind = Path(job.compiler.product.made).suffix
        return self._folder / f"{job.key}{kind}", self._folder / f"{job.key}.json"

    def _remember(self, job: Job, made: Path, seconds: float) -> None:
        """Keep a copy for later processes, where nobody else can write."""
        library, facts = self._places(job)
        with contextlib.suppress(OSError):
            trust.make_folder(str(self._folder))
            if not self._is_private():
                return
            for place, content in ((library, made.read_bytes()), (facts, json.dumps({"seconds": seconds}).encode())):
                with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as stream:
                    stream.write(content)
                os.replace(stream.name, place)
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        made = [path for path in self._folder.iterdir() if path.suffix != ".json"]
        kept = sorted(made, key=lambda path: path.stat().st_mtime, reverse=True)
        for library in kept[KEPT:]:
            for path in (library, library.with_suffix(".json")):
                path.unlink(missing_ok=True)

    # --- built ---

    def _built(self, job: Job) -> Build:
        compiler = job.compiler
        if self._late[compiler] >= PATIENCE and compiler not in self._able:
            return Build(None, 0.0, message=f"it took more than {self._limit:g} s for others")
        sources = {compiler.product.source: job.source} | ({_OWN: job.own} if job.own else {})
        folder = self._folder_of(sources)
        if folder is None:
            return Build(None, 0.0, message=INTERRUPTED)
        start = time.perf_counter()
        message = self._run(compiler, sources, folder)
        seconds = time.perf_counter() - start
        made = folder / compiler.product.made
        if message is None and not made.is_file():
            message = "it made no library"
        if message is not None:
            return Build(None, seconds, message=message)
        self._able.add(compiler)
        if not job.own:
            self._remember(job, made, seconds)
        return Build(made, seconds)

    def _folder_of(self, sources: Mapping[str, str]) -> Path | None:
        """A new folder with these files; None where nothing is to be made any more."""
        with self._lock:
            if self._stopped:
                return None
            folder = Path(tempfile.mkdtemp(dir=self._temporary.name))
            for name, text in sources.items():
                (folder / name).write_text(text)
            return folder

    def _run(self, compiler: Compiler, sources: Iterable[str], folder: Path) -> str | None:
        """Why a compiler failed, None where it did not. It runs in a group of its own, which ends with it."""
        try:
            with interrupts.held(), self._lock:
                if self._stopped:
                    return INTERRUPTED
                running = children.start(compiler.command(tuple(sources)), folder, subprocess.STDOUT)
                self._running.add(running)
        except OSError as error:
            return f"it cannot be started: {error.strerror or error}"
        try:
            output, _ = running.communicate(timeout=self._limit)
        except subprocess.TimeoutExpired:
            self._late[compiler] += 1
            return f"it took more than {self._limit:g} s"
        finally:
            children.end(running)
            with self._lock:
                self._running.discard(running)
        return None if running.returncode == 0 else _shown(output, running.returncode)

    def _stop(self) -> None:
        """End what is running: their threads come to an end then."""
        self._stopped = True
        with self._lock:
            for running in (*self._running,):
                children.kill(running)

    def _close(self) -> None:
        self._stop()
        children.remove(self._temporary.name)


def _shown(output: str, status: int) -> str:
    """The lines that matter of a compiler's message: those of errors, or the first ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    chosen = [line for line in lines if any(word in line.lower() for word in _TELLING)] or lines
    text = "; ".join(chosen[:SHOWN_LINES])
    return text[:SHOWN] if text else f"it ended {ending(status)}"


def ending(status: int) -> str:
    """The end of a process, in words: `with status 3`, `by SIGSEGV`."""
    if status >= 0:
        return f"with status {status}"
    return f"by {signal.Signals(-status).name}" if -status in set(signal.Signals) else f"by signal {-status}"
