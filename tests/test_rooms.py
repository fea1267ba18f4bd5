"""Which room may import what (docs: the design's table of rooms), read from the sources; and who prints."""

from __future__ import annotations

import ast
import subprocess
import sys
from configparser import ConfigParser
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOUNS = (  # frozen values and pure functions on them; each may use those before it
    "interpreter", "locks", "errors", "arguments", "dtypes", "problem", "names", "interface", "canonical", "naive",
    "machine", "machine_table", "gpu.target", "target", "cpu_features", "measurement", "plan_text", "plan", "items",
    "layout", "operands", "nest", "tile_sizes", "carry", "carry_plans", "tile_loops", "writing",
    "stores", "stores.leaves", "stores.direct", "stores.buffered", "stores.joined", "stores.peeled",
    "lower", "fallback", "any_size", "arrays.family", "bodies", "wording", "gpu.plan", "gpu.runs",
    "gpu.nest", "gpu.residency", "gpu.lower", "gpu.trace", "gpu.launch", "gpu.naive",
)  # fmt: skip
WORKERS = (
    "interrupts", "children",
    "addresses", "host", "heap", "once", "backend", "machines", "kernel", "affinity", "pool", "runtime",
    "native.declarations", "native.header", "native.fortran", "native.whole_file", "native.marks", "native.publish",
    "native.artifact",
    "native.elf", "native.archive", "native.linker", "native.package_files", "gpu.kernel",
)  # fmt: skip
ROOMS = {"ir_builders": ROOT / "ir_builders", "tuning": ROOT / "tuning"}
HEAVY = "llvmlite.binding"


def sources() -> list[Path]:
    """Every module of the project, each once."""
    front = [p for p in (ROOT / "ttc_llvm").rglob("*.py") if not {"ir_builders", "tuning"} & set(p.parts)]
    return sorted([*front, *ROOMS["ir_builders"].rglob("*.py"), *ROOMS["tuning"].rglob("*.py")])


def name_of(path: Path) -> str:
    """A module's full name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    full = parts if parts[0] == "ttc_llvm" else ("ttc_llvm", *parts)
    return ".".join(part for part in full if part != "__init__")


def is_typing(node: ast.AST) -> bool:
    """True for `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(path: Path, *, deferred: bool = True) -> set[str]:
    """Absolute names of what a module imports at run time; without `deferred` only when it is loaded itself."""
    package = name_of(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if is_typing(node) or (isinstance(node, ast.FunctionDef) and not deferred):
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{origin}.{alias.name}" for alias in node.names}
    return found


def inside(module: str) -> str:
    """A module's name inside the package: `gpu.plan` for `ttc_llvm.gpu.plan`."""
    return module.removeprefix("ttc_llvm").removeprefix(".")


def room(module: str) -> str:
    """The room of a module of ours: nouns, ir_builders, tuning, workers or front."""
    name = inside(module)
    first = name.partition(".")[0]
    if first in ROOMS:
        return first
    if name in NOUNS:
        return "nouns"
    return "workers" if name in WORKERS else "front"


MODULES = [pytest.param(path, id=name_of(path)) for path in sources()]
MAY_IMPORT = {
    "nouns": {"nouns"},
    "ir_builders": {"nouns", "ir_builders"},
    "tuning": {"nouns", "tuning"},
    "workers": {"nouns", "ir_builders", "workers"},
    "front": {"nouns", "ir_builders", "tuning", "workers", "front"},
}


def ours(path: Path, *, deferred: bool = True) -> set[str]:
    """The modules of ours that a module imports, names inside them cut off."""
    every = {name_of(p) for p in sources()} - {"ttc_llvm"}
    named = {name if name in every else name.rpartition(".")[0] for name in imports(path, deferred=deferred)}
    return named & every


@pytest.mark.parametrize("path", MODULES)
def test_rooms_import_only_what_the_design_allows(path: Path) -> None:
    own = room(name_of(path))
    wrong = {name for name in ours(path) if room(name) not in MAY_IMPORT[own]}
    assert not wrong, f"{name_of(path)} ({own}) must not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("path", MODULES)
def test_nouns_import_nouns_above_them(path: Path) -> None:
    module = name_of(path)
    if room(module) == "nouns":
        rank = NOUNS.index(inside(module))
        assert all(NOUNS.index(inside(name)) < rank for name in ours(path)), ours(path)


@pytest.mark.parametrize("path", MODULES)
def test_bare_names_of_rooms_are_never_imported(path: Path) -> None:
    """`import tuning` would make second copies of the classes in `ttc_llvm.tuning`."""
    assert not {name for name in imports(path) if name.split(".")[0] in ROOMS}


@pytest.mark.parametrize("path", MODULES)
def test_only_the_backend_uses_llvm_itself(path: Path) -> None:
    if name_of(path) != "ttc_llvm.backend":
        assert not {name for name in imports(path) if name.startswith(HEAVY)}
    if room(name_of(path)) not in ("ir_builders", "workers"):
        assert not {name for name in imports(path) if name.split(".")[0] == "llvmlite"}


@pytest.mark.parametrize("path", MODULES)
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    if "cli" in path.stem or path.parent.name == "cli" or path.stem == "__main__":
        return
    calls = [n.func for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
    names = {f.id for f in calls if isinstance(f, ast.Name)}
    exits = {f.attr for f in calls if isinstance(f, ast.Attribute) and ast.unparse(f.value) == "sys"}
    assert "print" not in names
    assert "exit" not in exits | names


def test_the_sources_are_found() -> None:
    names = {name_of(path) for path in sources()}
    assert {"ttc_llvm.problem", "ttc_llvm.ir_builders.module", "ttc_llvm.tuning"} <= names
    assert "ttc_llvm.nest" in ours(ROOT / "ir_builders" / "module.py")
    assert {f"ttc_llvm.{module}" for module in (*NOUNS, *WORKERS)} <= names


def test_importing_the_package_does_not_load_llvm() -> None:
    code = f"import sys, ttc_llvm; sys.exit({HEAVY!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_no_modules_import_each_other_in_circles() -> None:
    """What a function imports when it is called is no part of a circle."""
    graph = {name_of(path): ours(path, deferred=False) for path in sources()}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


@pytest.mark.parametrize("path", MODULES)
def test_forks_wait_for_what_calls_import(path: Path) -> None:
    """A child forked in the middle of an import waits for its lock for ever: calls import under `locks.LLVM`."""
    if {"cli", "bench", "compare", "report", "__main__.py"} & set(path.parts) or "cli" in path.stem:
        return  # the program's own main thread
    if name_of(path) == "ttc_llvm":  # its functions run while it is imported
        return
    functions = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]
    guarded = {
        id(node)
        for function in functions
        for block in ast.walk(function)
        if isinstance(block, ast.With) and ast.unparse(block.items[0]) == "locks.LLVM"
        for node in block.body
    }
    late = [n for f in functions for n in ast.walk(f) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in late if id(node) not in guarded] == []
    if path.stem not in ("locks", "interpreter"):  # the latter is called when the package is imported
        assert "import_module" not in path.read_text(), "locks.imported does it"


def test_every_folder_of_modules_is_installed() -> None:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    wanted = {name_of(path) for path in sources() if path.name == "__init__.py"}
    assert set(setup["options"]["packages"].split()) == wanted
