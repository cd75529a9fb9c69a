"""Results in an executed notebook: what JupyterLab leaves of them, if it does not trust it, is all of them."""

import re
from html import unescape

import pytest

from notebooks.jupyterlab_rules import dropped
from notebooks.test_notebooks import executed, outputs
from result_examples import result

IMPORTS = "from result_examples import result"
SHOWN = {
    "estimate": ("consistency", "unverifiable", "95%"),
    "estimate where nothing can be checked": ("nothing can be checked", "100.0%"),
    "evaluation of rules": ("consistency", "sufficiency"),
    "comparison": ("rules by age", "importances", "sufficiency", "interval"),
    "comparison of hostile names": ("<script>alert(1)</script>", "[red]markup[/red]"),
    "populations": ("clerk", "cook", "interval"),
    "audit by several": ("clusters", "consistency"),
    "windows": ("2026-03-01 00:00", "Changed from"),
    "plan": ("How many rows are enough?", "rows in all are needed"),
    "certificate": ("at least", "Floor(decimals=1)"),
    "within curve": ("distance", "0.1"),
    "tolerance curve": ("eps", "consistency"),
    "local": ("local consistency", "agree"),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a notebook's cells gave, by mime type."""
    cells = [f"result({name!r})" for name in SHOWN]
    book = executed(tmp_path_factory.mktemp("results"), IMPORTS, *cells)
    given = [output for output in outputs(book) if output.output_type != "stream"]
    assert not [output for output in given if output.output_type == "error"]
    return dict(zip(SHOWN, given, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("name", SHOWN)
def test_a_result_is_the_same_whether_the_notebook_is_trusted_or_not_and_needs_no_color_nor_network(shown, name):
    html = shown[name].data["text/html"]
    assert dropped(html) == []
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
    assert [words for words in SHOWN[name] if words not in text] == []
    assert not re.search(r"(?i)\b(color|background|bgcolor)\b\s*[:=]", re.sub(r">[^<]*<", "><", html))
    assert not re.search(r"(?i)<[^>]*\b(src|href)\s*=", html)


@pytest.mark.thorough
def test_a_chart_is_a_picture_that_stays_and_what_jupyterlab_drops_is_known():
    for name in ("estimate", "comparison", "populations", "plan", "certificate", "windows"):
        picture = result(name).plot()._repr_html_()
        assert dropped(picture) == []
        assert picture.count("<img") == picture.count("data:image/svg+xml;base64,") == 1
    html = '<style>p {color: red}</style><p onclick="x()" style="position: fixed">a<script>b</script></p>'
    assert dropped(html) == ["style", "p onclick", "style position: fixed", "script"]
