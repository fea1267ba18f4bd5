"""Fixtures of the GPU tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fake_gpu
import pytest


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[fake_gpu.FakeGpu]:
    """A fake CUDA device, and a solutions database of its own."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path / "gpu.db"))
    with fake_gpu.fake_gpu(monkeypatch) as found:
        yield found
