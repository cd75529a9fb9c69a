"""Differences between explainers of the same rows: closed form, silence carried along, and coverage."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import brute
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


def test_rows_are_left_out_in_their_own_order():
    rng = np.random.default_rng(0)
    explanations, labels = rng.integers(0, 6, 40).tolist(), rng.integers(0, 2, 40).tolist()
    sample = Sample.of(explanations, labels)
    left = consistency_left_out("", fs.consistency(explanations, labels), sample).left_out
    for i in range(40):
        rest = explanations[:i] + explanations[i + 1 :], labels[:i] + labels[i + 1 :]
        assert left.value[i] == pytest.approx(brute.consistency(*rest), abs=1e-12)
        assert left.silent[i] == pytest.approx(brute.unverifiable(rest[0]), abs=1e-12)


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


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("name", ["few common", "medium", "near-deterministic"])
@pytest.mark.slow
def test_intervals_of_paired_differences_cover_the_truth(name, n):
    """The second explainer merges explanations in pairs, so its truth is known and the two are strongly related."""
    system = SYSTEMS[name]
    half = np.arange(len(system.p)) // 2
    merged = np.zeros((half.max() + 1, system.q.shape[1]))
    np.add.at(merged, half, system.p[:, None] * system.q)
    coarse = float((merged**2).sum(axis=1) @ (1 / merged.sum(axis=1)))
    truth, rng, trials = system.truth - coarse, np.random.default_rng(4), 200
    hits = 0
    for _ in range(trials):
        explanations, labels = system.draw(n, rng)
        found = paired_difference(
            measured("fine", explanations, labels), measured("coarse", half[explanations], labels), 0.95
        )
        hits += found.low <= truth <= found.high
    assert hits / trials >= 0.93


def test_pairing_is_narrower_than_treating_the_samples_as_independent():
    explanations, labels = SYSTEMS["few common"].draw(2000, np.random.default_rng(5))
    a, b = measured("a", explanations, labels), measured("b", explanations // 2, labels)
    paired = paired_difference(a, b, 0.95)
    apart = np.hypot(a.estimate.margins.below, b.estimate.margins.above)
    assert paired.value - paired.low < apart


def spread_value(covers, predictions, weights=None):
    found = brute_numbers.brute_spread(covers, predictions, weights)
    return found.value, found.upper


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_differences_by_spread_are_those_of_the_brute_force_jackknife(outputs, weighted):
    rng = np.random.default_rng(outputs)
    n = 60
    predictions = rng.normal(size=(n, outputs)) if outputs > 1 else rng.normal(size=n)
    weights = rng.integers(1, 5, n) / 2 if weighted else None
    given = {"a": rng.integers(0, 25, n), "b": rng.integers(0, 8, n)}
    comparison = fs.compare(
        predictions, given, np.arange(n)[:, None], agreement=fs.Spread(), weights=weights, progress=False
    )
    covers = {name: codes[:, None] == codes[None, :] for name, codes in given.items()}
    whole = {name: spread_value(mask, predictions, weights) for name, mask in covers.items()}
    without = {name: [] for name in covers}
    for i in range(n):
        rest = np.arange(n) != i
        for name, mask in covers.items():
            left = None if weights is None else weights[rest]
            without[name].append(spread_value(mask[np.ix_(rest, rest)], predictions[rest], left))
    values = {name: np.array(pairs) for name, pairs in without.items()}
    below = _margin_of(values["a"][:, 0] - values["b"][:, 1], weights)
    above = _margin_of(values["a"][:, 1] - values["b"][:, 0], weights)
    (pair,) = comparison.pairs
    assert pair.value == pytest.approx(whole["a"][0] - whole["b"][0], abs=1e-9)
    assert pair.low == pytest.approx(max(-1, whole["a"][0] - whole["b"][1] - below), abs=1e-9)
    assert pair.high == pytest.approx(min(1, whole["a"][1] - whole["b"][0] + above), abs=1e-9)
    assert any(found.value < 0 for found in (comparison["a"].consistency, comparison["b"].consistency))


def _margin_of(values, weights):
    n = len(values)
    r = values - values.mean()
    freedom = (r**2).sum() ** 2 / (r**4).sum()
    effective = n if weights is None else weights.sum() ** 2 / (weights**2).sum()
    return max(
        scipy.stats.t.ppf(0.975, freedom) * np.sqrt((n - 1) / n * (r**2).sum()), 3 * np.log(1 / 0.025) / effective
    )


def test_differences_of_sufficiency_by_spread_are_those_of_the_brute_force_jackknife():
    rng = np.random.default_rng(3)
    n = 40
    X, predictions = rng.integers(0, 6, (n, 2)).astype(float), rng.normal(size=n)
    rules = {
        name: fs.Rules.from_conditions([[("f", "<=", value)] for value in X[:, column]], features=features)
        for name, column, features in (("a", 0, ["f", "g"]), ("b", 1, ["g", "f"]))
    }
    comparison = fs.compare(predictions, rules, X, agreement=fs.Spread(), progress=False)
    covers = {name: X[None, :, column] <= X[:, None, column] for name, column in (("a", 0), ("b", 1))}
    pair = next(pair for pair in comparison.pairs if pair.measure == "sufficiency")
    whole = {name: spread_value(mask, predictions) for name, mask in covers.items()}
    assert pair.value == pytest.approx(whole["a"][0] - whole["b"][0], abs=1e-9)
    without = []
    for i in range(n):
        rest = np.arange(n) != i
        parts = {name: spread_value(mask[np.ix_(rest, rest)], predictions[rest]) for name, mask in covers.items()}
        without.append(parts["a"][0] - parts["b"][1])
    r = np.array(without) - np.mean(without)
    freedom = (r**2).sum() ** 2 / (r**4).sum()
    margin = scipy.stats.t.ppf(0.975, freedom) * np.sqrt((n - 1) / n * (r**2).sum())
    assert pair.low <= max(-1, whole["a"][0] - whole["b"][1] - margin) + 1e-9


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.slow
def test_intervals_of_paired_differences_by_spread_cover_the_truth(n):
    rng, hits, means = np.random.default_rng(5), 0, np.array([-2.0, -1.0, 1.0, 2.0])
    whole = 1 + np.mean(means**2)
    truth = (1 - 1 / whole) - (1 - (1 + 0.25) / whole)  # the second merges means in pairs
    for _ in range(200):
        codes = rng.integers(0, 4, n)
        predictions = means[codes] + rng.normal(size=n)
        found = fs.compare(
            predictions, {"fine": codes, "coarse": codes // 2}, codes[:, None], agreement="spread", progress=False
        ).pairs[0]
        hits += found.low <= truth <= found.high
    assert hits / 200 >= 0.93
