"""Consistency is one minus the Gini index within explanations, so coarsening can only lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.testing import POPULATIONS
from refused import refused


def true_consistency(explanations, labels, discretizer=None):
    """Of a population that has these rows and no others: what the Gibbs decoder gets right."""
    return 1 - fs.GibbsDecoder(fs.consistency(explanations, labels, discretizer=discretizer)).error


VECTORS = [fs.Floor(0), fs.Floor(1), fs.Truncate(0), fs.Truncate(1), fs.Sign(), fs.Rank()]
VECTORS += [fs.SignOfTop(1), fs.SignOfTop(2), fs.TopFeatures(1), fs.TopFeatures(2)]
VECTORS += [fs.ReasonCodes(1), fs.ReasonCodes(2), fs.ReasonCodes(2, ordered=True)]
VECTORS += [fs.Pool(1), fs.Pool(2), fs.Pool(2) | fs.Sign(), fs.TopRegions(1), fs.Pool((2, 1), shape=(3, 1)) | fs.Rank()]
VECTORS += [fs.Grouped({"pair": ["a", "c"]}), fs.Grouped({"pair": ["a", "c"]}) | fs.Sign()]


@given(seed=st.integers(0, 10_000), discretizer=st.sampled_from(VECTORS))
def test_coarsening_never_raises_true_consistency(seed, discretizer):
    rng = default_rng(seed)
    n = int(rng.integers(1, 40))
    values = rng.choice(np.round(rng.normal(size=6), 2), (n, 3))  # few values, so that explanations repeat
    labels = rng.integers(0, 3, n)
    named = fs.Importances(values, names=["a", "b", "c"])
    raw, coarse = (true_consistency(named, labels, one) for one in (None, discretizer))
    assert coarse <= raw + 1e-12


@given(seed=st.integers(0, 10_000))
def test_coarser_changes_of_counterfactuals_never_raise_true_consistency(seed):
    rng = default_rng(seed)
    n = int(rng.integers(1, 40))
    originals, points = (rng.integers(0, 3, (n, 2)).astype(float) for _ in range(2))
    pairs, labels = fs.Counterfactuals(points, originals), rng.integers(0, 3, n)
    told = [true_consistency(pairs, labels, one) for one in (fs.Delta(), fs.DeltaSign(), fs.Modified())]
    assert told == pytest.approx(sorted(told, reverse=True), abs=1e-12)


@pytest.mark.parametrize("agreement", [fs.Tolerance(0.5), lambda a, b: (a == b) + 0.0])
def test_whoever_takes_coarsening_for_granted_refuses_agreements_that_it_may_raise(agreement):
    rng = default_rng(0)
    why, predictions = rng.normal(size=(60, 2)), rng.normal(size=60)
    offered = "0.5" if isinstance(agreement, fs.Tolerance) else "eps"
    for what, ask in {
        "certify": lambda: fs.certify(why, predictions, agreement=agreement),
        "certify ": lambda: fs.certify(why, predictions, "sign", agreement=agreement, interval=None),
        "Best": lambda: fs.evaluate(predictions, why, why, discretizer="best", agreement=agreement),
        "Best ": lambda: fs.compare(predictions, {"a": why}, why, discretizer={"a": fs.Best()}, agreement=agreement),
    }.items():
        refused(fs.errors.NotProven, rf"^{what.strip()} takes.*agreement=fs.Close\({offered}\)", ask)
    for taken in (fs.Close(0.5), fs.Spread()):
        assert fs.certify(why, predictions, agreement=taken, interval=None).low >= 0
        assert fs.evaluate(predictions, why, why, discretizer="best", agreement=taken).consistency.n == 30


def test_a_certificate_names_its_winner_and_carries_all():
    rng = default_rng(0)
    values = rng.normal(size=(2000, 3))
    certificate = fs.certify(values, values[:, 0] > 0)
    assert certificate.discretizer == fs.Sign()
    assert certificate.proven
    assert len(certificate.bounds) == len(certificate.estimates) == 6
    assert certificate.low == max(low for _, low in certificate.bounds)
    sign = fs.consistency(values, values[:, 0] > 0, discretizer=fs.Sign())
    assert certificate.low > sign.value - np.sqrt(4.5 * np.log(6 / 0.05) / 2000)  # McDiarmid alone
    assert "Sign()" in str(certificate)
    assert "explainer as it is" in str(certificate)
    assert certificate.to_dict()["tried"][3]["discretizer"] == "Sign()"


def test_a_certificate_from_changes_speaks_of_the_delta_explainer():
    rng = default_rng(0)
    x = rng.normal(size=(500, 2))
    pairs = fs.Counterfactuals(x + np.where(x[:, :1] > 0, -1.0, 1.0), x)
    certificate = fs.certify(pairs, x[:, 0] > 0)
    assert "Delta explainer" in certificate.subject
    refused(fs.errors.NotProven, "certify the two kinds separately", fs.certify, pairs, x[:, 0] > 0, [None, fs.Delta()])


def test_the_expected_estimator_is_below_the_truth():
    for name in POPULATIONS:
        assert POPULATIONS[name].expected(50) <= POPULATIONS[name].expected(500) <= POPULATIONS[name].truth + 1e-12
