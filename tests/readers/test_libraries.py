"""Every line of the table of libraries, made with the real library; and the page has exactly these lines."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
libraries = pytest.importorskip("libraries")


@pytest.mark.thorough
@pytest.mark.parametrize("line", libraries.LINES, ids=lambda line: f"{line.package}: {line.what}")
def test_every_line_of_the_table_is_read_as_it_says(line):
    pytest.importorskip(line.module)
    read = line.read()
    assert type(read) is line.kind
    assert len(read)
    assert all(read.describe(row) for row in range(len(read)))


def test_the_page_has_the_lines_of_the_table():
    page = (DOCS / "from-your-notebook.md").read_text()
    shown = re.findall(r"^\| ([\w-]+) \| [\d.]+ \| (.*) \| (\w+) \|$", page, re.M)
    assert shown == [(line.package, line.what, line.kind.__name__) for line in libraries.LINES]
