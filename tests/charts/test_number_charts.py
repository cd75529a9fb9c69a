"""Charts of numbers: axes that reach below 0, titles that say what is drawn, and a logarithmic axis for eps."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.charts import estimates, specs


def scales(spec, channel):
    return [layer["encoding"][channel].get("scale") for layer in spec["layer"] if channel in layer["encoding"]]


@pytest.mark.thorough
def test_an_axis_reaches_below_zero_where_values_do_and_others_go_from_0_to_1():
    def domain(estimate):
        (ends,) = {tuple(scale["domain"]) for scale in scales(estimates([("x", estimate)]).to_dict(), "x") if scale}
        return ends

    worse = fs.consistency(np.arange(200) // 2, np.tile([0.0, 10.0], 100), agreement=fs.Spread())
    low, high = domain(worse)
    assert -1 <= low <= worse.value < -0.5
    assert high == 1
    for how in ({}, {"agreement": fs.Close(1)}):
        assert domain(fs.consistency(["a", "a"], [0, 1], **how)) == (0, 1)


TITLES = [
    (fs.Same(), "probability that the prediction is the same"),
    (fs.Close(3.0), "mean agreement of predictions, Close(eps=3.0)"),
    (fs.Tolerance(0.5), "probability that predictions agree, Tolerance(eps=0.5)"),
    (fs.Spread(), "share of the variance of the predictions accounted for"),
    (lambda a, b: 1.0 * (a == b), "mean agreement of predictions"),
]


def test_the_axis_says_what_is_drawn():
    for agreement, title in TITLES:
        estimate = fs.consistency(["a", "a", "a", "b", "c"], [1, 2, 2, 5, 9], agreement=agreement)
        spec = estimates([("x", estimate)]).to_dict(validate=False)  # which test_charts does
        assert spec["layer"][0]["encoding"]["x"]["axis"]["title"] == title
        assert any("variance" in line for line in spec["title"]["text"]) == isinstance(agreement, fs.Spread)


def test_a_plan_without_values_is_drawn_without_their_line():
    spec = specs.curve(fs.plan(fs.consistency([1, 1, 2], [0.5, 1.0, 1.0], agreement=fs.Spread())))
    assert "shown to agree" not in str(spec["datasets"])


def test_the_tolerance_curve_has_chance_beside_it_on_a_logarithmic_axis():
    curve = fs.tolerance_curve(["a", "a", "b", "b"], [1.0, 1.5, 4.0, 6.0], [1.0, 10.0])
    chart = curve.plot()
    assert chart.description == "Consistency by eps. eps 1: 0.250, chance 0.083; eps 10: 0.875, chance 0.708."
    spec = chart.to_dict()
    assert all(scale["type"] == "log" for scale in scales(spec, "x"))
    assert {layer["mark"]["style"] for layer in spec["layer"]} == {"band", "interval", "value", "dot", "chance-line"}
