"""Differences between explainers of the same rows: closed form, silence carried along, and coverage."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import brute_numbers
import faithscope as fs
from faithscope.measures.comparing.paired import consistency_left_out, paired_difference
from faithscope.readers import as_explanations
from faithscope.sample import Sample
from faithscope.testing.systems import SYSTEMS


def measured(name, explanations, labels):
    found = fs.consistency(explanations, labels)
    sample = Sample(as_explanations(explanations), np.asarray(labels))
    return replace(consistency_left_out(name, found, sample), explanations=None)  # may be judged against itself


def test_an_explainer_does_not_differ_from_itself():
    explanations, labels = SYSTEMS["medium"].draw(300, np.random.default_rng(1))
    a = measured("a", explanations, labels)
    found = paired_difference(a, a, 0.95)
    assert found.value == 0
    assert found.low < 0 < found.high
    assert not found.differ


def test_a_difference_turned_around_is_its_negative():
    rng = np.random.default_rng(2)
    explanations, labels = SYSTEMS["medium"].draw(300, rng)
    a, b = measured("a", explanations, labels), measured("b", rng.permutation(explanations), labels)
    one, other = paired_difference(a, b, 0.95), paired_difference(b, a, 0.95)
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-12)


def test_silence_alone_is_no_difference():
    explanations, labels = SYSTEMS["few common"].draw(400, np.random.default_rng(3))
    a, b = measured("a", explanations, labels), measured("all different", np.arange(400), labels)
    found = paired_difference(a, b, 0.95)
    assert found.value > 0.4
    assert not found.differ


def spread_value(covers, predictions, weights=None):
    found = brute_numbers.brute_spread(covers, predictions, weights)
    return found.value, found.upper


def margin_of(values, weights, reach):
    """Student's t on the deviations of values without each row, and the least that a row may hide."""
    n, r = len(values), values - values.mean()
    freedom, effective = (r**2).sum() ** 2 / (r**4).sum(), weights.sum() ** 2 / (weights**2).sum()
    margin = scipy.stats.t.ppf(0.975, freedom) * np.sqrt((n - 1) / n * (r**2).sum())
    return max(margin, (1 + reach) * np.log(1 / 0.025) / effective)


@pytest.mark.parametrize("measure", ["consistency", "weighted consistency", "consistency of vectors", "sufficiency"])
def test_differences_by_spread_are_those_of_the_brute_force_jackknife(measure):
    rng, n = np.random.default_rng(3), 50
    y = rng.normal(size=(n, 3) if "vectors" in measure else n)
    weights = rng.integers(1, 5, n) / 2 if "weighted" in measure else np.ones(n)
    X = rng.integers(0, 6, (n, 2)).astype(float)
    given, reach = {"a": rng.integers(0, 25, n), "b": rng.integers(0, 8, n)}, 2.0
    covers = {name: codes[:, None] == codes[None, :] for name, codes in given.items()}
    if measure == "sufficiency":
        given = {
            name: fs.Rules.from_conditions([[("f", "<=", value)] for value in X[:, column]], features=features)
            for name, column, features in (("a", 0, ["f", "g"]), ("b", 1, ["g", "f"]))
        }
        covers, reach = {name: X[None, :, j] <= X[:, None, j] for j, name in enumerate("ab")}, -1.0
    compared = fs.compare(y, given, X, agreement=fs.Spread(), weights=weights, progress=False)
    (pair,) = [one for one in compared.pairs if one.measure == measure.split()[-1 if "weighted" in measure else 0]]
    whole = {name: spread_value(mask, y, weights) for name, mask in covers.items()}
    values = {
        name: np.array(
            [
                spread_value(mask[np.ix_(rest, rest)], y[rest], weights[rest])
                for rest in (np.flatnonzero(np.arange(n) != i) for i in range(n))
            ]
        )
        for name, mask in covers.items()
    }
    low = whole["a"][0] - whole["b"][1] - margin_of(values["a"][:, 0] - values["b"][:, 1], weights, reach)
    high = whole["a"][1] - whole["b"][0] + margin_of(values["a"][:, 1] - values["b"][:, 0], weights, reach)
    first, second = (getattr(compared[name], pair.measure) for name in "ab")
    assert pair.value == pytest.approx(first.verified - second.verified, abs=1e-9)
    if measure != "consistency":  # rows lean on each other, which widens it; with weights nothing is known
        assert pair.low <= max(-1, low) + 1e-9
        assert pair.high >= min(1, high) - 1e-9
    else:
        assert (pair.low, pair.high) == pytest.approx((max(-1, low), min(1, high)), abs=1e-9)


def test_explainers_that_give_every_row_the_same_explanation_are_told_as_the_same_on_these_rows_alone(tmp_path):
    pytest.importorskip("pandas")
    explanations, labels = SYSTEMS["medium"].draw(100, np.random.default_rng(4))
    comparison = fs.compare(
        labels, {"a": explanations, "b": list(explanations)}, np.arange(100)[:, None], progress=False
    )
    (pair,) = comparison.pairs
    assert (pair.low, pair.high, pair.differ) == (0, 0, False)
    comparison.to_html(tmp_path / "page.html")
    for told in (comparison.to_markdown(), (tmp_path / "page.html").read_text()):
        assert "the same on these rows" in told
