"""Children that check something and end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from processes import PATIENCE


def forked(check: Callable[[], object]) -> int:
    """Exit status of a child that runs the check; -1 if it does not end."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1
