"""Takes the pictures of the report: ``python docs/report_picture.py report.html`` writes docs/images/report.png.

``report-annotated.png`` beside it has the numbers that the page on the first ten minutes explains. The page is that of
``faithscope demo``. Needs Chromium with its driver, and selenium.
"""

import base64
import shutil
import sys
import time
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
_PARTS = [
    *(".headline", ".verdicts", "article:not([hidden]) .contradiction"),
    *("#picture .known", "#picture .hatched", "#picture .tick"),
]
_NUMBERED = """
arguments[0].forEach((part, place) => {
  const box = document.querySelector(part).getBoundingClientRect(), mark = document.createElement("b");
  mark.textContent = place + 1;
  const [x, y] = place < 3 ? [Math.max(box.left - 34, 8), box.top - 6] : [box.left - 4, box.bottom + 6];
  mark.style.cssText = `position:absolute;left:${x}px;top:${y + scrollY}px;width:28px;height:28px;
    border-radius:50%;background:#b00040;color:#fff;font:bold 17px/28px sans-serif;text-align:center`;
  document.body.append(mark);
})
"""
_WIDTH = 1160
_DRAWN = "return document.querySelectorAll('#chart-picture svg').length > 0"
_BOTTOM = "return Math.round(document.querySelector('#chart-picture').getBoundingClientRect().bottom + scrollY) + 16"


def take(page: Path) -> tuple[bytes, bytes]:
    """The page from its top to the picture of all explainers, and the same with numbers beside its parts."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(word)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": _WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.resolve().as_uri())
        while not browser.execute_script(_DRAWN):
            time.sleep(0.1)
        clip = {"x": 0, "y": 0, "width": _WIDTH, "height": browser.execute_script(_BOTTOM), "scale": 1}
        wanted = {"captureBeyondViewport": True, "clip": clip}
        plain = browser.execute_cdp_cmd("Page.captureScreenshot", wanted)["data"]
        browser.execute_script(_NUMBERED, _PARTS)
        numbered = browser.execute_cdp_cmd("Page.captureScreenshot", wanted)["data"]
        return base64.b64decode(plain), base64.b64decode(numbered)
    finally:
        browser.quit()


if __name__ == "__main__":
    plain, numbered = take(Path(sys.argv[1]))
    (IMAGES / "report.png").write_bytes(plain)
    (IMAGES / "report-annotated.png").write_bytes(numbered)
