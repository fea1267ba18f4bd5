"""Other programs, and folders for them, which end with us: each program has a process group of its own, which Ctrl-C of
a terminal does not reach, and which is killed whatever happens here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from . import interrupts

TRIES, RETRY_SECONDS = 20, 0.01


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder."""
    with ExitStack() as stack:
        with interrupts.held():
            made = tempfile.mkdtemp(prefix="ttc.")
            stack.enter_context(interrupts.Undo(partial(remove, made)))
        yield Path(made)


def remove(made: str | Path) -> None:
    """Remove a folder, in which programs that were just killed may still finish a write."""
    for _ in range(TRIES):
        shutil.rmtree(made, ignore_errors=True)
        if not os.path.exists(made):
            return
        time.sleep(RETRY_SECONDS)


def start(
    command: Sequence[str], folder: str | Path | None = None, stderr: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    """A program begun without input, its output to be read. folder: where it runs, and keeps its temporary files.

    Raises OSError where it cannot be started.
    """
    environment = None if folder is None else os.environ | {"TMPDIR": str(folder)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
    )  # fmt: skip


def run(
    command: Sequence[str], folder: str | Path | None = None, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """The output and the status of a program. folder: as for `start`; timeout: seconds.

    Raises OSError where it cannot be started and subprocess.TimeoutExpired where it takes longer.
    """
    with ExitStack() as stack:
        with interrupts.held():
            running = start(command, folder)
            stack.enter_context(interrupts.Undo(partial(kill, running)))
            stack.callback(end, running)
        out, err = running.communicate(timeout=timeout)
    return subprocess.CompletedProcess(command, running.returncode, out, err)


def kill(running: subprocess.Popen[str]) -> None:
    """Kill a program that still runs, and whatever it has started. Handlers of signals may, which must not wait: the
    thread that they interrupt may hold the lock for that."""
    if running.poll() is None:
        with suppress(OSError):
            os.killpg(running.pid, signal.SIGKILL)


def end(running: subprocess.Popen[str]) -> None:
    """The same, and wait for it."""
    kill(running)
    running.wait()
