"""Commands that may fail, and how long a test waits for another process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

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
