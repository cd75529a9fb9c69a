"""Every case of the gallery is short, has its picture, and is on the index page."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
INDEX = (DOCS / "gallery" / "index.md").read_text()
CASES = sorted(path for path in (DOCS / "gallery").glob("*.md") if path.stem != "index")


def shown(path, language):
    return "".join(re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.M | re.S)).splitlines()


def test_the_gallery_has_ten_cases_or_more():
    assert len(CASES) >= 10


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_is_short_and_fits_the_page(path):
    assert 10 <= sum(bool(line.strip()) for line in shown(path, "python")) <= 25
    assert shown(path, "text")
    assert max(map(len, shown(path, "text"))) <= 100


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_has_its_own_picture_and_a_place_on_the_index_page(path):
    assert re.findall(r"!\[.+\]\(\.\./images/gallery/(.*)\.svg\)", path.read_text()) == [path.stem]
    assert f"]({path.stem}.md)" in INDEX
    assert f"\n{path.stem}\n" in INDEX


def test_no_picture_is_left_over():
    assert {path.stem for path in (DOCS / "images" / "gallery").iterdir()} == {path.stem for path in CASES}
