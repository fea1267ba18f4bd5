"""A pytest plugin (`-p tests.require_all`): a skipped test fails the run, unless it was not meant to run.

`.ci/run` installs everything that tests look for, so that a skip there means that something went unnoticed.
"""

from __future__ import annotations

import pytest

# Markers and reasons of tests that may be skipped: long ones, and those that need a machine of another kind.
MARKERS = ("full", "gpu")
LIBRARIES = ("jax", "jax.numpy")  # 200 MB for three tests
REASONS = (
    "this machine cannot run", "nvcc is not installed", "names no executor",
    *(f"could not import '{name}'" for name in LIBRARIES),
)  # fmt: skip
_skipped: list[str] = []


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)


def _note(report: pytest.TestReport | pytest.CollectReport, keywords: tuple[str, ...]) -> None:
    if not report.skipped or hasattr(report, "wasxfail") or any(marker in keywords for marker in MARKERS):
        return
    reason = _reason(report)
    if not any(known in reason for known in REASONS):
        _skipped.append(f"{report.nodeid}: {reason}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that was skipped; with xdist this runs where all reports arrive."""
    _note(report, tuple(report.keywords))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a module that was skipped as a whole."""
    _note(report, ())


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn a passed run with unexpected skips into a failed one."""
    if _skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests should not have been skipped."""
    if _skipped:
        terminalreporter.section("skipped, but meant to run")
        terminalreporter.write_line("\n".join(dict.fromkeys(_skipped)))
