"""The page of an explanation in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import DESK, PHONE, browser, open_page, overflow, requests

from ttc_llvm import cli

__all__ = ["browser"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The explanation of one problem, untimed."""
    path = tmp_path_factory.mktemp("explain") / "page.html"
    options = ("--perm=2,1,0", "--size=384,55,384", "--cpu=skylake-avx512", "--blockings=64x64", "--ignoreDatabase")
    assert cli.main(["explain", *options, f"--html={path}"]) == 0
    return path


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_it_opens_from_disk_and_fits(browser: Any, page: Path, size: tuple[int, int]) -> None:
    open_page(browser, page, size)
    assert browser.get_log("browser") == []
    assert requests(browser) == [page.as_uri()]
    assert overflow(browser) <= 0
    pictures = browser.find_elements("tag name", "svg")
    assert len(pictures) == 6
    assert all(0 < picture.rect["width"] <= size[0] and picture.rect["height"] > 100 for picture in pictures)


def test_a_picture_holds_everything_that_is_drawn(browser: Any, page: Path) -> None:
    open_page(browser, page)
    script = """
    return [...document.querySelectorAll("svg")].map((svg) => {
      const drawn = svg.getBBox(), view = svg.viewBox.baseVal;
      return Math.max(drawn.x + drawn.width - view.width, drawn.y + drawn.height - view.height, -drawn.x, -drawn.y);
    });
    """
    assert max(browser.execute_script(script)) <= 1
