"""The documentation site: it builds without a warning, and every public name and option has its entry."""

from __future__ import annotations

import argparse
import html
import inspect
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from processes import PATIENCE

import ttc_llvm
from ttc_llvm.cli import command
from ttc_llvm.cli import explain as explain_cli
from ttc_llvm.cli import options as cli_options
from ttc_llvm.lowering.plan import DECISIONS

ROOT = Path(__file__).parent.parent
PACKAGES = ("sphinx", "myst_parser", "sphinx_argparse_cli", "sphinx_design", "furo")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    for package in PACKAGES:
        pytest.importorskip(package)
    built = tmp_path_factory.mktemp("site")
    done = sphinx(ROOT / "docs", built)
    assert (done.returncode, done.stderr) == (0, "")
    return built


def sphinx(source: Path, built: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A build as `make docs` does it, but for blocks of code, which are shown and do not run."""
    given = ("-D", "executed=0", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html", *options)
    line = (sys.executable, "-m", "sphinx", *given, str(source), str(built))
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)


def entries(site: Path) -> dict[str, set[str]]:
    """The names that the site's inventory lists, by domain and kind."""
    lines = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    found: dict[str, set[str]] = {}
    for name, kind in (re.match(r"(\S+(?: \S+)*?) (\w+:\S+) -?\d", line).groups() for line in lines):  # type: ignore[union-attr]
        found.setdefault(kind, set()).add(name)
    return found


def bare(text: str) -> str:
    """A text without quoting and spaces."""
    return re.sub(r"[\s`]", "", text)


def plain(page: str) -> str:
    """The bare text of a page."""
    return bare(html.unescape(re.sub(r"<[^>]*>", "", page)))


@pytest.mark.parametrize("name", [name for name in ttc_llvm.__all__ if name != "__version__"])
def test_a_public_name_has_its_signature_and_its_docstring(site: Path, name: str) -> None:
    page = (site / "reference" / "api.html").read_text()
    _, found, rest = page.partition(f'id="ttc_llvm.{name}"')
    assert found, f"{name} has no entry"
    signature, _, described = rest.partition('<dl class="py')[0].partition("<dd><p>")
    value = getattr(ttc_llvm, name)
    if not (isinstance(value, type) and issubclass(value, Exception)):
        known = inspect.signature(value).parameters.values()
        parameters = [p.name for p in known if p.kind is not p.VAR_POSITIONAL]  # those that are only refused
        assert [p for p in parameters if f'<span class="n"><span class="pre">{p}</span>' not in signature] == []
    assert bare(inspect.getdoc(value) or "nothing")[:60] in plain(described)


def test_every_public_name_is_in_the_inventory(site: Path) -> None:
    found = entries(site)
    names = {name for kind, names in found.items() if kind.startswith("py:") for name in names}
    assert {f"ttc_llvm.{name}" for name in ttc_llvm.__all__} <= names
    assert {"ttc_llvm.Solution.__call__", "ttc_llvm.bench.run"} <= names


def flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every option of a parser and of its sub-commands, as the inventory spells them."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from flags(inner)
        elif action.help != argparse.SUPPRESS:
            yield from (f"{parser.prog.replace(' ', '-')}.{flag}" for flag in action.option_strings)


def test_every_option_has_an_entry(site: Path) -> None:
    parsers = (cli_options.parser(), explain_cli.explain_parser(), command.subcommands())
    wanted = {flag for parser in parsers for flag in flags(parser)}
    assert {"ttc.--perm", "ttc-explain.--stage", "ttc-bench.--suite", "ttc-database-clear.--all"} <= wanted
    assert wanted <= entries(site)["std:cmdoption"]


def test_every_page_is_built(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs") for kind in ("md", "rst") for path in (ROOT / "docs").rglob(f"*.{kind}")]
    missing = [str(page) for page in pages if not (site / page.with_suffix(".html")).exists()]
    assert missing == ([] if (ROOT / "CONTRIBUTING.md").exists() else ["project/contributing.md"])


class Page(HTMLParser):
    """The names of a page's places, and where its links lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.places, self.links = path, {""}, list[str]()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note both."""
        given = dict(attrs)
        self.places |= {given.get("id") or "", given.get("name") or ""}
        self.links += [given[name] or "" for name in ("href", "src") if name in given and tag != "link"]


def test_links_lead_to_pages_and_places_on_them(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    lost = []
    for page in pages.values():
        for link in page.links:
            address, _, place = unquote(link).partition("#")
            if re.match(r"[a-z]+:", address):
                continue
            file = (page.path.parent / address.partition("?")[0]).resolve() if address else page.path
            if not file.exists() or (file in pages and place not in pages[file].places):
                lost.append(f"{page.path.relative_to(site)}: {link}")
    assert len(pages) > 60 and lost == []


def test_notebooks_of_the_gallery_hold_the_pages_code(site: Path) -> None:
    pages = sorted((ROOT / "docs" / "gallery").glob("*.md"))
    made = [json.loads((site / "gallery" / f"{page.stem}.ipynb").read_text()) for page in pages if page.stem != "index"]
    assert len(made) >= 4
    for notebook in made:
        code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        text = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
        assert notebook["nbformat"] == 4 and code and text[0].startswith("# ")
        assert "{executed} python" not in str(text)
        for cell in code:
            compile(cell, "cell", "exec")


def test_every_page_links_the_glossary(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert 'glossary.html">' in path.read_text() or path.name == "glossary.html", path


def test_ten_questions_are_answered(site: Path) -> None:
    """Each has its pages, and each page its words."""
    asked = set()
    for line in (ROOT / "tests" / "questions.txt").read_text().splitlines()[1:]:
        question, page, words = line.split(" | ")
        asked.add(question)
        assert bare(words) in plain((site / page).read_text()), line
    assert len(asked) == 10


def test_every_variable_of_the_environment_is_on_its_page() -> None:
    page = (ROOT / "docs" / "reference" / "environment.md").read_text()
    inner = {"TTC_BENCH_CONTRACTIONS"}  # of one process of ours to another
    found = set()
    for path in (*(ROOT / "ttc_llvm").rglob("*.py"), *(ROOT / "tuning").rglob("*.py")):
        found |= set(re.findall(r'"((?:TTC|OMP|XDG|OPENBLAS|MKL|KMP)_[A-Z_]+)"', path.read_text()))
    assert {"TTC_DATABASE", "TTC_PTXAS"} <= found
    assert sorted(name for name in found - inner if f"`{name}`" not in page) == []


def test_every_decision_of_plans_is_on_its_page() -> None:
    page = (ROOT / "docs" / "reference" / "plans.md").read_text()
    names = {*ttc_llvm.CpuPlan.__match_args__, *ttc_llvm.GpuPlan.__match_args__, *(store.value for store in DECISIONS)}
    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[design](no_page.md)\n", "no_page"),
        ("[design](other.md#no-such-section)\n", "no-such-section"),
        ("{option}`ttc --nothing`\n", "--nothing"),
        ("{py:func}`ttc_llvm.nothing`\n", "ttc_llvm.nothing"),
        ("```{executed} python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```{executed} console\n$ ttc --perm=7 --size=8\n```\n", "status 2"),
    ],
)
def test_what_leads_nowhere_fails_the_build(tmp_path: Path, text: str, complaint: str) -> None:
    """With the settings of the site, and two pages of our own."""
    for package in PACKAGES:
        pytest.importorskip(package)
    source = tmp_path / "docs"
    source.mkdir()
    (source / "index.md").write_text(f"# Start\n\n```{{toctree}}\nother\n```\n\n{text}")
    (source / "other.md").write_text("# Other\n")
    done = sphinx(source, tmp_path / "built", "-c", str(ROOT / "docs"), "-D", "executed=1")
    assert done.returncode == 1
    assert complaint in done.stderr
