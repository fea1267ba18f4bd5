"""Which package may import what, read from the folders and sources (the table in docs/design.md); and who prints."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
ELSEWHERE = ("ir_builders", "tuning")  # packages that lie at the repository's top level
# A package imports itself, those before it, and the loose modules. What each is for: docs/design.md.
ORDER = (
    "machine", "operands", "problem", "lowering", "ir_builders", "tuning", "runtime", "native", "explain", "gpu",
    "compiling", "arrays", "groups", "contractions", "torch", "mpi", "dask", "bench", "compare", "report", "cli",
)  # fmt: skip
LOOSE = (  # modules that need no package
    "interpreter", "locks", "logs", "errors", "arguments", "paths", "lazy_dataclasses", "lazy_methods",
)  # fmt: skip
# What is asked for by its name in a call, from a package that its own package is built on.
BY_NAME = {
    ("ttc_llvm.compiling.by_strides", "ttc_llvm.arrays.for_solutions"),
    ("ttc_llvm.compiling.front", "ttc_llvm.contractions.solving"),
}
APART = {"tuning": {"ir_builders"}, "runtime": {"tuning"}, "native": {"tuning"}}
KEPT = "ttc_llvm.tuning.database."  # where the run time keeps code
MOST_LINES = 250
HEAVY = "llvmlite.binding"
DISPLAY = "ttc_llvm.compiling.display"
WARNING = "ttc_llvm.runtime.user_warnings"  # where no kernel runs; where cubes are read by their strides


@cache
def sources() -> tuple[Path, ...]:
    """Every module of the project, each once."""
    front = [p for p in (ROOT / "ttc_llvm").rglob("*.py") if not set(ELSEWHERE) & set(p.parts)]
    return tuple(sorted([*front, *(path for package in ELSEWHERE for path in (ROOT / package).rglob("*.py"))]))


@cache
def tree(path: Path) -> ast.Module:
    """A module's syntax tree, parsed once for all tests."""
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's tree."""
    return tuple(ast.walk(tree(path)))


@cache
def name_of(path: Path) -> str:
    """A module's full name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    full = parts if parts[0] == "ttc_llvm" else ("ttc_llvm", *parts)
    return ".".join(part for part in full if part != "__init__")


def is_typing(node: ast.AST) -> bool:
    """True for `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def imports(path: Path) -> frozenset[str]:
    """Absolute names of what a module imports at run time, whether when it is loaded or later."""
    package = name_of(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: set[str] = set()
    for node in _run(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{origin}.{alias.name}" for alias in node.names}
    return frozenset(found)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """The statements that run, each with those inside it."""
    if not is_typing(node):
        yield node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):
                yield from _run(child)


@cache
def names() -> frozenset[str]:
    """The modules of ours, without the package itself."""
    return frozenset(name_of(path) for path in sources()) - {"ttc_llvm"}


@cache
def ours(path: Path) -> frozenset[str]:
    """The modules of ours that a module imports, names inside them cut off."""
    named = {name if name in names() else name.rpartition(".")[0] for name in imports(path)}
    return frozenset(named & names())


def package(module: str) -> str:
    """The package of a module of ours, "" for loose ones."""
    inside = module.removeprefix("ttc_llvm").removeprefix(".")
    first = inside.partition(".")[0]
    return first if first in ORDER else ""


def may_import(own: str) -> set[str]:
    """The packages that a package may import."""
    return {own, "", *ORDER[: ORDER.index(own)]} - APART.get(own, set())


def test_folders_are_the_rooms() -> None:
    folders = {path.name for path in (ROOT / "ttc_llvm").iterdir() if (path / "__init__.py").exists()}
    assert folders | set(ELSEWHERE) == set(ORDER)
    loose = {path.stem for path in (ROOT / "ttc_llvm").glob("*.py")}
    assert loose == {*LOOSE, "__init__", "__main__"}


def test_rooms_import_those_before_them() -> None:
    allowed = {own: may_import(own) for own in ORDER}
    wrong = {
        (name_of(path), name)
        for path in sources()
        for name in ours(path)
        if package(name_of(path)) and package(name) not in allowed[package(name_of(path))]
        if package(name_of(path)) != "runtime" or not name.startswith(KEPT)
    }
    assert not wrong, "".join(f"\n{one} must not import {other}" for one, other in sorted(wrong))


def test_what_is_imported_by_name_is_listed() -> None:
    """`locks.imported("...")` is how such a call imports; nothing of ours is hidden in one."""
    found = {
        (name_of(path), node.args[0].value)
        for path in sources()
        for node in nodes(path)
        if isinstance(node, ast.Call) and "imported" in (getattr(node.func, name, "") for name in ("attr", "id"))
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert {pair for pair in found if str(pair[1]).lstrip(".") in names()} == BY_NAME


def test_dataclasses_are_those_that_load_in_no_time() -> None:
    wrong = {"dataclasses.dataclass", "dataclasses.field", "dataclasses.replace", "typing.NamedTuple"}
    assert [name_of(path) for path in sources() if wrong & imports(path) and path.stem != "lazy_dataclasses"] == []


def test_loose_modules_import_no_room() -> None:
    for name in LOOSE:
        assert not {module for module in ours(ROOT / "ttc_llvm" / f"{name}.py") if package(module)}


def test_no_modules_import_each_other_in_circles() -> None:
    """Not even when a function is called."""
    graph = {name_of(path): ours(path) - {name_of(path)} for path in sources()}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_bare_names_of_rooms_are_never_imported() -> None:
    """`import tuning` would make second copies of the classes in `ttc_llvm.tuning`."""
    assert not [(path, name) for path in sources() for name in imports(path) if name.split(".")[0] in ELSEWHERE]


def test_only_the_backend_uses_llvm_itself() -> None:
    heavy = {name_of(path) for path in sources() if any(name.startswith(HEAVY) for name in imports(path))}
    assert heavy <= {"ttc_llvm.runtime.backend"}
    light = {name_of(path) for path in sources() if any(name.split(".")[0] == "llvmlite" for name in imports(path))}
    assert not {name for name in light if package(name) not in ("ir_builders", "runtime")}


def ends_or_prints(path: Path) -> bool:
    """Whether a module prints, or ends the process."""
    calls = [n.func for n in nodes(path) if isinstance(n, ast.Call)]
    names = {f.id for f in calls if isinstance(f, ast.Name)}
    exits = {f.attr for f in calls if isinstance(f, ast.Attribute) and ast.unparse(f.value) == "sys"}
    return "print" in names or "exit" in exits | names


def test_only_the_command_line_prints_or_exits() -> None:
    others = [path for path in sources() if package(name_of(path)) != "cli" and path.stem != "__main__"]
    assert [path for path in others if ends_or_prints(path)] == []


def test_one_module_owns_the_display_of_the_library() -> None:
    """Whoever imports the package sees only what `compiling/display.py` draws, two warnings, and the log."""
    library = [path for path in sources() if package(name_of(path)) not in ("", "cli")]
    drawn = {name_of(path) for path in library if {one.split(".")[0] for one in imports(path)} & {"rich", "IPython"}}
    written = {name_of(path) for path in library if re.search(r"sys\.std(out|err)|warnings\.warn", path.read_text())}
    assert (drawn, written) == ({DISPLAY}, {DISPLAY, WARNING})


def test_the_sources_are_found() -> None:
    assert {"ttc_llvm.problem.problem", "ttc_llvm.ir_builders.module", "ttc_llvm.tuning"} <= names()
    assert "ttc_llvm.lowering.nest" in ours(ROOT / "ir_builders" / "module.py")
    assert "ttc_llvm.gpu.driver" in ours(ROOT / "ttc_llvm" / "arrays" / "public.py") | ours(
        ROOT / "ttc_llvm" / "arrays" / "gpu.py"
    )  # by deferred imports


def test_importing_the_package_does_not_load_llvm() -> None:
    code = f"import sys, ttc_llvm; sys.exit({HEAVY!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def imported_unguarded(path: Path) -> list[str]:
    """What functions of a module import without a lock that forks take."""
    functions = [n for n in nodes(path) if isinstance(n, ast.FunctionDef)]
    guarded = {
        id(node)
        for function in functions
        for block in ast.walk(function)
        if isinstance(block, ast.With) and ast.unparse(block.items[0]) in ("locks.IMPORTS", "locks.LLVM")
        for node in block.body
    }
    late = [n for f in functions for n in ast.walk(f) if isinstance(n, ast.Import | ast.ImportFrom)]
    return [ast.unparse(node) for node in late if id(node) not in guarded]


def test_forks_wait_for_what_calls_import() -> None:
    """A child forked in the middle of an import waits for its lock for ever: calls import under `locks.IMPORTS`."""
    main = ("cli", "bench", "compare", "report")  # the program's own main thread
    others = [
        path
        for path in sources()
        if package(name_of(path)) not in main
        and path.stem != "__main__"
        and name_of(path) != "ttc_llvm"  # whose functions run while it is imported
    ]
    assert [(path, late) for path in others for late in imported_unguarded(path)] == []
    for path in others:
        if path.stem not in ("locks", "interpreter"):  # the latter is called when the package is imported
            assert "import_module" not in path.read_text(), f"{path}: locks.imported does it"


def test_every_folder_of_modules_is_installed() -> None:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    wanted = {name_of(path) for path in sources() if path.name == "__init__.py"}
    assert set(setup["options"]["packages"].split()) == wanted


def test_modules_have_up_to_250_lines() -> None:
    long = {path.name: lines for path in sources() if (lines := path.read_text().count("\n")) > MOST_LINES}
    assert not long
