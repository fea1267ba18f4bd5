"""Programs that tests call, and running them to their end."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest


def tool(name: str) -> str:
    """A program on the PATH; skips the test where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def attempt(*command: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its environment is ours with these changes."""
    words = [str(part) for part in command]
    environment = os.environ | dict(env or {})
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)


def run(*command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it printed; AssertionError where it fails."""
    done = attempt(*command, env=env)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout
