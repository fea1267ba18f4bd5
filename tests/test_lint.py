"""The lint of documents and docstrings finds what it is for; lists of tests and of versions are sound."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

import lint
import minimum
import pytest
import tiers


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


def test_tests_that_quick_runs_leave_out_exist() -> None:
    for slow in (*tiers.SLOW, *tiers.QUICK_SHARES, *tiers.SHARES, *tiers.CI_SHARES):
        path, _, name = slow.partition("::")
        found = [*Path(__file__).parent.glob(f"{path}*")]
        assert found and f"def {name.partition('[')[0]}" in found[0].read_text() if name else found, slow


def test_a_share_is_always_the_same_one() -> None:
    cases = [f"tests/test_kernels.py::test_mirrored_pixels[{k}]" for k in range(36)]
    shares = {"test_kernels.py::test_mirrored": 12}
    beyond = tiers.beyond(shares, cases)
    assert len(beyond) == 24 and beyond == tiers.beyond(shares, [*cases, "tests/test_kernels.py::test_rank_26"])
    assert tiers.beyond(shares, cases[:12]) == set()


def test_the_oldest_versions_are_read(tmp_path: Path) -> None:
    setup = ConfigParser()
    setup.read_string(
        "[options]\ninstall_requires =\n  one>=1.2; sys_platform == 'linux'\n"
        "[options.extras_require]\nreport =\ntest =\n  two-three>=4\n"
    )
    assert list(minimum.pins(setup)) == ["one==1.2", "two-three==4"]
    setup["options"]["install_requires"] = "one"
    with pytest.raises(ValueError, match="'one' names no oldest version"):
        list(minimum.pins(setup))


def test_documents_name_files_that_exist_and_what_is_in_them(tmp_path: Path) -> None:
    for folder in ("docs/design", "tuning", "ttc_llvm/lowering", "ttc_llvm/machine"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("ttc_llvm/lowering/plan.py", "tuning/search.py"):
        (tmp_path / name).write_text('"""A module."""\n\nCUTS = 1\n')
    (tmp_path / "README.rst").write_text("``lowering/plan.py``, ``ttc_llvm/lowering/plan.py``\nand ``gone.py``\n")
    page = "# Page\n`plan.py`, `search.py`, `tuning/search.py`, `tuning`\n`machine/plan.py` and `an.py`, not an.py\n"
    (tmp_path / "docs" / "design" / "page.md").write_text(page)
    where = "`CUTS` in `search.py`, `CUT` in\n`search.py`, `Plan.CUTS` in `plan.py`\n"
    (tmp_path / "docs" / "where.md").write_text(where)
    assert list(lint.complaints(tmp_path)) == [
        "README.rst:2: there is no file gone.py",
        "docs/design/page.md:3: there is no file machine/plan.py",
        "docs/design/page.md:3: there is no file an.py",
        "docs/where.md:1: there is no CUT in search.py",
    ]
