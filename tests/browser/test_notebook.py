"""A notebook's plots in a real browser that has no network, as a page that shows what cells gave."""

import pytest

from browser.test_report import requested
from notebooks.test_notebooks import LOG, PLOTS, SHOWN, executed, outputs

OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Every output by its richest text, as front ends and nbconvert choose."""
    folder = tmp_path_factory.mktemp("notebook")
    shown = [output.data for output in outputs(executed(folder, LOG, PLOTS, *SHOWN)) if "data" in output]
    path = folder / "notebook.html"
    parts = "".join(f"<div>{data['text/html']}</div>" for data in shown)
    path.write_text(f"<!doctype html><html><body>{parts}</body></html>", encoding="utf-8")
    return path


@pytest.mark.thorough
def test_plots_are_seen_without_a_network(browser, page):
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", OFFLINE)
    browser.get_log("performance")
    browser.get(page.as_uri())
    sizes = browser.execute_script(
        "return [...document.images].map(i => [i.complete, i.naturalWidth, i.naturalHeight, i.alt.length])"
    )
    assert len(sizes) == len(SHOWN)
    assert all(complete and wide > 300 and high > 40 and words > 20 for complete, wide, high, words in sizes)
    assert requested(browser) == [page.as_uri()]
