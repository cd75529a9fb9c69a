"""The report in a real browser: it opens from disk, works by itself, and can be used by everybody.

Needs Chromium and its driver (Debian: chromium, chromium-driver); skipped without them. AXE_JS names axe-core's
script, axe.min.js; without it only our own checks of labels and contrast are made.
"""

import base64
import json
import os
import re
import time
from pathlib import Path

import pytest

import report_examples as examples

AXE = os.environ.get("AXE_JS", "")
THOROUGH = pytest.mark.thorough
needs_axe = pytest.mark.skipif(not Path(AXE).is_file(), reason="AXE_JS does not name axe-core's axe.min.js")

DRAWN = "return document.querySelectorAll('#chart-picture svg').length > 0"
NAMES = "return [...document.querySelectorAll('#overview tbody tr:not([hidden]) th')].map(th => th.textContent)"
SHOWN = """return [...document.querySelectorAll('#rows .pickable')].filter(part => !part.hidden)
    .map(part => Number(part.dataset.explainer))"""
CONTRAST = """
const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => [r, g, b].map(c => linear(c / 255))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const color = text => text.match(/[\\d.]+/g).map(Number);
const ground = element => {
  for (; element; element = element.parentElement) {
    const color_below = color(getComputedStyle(element).backgroundColor);
    if (color_below.length === 3 || color_below[3] > 0) return color_below;
  }
  return [255, 255, 255];
};
const weak = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.checkVisibility() || element.closest('.away, script, style')) continue;
  const text = element instanceof SVGElement ? getComputedStyle(element).fill : getComputedStyle(element).color;
  const [a, b] = [luminance(color(text)), luminance(ground(element))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) weak.push([element.tagName, element.textContent.slice(0, 40), text]);
}
return weak;
"""
UNNAMED = """
return [...document.querySelectorAll('button, select, input, a[href], [role=img], [role=group], table')].filter(e =>
    !(e.ariaLabel || e.textContent.trim() || e.labels?.length || e.caption)).map(e => e.outerHTML.slice(0, 100))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return written(examples.comparison, tmp_path_factory)


def written(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(examples.page(result), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return written(examples.hostile, tmp_path_factory)


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    return written(examples.maps, tmp_path_factory)


def until(browser, script, seconds=20):
    """Wait until a script says yes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if browser.execute_script(script):
            return
        time.sleep(0.05)
    pytest.fail(f"Not within {seconds} seconds: {script}")


def wanted_look(browser, wanted):
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def opened(browser, path, hash_="", scheme="light"):
    """The page from disk, with its first chart drawn."""
    browser.get("about:blank")
    # Without motion, so that nothing moves when clicked.
    wanted_look(browser, {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"})
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(path.as_uri() + hash_)
    until(browser, DRAWN)
    return browser


def requested(browser):
    """Addresses asked for since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [address for address in sent if not address.startswith("data:")]


def draw_all(browser):
    """Every chart drawn, every fold open."""
    browser.execute_script("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    browser.execute_script(
        "const p = document.getElementById('pick'); p.value = 'all'; p.dispatchEvent(new Event('change'))"
    )
    until(browser, "return [...document.querySelectorAll('.drawing')].every(place => place.querySelector('svg'))")


@pytest.mark.parametrize("name", ["report", *(pytest.param(name, marks=THOROUGH) for name in ("hostile", "maps"))])
def test_the_report_opens_from_disk_without_an_error_or_a_request(browser, request, name):
    path = request.getfixturevalue(name)
    opened(browser, path)
    draw_all(browser)
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    assert requested(browser) == [path.as_uri()]


@THOROUGH
def test_a_heading_sorts_its_table_both_ways_and_what_has_no_number_last(browser, report):
    opened(browser, report)

    def column(place):
        rows = "return [...document.querySelectorAll('#overview tbody tr')]"
        return browser.execute_script(f"{rows}.map(row => row.children[{place}].dataset.value)")

    headings = browser.find_elements("css selector", "#overview thead .sort")
    before = column(4)
    headings[4].send_keys("\n")  # by keyboard
    assert column(4) == sorted(before, key=float)
    assert headings[4].find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    headings[4].click()
    assert column(4) == sorted(before, key=float, reverse=True)
    assert len(browser.find_elements("css selector", "#overview [aria-sort]")) == 1
    browser.execute_script("document.querySelector('#overview tbody td:nth-child(7)').dataset.value = ''")
    for _ in range(2):
        headings[6].click()
        assert column(6)[-1] == ""


@THOROUGH
def test_the_filter_narrows_verdicts_picture_and_table(browser, report):
    opened(browser, report)
    browser.find_element("id", "filter").send_keys("RaNd")
    assert browser.execute_script(NAMES) == ["random"]
    assert browser.find_element("id", "filtered").text == "1 of 5 explainers"
    assert "consistency" in browser.execute_script("return document.querySelector('#chart-picture').textContent")
    until(browser, "return !document.querySelector('#chart-picture').textContent.includes('constant')")
    assert "random" in browser.execute_script("return document.querySelector('#chart-picture').textContent")


@THOROUGH
def test_picking_an_explainer_shows_its_details_and_links_to_it(browser, report):
    from selenium.webdriver.support.ui import Select

    opened(browser, report)
    assert browser.execute_script(SHOWN) == [0]
    Select(browser.find_element("id", "pick")).select_by_visible_text("constant")
    place = int(browser.find_element("id", "pick").get_attribute("value"))
    assert browser.execute_script(SHOWN) == [place]
    assert browser.find_element("id", "pick-rows").get_attribute("value") == str(place)
    assert browser.execute_script("return location.hash") == "#explainer=constant"
    until(browser, f"return document.querySelector('#rows [data-explainer=\"{place}\"] svg')")
    Select(browser.find_element("id", "pick")).select_by_visible_text("all explainers")
    assert browser.execute_script(SHOWN) == [0, 1, 2, 3, 4]


@THOROUGH
def test_a_deep_link_picks(browser, report, hostile):
    opened(browser, report, "#explainer=rules%20by%20age")
    assert browser.execute_script("return document.getElementById('pick').value") == "0"
    browser.execute_script("location.hash = '#explainer=unique'")
    until(browser, "return document.getElementById('pick').selectedOptions[0].text === 'unique'")
    opened(browser, report, "#explainer=nobody%")
    assert browser.execute_script(SHOWN) == [0]
    opened(browser, hostile)
    browser.find_elements("css selector", ".verdicts .go a")[1].click()
    until(browser, "return document.getElementById('pick').value === '1'")


@THOROUGH
def test_hostile_names_stay_text_also_where_hovering_tells_numbers(browser, hostile):
    from selenium.webdriver import ActionChains

    opened(browser, hostile)
    bar = browser.find_element("css selector", "#chart-picture .mark-rect path")
    ActionChains(browser).move_to_element(bar).perform()
    until(browser, "return document.querySelector('.vg-tooltip.visible')?.textContent.includes('unverifiable')")
    names = browser.execute_script(NAMES)
    assert names[0] in browser.execute_script("return document.querySelector('.vg-tooltip').textContent")
    draw_all(browser)
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert browser.execute_script("return document.querySelectorAll('script').length") == 3
    assert set(names) >= set(examples.HOSTILE[:4])
    drawing = browser.execute_script("return document.getElementById('chart-picture').textContent")
    assert examples.HOSTILE[0] in drawing


@THOROUGH
def test_words_are_explained_where_they_are_used(browser, report):
    opened(browser, report)
    term = browser.find_element("css selector", "a.term[href='#means-chance']")
    assert "means nothing" in term.get_attribute("title")
    term.click()
    until(browser, "return document.getElementById('means').open")


@THOROUGH
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_maps_stand_out_and_everything_has_a_name(browser, report, maps, scheme):
    for path in (report, maps):
        opened(browser, path, scheme=scheme)
        draw_all(browser)
        assert browser.execute_script("return document.documentElement.dataset.theme") == scheme
        assert browser.execute_script(CONTRAST) == []
        assert browser.execute_script(UNNAMED) == []
    sizes = """return [...document.querySelectorAll('.map')].filter(map => map.checkVisibility())
        .map(map => map.getBoundingClientRect()).map(box => [box.width, box.height])"""
    assert all(width >= 40 and height >= 20 for width, height in browser.execute_script(sizes))
    strokes = """const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        const light = text => text.match(/\\d+/g).slice(0, 3).map(c => linear(c / 255))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        return [...document.querySelectorAll('.map path')].map(path => {
          const ground = light(getComputedStyle(path.parentElement).backgroundColor);
          const [a, b] = [light(getComputedStyle(path).stroke), ground].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        })"""
    ratios = browser.execute_script(strokes)
    assert len(ratios) > 12
    assert min(ratios) >= 3, "WCAG's contrast of graphics"


@THOROUGH
def test_the_button_turns_the_page_and_its_charts_dark(browser, report):
    opened(browser, report)
    color = "return getComputedStyle(document.querySelector('#chart-picture .role-axis-label text')).fill"
    ground = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(color), browser.execute_script(ground)
    browser.find_element("id", "theme").click()
    after = browser.execute_script(color), browser.execute_script(ground)
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert browser.find_element("id", "theme").get_attribute("aria-pressed") == "true"


@THOROUGH
@pytest.mark.parametrize("width", [1300, 800, 390, 360])
def test_neither_the_page_nor_a_table_is_ever_wider_than_the_screen(browser, report, hostile, maps, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for path in (maps, hostile, report):
            opened(browser, path)
            draw_all(browser)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            wide = "return [...document.querySelectorAll('.drawing svg')].map(svg => svg.getBoundingClientRect().right)"
            assert max(browser.execute_script(wide)) <= width
        wide = """return [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1)
            .map(box => box.ariaLabel)"""
        assert browser.execute_script(wide) == []
        cells, all_cells = (
            browser.execute_script(f"return document.querySelectorAll('#overview {which}').length")
            for which in ("tbody [role=cell]", "td")
        )
        assert cells == all_cells
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def pages(browser):
    """How many sheets of A4 a page takes."""
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


OVERLAPS = """  // names of axes may be turned, so that their boxes overlap and they do not
const boxes = [...document.querySelectorAll('.drawing .role-mark.mark-text text')]
    .filter(text => text.textContent.trim())
    .map(text => [text.closest('.drawing').id, text.textContent, text.getBoundingClientRect()]);
return boxes.flatMap(([place, words, a], i) => boxes.slice(i + 1).filter(([other, , b]) => other === place &&
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
    .map(([, rest]) => [place, words, rest]))
"""


@THOROUGH
def test_no_label_of_a_chart_covers_another(browser, report, maps):
    for width in (1300, 800, 390):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            for path in (report, maps):
                opened(browser, path)
                draw_all(browser)
                assert browser.execute_script(OVERLAPS) == []
        finally:
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@THOROUGH
def test_the_essential_is_printed_on_two_pages_and_everything_on_more(browser, report):
    opened(browser, report)
    assert pages(browser) == 2
    browser.execute_script("document.documentElement.classList.add('whole')")
    assert pages(browser) > 2


@THOROUGH
def test_what_differs_between_two_rows_is_marked_and_not_by_color_alone(browser, report):
    opened(browser, report)
    style = """const s = getComputedStyle(document.querySelector('.contradiction mark'));
        return [Number(s.fontWeight) >= 600, s.textDecorationLine]"""
    assert browser.execute_script(style) == [True, "underline"]
    shown = """return [...document.querySelectorAll('#contradictions .contradiction')]
        .filter(pair => pair.checkVisibility()).length"""
    assert browser.execute_script(shown) == 1


def violations(browser):
    """What axe finds wrong; it runs through the debugger, which the page's policy does not bind."""
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": Path(AXE).read_text(encoding="utf-8")})
    run = {"expression": "axe.run().then(r => JSON.stringify(r.violations))", "awaitPromise": True}
    told = json.loads(browser.execute_cdp_cmd("Runtime.evaluate", run)["result"]["value"])
    return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in told]


@needs_axe
@THOROUGH
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(browser, report, maps, scheme):
    for page in (report, maps):
        opened(browser, page, scheme=scheme)
        draw_all(browser)
        assert violations(browser) == []
