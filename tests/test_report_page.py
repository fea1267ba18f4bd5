"""The report's page in a real browser: opened from disk, on a desk and on a phone."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from browser import DESK, PHONE, browser, open_page, overflow, requests, resize
from made_results import made, write

from ttc_llvm import cli

pytest.importorskip("matplotlib")
__all__ = ["browser"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a few cases with everything that results can hold."""
    folder = tmp_path_factory.mktemp("report")
    results = write(folder / "results.jsonl", made(step=8))
    assert cli.main(["report", str(results), f"--output={folder / 'out'}"]) == 0
    return folder / "out" / "index.html"


def cells(driver: Any, column: str) -> list[str]:
    """A column of the table, from top to bottom."""
    script = """
    const heads = [...document.querySelectorAll("th")].map((head) => head.textContent);
    const k = heads.indexOf(arguments[0]);
    return [...document.querySelectorAll("tbody tr")].map((row) => row.cells[k].dataset.v ?? row.cells[k].textContent);
    """
    found = driver.execute_script(script, column)
    assert isinstance(found, list)
    return found


def head(driver: Any, column: str) -> Any:
    return driver.find_element("xpath", f"//th[button='{column}']")


def test_it_opens_from_disk_without_errors_or_requests(browser: Any, page: Path) -> None:
    open_page(browser, page)
    assert browser.get_log("browser") == []
    assert requests(browser) == [page.as_uri()]
    assert browser.title == "Tensor transpositions: measured"


@pytest.mark.parametrize(("size", "shown"), [(DESK, "wide"), (PHONE, "narrow")])
def test_every_width_shows_its_own_pictures_and_does_not_overflow(
    browser: Any, page: Path, size: tuple[int, int], shown: str
) -> None:
    open_page(browser, page, size)
    assert overflow(browser) <= 0
    figures = browser.find_elements("tag name", "figure")
    assert len(figures) > 6
    for figure in figures:
        visible = {k for k in ("wide", "narrow") if figure.find_element("class name", k).is_displayed()}
        assert visible == {shown}
        drawn = figure.find_element("class name", shown).find_element("tag name", "svg")
        assert drawn.rect["height"] > 150


def test_no_two_pictures_share_an_id_and_all_references_are_met(browser: Any, page: Path) -> None:
    open_page(browser, page)
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids)) > 50
    script = "return [...document.querySelectorAll('use')].map((e) => e.href.baseVal.slice(1))"
    assert set(browser.execute_script(script)) <= set(ids)


def test_columns_are_sorted_by_mouse_and_keyboard(browser: Any, page: Path) -> None:
    open_page(browser, page)
    before = [float(v) for v in cells(browser, "GiB/s")]
    assert before != sorted(before)
    head(browser, "GiB/s").find_element("tag name", "button").click()
    assert [float(v) for v in cells(browser, "GiB/s")] == sorted(before)
    assert head(browser, "GiB/s").get_attribute("aria-sort") == "ascending"
    head(browser, "GiB/s").find_element("tag name", "button").send_keys("\n")
    assert [float(v) for v in cells(browser, "GiB/s")] == sorted(before, reverse=True)
    assert head(browser, "GiB/s").get_attribute("aria-sort") == "descending"
    head(browser, "case").find_element("tag name", "button").send_keys(" ")
    assert cells(browser, "case") == sorted(cells(browser, "case"))
    assert head(browser, "GiB/s").get_attribute("aria-sort") is None
    assert browser.get_log("browser") == []


def test_rows_are_filtered(browser: Any, page: Path) -> None:
    open_page(browser, page)
    browser.find_element("id", "filter").send_keys("update scatter")
    rows = browser.find_elements("css selector", "tbody tr:not([hidden])")
    assert 0 < len(rows) < len(cells(browser, "kind"))
    assert all("update" in row.text and "scatter" in row.text for row in rows)
    assert browser.find_element("id", "shown").text.startswith(f"{len(rows)} of ")


def test_the_data_inside_is_what_was_measured(browser: Any, page: Path) -> None:
    open_page(browser, page)
    link = browser.find_element("partial link text", "results.jsonl")
    kind, _, text = link.get_attribute("href").partition(",")
    data = base64.b64decode(text)
    lines = (gzip.decompress(data) if "gzip" in kind else data).decode().splitlines()
    source = (page.parent.parent / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["key"] for line in lines] == [json.loads(line)["key"] for line in source]
    seconds = [json.loads(text)["ours"]["seconds"] for text in (lines[0], source[0])]
    assert seconds[0] == seconds[1]


def test_the_table_is_saved_as_csv(browser: Any, page: Path, tmp_path: Path) -> None:
    open_page(browser, page)
    script = """
    let saved = null;
    URL.createObjectURL = (blob) => { saved = blob; return "#"; };
    document.getElementById("csv").click();
    saved.text().then(arguments[0]);
    """
    lines = browser.execute_async_script(script).splitlines()
    assert lines[0].startswith("case,kind,perm,size,type,")
    assert len(lines) == 1 + len(cells(browser, "case"))
    assert '"' in lines[1]  # permutations have commas


def test_it_follows_a_dark_screen(browser: Any, page: Path) -> None:
    open_page(browser, page)
    script = "return getComputedStyle(document.querySelector('svg text')).fill + getComputedStyle(document.body).color"
    light = browser.execute_script(script)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    dark = browser.execute_script(script)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert light != dark
    assert dark.count("rgb(232, 232, 228)") == 2


def test_paper_gets_the_wide_pictures(browser: Any, page: Path) -> None:
    open_page(browser, page, PHONE)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.find_element("css selector", "figure .wide").is_displayed()
    assert not browser.find_element("tag name", "nav").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    resize(browser, DESK)
