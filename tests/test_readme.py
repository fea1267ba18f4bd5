"""What README.rst shows works as shown: commands, the Python example, the C example, the table of options."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from native_build import compiler
from processes import PATIENCE

from ttc_llvm.cli import options as cli_options

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
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_python_example(tmp_path: Path) -> None:
    (example,) = blocks("python")
    (tmp_path / "example.py").write_text(example)
    run(tmp_path, sys.executable, "example.py")


def test_the_commands(tmp_path: Path) -> None:
    shown = [command.split() for command in commands() if command.startswith("ttc ")]
    assert [command[:2] for command in shown] == [["ttc", "--perm=2,1,0"], ["ttc", "info"], ["ttc", "--perm=2,1,0"]]
    assert shown[0] == shown[2]
    for command in shown[:2]:
        assert run(tmp_path, sys.executable, "-m", "ttc_llvm", *command[1:])
    assert (tmp_path / "build" / "sTranspose210_8x16x16_lda32x32x32.o").exists()


def test_three_commands_lead_to_a_linked_program(tmp_path: Path) -> None:
    """As a stranger would: a fresh virtual environment, packages from the index, no trace of this checkout."""
    compiler("cc")
    checkout = tmp_path / "checkout"
    keep = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests")
    shutil.copytree(ROOT, checkout, ignore=keep, symlinks=True)
    (checkout / "example.c").write_text(blocks("c")[0])
    (block,) = (block for block in blocks("console") if "pip install" in block and "cc " in block)
    *shown, expected = block.splitlines()
    environment = fresh(tmp_path / "venv")
    install, *rest = (command.removeprefix("$ ") for command in shown)
    installed = subprocess.run(install, shell=True, cwd=checkout, env=environment, capture_output=True, text=True)
    if "Could not find a version that satisfies" in installed.stderr:
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    for command in rest:
        done = subprocess.run(command, shell=True, cwd=checkout, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected


def fresh(folder: Path) -> dict[str, str]:
    """The environment of a new virtual environment, with nothing of ours but pip's cache."""
    venv.create(folder, with_pip=True)
    cache = subprocess.run([sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True).stdout
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TTC_", "PYTHON", "XDG_"))}
    path = os.pathsep.join([str(folder / "bin"), kept["PATH"]])
    return kept | {"PATH": path, "HOME": str(folder), "PIP_CACHE_DIR": cache.strip()}


def test_the_table_lists_every_option() -> None:
    table = README[README.index("\nOptions\n") : README.index("\nWhere solutions are stored\n")]
    missing = [o.flag for o in cli_options.OPTIONS if not re.search(rf"{o.flag}\b", table)]
    assert not missing
    known = {flag for option in cli_options.OPTIONS for flag in cli_options.spellings_of(option.flag)}
    known |= {"--help", "--version", "--option", "--cmake-dir"}
    assert set(re.findall(r"(?<!-)--[A-Za-z][A-Za-z-]*", table)) <= known


def test_files_that_the_readme_names_exist() -> None:
    pages = ("performance.md", "measurements.md", "design.md", "native.md", "cmake.md")
    for name in (*(f"docs/{page}" for page in pages), "CHANGELOG.rst", "LICENSE", "Makefile", "examples"):
        assert (ROOT / name).stat().st_size
    targets = (ROOT / "Makefile").read_text()
    for target in re.findall(r"``make ([a-z]+)``", README):
        assert re.search(rf"^{target}:", targets, re.MULTILINE), target
