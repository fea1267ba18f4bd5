"""A pytest plugin (`-p underneath`): NumPy's and einops' transpositions are ours, whatever suite runs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import ttc_llvm

calls: Counter[str] = Counter()


def _counted(name: str) -> Callable[..., Any]:
    function = getattr(ttc_llvm, name)

    def called(*given: Any, **named: Any) -> Any:
        calls[name] += 1
        return function(*given, **named)

    return called


def pytest_configure(config: pytest.Config) -> None:
    """Replace the functions before a suite's modules are imported: some keep them by name."""
    for name in ("transpose", "ascontiguousarray", "asfortranarray", "einsum", "tensordot"):
        setattr(np, name, _counted(name))
    if find_spec("einops") is not None:
        import_module("einops._backends").AbstractBackend.transpose = lambda self, x, axes: np.transpose(x, axes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how often each was called: a suite that calls none shows nothing."""
    terminalreporter.write_line(f"calls underneath: {sum(calls.values())}")
