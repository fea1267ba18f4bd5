"""The machine and the versions that a result was measured with."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..machine.target import Target
from ..problem.wording import target_line
from ..runtime import backend


def machine(target: Target) -> dict[str, Any]:
    """Name, CPU, system and versions."""
    return {
        "machine": platform.node(),
        "cpu": cpu_name(),
        "target": target_line(target),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **versions(),
    }


def versions() -> dict[str, Any]:
    """Of what made and ran the kernels."""
    return {
        "versions": {
            "ttc_llvm": __version__,
            "llvm": backend.llvm_version(),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
    }


def cpu_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's own name, or what the platform calls it."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
