"""The folders where programs keep a user's files, by the rules of the system."""

from __future__ import annotations

import os
import sys

from ttc_llvm import locks

_XDG = {"CACHE": ("XDG_CACHE_HOME", "~/.cache"), "STATE": ("XDG_STATE_HOME", "~/.local/state")}


def user_folder(kind: str) -> str:
    """Our folder of a kind, CACHE or STATE. On Linux it is known without `platformdirs`, which loads much."""
    if not sys.platform.startswith("linux"):
        known = locks.imported("platformdirs")
        return str({"CACHE": known.user_cache_dir, "STATE": known.user_state_dir}[kind]("ttc_llvm"))
    variable, usual = _XDG[kind]
    given = os.environ.get(variable, "")
    return os.path.join(given if os.path.isabs(given) else os.path.expanduser(usual), "ttc_llvm")
