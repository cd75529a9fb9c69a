"""The page of a monitor in a real browser: drawn, readable light and dark, and never wider than the screen."""

import pytest

from browser.test_report import needs_axe, until, violations, wanted_look
from watched_example import watched_monitor

DRAWN = "return [...document.querySelectorAll('.drawing')].every(place => place.querySelector('svg'))"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("watched") / "page.html"
    watched_monitor().to_html(path)
    return path


def opened(browser, page, width=1280, scheme="light"):
    wanted_look(browser, {"prefers-color-scheme": scheme})
    size = {"width": width, "height": 6000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    until(browser, DRAWN, 60)


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
def test_all_charts_are_drawn_and_nothing_is_wider_than_the_screen(browser, page, width):
    opened(browser, page, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wide = (
        "return [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1).length"
    )
    assert browser.execute_script(wide) == 0
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@needs_axe
@pytest.mark.thorough
def test_axe_finds_nothing_wrong_with_a_monitor(browser, page):
    for scheme in ("light", "dark"):
        opened(browser, page, scheme=scheme)
        assert violations(browser) == []
