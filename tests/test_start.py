"""What docs/start.md and README.rst show works as shown; and README.rst is as a package index wants it."""

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

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.rst").read_text()
PAGE = (ROOT / "docs" / "start.md").read_text()


def blocks(language: str) -> list[str]:
    """The page's code blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def shown(language: str) -> str:
    """The code that README.rst shows in one language."""
    found = re.findall(rf"\.\. code-block:: {language}\n\n((?:    .*\n|\n)+)", README)
    return "\n".join(re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found)


def commands(text: str) -> list[str]:
    """Every command shown after a `$`."""
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


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
    found = [line.split() for block in blocks("console") for line in commands(block) if line.startswith("ttc ")]
    assert [command[:2] for command in found] == [["ttc", "--perm=2,1,0"], ["ttc", "info"], ["ttc", "--perm=2,1,0"]]
    assert found[0] == found[2]
    for command in found[:2]:
        assert run(tmp_path, sys.executable, "-m", "ttc_llvm", *command[1:])
    assert (tmp_path / "build" / "sTranspose210_8x16x16_lda32x32x32.o").exists()


def test_four_commands_lead_to_a_linked_program(tmp_path: Path) -> None:
    """As a stranger would: a fresh virtual environment, packages from the index, no trace of this checkout."""
    compiler("cc")
    checkout = tmp_path / "checkout"
    keep = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests")
    shutil.copytree(ROOT, checkout, ignore=keep, symlinks=True)
    (checkout / "example.c").write_text(blocks("c")[0])
    (block,) = (block for block in blocks("console") if "cc " in block)
    expected = block.splitlines()[-1]
    environment = fresh(tmp_path / "venv")
    install, rest = commands(blocks("console")[0])[-1], commands(block)
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


def test_the_readme_s_lines(tmp_path: Path) -> None:
    *installing, command = commands(shown("console"))
    assert " && ".join(installing).split(" && ") == commands(blocks("console")[0])
    run(tmp_path, sys.executable, "-m", "ttc_llvm", *command.split()[1:])
    called = re.findall(r"(\w+)\(a, b", shown("c"))
    assert called == ["sTranspose210_8x16x16"]
    assert f"{called[0]}(const float" in (tmp_path / "build" / f"{called[0]}.h").read_text()
    (tmp_path / "lines.py").write_text(f"import numpy as np, ttc_llvm\nx = np.ones((3, 4, 5))\n{shown('python')}")
    run(tmp_path, sys.executable, "lines.py")


def test_the_readme_renders_on_a_package_index() -> None:
    """By docutils alone, without what only Sphinx knows and without files: any complaint is an error."""
    core = pytest.importorskip("docutils.core")
    settings = {"halt_level": 2, "report_level": 2, "file_insertion_enabled": False, "raw_enabled": False}
    page = core.publish_string(README, writer="html5", settings_overrides=settings).decode()
    assert "<h1" in page
    assert len(README.splitlines()) <= 75, "one screen"


def test_files_that_the_readme_names_exist() -> None:
    for name in re.findall(r"``(docs/[\w./]*|[A-Z]+\.\w+)``", README):
        assert (ROOT / name).exists(), name
    targets = (ROOT / "Makefile").read_text()
    for target in re.findall(r"``make ([a-z]+)``", README):
        assert re.search(rf"^{target}:", targets, re.MULTILINE), target
