"""Charts are valid Altair charts, draw what they were given, and color nothing by themselves."""

import json

import altair as alt
import numpy as np
import pytest

import faithscope as fs
import report_examples as examples
from faithscope import charts
from faithscope.charts import specs
from faithscope.charts.theme import DARK, LIGHT, theme
from faithscope.errors import BadInput


@pytest.fixture(scope="module")
def comparison():
    return examples.comparison()


def drawn(chart):
    """The chart as a dictionary, which Altair validates, and all its rows."""
    assert isinstance(chart, alt.LayerChart)
    spec = json.loads(json.dumps(chart.to_dict(), allow_nan=False))
    return spec, [row for rows in spec["datasets"].values() for row in rows]


@pytest.mark.slow
def test_everything_that_plots_gives_an_altair_chart(comparison):
    evaluation = comparison.evaluations["rules by age"]
    within = fs.within_curve(np.random.default_rng(0).normal(size=(50, 2)), [0, 1] * 25, [0.0, 0.1, 1.0])
    plots = (
        evaluation.consistency,
        fs.plan(evaluation.consistency),
        fs.plan(comparison.evaluations["unique"].consistency),
        comparison.populations["constant"],
        within,
        evaluation,
        comparison,
    )
    for result in plots:
        spec, rows = drawn(result.plot())
        assert spec["layer"]
        assert rows


def test_a_plan_is_drawn_with_its_band_from_where_the_sample_ends():
    plan = fs.plan(fs.consistency(np.random.default_rng(0).integers(0, 90, 200), np.zeros(200)))
    spec, _ = drawn(plan.plot())
    (band,) = (layer for layer in spec["layer"] if layer["mark"].get("style") == "band")
    ends = [(row["n"], row["low"], row["high"]) for row in spec["datasets"][band["data"]["name"]]]
    curve = plan.curve[plan.curve["n"] >= 200]
    assert ends == [tuple(line) for line in curve[["n", "low", "high"]].round(5).itertuples(index=False)]


def test_an_estimate_is_drawn_where_it_is(comparison):
    estimate = comparison.evaluations["importances"].consistency
    _, rows = drawn(estimate.plot())
    assert {(row["value"], row["low"], row["high"]) for row in rows if "low" in row} == {
        (round(estimate.value, 5), round(estimate.low, 5), round(estimate.high, 5))
    }


@pytest.mark.slow
def test_what_cannot_be_checked_is_hatched_from_the_value_to_the_upper_end(comparison):
    estimate = comparison.evaluations["importances"].consistency
    _, rows = drawn(estimate.plot())
    strokes = [row["at"] for row in rows if "at" in row]
    assert strokes
    assert estimate.value < min(strokes) <= max(strokes) < estimate.upper
    _, rows = drawn(comparison.evaluations["constant"].consistency.plot())
    assert not [row for row in rows if "at" in row]


def test_consistency_stands_against_sufficiency_if_both_were_measured(comparison):
    pairs = [(name, estimate) for name, ev in comparison.evaluations.items() for estimate in ev._estimates()]
    _, rows = drawn(charts.against(pairs))
    assert {row["name"] for row in rows if "name" in row} == {"rules by age"}


def test_discretizations_stand_by_their_uniqueness(comparison):
    table = comparison.evaluations["importances"].discretizations()
    _, rows = drawn(charts.discretizations(table))
    uniqueness = {row["name"]: row["uniqueness"] for row in rows if "value" in row and "name" in row}
    assert uniqueness == dict(zip(table["discretizer"], table["uniqueness"].round(5), strict=True))


def test_no_mark_has_a_color_of_its_own(comparison):
    pairs = [(name, estimate) for name, ev in comparison.evaluations.items() for estimate in ev._estimates()]
    rows = [{"name": name, **estimate.to_dict()} for name, estimate in pairs]
    written = json.dumps([specs.estimates(rows), specs.against(rows)])
    assert "#" not in written
    assert set(LIGHT) == set(DARK)
    assert json.dumps(theme(LIGHT)) != json.dumps(theme(DARK))


def test_nothing_to_draw_is_said():
    with pytest.raises(BadInput, match="nothing to draw"):
        charts.estimates([])


def test_a_heat_map_writes_every_number_and_marks_what_is_missing():
    chart = charts.heat_map(["shap", "lime", "rules"], [[None, 0.25, None], [0.25, None, -0.1], [None, -0.1, None]])
    spec = chart.to_dict()
    rows = [row for part in spec["datasets"].values() for row in part]
    assert sorted({row["text"] for row in rows}) == ["-0.10", "0.25", "–"]
    assert (
        chart.description
        == "Values, pair by pair. shap and lime: 0.25; shap and rules: unknown; lime and rules: -0.10."
    )
    assert chart._repr_html_().startswith("<img")
    with pytest.raises(BadInput, match="nothing to draw"):
        charts.heat_map([], [])
