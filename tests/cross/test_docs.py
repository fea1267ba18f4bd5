"""What docs/targets.md shows works as shown: every command in order, in one folder, with the output that it gives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ttc_llvm.machine import lookup
from ttc_llvm.machine import table as rows

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "targets.md").read_text()


def blocks(language: str) -> list[str]:
    """The page's code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_command_and_program(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "ttc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ttc_llvm "$@"\n')
    (tools / "ttc").chmod(0o755)
    (program,), (script,) = blocks("c"), blocks("javascript")
    (tmp_path / "program.c").write_text(program)
    (tmp_path / "program.mjs").write_text(script)
    environment = os.environ | {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path),
        "TTC_DATABASE": str(tmp_path / "solutions.db"),
    }  # fmt: skip
    shown = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", "".join(blocks("console")), re.MULTILINE)
    assert len(shown) > 10
    for command, expected in shown:
        if not command.startswith("./") and shutil.which(command.split()[0]) is None and "ttc" not in command[:4]:
            pytest.skip(f"{command.split()[0]} is not installed: the page's commands cannot be run")
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert not expected or done.stdout == expected, command


def test_the_table_names_all_architectures_and_only_known_cpus() -> None:
    architectures = PAGE[: PAGE.index("A name of either column")]
    names = {word for cell in re.findall(r"`([^`]*)`", architectures) for word in cell.split() if "=" not in word}
    assert set(rows.ROWS) <= names
    for name in names - {"ttc", "info", "--targets"}:
        assert lookup.find(name)
