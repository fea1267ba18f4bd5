"""The part of `make lint` that ruff has no rules for: lines and file names of documents, openings of public docstrings.

A line has at most 120 characters; rows of tables, and the targets of links, which cannot be wrapped, do not count.
A Python file that a document names in backquotes, with or without its folders, exists in the tree; and where it says
"`name` in `file.py`", the name is in that file.
A docstring of a public module, class or function begins with a verb or a noun phrase, not with a question's word.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 120
SOURCES = ("ttc_llvm", "ir_builders", "tuning")
DOCUMENTS = ("*.md", "*.rst", "docs/**/*.md", "docs/**/*.rst", "benchmarks/**/*.rst", "examples/**/*.md")
FOLDERS = (*SOURCES, "tests", "benchmarks", "docs", "examples")  # whose files documents may name
QUESTION = re.compile(r"(What|Which|Where|Whether|How)\b")
RULE = re.compile(r"=+( +=+)+")
NAMED = re.compile(r"`([\w./-]+\.py)`")
PLACED = re.compile(r"`([\w.]+)`+\s+in\s+`+([\w./-]+\.py)`")
TARGETS = re.compile(r"\]\([^)\s]+\)|<?https?://\S+")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def long_lines(text: str) -> Iterator[int]:
    """The numbers of lines that are too long."""
    table = False  # of reStructuredText: from a rule to an empty line
    for number, line in enumerate(text.splitlines(), 1):
        table = bool(line.strip()) and (table or RULE.fullmatch(line) is not None)
        if not (table or line.lstrip().startswith("|")) and len(TARGETS.sub("", line)) > LONGEST:
            yield number


def python_files(root: Path) -> dict[str, list[Path]]:
    """All Python files by their paths, and by what is left of these without the first folders."""
    found: dict[str, list[Path]] = {}
    for path in (path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))):
        parts = path.relative_to(root).parts
        for start in range(len(parts)):
            found.setdefault("/".join(parts[start:]), []).append(path)
    return found


def unknown_names(text: str, known: dict[str, list[Path]]) -> Iterator[tuple[int, str]]:
    """Line and complaint for every Python file in backquotes that does not exist, and every name that it lacks."""
    for found in NAMED.finditer(text):
        if found[1] not in known:
            yield _line(text, found), f"there is no file {found[1]}"
    for found in PLACED.finditer(text):
        word = re.compile(rf"\b{found[1].rpartition('.')[2]}\b")
        if found[2] not in known:
            continue
        if not any(word.search(path.read_text()) for path in known[found[2]]):
            yield _line(text, found), f"there is no {found[1]} in {found[2]}"


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def questions(tree: Documented) -> Iterator[tuple[int, str]]:
    """Line and first word of every public docstring in a tree that begins with a question's word."""
    body = tree.body[0] if tree.body else None
    found = QUESTION.match(ast.get_docstring(tree) or "")
    if found and body is not None:
        yield body.lineno, found[1]
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for node in tree.body:
        if isinstance(node, Documented) and not _private(node.name):
            yield from questions(node)


def _private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def complaints(root: Path) -> Iterator[str]:
    """One line for each fault below a folder laid out as this repository is."""
    known = python_files(root)
    for path in sorted({path for pattern in DOCUMENTS for path in root.glob(pattern)}):
        place, text = path.relative_to(root), path.read_text()
        for number in long_lines(text):
            yield f"{place}:{number}: a line of more than {LONGEST} characters"
        yield from (f"{place}:{number}: {complaint}" for number, complaint in unknown_names(text, known))
    for path in sorted(path for folder in SOURCES for path in (root / folder).rglob("*.py")):
        for number, word in questions(ast.parse(path.read_text())):
            yield f"{path.relative_to(root)}:{number}: a public docstring begins with {word!r}"


def main() -> int:
    """Print every complaint; returns the exit status."""
    found = list(complaints(ROOT))
    print(*found, sep="\n" if found else "", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
