"""Commands that may fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


def attempt(*command: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its environment is ours with these changes."""
    words = [str(part) for part in command]
    environment = os.environ | dict(env or {})
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)
