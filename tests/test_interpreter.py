"""Interpreters that cannot be served are told so when the package is imported; late imports register no fork hooks."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from processes import PATIENCE

IN_A_SUB_INTERPRETER = """
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    legacy = ["legacy"] if hasattr(interpreters, "new_config") else []
    made = interpreters.create(*legacy, **({} if legacy or sys.version_info < (3, 12) else {"isolated": False}))
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    run(made, "try:\\n import ttc_llvm\\nexcept ImportError as error: print(error)")
    interpreters.destroy(made)
"""


def python(program: str) -> subprocess.CompletedProcess[str]:
    code = "import sys\n" + textwrap.dedent(program)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="needs CPython's sub-interpreters")
def test_sub_interpreters_are_refused() -> None:
    done = python(IN_A_SUB_INTERPRETER)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ttc_llvm cannot be imported in a sub-interpreter")


def test_free_threaded_interpreters_are_refused() -> None:
    done = python(
        """
        sys._is_gil_enabled = lambda: False
        try:
            import ttc_llvm
        except ImportError as error:
            print(error)
        """
    )
    assert done.stdout.startswith("ttc_llvm needs the interpreter lock"), done


def test_nothing_registers_for_forks_that_may_have_to_wait() -> None:
    """What registers while a fork waits would be told of the fork's end alone, and open locks that it never took."""
    done = python(
        """
        import os
        import numpy as np
        import ttc_llvm
        registered = []
        os.register_at_fork = lambda **hooks: registered.append(sorted(hooks))
        found = [getattr(ttc_llvm, name) for name in ttc_llvm.__all__]
        ttc_llvm.transpose(np.zeros((24, 24, 3)), (2, 0, 1))
        solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (64, 64)), 2, threads=2, time_limit=5)
        str(solution.explain())
        print([hooks for hooks in registered if "before" in hooks])
        """
    )
    assert done.stdout.strip() == "[]", done
