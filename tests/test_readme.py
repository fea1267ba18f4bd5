"""What README.rst shows works as shown: commands, the Python example, the C example, the table of options."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ttc_llvm import cli_options

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.rst").read_text()


def blocks(language: str) -> list[str]:
    """The code blocks of one language, in order, without their indentation."""
    found = re.findall(rf"\.\. code-block:: {language}\n\n((?:    .*\n|\n)+)", README)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE).rstrip() + "\n" for block in found]


def commands() -> list[str]:
    """Every command shown after a `$`."""
    return [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


def run(folder: Path, *command: str) -> str:
    """Run a command in a folder that is also its home; returns what it printed."""
    environment = os.environ | {"HOME": str(folder), "PYTHONPATH": str(ROOT)}
    environment.pop("TTC_DATABASE", None)
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_python_example(tmp_path: Path) -> None:
    (example,) = blocks("python")
    (tmp_path / "example.py").write_text(example)
    run(tmp_path, sys.executable, "example.py")


def test_the_commands_and_the_c_example(tmp_path: Path) -> None:
    shown = [command.split() for command in commands() if command.startswith("ttc ")]
    assert [command[:2] for command in shown] == [["ttc", "--perm=2,1,0"], ["ttc", "info"]]
    for command in shown:
        assert run(tmp_path, sys.executable, "-m", "ttc_llvm", *command[1:])
    assert (tmp_path / "build" / "sTranspose210_8x16x16_lda32x32x32.o").exists()
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed: native programs cannot be built")
    (example,) = blocks("c")
    (tmp_path / "example.c").write_text(example)
    (compiling,) = (command.split() for command in commands() if command.startswith("cc "))
    run(tmp_path, *compiling, "-Wall", "-Wextra", "-Werror")
    expected = next(block for block in blocks("console") if "./example" in block).splitlines()[-1]
    assert run(tmp_path, "./example").strip() == expected


def test_the_table_lists_every_option() -> None:
    table = README[README.index("\nOptions\n") : README.index("\nWhere solutions are stored\n")]
    missing = [o.flag for o in cli_options.OPTIONS if not re.search(rf"{o.flag}\b", table)]
    assert not missing
    known = {option.flag for option in cli_options.OPTIONS} | {"--help", "--version", "--option", "--cmake-dir"}
    assert set(re.findall(r"(?<!-)--[A-Za-z][A-Za-z-]*", table)) <= known


def test_files_that_the_readme_names_exist() -> None:
    pages = ("docs/performance.md", "docs/design.md", "docs/cmake.md", "CHANGELOG.rst", "LICENSE", "Makefile")
    for name in (*pages, "examples/cmake"):
        assert (ROOT / name).stat().st_size
    targets = (ROOT / "Makefile").read_text()
    for target in re.findall(r"``make ([a-z]+)``", README):
        assert re.search(rf"^{target}:", targets, re.MULTILINE), target
