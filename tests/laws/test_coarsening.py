"""Consistency is one minus the Gini index within explanations, so coarsening can only lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.testing.systems import SYSTEMS, System
from strategies import samples


def true_consistency(explanations, labels, discretizer=None):
    """Of a population that has these rows and no others: what the Gibbs decoder gets right."""
    return 1 - fs.GibbsDecoder(fs.consistency(explanations, labels, discretizer=discretizer)).error


TOPS = (fs.SignOfTop(1), fs.SignOfTop(2), fs.TopFeatures(1), fs.TopFeatures(2))
CODES = (fs.ReasonCodes(1), fs.ReasonCodes(2), fs.ReasonCodes(2, ordered=True))
REGIONS = (fs.Pool(1), fs.Pool(2), fs.Pool(2) | fs.Sign(), fs.TopRegions(1), fs.Pool((2, 1), shape=(3, 1)) | fs.Rank())
PAIR = fs.Grouped({"pair": ["a", "c"]})
VECTORS = (
    fs.Floor(0),
    fs.Floor(1),
    fs.Truncate(0),
    fs.Truncate(1),
    fs.Sign(),
    fs.Rank(),
    *TOPS,
    *CODES,
    *REGIONS,
    PAIR,
    PAIR | fs.Sign(),
)


@given(seed=st.integers(0, 10_000), discretizer=st.sampled_from(VECTORS))
def test_coarsening_never_raises_true_consistency(seed, discretizer):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values = rng.choice(np.round(rng.normal(size=6), 2), (n, 3))  # few values, so that explanations repeat
    labels = rng.integers(0, 3, n)
    named = fs.Importances(values, names=["a", "b", "c"])
    raw, coarse = (true_consistency(named, labels, one) for one in (None, discretizer))
    assert coarse <= raw + 1e-12


@given(seed=st.integers(0, 10_000))
def test_coarser_changes_of_counterfactuals_never_raise_true_consistency(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    originals, points = (rng.integers(0, 3, (n, 2)).astype(float) for _ in range(2))
    pairs, labels = fs.Counterfactuals(points, originals), rng.integers(0, 3, n)
    told = [true_consistency(pairs, labels, one) for one in (fs.Delta(), fs.DeltaSign(), fs.Modified())]
    assert told == sorted(told, reverse=True) or np.allclose(told, sorted(told, reverse=True), atol=1e-12)


@given(samples())
def test_the_gibbs_decoder_is_right_as_often_as_one_minus_the_weighted_gini_index(sample):
    explanations, predictions = map(np.array, sample)
    gini = 0.0
    for leaf in np.unique(explanations):
        share = np.bincount(predictions[explanations == leaf]) / np.sum(explanations == leaf)
        gini += np.mean(explanations == leaf) * (1 - np.sum(share**2))
    assert fs.GibbsDecoder(fs.consistency(*sample)).error == pytest.approx(gini, abs=1e-12)


def test_a_trees_consistency_approaches_one_minus_the_weighted_gini_index():
    load_breast_cancer = pytest.importorskip("sklearn.datasets").load_breast_cancer
    DecisionTreeClassifier = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    X, y = load_breast_cancer(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y).predict(X)
    surrogate = DecisionTreeClassifier(max_leaf_nodes=4, random_state=1).fit(X[:, :5], model)
    leaves = surrogate.apply(X[:, :5])
    gini = sum(
        np.mean(leaves == leaf) * (1 - np.sum((np.bincount(model[leaves == leaf]) / np.sum(leaves == leaf)) ** 2))
        for leaf in np.unique(leaves)
    )
    found = fs.consistency(leaves, model)
    # Leaving a row out of a leaf of N rows moves its share by at most 1 / (N - 1).
    assert abs(found.value - (1 - gini)) <= len(np.unique(leaves)) / (len(X) - len(np.unique(leaves)))


AGREEMENTS = {
    "close": lambda a, b: np.maximum(0, 1 - np.abs(a - b)),
    "spread": lambda a, b: -((a - b) ** 2) / 2,
    "tolerance": lambda a, b: (np.abs(a - b) <= 1).astype(float),
}


def true_agreement(explanations, predictions, agreement):
    """Of a population that has these rows and no others: two rows with one explanation are drawn independently."""
    same = explanations[:, None] == explanations[None, :]
    return float(np.mean((same * agreement(predictions[:, None], predictions[None, :])).sum(axis=1) / same.sum(axis=1)))


@pytest.mark.parametrize("name", ["close", "spread"])
@given(seed=st.integers(0, 10_000))
def test_coarsening_never_raises_true_consistency_of_numbers(name, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    fine, merged = rng.integers(0, 8, n), rng.integers(0, 4, 8)
    predictions = rng.choice([rng.normal(size=n), rng.integers(0, 4, n) / 2, rng.standard_t(1, size=n)])
    raw, coarse = (true_agreement(codes, predictions, AGREEMENTS[name]) for codes in (fine, merged[fine]))
    assert coarse <= raw + 1e-9 * max(1.0, abs(raw), abs(coarse))


def test_coarsening_may_raise_agreement_within_a_tolerance():
    fine, predictions = np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 1.0, 1.0])
    assert true_agreement(fine, predictions, AGREEMENTS["tolerance"]) == 0.75
    assert true_agreement(np.zeros(4), predictions, AGREEMENTS["tolerance"]) == 0.875
    assert not fs.Tolerance(1).convex


@given(seed=st.integers(0, 10_000))
def test_close_is_never_above_tolerance(seed):
    rng = np.random.default_rng(seed)
    n, eps = int(rng.integers(2, 40)), float(rng.choice([0.3, 1.0, 2.5]))
    explanations, predictions = rng.integers(0, 5, n), rng.integers(-9, 10, n) / 10
    close, tolerance = (
        fs.consistency(explanations, predictions, agreement=kind(eps)) for kind in (fs.Close, fs.Tolerance)
    )
    assert close.value <= tolerance.value + 1e-12


@pytest.mark.parametrize("agreement", [fs.Tolerance(0.5), lambda a, b: (a == b) + 0.0])
def test_whoever_takes_coarsening_for_granted_refuses_agreements_that_it_may_raise(agreement):
    rng = np.random.default_rng(0)
    why, predictions = rng.normal(size=(60, 2)), rng.normal(size=60)
    offered = "0.5" if isinstance(agreement, fs.Tolerance) else "eps"
    for what, ask in {
        "certify": lambda: fs.certify(why, predictions, agreement=agreement),
        "certify ": lambda: fs.certify(why, predictions, "sign", agreement=agreement, interval="jackknife"),
        "Best": lambda: fs.evaluate(predictions, why, why, discretizer="best", agreement=agreement),
        "Best ": lambda: fs.compare(predictions, {"a": why}, why, discretizer={"a": fs.Best()}, agreement=agreement),
    }.items():
        with pytest.raises(fs.errors.NotProven, match=rf"^{what.strip()} takes.*agreement=fs.Close\({offered}\)"):
            ask()
    for taken in (fs.Close(0.5), fs.Spread()):
        assert fs.certify(why, predictions, agreement=taken, interval="jackknife").low >= 0
        assert fs.evaluate(predictions, why, why, discretizer="best", agreement=taken).consistency.n == 30


def test_a_certificate_by_spread_is_approximate_and_one_sided():
    rng = np.random.default_rng(0)
    why = rng.normal(size=(400, 2))
    predictions = why[:, 0] + rng.normal(size=400) / 3
    with pytest.raises(fs.errors.NotProven, match="proven for agreements from 0 to 1"):
        fs.certify(why, predictions, agreement=fs.Spread())
    alone = fs.certify(why, predictions, "sign", agreement=fs.Spread(), interval="jackknife")
    assert not alone.proven
    assert "approximate" in str(alone)
    # One-sided at .975 is the lower end of the two-sided interval at .95.
    both = fs.consistency(why, predictions, discretizer="sign", agreement=fs.Spread())
    surer = fs.certify(why, predictions, "sign", agreement=fs.Spread(), interval="jackknife", confidence=0.975)
    assert surer.low == pytest.approx(both.low, abs=1e-12)
    assert surer.low < alone.low < both.value


@pytest.mark.parametrize("agreement", [fs.Close(1.0), fs.Spread()])
@pytest.mark.slow
def test_a_certificate_of_numbers_bounds_the_raw_explainer(agreement):
    # The explanation fixes the mean of the prediction; the sign merges means that differ.
    rng, means, above = np.random.default_rng(0), np.array([-2.0, -1.5, 1.5, 2.0]), 0
    noise = rng.uniform(-0.5, 0.5, (2, 400_000))
    truth = np.mean(np.maximum(0, 1 - np.abs(noise[0] - noise[1])))
    if isinstance(agreement, fs.Spread):
        truth = 1 - (1 / 12) / (1 / 12 + np.mean(means**2))
    for _ in range(200):
        codes = rng.integers(0, 4, 300)
        found = fs.certify(
            means[codes, None], means[codes] + rng.uniform(-0.5, 0.5, 300), agreement=agreement, interval="jackknife"
        )
        above += found.low > truth
    assert above <= 200 * 0.05


@pytest.mark.parametrize("method", ["mcdiarmid", "jackknife"])
@pytest.mark.slow
def test_a_certificate_bounds_the_raw_explainer(method):
    # Eight explanations, of which the sign merges those that differ in size alone.
    vectors = np.array([(a * size, b * size) for a in (-1.0, 1.0) for b in (-1.0, 1.0) for size in (1.0, 2.0)])
    surely = np.tile([0.85, 0.95], 4)  # the larger ones are surer
    likely = np.where(vectors[:, 0] > 0, surely, 1 - surely)
    raw = System(np.full(8, 1 / 8), np.column_stack([1 - likely, likely]))
    signs = System(np.full(4, 1 / 4), raw.q.reshape(4, 2, 2).mean(axis=1))
    assert signs.truth < raw.truth < 0.9
    above, too_high, informative = 0, 0, 0
    for seed in range(200):
        codes, labels = raw.draw(400, np.random.default_rng(seed))
        certificate = fs.certify(vectors[codes], labels, interval=method)
        above += certificate.low > raw.truth
        too_high += {type(d).__name__: low for d, low in certificate.bounds}["Sign"] > signs.truth
        informative += certificate.low > raw.truth - 0.3
    assert above <= 200 * 0.05
    assert too_high <= 200 * 0.05
    assert informative >= 200 * 0.95, "a bound of 0 would be right too"


def test_a_certificate_names_its_winner_and_carries_all():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2000, 3))
    certificate = fs.certify(values, values[:, 0] > 0)
    assert certificate.discretizer == fs.Sign()
    assert certificate.proven
    assert len(certificate.bounds) == len(certificate.estimates) == 6
    assert certificate.low == max(low for _, low in certificate.bounds)
    sign = fs.consistency(values, values[:, 0] > 0, discretizer=fs.Sign())
    assert certificate.low == pytest.approx(sign.value - np.sqrt(4.5 * np.log(6 / 0.05) / 2000))
    assert "Sign()" in str(certificate)
    assert "explainer as it is" in str(certificate)
    assert certificate.to_dict()["tried"][3]["discretizer"] == "Sign()"


def test_a_certificate_from_changes_speaks_of_the_delta_explainer():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 2))
    pairs = fs.Counterfactuals(x + np.where(x[:, :1] > 0, -1.0, 1.0), x)
    certificate = fs.certify(pairs, x[:, 0] > 0)
    assert "Delta explainer" in certificate.subject
    with pytest.raises(fs.errors.NotProven, match="certify the two kinds separately"):
        fs.certify(pairs, x[:, 0] > 0, [None, fs.Delta()])


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_expected_estimator_is_below_the_truth(name):
    assert SYSTEMS[name].expected(50) <= SYSTEMS[name].expected(500) <= SYSTEMS[name].truth + 1e-12
