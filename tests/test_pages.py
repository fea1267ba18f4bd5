"""Python blocks of the documentation's pages run as shown. Blocks marked `{executed}` run while the site is built;
docs/start.md, clusters.md, row_major.md, native.md, cmake.md and targets.md have tests of their own; libraries that are
named on docs/einsum.md are called in test_contraction_users.py, its solutions in test_contraction_solutions.py."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm import cli
from ttc_llvm.cli import command, explain, options
from ttc_llvm.errors import OptionError
from ttc_llvm.tuning import efforts

DOCS = Path(__file__).parent.parent / "docs"
SMALL = "problem = ttc_llvm.Problem((1, 0), (60, 50))\nx = np.ones((6, 5, 4), np.float32)\n"
STATE = "n = 6\nstate = np.arange(2.0**n).reshape((2,) * n)\n"

# Pages, the blocks that run (all where there is no number), and what must be there before the first.
PAGES: dict[str, tuple[tuple[int, ...], str]] = {
    "arrays.md": ((), ""),
    "casts.md": ((), ""),
    "cmake.md": ((), ""),
    "einsum.md": ((0,), ""),
    "groups.md": ((), ""),
    "in_place.md": ((), ""),
    "sums.md": ((), ""),
    "torch.md": ((), ""),
    "howto/faster.md": ((), SMALL),
    "howto/quantum.md": ((), STATE),
    "reference/progress.md": ((), SMALL),
}


def blocks(page: str) -> list[str]:
    """The page's blocks that the site does not run."""
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "torch.md":
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    for name in efforts.EFFORTS:
        monkeypatch.setitem(efforts.EFFORTS, name, 1)  # candidates: no search is as long as its name
    chosen, before = PAGES[page]
    names: dict[str, Any] = {"np": np, "ttc_llvm": ttc_llvm, "__name__": "page"}
    exec(before, names)
    for number, block in enumerate(blocks(page)):
        if not chosen or number in chosen:
            short = re.sub(r"implementations=20\)|problem, 20,", lambda found: found[0].replace("20", "1"), block)
            exec(compile(short, f"docs/{page}, block {number}", "exec"), names)


def test_no_page_is_forgotten() -> None:
    own = {"start.md", "clusters.md", "row_major.md", "native.md", "targets.md", "cmake.md"}
    found = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if blocks(str(path.relative_to(DOCS)))}
    assert found == own - {"native.md", "targets.md", "cmake.md"} | set(PAGES)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Page and words of every `ttc` command that a page shows, those in the middle of a text aside."""
    for path in sorted((*DOCS.rglob("*.md"), *DOCS.rglob("*.rst"), DOCS.parent / "README.rst")):
        text = path.read_text().replace("\\\n", " ")
        for line in re.findall(r"^(?:    )?(?:\$ )?(ttc .*?)(?: +# .*|   .*| \|.*| &&.*)?$", text, re.MULTILINE):
            if not re.search(r"\.\.\.|<|: error: ", line):
                yield str(path.relative_to(DOCS.parent)), shlex.split(line)[1:]


def test_commands_of_pages_have_the_options_that_they_name() -> None:
    parsers = {"": options.parser(), "explain": explain.explain_parser()}
    found = 0
    for page, words in commands():
        name = words[0] if words and not words[0].startswith("-") else ""
        parser = parsers.get(name) or command.subcommands()
        try:
            parser.parse_args(words if parser not in parsers.values() else [w for w in words if w != name])
        except OptionError as error:
            pytest.fail(f"{page}: ttc {' '.join(words)}: {error}")
        found += 1
    assert found > 50


# Pages whose commands run elsewhere: in tests of their own, or while the site is built.
OWN = ("docs/targets.md", "docs/native.md", "docs/cmake.md", "docs/start.md", "docs/howto/faster.md", "README.rst")
MORE = {"bench": "--list", "compare": "--list", "info": "--no-ceilings"}
LATER = ("report", "database", "--report=")  # which need what other commands have made
ELSEWHERE = ("--architecture=cuda", "--compiler=")


@pytest.mark.parametrize("page", sorted({page for page, _ in commands()} - set(OWN)))
def test_commands_of_pages_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of suites list their cases, others time nothing; those that need a GPU or compilers are parsed only."""
    monkeypatch.chdir(tmp_path)
    for name, lines in re.findall(r"^\$ cat (\S+)\n((?:[^$`].*\n)*)", (DOCS.parent / page).read_text(), re.MULTILINE):
        Path(name).write_text(lines, encoding="utf-8")
    for words in {tuple(words) for found, words in commands() if found == page}:
        more = MORE.get(words[0], "--maxImplementations=1")
        if not any(word.startswith(LATER if words[0] in MORE else (*LATER, *ELSEWHERE)) for word in words):
            assert cli.main([*words, more]) == 0, words


def test_pages_show_one_way_to_say_it_in_cmake() -> None:
    """What native.md shows of cmake.md, whose blocks are built, is taken from there."""
    ((shown,), whole) = (
        re.findall(r"^```cmake\n(.*?)^```$", (DOCS / name).read_text(), re.MULTILINE | re.DOTALL)
        for name in ("native.md", "cmake.md")
    )
    lines = {" ".join(line.partition("#")[0].split()) for block in whole for line in block.splitlines()}
    assert {" ".join(line.partition("#")[0].split()) for line in shown.splitlines()} <= lines
