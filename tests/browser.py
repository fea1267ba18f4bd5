"""A headless Chromium for the tests of pages; they skip where there is none, or no Selenium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PHONE, DESK = (390, 800), (1200, 900)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A driver with a profile of its own; its log keeps what the console says."""
    webdriver = pytest.importorskip("selenium.webdriver")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    service = shutil.which("chromedriver")
    if found is None or service is None:
        pytest.skip("there is no Chromium with its driver")
    options = webdriver.ChromeOptions()
    options.binary_location = found
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(service))
    yield driver
    driver.quit()


def resize(driver: Any, size: tuple[int, int]) -> None:
    """The size of the page in CSS pixels; windows themselves have a least width."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def open_page(driver: Any, path: Path, size: tuple[int, int] = DESK) -> None:
    """Open a file from disk; what the logs held before is forgotten."""
    resize(driver, size)
    for kind in ("browser", "performance"):
        driver.get_log(kind)
    driver.get(path.as_uri())


def overflow(driver: Any) -> int:
    """Pixels by which the page is wider than the window."""
    return int(driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))


def requests(driver: Any) -> list[str]:
    """Addresses, other than data, that were asked for since the page was opened."""
    import json

    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith("data:")]
