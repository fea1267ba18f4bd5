"""A thread that writes soon: a commit waits several times for the disk, which nobody else should."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ttc_llvm import locks

SOON = 0.05  # seconds, within which everything that comes is written together; 0 = at once


class LateWriter:
    """Calls `write` once for all that asks for it until then, with the database's lock held."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._thread: Any = None

    def ask(self) -> None:
        """Have it called soon, or call it, where there is to be no thread; the caller holds the lock."""
        if SOON == 0:
            self._write()
        elif self._thread is None or not self._thread.is_alive():  # a fork leaves none
            self._thread = locks.imported("threading").Thread(target=self._run, name="ttc-database", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # the system, or the end of the process, admits none
                self._write()

    def _run(self) -> None:
        time.sleep(SOON)
        with locks.DATABASE:
            self._thread = None
            self._write()
