"""The script that draws charts is kept; where nobody can draw a picture, browsers draw the chart."""

import hashlib
import html
import json
import re
from importlib.metadata import version

import altair as alt
import pytest

import faithscope as fs
from faithscope.charts import estimates, offline
from faithscope.charts.bundle import EXPORT, bundle, kept
from faithscope.errors import MissingExtra
from refused import refused

VERSIONS = json.loads(kept("versions.json"))


@pytest.fixture
def chart():
    return estimates([("</script><script>alert(1)</script>", fs.consistency(["a", "a"], [0, 1]))])


@pytest.fixture
def undrawn(monkeypatch):
    """As if vl-convert were not installed."""
    monkeypatch.setattr(offline, "find_spec", lambda name: None)


def drawn_spec(page):
    return json.loads(re.search(r"^<script>vegaEmbed\(\"#\w+\", (\{.*\}), \{.*?\}\)\.catch", page, re.M)[1])


def test_the_kept_script_is_the_one_that_was_made():
    assert hashlib.sha256(kept("vega.js")).hexdigest() == VERSIONS["sha256"]
    assert "window.vegaEmbed=" in bundle()
    assert "</script" not in bundle()
    assert VERSIONS["vega"] in bundle()


@pytest.mark.thorough
def test_vl_convert_makes_the_same_script():
    vl_convert = pytest.importorskip("vl_convert")
    installed = version("vl-convert-python")
    if installed != VERSIONS["vl-convert-python"]:
        pytest.skip(f"the script was made by vl-convert {VERSIONS['vl-convert-python']}; here is {installed}")
    assert vl_convert.javascript_bundle(EXPORT) == bundle()


def test_the_script_is_as_new_as_the_charts_and_the_licenses_name_what_it_is_made_of():
    wanted = int(alt.SCHEMA_VERSION.removeprefix("v").split(".")[0])
    assert int(VERSIONS["vega-lite"].split(".")[0]) >= wanted
    names = {name for line in kept("LICENSES.txt").decode().splitlines() for name in line.split(", ")}
    assert {"vega", "vega-lite", "vega-embed", "d3-array", "topojson-client", "fast-json-patch"} <= names


def test_a_page_holds_its_script_and_whatever_names_the_chart_has(chart, tmp_path):
    chart.save(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert bundle() in page
    assert page.count("</script") == 2
    assert drawn_spec(page) == json.loads(chart.to_json())
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)


@pytest.mark.usefixtures("undrawn")
def test_without_vl_convert_a_notebook_shows_the_page_in_a_frame(chart):
    shown = chart._repr_mimebundle_()
    pattern = r'<iframe title="([^"]*)" srcdoc="([^"]*)" sandbox="allow-scripts" style="[^"]*"></iframe>'
    title, page = map(html.unescape, re.fullmatch(pattern, shown.pop("text/html")).groups())
    assert shown == {"text/plain": title} == {"text/plain": chart.description}
    assert drawn_spec(page) == json.loads(chart.to_json())


@pytest.mark.usefixtures("undrawn")
def test_without_vl_convert_a_picture_names_the_extra_and_a_report_is_written(chart, tmp_path):
    for name in ("chart.png", "chart.svg", "chart.pdf"):
        refused(MissingExtra, r"faithscope\[pictures\]", chart.save, tmp_path / name)
    assert not list(tmp_path.iterdir())
    fs.evaluate([0, 1, 1], ["a", "a", "b"], [[1], [2], [3]]).to_html(tmp_path / "report.html")
    assert bundle() in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_picture_is_drawn_where_vl_convert_is_installed(chart, tmp_path):
    pytest.importorskip("vl_convert")
    chart.save(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "image/svg+xml" in chart._repr_mimebundle_()
