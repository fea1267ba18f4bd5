"""Code of the pages that runs while the site is built, so that what stands below it is what it prints.

`{executed} python` runs Python: all blocks of a page share their names. Below the code stands what was printed, and the
last expression's value: its HTML, a matplotlib figure as a picture, else its text. `{executed} console` runs the lines
behind a `$` in a folder that the page's blocks share. A block that fails is a warning, which `make docs` takes for an
error. Options: `lines` (that many are shown), `output` (the language of what is printed), `needs` (a name of NEEDS:
where that is missing the block is shown, and not run), `alt` (what a picture
shows, in words). With `-D executed=0` nothing runs.

`{notebook}` links the page as a notebook, which is made of the same text.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import io
import json
import logging as standard
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOG = logging.getLogger(__name__)
ROOT = Path(__file__).parent.parent
INK = "#010203"  # of pictures: the page's own colour of text
BLOCK = re.compile(r"^```\{executed\} python\n((?::.*\n)*)\n*(.*?)^```$", re.MULTILINE | re.DOTALL)


def has_device() -> bool:
    """Whether a CUDA device answers."""
    if shutil.which("nvidia-smi") is None:
        return False
    return b"GPU" in subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).stdout


# What blocks may need: the words for it, and whether it is here.
NEEDS: dict[str, tuple[str, Any]] = {
    "cuda": ("a CUDA device", has_device),
}


class Executed(SphinxDirective):
    """A block of code and what it prints."""

    required_arguments = 1
    has_content = True
    option_spec = {"lines": directives.positive_int, "output": str, "needs": str, "alt": str}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """The nodes of code and results."""
        code, language = "\n".join(self.content), self.arguments[0]
        words, is_here = NEEDS[self.options["needs"]] if "needs" in self.options else ("", lambda: True)
        if not self.config.executed:
            return [self.literal(code, language)]
        if not is_here():
            note = nodes.Text(f"Not run: {words} was missing where this page was built.")
            return [self.literal(code, language), nodes.paragraph("", "", nodes.emphasis("", "", note))]
        for path in (*(ROOT / "ttc_llvm").rglob("*.py"), __file__):
            self.env.note_dependency(str(path))
        try:
            return self.console(code) if language == "console" else self.python(code)
        except Exception:
            self.env.note_reread()  # so that the next build complains, too
            last = traceback.format_exc().splitlines()
            LOG.warning("a block of code fails: %s", " | ".join(last[-8:]), location=self.get_location())
            return [self.literal(code, language)]

    def python(self, code: str) -> list[nodes.Node]:
        """Run Python among the page's names."""
        names = self.place().setdefault("names", {"__name__": "__main__"})
        tree, printed, value = ast.parse(code), io.StringIO(), None
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed), contextlib.chdir(self.folder()):
            exec(compile(tree, self.env.docname, "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), self.env.docname, "eval"), names)
        text, shown = printed.getvalue(), self.shown(value)
        if value is not None and shown is None:
            text += f"{value!r}\n"
        result = [self.literal(self.cut(text), self.options.get("output", "text"))] if text else []
        return [self.literal(code, "python"), *result, *([shown] if shown is not None else [])]

    def console(self, code: str) -> list[nodes.Node]:
        """Run the commands, and show each with its output below."""
        lines = list[str]()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        database = str(self.folder() / ".solutions.sqlite3")
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": path, "TTC_DATABASE": database}
        for line in re.split(r"\n(?=\$ )", code):
            done = subprocess.run(
                ["bash", "-c", line.removeprefix("$ ")], cwd=self.folder(), env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False,
            )  # fmt: skip
            if done.returncode:
                raise RuntimeError(f"{line}: status {done.returncode}: {done.stdout}")
            lines += [*line.splitlines(), *self.cut(done.stdout).splitlines()]
        if "output" not in self.options:
            return [self.literal("\n".join(lines), "console")]
        printed = "\n".join(lines[len(code.splitlines()) :])
        return [self.literal(code, "console"), self.literal(printed, self.options["output"])]

    def place(self) -> dict[str, Any]:
        """What the blocks of this page share."""
        shared: Any = self.env.current_document.setdefault("executed", {})
        return cast("dict[str, Any]", shared)

    def folder(self) -> Path:
        """The page's own folder, forgotten with the page."""
        held = self.place().setdefault("folder", tempfile.TemporaryDirectory())
        return Path(held.name)

    def cut(self, text: str) -> str:
        """The first lines of a text."""
        lines = text.rstrip().splitlines()
        most = self.options.get("lines", len(lines))
        return "\n".join([*lines[:most], *(["..."] if len(lines) > most else [])])

    def literal(self, text: str, language: str) -> nodes.literal_block:
        """A block of code."""
        return nodes.literal_block(text, text, language=language)

    def shown(self, value: object) -> nodes.Node | None:
        """A value as HTML, where it has any."""
        if hasattr(value, "savefig"):
            html = f'<div class="shown" role="img" aria-label="{self.options["alt"]}">{svg(value)}</div>'
        elif hasattr(value, "_repr_html_"):
            html = f'<div class="shown">{value._repr_html_()}</div>'
        else:
            return None
        return nodes.raw("", html, format="html")


def svg(figure: Any) -> str:
    """A picture in the page's colours, the same for the same figure."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "ttc_llvm"}):
        figure.savefig(text, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
    made = text.getvalue()
    return made[made.index("<svg") :].replace(INK, "currentColor")


class Notebook(SphinxDirective):
    """A link to the page as a notebook."""

    def run(self) -> list[nodes.Node]:
        """One paragraph."""
        name = Path(self.env.docname).name + ".ipynb"
        link = f'<p>This page is a notebook: <a href="{name}" download="{name}">{name}</a>.</p>'
        self.env.metadata[self.env.docname]["notebook"] = "yes"
        return [nodes.raw("", link, format="html")]


def notebook(text: str) -> str:
    """A page's text as a notebook without results."""
    parts = BLOCK.split(re.sub(r"```\{notebook\}\n```\n", "", text))
    cells, kinds = list[dict[str, Any]](), ("markdown", "skip", "code")
    for number, part in enumerate(parts):
        kind, source = kinds[number % 3], part.strip("\n").splitlines(keepends=True)
        if kind != "skip" and source:
            extra: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
            cells.append({"id": f"cell{number}", "cell_type": kind, "metadata": {}, "source": source} | extra)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def write_notebooks(app: Sphinx, error: Exception | None) -> None:
    """Write those that pages link, beside the pages."""
    for name, facts in app.env.metadata.items():
        if error is None and app.builder.format == "html" and "notebook" in facts:
            made = notebook(Path(app.env.doc2path(name)).read_text())
            Path(app.outdir, f"{name}.ipynb").write_text(made)


def set_apart() -> None:
    """Keep the blocks' solutions and secrets from those of the user who builds: they begin with none."""
    held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    atexit.register(held.cleanup)
    standard.getLogger("ttc_llvm").setLevel(standard.WARNING)
    os.environ |= {"TTC_DATABASE": f"{held.name}/solutions.sqlite3", "XDG_STATE_HOME": held.name}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and the switch."""
    set_apart()
    app.add_config_value("executed", default=True, rebuild="env", types=[bool])
    app.add_directive("executed", Executed)
    app.add_directive("notebook", Notebook)
    app.connect("build-finished", write_notebooks)
    return {"version": "1", "parallel_read_safe": False}
