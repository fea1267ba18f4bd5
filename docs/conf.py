"""The documentation site: pages of this folder, what the repository's root holds for readers, and references
generated from the public names and from the command line's parsers. Nothing is downloaded while it is built."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.domains.std import StandardDomain

import ttc_llvm

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

project = "ttc_llvm"
author = "The ttc_llvm developers"
version = release = ttc_llvm.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_argparse_cli", "sphinx_design", "executed"]
exclude_patterns = [] if (ROOT / "CONTRIBUTING.md").exists() else ["project/contributing.md"]
smartquotes = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "ttc_llvm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = html_show_sphinx = False
html_copy_source = False

default_role = "code"  # docstrings set code in single backquotes
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"npt.ArrayLike": "ArrayLike", "npt.DTypeLike": "DTypeLike"}
python_maximum_signature_line_length = 100
nitpicky = True
# Names in signatures that lead nowhere, and why: every other one has its entry.
nitpick_ignore_regex = [
    ("py:class", r"pathlib\.Path|collections\.abc\.\w+"),  # Python's, whose list would have to be downloaded
    ("py:class", r"npt\.\w+|np\.dtype"),  # NumPy's
    ("py:class", r"\w+"),  # variables and aliases of types
    ("py:class", r"ttc_llvm\.\w+\..*"),  # values of ours that are no public names
]


def public(app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.TextElement) -> nodes.Node | None:
    """The entry of a public name, where an annotation names it by the module that defines it."""
    home, _, name = node.get("reftarget", "").rpartition(".")
    if node.get("refdomain") != "py" or home == "ttc_llvm" or name not in ttc_llvm.__all__:
        return None
    return env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], f"ttc_llvm.{name}", node, contents
    )


def setup(app: Sphinx) -> None:
    """Add our own resolver of names."""
    app.connect("missing-reference", public)
    StandardDomain.object_types["term"].attrs["searchprio"] = 1  # the search finds terms of the glossary
