"""Takes the picture of the report: ``python docs/report_picture.py report.html`` writes docs/images/report.png.

The page is that of ``faithscope demo``. Needs Chromium with its driver, and selenium.
"""

import base64
import shutil
import sys
import time
from pathlib import Path

PICTURE = Path(__file__).parent / "images" / "report.png"
_WIDTH = 1160
_DRAWN = "return document.querySelectorAll('#chart-picture svg').length > 0"
_BOTTOM = "return Math.round(document.querySelector('#chart-picture').getBoundingClientRect().bottom + scrollY) + 16"


def take(page: Path) -> bytes:
    """The page from its top to the picture of all explainers."""
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
        return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", wanted)["data"])
    finally:
        browser.quit()


if __name__ == "__main__":
    PICTURE.write_bytes(take(Path(sys.argv[1])))
