"""Charts are valid Altair charts, draw what they were given, and color nothing by themselves."""

import json

import altair as alt
import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope import charts
from faithscope.charts import specs
from faithscope.charts.theme import DARK, LIGHT, theme
from faithscope.errors import BadInput
from faithscope.report.document import Chart
from refused import refused


def drawn(chart):
    """The chart as a dictionary, which Altair validates, and all its rows."""
    assert isinstance(chart, alt.LayerChart)
    spec = json.loads(json.dumps(chart.to_dict(), allow_nan=False))
    return spec, [row for rows in spec["datasets"].values() for row in rows]


def test_everything_that_plots_gives_an_altair_chart():
    comparison = examples.comparison()
    curve = fs.within_curve(default_rng(0).normal(size=(50, 2)), [0, 1] * 25, [0.0, 0.1, 1.0])
    for result in (comparison["rules by age"], comparison, comparison["constant"].populations, curve):
        spec, rows = drawn(result.plot())
        assert spec["layer"]
        assert rows


def test_a_plan_is_drawn_with_its_band_from_where_the_sample_ends():
    plan = fs.plan(fs.consistency(default_rng(0).integers(0, 90, 200), np.zeros(200)))
    spec, _ = drawn(plan.plot())
    (band,) = (layer for layer in spec["layer"] if layer["mark"].get("style") == "band")
    ends = [(row["n"], row["low"], row["high"]) for row in spec["datasets"][band["data"]["name"]]]
    curve = plan.curve[plan.curve["n"] >= 200]
    assert ends == [tuple(line) for line in curve[["n", "low", "high"]].round(5).itertuples(index=False)]


def test_an_estimate_is_drawn_where_it_is_and_what_cannot_be_checked_is_hatched_up_to_the_upper_end():
    for name in ("importances", "constant"):
        estimate = examples.comparison()[name].consistency
        _, rows = drawn(estimate.plot())
        ends = {(row["value"], row["low"], row["high"]) for row in rows if "low" in row}
        assert ends == {(round(estimate.value, 5), round(estimate.low, 5), round(estimate.high, 5))}
        strokes = [row["at"] for row in rows if "at" in row]
        assert bool(strokes) == (name == "importances")
        assert all(estimate.value < at < estimate.upper for at in strokes)


def test_every_measure_has_a_color_and_an_axis_of_its_own():
    for measure, words in (("repeatability", "runs"), ("necessity", "applies"), ("sufficiency", "is the same")):
        told = {"name": "x", "measure": measure, "value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "chance": None}
        bars = specs.estimates([{**told, "upper": 0.5, "verified": 0.5, "unverifiable": 0.0}])["layer"][0]["encoding"]
        assert measure in bars["color"]["scale"]["domain"]
        assert words in bars["x"]["axis"]["title"]


@pytest.mark.thorough
def test_lines_of_several_measures_are_drawn_with_their_names():
    vl_convert = pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    kinds = ("necessity", "consistency", "sufficiency")
    estimate = fs.consistency(["a", "a", "b"], [0, 0, 1]).to_dict()
    named = [(f"explainer {j}", {**estimate, "measure": kind}) for j in range(11) for kind in kinds]
    words = vl_convert.vegalite_to_svg(charts.estimates(named).to_dict())
    assert [words.count(f">{kind}<") for kind in kinds] == [11, 11, 11]
    one = vl_convert.vegalite_to_svg(charts.estimates(named[1::3]).to_dict())
    assert [one.count(f">{kind}<") for kind in kinds] == [0, 0, 0]  # the axis says it


def test_no_mark_has_a_color_of_its_own():
    pairs = [(name, estimate) for name, ev in examples.comparison().items() for estimate in ev._estimates()]
    assert "#" not in json.dumps(specs.estimates([{"name": name, **estimate.to_dict()} for name, estimate in pairs]))
    assert set(LIGHT) == set(DARK)
    assert theme(LIGHT) != theme(DARK)


@pytest.mark.thorough
def test_every_discretization_has_a_bar():
    table = examples.comparison()["importances"].discretizations()
    told = next(each for each in examples.summary().explainers if each.name == "importances")
    (chart,) = examples.blocks(told.parts["discretizations"], Chart)
    rows = [row for rows in chart.spec["datasets"].values() for row in rows]
    values = {row["name"]: row["value"] for row in rows if "value" in row}
    assert values == dict(zip(table["discretizer"], table["value"].round(5), strict=True))


def test_a_heat_map_writes_every_number_and_marks_what_is_missing():
    chart = charts.heat_map(["shap", "lime", "rules"], [[None, 0.25, None], [0.25, None, -0.1], [None, -0.1, None]])
    _, rows = drawn(chart)
    assert {row["text"] for row in rows} == {"-0.10", "0.25", "–"}
    words = "Values, pair by pair: shap and lime 0.25; lime and rules -0.10."
    assert chart.description == words
    for nothing in (lambda: charts.heat_map([], []), lambda: charts.estimates([])):
        refused(BadInput, "nothing to draw", nothing)
