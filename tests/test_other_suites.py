"""The test suites of libraries that transpose, with our functions in place of NumPy's (`underneath.py`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize(("name", "passed", "calls"), [("opt_einsum", 5000, 20000), ("einops", 40, 200)])
def test_suites_pass_on_our_functions(name: str, passed: int, calls: int, tmp_path: Path) -> None:
    """passed, calls: the least numbers of tests that pass and of calls of ours."""
    pytest.importorskip(name)
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    options = "-q", "-p", "underneath", "-p", "no:cacheprovider"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--pyargs", f"{name}.tests"],
        env=os.environ | {"PYTHONPATH": path, "EINOPS_TEST_BACKENDS": "numpy"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert int(re.findall(r"(\d+) passed", run.stdout)[-1]) >= passed
    assert int(re.findall(r"calls underneath: (\d+)", run.stdout)[-1]) >= calls
