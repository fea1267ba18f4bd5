"""Commands that may fail, functions in several threads, and how long a test waits for another process."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE = 300.0  # seconds until a test takes it that a process, a thread or a message never comes: machines are busy


QUIET = """\
import sys
from ttc_llvm.cli import main
from ttc_llvm.tuning.search.speed import SpeedLog
SpeedLog.is_busy = lambda self, gibs: False
sys.exit(main())
"""  # ttc on a machine that is never busy, whatever runs beside the tests


def attempt(*command: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its environment is ours with these changes."""
    words = [str(part) for part in command]
    environment = os.environ | dict(env or {})
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)


def together(work: Callable[[Any], object], arguments: Iterable[object]) -> None:
    """Call a function with each of these arguments in a thread of its own, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(one,)) for one in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def terminal_text(master: int) -> bytes:
    """All that is written to a terminal until nobody has it open any more. master: its other end."""
    found = b""
    with suppress(OSError):  # Linux' end of a terminal
        while chunk := os.read(master, 1 << 16):
            found += chunk
    return found
