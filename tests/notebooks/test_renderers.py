"""Results in an executed notebook: what JupyterLab leaves of them, if it does not trust it, is all of them."""

import re
from html import unescape

import pytest

from notebooks.jupyterlab_rules import sanitized
from notebooks.test_notebooks import executed, outputs
from sink_examples import result

IMPORTS = "from sink_examples import result"
SHOWN = {
    "estimate": ("consistency", "unverifiable", "0.95"),
    "estimate where nothing can be checked": ("undefined", "1.000"),
    "evaluation of rules": ("consistency", "sufficiency"),
    "comparison": ("rules by age", "importances", "sufficiency", "interval"),
    "comparison of hostile names": ("<script>alert(1)</script>", "[red]markup[/red]"),
    "populations": ("clerk", "cook", "verdict"),
    "audit by several": ("clusters", "consistency"),
    "windows": ("2026-03-01 00:00", "Changed from"),
    "plan": ("How many rows are enough?", "rows needed"),
    "certificate": ("at least", "Floor(decimals=1)"),
    "within curve": ("distance", "0.1"),
    "tolerance curve": ("eps", "standard deviations"),
    "local": ("local consistency", "agreeing"),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a notebook's cells gave, by mime type."""
    cells = [f"result({name!r})" for name in SHOWN]
    book = executed(tmp_path_factory.mktemp("results"), IMPORTS, *cells)
    given = [output for output in outputs(book) if output.output_type != "stream"]
    assert not [output for output in given if output.output_type == "error"]
    return dict(zip(SHOWN, given, strict=True))


def text_of(html):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_result_is_the_same_whether_the_notebook_is_trusted_or_not(shown, name):
    html = shown[name].data["text/html"]
    left, dropped = sanitized(html)
    assert dropped == []
    assert text_of(left) == text_of(html)
    for words in SHOWN[name]:
        assert words in text_of(left)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_result_needs_no_color_of_its_own_and_no_network(shown, name):
    html = shown[name].data["text/html"]
    assert not re.search(r"(?i)\b(color|background|bgcolor)\b\s*[:=]", re.sub(r">[^<]*<", "><", html))
    assert not re.search(r"(?i)<[^>]*\b(src|href)\s*=", html)


def test_the_sanitizer_drops_what_jupyterlab_drops():
    left, dropped = sanitized(
        '<style>p {color: red}</style><p onclick="x()" style="position: fixed">a<script>b</script></p>'
    )
    assert text_of(left) == "a"
    assert dropped == ["style", "p onclick", "style ('position', 'fixed')", "script"]


@pytest.mark.parametrize("name", ["estimate", "comparison", "populations", "plan", "certificate", "windows"])
def test_a_chart_is_a_picture_that_stays(name):
    picture = result(name).plot()._repr_html_()
    left, dropped = sanitized(picture)
    assert dropped == []
    assert left.count("<img") == 1
    assert "data:image/svg+xml;base64," in left
