"""Local measures, tables of explanations, and rejection sampling."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.random import default_rng
from scipy.stats import binomtest

import brute
import faithscope as fs
from faithscope.errors import WrongType
from faithscope.testing import POPULATIONS
from refused import refused
from strategies import samples


class Model:
    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)


def test_a_row_outside_the_sample_is_compared_with_all_of_it():
    X = np.array([[1.0, 5.0], [-1.0, 5.0], [2.0, 5.0], [3.0, 6.0]])
    found = fs.local(np.array([7.0, 5.0]), Model(), lambda X: X[:, 1:], X)
    assert (found.value, found.others, found.agreeing, found.seen) == (2 / 3, 3, 2, 4)
    assert (found.low, found.high) == pytest.approx(binomtest(2, 3).proportion_ci(0.95, method="exact"))
    assert "2 of 3 rows with this explanation agree" in str(found)
    never = fs.local([7.0, 99.0], Model(), lambda X: np.asarray(X)[:, 1:], X)
    assert (never.value, never.low, never.high) == (None, 0, 1)
    assert "nothing can be told" in str(never)


TABLE = pd.DataFrame({"a": [1.0, 2.0], "b": [5.0, 5.0]})


def first_word(texts):
    return [text.split()[0] for text in texts]


@pytest.mark.parametrize(
    ("row", "model", "explain", "X"),
    [
        (TABLE.iloc[0], Model(), lambda X: X[["b"]], TABLE),
        (TABLE.iloc[[0]], Model(), lambda X: X[["b"]], TABLE),
        ("good grief", first_word, first_word, ["good film", "bad film", "good play"]),
    ],
    ids=["series", "frame", "texts"],
)
def test_tables_and_texts_may_be_the_rows(row, model, explain, X):
    assert fs.local(row, model, explain, X).others == 2


def batches(name, size, seed):
    rng = default_rng(seed)
    while True:
        yield POPULATIONS[name].draw(size, rng)


def test_sampling_goes_on_until_enough_rows_have_the_explanation():
    system = POPULATIONS["few common"]
    found = fs.sample_until(batches("few common", 100, 0), 2, 0.1, 10**6, prediction=0)
    assert found.reached
    assert found.others == found.wanted == fs.local_sample_size(0.1)
    assert found.seen == pytest.approx(found.wanted / system.p[2], rel=0.3)


def test_a_budget_that_runs_out_is_said():
    found = fs.sample_until(batches("many rare", 100, 0), 2500, 0.1, 1000, prediction=0)
    assert (found.reached, found.seen) == (False, 1000)
    assert "not reached" in str(found)
    dry = fs.sample_until([("a", 1), ("b", 0), ("a", 1)], "a", 0.1, 10**6, prediction=1)
    assert (dry.others, dry.seen, dry.reached) == (2, 3, False)
    enough = fs.local_sample_size(0.4)  # rows behind the last that was wanted are not seen
    assert fs.sample_until([(list("b" + "a" * enough + "aab"), [1] * (enough + 4))], "a", 0.4, 100).seen == enough + 1


def test_a_source_may_give_rows_batches_or_nothing():
    assert fs.sample_until([], "a", 0.1, 100).value is None
    assert fs.sample_until([([], [])] * 3, "a", 0.1, 10).seen == 0
    target = pd.DataFrame({"x": [1.0]})
    assert fs.sample_until([(target, [1])], target, 0.1, 10).others == 1


@given(samples(max_size=15))
def test_every_row_has_its_local_consistency_and_the_counts_behind_it(sample):
    explanations, predictions = sample
    evaluation = evaluated(sample)
    assert evaluation.uniqueness == pytest.approx(brute.unverifiable(explanations))
    for i, row in enumerate(evaluation.local().itertuples()):
        others = brute.others(explanations, i)
        agreeing = sum(predictions[j] == predictions[i] for j in others)
        assert (row.N_pi, row.N_pi_y, row.verifiable) == (len(others) + 1, agreeing + 1, bool(others))
        expected = (np.nan, 0, 1)
        if others:
            expected = agreeing / len(others), *binomtest(agreeing, len(others)).proportion_ci(0.95, method="exact")
        told = row.consistency, row.consistency_low, row.consistency_high
        assert told == pytest.approx(expected, abs=1e-9, nan_ok=True)


def evaluated(sample):
    explanations, predictions = sample
    return fs.evaluate(predictions, explanations, np.arange(len(predictions))[:, None])


def test_sampled_predictions_are_of_one_type():
    rows = (["a"] * 4, [1, 0, 1, 1])
    for batches, wanted in (([rows], "1"), ([rows, (["a"], ["1"])], None)):
        refused(WrongType, "mix types", lambda: fs.sample_until(batches, "a", 0.4, 10, prediction=wanted))  # noqa: B023
    assert fs.sample_until([rows], "a", 0.4, 10, prediction=True).agreeing == 3
    days = np.array(["2026-01-01", "2026-01-02"], "M8[D]")
    assert fs.sample_until([(["a", "a"], days)], "a", 0.4, 10, prediction=days[0]).agreeing == 1
    moment = pd.Timestamp(days[0])
    refused(WrongType, "mix types", lambda: fs.sample_until([(["a", "a"], days)], "a", 0.4, 10, prediction=moment))
