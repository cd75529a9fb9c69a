"""Sufficiency on populations: the interval over rows, chance, weights, clusters and numbers."""

import numpy as np
import pytest
from numpy.random import default_rng
from sklearn.linear_model import LinearRegression, LogisticRegression

import faithscope as fs

RNG = default_rng(0)
TRAIN = RNG.normal(size=(200, 3))
X = RNG.normal(size=(80, 3))
MODEL = LogisticRegression().fit(TRAIN, TRAIN[:, 0] + TRAIN[:, 1] > 0)
LABELS = MODEL.predict(X)
RULES = fs.Rules.parse(np.where(X[:, 0] < 0, "a <= 0", "a > 0").tolist(), features=["a", "b", "c"])
PERTURBED = fs.Perturbed(TRAIN, draws=10)
DRAWN = PERTURBED.draw(RULES, X)
DRAWN_LABELS = MODEL.predict(DRAWN.rows).reshape(80, 10)
MEANS = (LABELS[:, None] == DRAWN_LABELS).mean(axis=1)


def measured(population=PERTURBED, model=MODEL, **how):
    return fs.sufficiency(RULES, model, X, population=population, **how)


def labeled(labels, own=LABELS, rules=RULES, **how):
    """Draws of which the predictions are known, whatever the rows are."""
    of = np.repeat(np.arange(len(labels)), labels.shape[1])
    told = fs.drawn(rules, np.zeros((len(of), 3)), labels.ravel(), of=of, only_covered=False)
    return fs.sufficiency(rules, own, population=told, **how)


def test_the_model_may_be_given_in_every_way_and_real_rows_are_the_default_to_the_last_digit():
    ways = (MODEL, MODEL.predict, lambda rows: MODEL.predict(rows))
    plain, perturbed = fs.sufficiency(RULES, LABELS, X), measured().to_dict()
    assert plain.population is None
    for again in (
        measured(fs.RealRows(), LABELS),
        *(measured(rows, way) for rows in (None, fs.RealRows()) for way in ways),
    ):
        assert again.to_dict() == plain.to_dict()
    for again in (measured(fs.Perturbed(TRAIN, 10, model=MODEL), LABELS), *(measured(model=way) for way in ways)):
        assert again.to_dict() == perturbed
    own = fs.drawn(RULES, DRAWN.rows, DRAWN_LABELS.ravel(), of=DRAWN.of)
    assert measured(own, LABELS).value == perturbed["value"]


def test_the_estimate_is_the_mean_over_rows_and_its_interval_that_of_their_means():
    estimate = measured()
    assert estimate.value == pytest.approx(MEANS.mean())
    assert (estimate.high - estimate.low) / 2 == pytest.approx(2 * MEANS.std(ddof=1) / np.sqrt(80), rel=0.1)
    others = [(LABELS[i] == DRAWN_LABELS[np.arange(80) != i]).mean() for i in range(80)]
    assert estimate.chance == pytest.approx(np.mean(others))


def test_clusters_are_left_out_whole_and_weights_are_those_of_rows():
    copies, plain = np.repeat(np.arange(80), 3), labeled(DRAWN_LABELS)
    repeated = labeled(DRAWN_LABELS[copies], LABELS[copies], RULES.take(copies), clusters=copies)
    assert (repeated.value, repeated.low, repeated.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert repeated.clusters == 80
    weighed = labeled(DRAWN_LABELS, weights=np.arange(80))
    assert weighed.value == pytest.approx(np.average(MEANS, weights=np.arange(80)))
    assert weighed.effective_n < 80


def test_numbers_agree_by_their_agreement_and_have_a_drop():
    model = LinearRegression().fit(TRAIN, TRAIN @ [1.0, 2.0, 0.5])
    drops = model.predict(X)[DRAWN.of] - model.predict(DRAWN.rows)
    gaps = np.abs(drops)
    for agreement, agreeing in (
        (fs.Close(0.7), np.maximum(0, 1 - gaps / 0.7)),
        (fs.Tolerance(0.7), gaps <= 0.7),
        (lambda a, b: np.exp(-np.abs(a - b)), np.exp(-gaps)),
    ):
        estimate = measured(model=model, agreement=agreement)
        assert (estimate.value, estimate.drop) == pytest.approx((agreeing.mean(), drops.mean()))


def test_the_model_is_asked_in_large_batches_and_cannot_change_the_rows():
    sizes, before = [], (X.copy(), TRAIN.copy())

    def model(rows):
        rows[:] = 0
        sizes.append(len(rows))
        return np.ones(len(rows), int)

    measured(fs.Perturbed(TRAIN, draws=1000), model)
    assert (sum(sizes), len(sizes)) == (80 + 80_000, 3)
    assert (before[0] == X).all()
    assert (before[1] == TRAIN).all()
