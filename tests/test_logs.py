"""Our loggers say what `logging` says, without loading it."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from ttc_llvm.logs import DEBUG, INFO, WARNING, Log

LOG = Log("ttc_llvm.tests")
WITHOUT = """
import sys
from ttc_llvm.logs import INFO, WARNING, Log
log = Log("ttc_llvm.tests")
log.debug("a detail")
log.info("a stage")
log.warning("%s is %d %%", "x", 3)
assert not log.is_enabled_for(INFO) and log.is_enabled_for(WARNING)
assert "logging" not in sys.modules
sys.stderr.close()
log.warning("nobody reads this")
sys.stderr = None
log.warning("nor this")
"""


def test_warnings_are_lines_on_stderr_where_nobody_has_loaded_logging() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "x is 3 %\n")
    program = WITHOUT.replace("import sys\n", "import sys, logging\n").partition("assert")[0]
    same = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (same.returncode, same.stderr) == (0, done.stderr)


def test_records_are_those_of_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(DEBUG, "ttc_llvm")
    for level, tell in ((DEBUG, LOG.debug), (INFO, LOG.info), (WARNING, LOG.warning)):
        assert LOG.is_enabled_for(level)
        tell("%d of %s", level, "x")
        record = caplog.records[-1]
        assert (record.name, record.levelno, record.getMessage()) == ("ttc_llvm.tests", level, f"{level} of x")
        assert (record.filename, record.funcName) == ("test_logs.py", "test_records_are_those_of_the_caller")
    caplog.set_level(WARNING, "ttc_llvm")
    assert not LOG.is_enabled_for(INFO)
    LOG.info("a stage")
    assert len(caplog.records) == 3
    assert logging.getLogger("ttc_llvm.tests").handlers == []
