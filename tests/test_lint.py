"""The lint of documents and docstrings finds what it is for."""

from __future__ import annotations

from pathlib import Path

import lint


def test_lint_finds_long_lines_and_questions(tmp_path: Path) -> None:
    for folder in ("docs", "tuning"):
        (tmp_path / folder).mkdir()
    long = "word " * 30
    (tmp_path / "docs" / "page.md").write_text(f"# Page\n{long}\n| {long} |\n[text](https://host/{'x' * 120})\n")
    (tmp_path / "tuning" / "one.py").write_text(
        '"""How it is."""\n\n\nclass Public:\n    """A noun."""\n\n    def own(self) -> None:\n'
        '        """What it does."""\n\n    def _private(self) -> None:\n        """Whether anybody cares."""\n'
    )
    assert list(lint.complaints(tmp_path)) == [
        "docs/page.md:2: a line of more than 120 characters",
        "tuning/one.py:1: a public docstring begins with 'How'",
        "tuning/one.py:8: a public docstring begins with 'What'",
    ]
