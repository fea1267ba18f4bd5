"""What editors and type checkers know: public names, signatures, docstrings; types of arguments and results."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import ttc_llvm

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests" / "typed"
WRONG = """
import numpy as np
import ttc_llvm

ttc_llvm.Problem("10", 8)
ttc_llvm.transpose(np.ones(3), order="X")
ttc_llvm.transpose(np.ones(3), alpha="2")
ttc_llvm.ascontiguousarray(np.ones(3), threads="2")
ttc_llvm.set_num_threads("2")
ttc_llvm.compile(ttc_llvm.Problem((0,), (3,)), theads=2)
"""


def needs(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def mypy(program: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """mypy as a user of the package starts it, in strict mode."""
    needs("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", str(program)]
    inside = os.environ | {"MYPYPATH": str(ROOT), "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache" / "user")}
    return subprocess.run(command, cwd=folder, env=inside, capture_output=True, text=True, check=False)


def pyright(program: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """pyright as a user of the package starts it, in strict mode."""
    needs("pyright")
    if shutil.which("node") is None:
        pytest.skip("node is not installed, which runs pyright")
    inside = folder / "checked.py"  # it looks at no file outside of its project
    inside.write_text(program.read_text())
    settings = {"include": [inside.name], "typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


CHECKERS = {"mypy": mypy, "pyright": pyright}


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_of_users_are_clean(checker: str, tmp_path: Path) -> None:
    done = CHECKERS[checker](PROGRAMS / "program.py", tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_with_torch_are_clean(checker: str, tmp_path: Path) -> None:
    needs("torch")
    done = CHECKERS[checker](PROGRAMS / "torch_program.py", tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_seen(checker: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(WRONG)
    done = CHECKERS[checker](program, tmp_path)
    for line in range(5, 11):
        assert f".py:{line}:" in done.stdout, (line, done.stdout)


def test_programs_of_users_run(tmp_path: Path) -> None:
    """The sample is a program, and uses every public name."""
    text = (PROGRAMS / "program.py").read_text()
    assert [name for name in ttc_llvm.__all__ if not re.search(rf"(ttc_llvm\.|import .*){name}\b", text)] == []
    inside = os.environ | {"TTC_DATABASE": str(tmp_path / "solutions"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PROGRAMS / "program.py"), str(tmp_path)]
    done = subprocess.run(command, env=inside, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_programs_with_torch_run() -> None:
    needs("torch")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command, inside = [sys.executable, str(PROGRAMS / "torch_program.py")], os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, env=inside, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- editors ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def jedi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Jedi, whose cache is this process' own: one that shares its files reads what others have half written."""
    found = pytest.importorskip("jedi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(found.settings, "cache_directory", str(tmp_path_factory.mktemp("jedi")))
        yield found


def test_editors_complete_public_names(jedi: Any) -> None:
    shown = {one.name for one in jedi.Script("import ttc_llvm\nttc_llvm.").complete(2, 9)}
    assert set(ttc_llvm.__all__) | {"torch"} <= shown


@pytest.mark.parametrize("name", [name for name in ttc_llvm.__all__ if name != "__version__"])
def test_editors_show_signatures_and_docstrings(jedi: Any, name: str) -> None:
    text = f"ttc_llvm.{name}"
    found = jedi.Script(f"import ttc_llvm\n{text}").infer(2, len(text))
    assert found and all(len(one.docstring(raw=True)) > 20 for one in found)
    shown = jedi.Script(f"import ttc_llvm\n{text}(").get_signatures(2, len(text) + 1)
    made = getattr(ttc_llvm, name)
    plain = not (isinstance(made, type) and issubclass(made, (Exception, Enum)))
    known = set(inspect.signature(made).parameters) - {"apart"} if plain else set()
    assert shown and all(known <= {one.name for one in signature.params} for signature in shown)


@pytest.mark.parametrize("made", ["ttc_llvm.compile(problem).", "problem.", "ttc_llvm.transpose(np.ones(3))."])
def test_editors_complete_results(jedi: Any, made: str) -> None:
    wanted = {"ttc_llvm.compile(problem).": "llvm_ir", "problem.": "perm", "ttc_llvm.transpose(np.ones(3)).": "reshape"}
    text = f"import numpy as np\nimport ttc_llvm\nproblem = ttc_llvm.Problem([1, 0], [2, 3])\n{made}"
    assert wanted[made] in {one.name for one in jedi.Script(text).complete(4, len(made))}
