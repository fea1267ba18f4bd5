"""What users install: sources, and from them a wheel with every module and data file, complete without the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from processes import PATIENCE

import ttc_llvm

pytest.importorskip("setuptools", "70.1", reason="needs setuptools that makes wheels without `wheel`")

ROOT = Path(__file__).parent.parent
ROOMS = {"ttc_llvm": "ttc_llvm", "ir_builders": "ttc_llvm/ir_builders", "tuning": "ttc_llvm/tuning"}
NO_SOURCES = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "*.py[co]")
CMAKE_FILES = {Path("ttc_llvm-config.cmake"), Path("ttc_llvm-config-version.cmake")}
EXTRAS = ("matplotlib", "torch", "dask", "mpi4py")  # libraries without which some modules are not there
IMPORT_ALL = f"""
import importlib, pkgutil, ttc_llvm
for module in pkgutil.walk_packages(ttc_llvm.__path__, "ttc_llvm."):
    if module.name != "ttc_llvm.__main__":
        try:
            importlib.import_module(module.name)
        except ImportError as missing:
            if missing.name not in {EXTRAS!r}:
                raise
for name in ttc_llvm.__all__:
    getattr(ttc_llvm, name)
print(ttc_llvm.__file__)
"""


def built(kind: str, source: Path, folder: Path) -> Path:
    """A distribution of a source tree, which gets files of its own by that: `sdist` or `wheel`."""
    program = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The distribution of sources, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = shutil.copytree(ROOT, folder / "checkout", symlinks=True, ignore=NO_SOURCES)
    with tarfile.open(built("sdist", copy, folder / "dist")) as packed:
        # Python 3.11.3 and older have no filters, nor the argument.
        packed.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        packed.extractall(folder / "unpacked")
    (source,) = (folder / "unpacked").iterdir()
    return source


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is made of the distributed sources, unpacked as an installation would be."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(built("wheel", sdist, folder / "dist")) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def files(folder: Path) -> set[Path]:
    """All files below a folder but compiled ones, relative to it; links to folders are not followed."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path for path in found if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    ours = {Path(inside) / path for room, inside in ROOMS.items() for path in files(ROOT / room)}
    assert {Path("ttc_llvm/py.typed"), Path("ttc_llvm/cmake/ttc_llvm-config.cmake")} <= ours
    assert {path for path in files(wheel) if not path.parts[0].endswith(".dist-info")} == ours


def test_the_wheel_has_the_command(wheel: Path) -> None:
    (entry_points,) = wheel.glob("*.dist-info/entry_points.txt")
    assert entry_points.read_text().split() == ["[console_scripts]", "ttc", "=", "ttc_llvm.cli:main"]


def test_the_wheel_is_complete_without_the_checkout(wheel: Path) -> None:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(wheel)!r}){IMPORT_ALL}"]
    done = subprocess.run(command, cwd=wheel, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, str(wheel / "ttc_llvm" / "__init__.py")), done.stderr


def test_cmake_finds_its_package_in_the_wheel(wheel: Path) -> None:
    program = f"import sys; sys.path.insert(0, {str(wheel)!r}); from ttc_llvm import cli; cli.main(['--cmake-dir'])"
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, cwd=wheel, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    assert Path(printed.strip()) == wheel / "ttc_llvm" / "cmake"
    assert files(Path(printed.strip())) == CMAKE_FILES


@pytest.mark.parametrize("folder", ["docs", "examples", "stubs", "tests"])
def test_the_sources_are_distributed_whole(sdist: Path, folder: Path) -> None:
    assert files(sdist / folder) == files(ROOT / folder)


@pytest.mark.parametrize("arguments", [(), ("again",)], ids=["first", "again"])
def test_the_wheel_works(arguments: tuple[str, ...], wheel: Path) -> None:
    """`tests/smoke.py` away from the checkout; what the first process stores, the second finds."""
    inside = {"PYTHONPATH": str(wheel), "TTC_DATABASE": str(wheel.parent / "solutions.sqlite3"), "HOME": str(wheel)}
    program = shutil.copy(ROOT / "tests" / "smoke.py", wheel.parent)
    command = [sys.executable, program, *arguments]
    done = subprocess.run(
        command, cwd=wheel, env=os.environ | inside, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith(f"ttc_llvm {ttc_llvm.__version__} works: "), done.stdout
    assert done.stdout.endswith(f", {wheel / 'ttc_llvm'}\n"), done.stdout
    (metadata,) = wheel.glob("*.dist-info/METADATA")
    assert f"\nVersion: {ttc_llvm.__version__}\n" in metadata.read_text()
