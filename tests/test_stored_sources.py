"""Code that a database has of an earlier revision is not run: revisions are of all modules that write the code."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

from ttc_llvm import ir_builders
from ttc_llvm.arrays import layout_code, result_memory
from ttc_llvm.contractions import kept
from ttc_llvm.contractions.fused import execution
from ttc_llvm.groups import code
from ttc_llvm.runtime.stored_code import COMPILER

ROOT = Path(ir_builders.__path__[0])
FUSED = "fused/"


def imported(name: str) -> set[str]:
    """The modules of `ir_builders` that this one imports, but not for types alone."""
    path, found = ROOT / f"{name}.py", set[Path]()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
            found |= {base, *(base / one.name for one in node.names)}
    return {str(one.relative_to(ROOT)) for one in found if ROOT in one.parents and one.with_suffix(".py").exists()}


def writers(homes: Iterable[str]) -> set[str]:
    """These modules, and all that they use."""
    found, left = set[str](), [*homes]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += imported(name)
    return found


@pytest.mark.parametrize(
    ("homes", "sources"),
    [
        (layout_code._HOMES.values(), layout_code._SOURCES),
        (code._HOMES.values(), code._SOURCES),
        (("result_handler",), result_memory.SOURCES),
    ],
)
def test_revisions_are_of_all_modules_that_write_code(homes: Iterable[str], sources: tuple[str, ...]) -> None:
    assert writers(homes) - {*COMPILER} == {*sources} - {*COMPILER}


def test_revisions_of_products_are_of_all_their_own_modules() -> None:
    """What these share with transpositions has the revision of kernels."""
    assert {one for one in writers(["fused/build"]) if one.startswith(FUSED)} == {
        one for one in execution.SOURCES if one.startswith(FUSED)
    }
    assert {one for one in execution.SOURCES if not one.startswith(FUSED)} <= {*kept.OTHERS}
