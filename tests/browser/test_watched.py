"""The page of a monitor in a real browser: drawn, readable light and dark, and never wider than the screen."""

import json
import os
import time
from pathlib import Path

import pytest

from faithscope.report.watched import write
from watched_example import watched_record

AXE = os.environ.get("AXE_JS", "")
UNDRAWN = "return [...document.querySelectorAll('.drawing')].filter(place => !place.querySelector('svg')).length"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("watched") / "page.html"
    write(watched_record(), path)
    return path


def _open(browser, page, width, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": 6000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    end = time.monotonic() + 60
    while browser.execute_script(UNDRAWN) and time.monotonic() < end:
        time.sleep(0.2)
    assert browser.execute_script(UNDRAWN) == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_all_charts_are_drawn_and_nothing_is_wider_than_the_screen(browser, page, width):
    _open(browser, page, width, "light")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wide = (
        "return [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1).length"
    )
    assert browser.execute_script(wide) == 0
    severe = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.skipif(not Path(AXE).is_file(), reason="AXE_JS does not name axe-core's axe.min.js")
def test_axe_finds_nothing_wrong_with_a_monitor(browser, page, scheme):
    _open(browser, page, 1280, scheme)
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": Path(AXE).read_text(encoding="utf-8")})
    run = {"expression": "axe.run().then(r => JSON.stringify(r.violations))", "awaitPromise": True}
    told = json.loads(browser.execute_cdp_cmd("Runtime.evaluate", run)["result"]["value"])
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in told] == []
