"""Every picture of the gallery is drawn from a page that shows it."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))
import gallery_pictures  # noqa: E402 (beside the pages)

PICTURES = {path.stem for path in (DOCS / "images" / "gallery").iterdir()}


def shown(page):
    return set(re.findall(r"!\[.+\]\(images/gallery/(.*)\.svg\)", (DOCS / page).read_text()))


def test_every_picture_is_drawn_and_on_the_page_that_computes_it():
    assert set(gallery_pictures.DRAWN) == PICTURES
    assert all(name in shown(page) for name, (page, _) in gallery_pictures.DRAWN.items())


def test_no_page_shows_a_picture_that_is_not_there():
    assert set.union(*(shown(page.name) for page in DOCS.glob("*.md"))) == PICTURES
