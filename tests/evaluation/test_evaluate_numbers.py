"""Predictions that are numbers, all the way: evaluate, compare, groups, cache, logs, plans and verdicts."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from refused import refused

RNG = default_rng(0)
N = 300
ROWS = RNG.integers(0, 6, (N, 2)).astype(float)
KEYS = ROWS[:, 0]
NUMBERS = KEYS + RNG.normal(size=N) / 2
VECTORS = np.column_stack([NUMBERS, ROWS[:, 1], RNG.normal(size=N)])
AGREEMENTS = [
    fs.Close(1.0),
    fs.Tolerance(1.0),
    fs.Spread(),
    fs.agreements.OwnAgreement(lambda a, b: np.exp(-abs(a - b))),
]
RULES = fs.Rules.from_conditions([[("x0", "<=", value)] for value in KEYS], features=["x0", "x1"])


def test_an_evaluation_says_what_the_measures_say():
    for agreement in AGREEMENTS:
        for weights in (np.ones(N), np.arange(N) % 4):
            how = {"agreement": agreement, "weights": weights}
            found, compared = fs.evaluate(NUMBERS, RULES, ROWS, **how), fs.compare(NUMBERS, {"a": RULES}, ROWS, **how)
            assert found.agreement == agreement
            assert found.consistency == compared["a"].consistency == fs.consistency(RULES, NUMBERS, **how)
            assert found.sufficiency == compared["a"].sufficiency == fs.sufficiency(RULES, NUMBERS, ROWS, **how)
            groups = found.by(ROWS[:, 1])
            for group, estimate in groups.among.estimates.items():
                rows = np.flatnonzero(ROWS[:, 1] == group)
                how["weights"] = weights[rows]
                alone = fs.consistency(RULES.take(rows), NUMBERS[rows], **how)
                if (
                    agreement == fs.Spread()
                ):  # the variance is that of all rows, and how far pairs are apart is the group's
                    assert (estimate.gap, estimate.unverifiable) == pytest.approx((alone.gap, alone.unverifiable))
                else:
                    assert estimate == alone


NO_NUMBERS = [
    ([1j, 2.0, 3.0, 4.0], WrongType, "compares numbers, but row 0 of the predictions is complex"),
    (np.arange(4).astype("M8[D]"), WrongType, "row 0 of the predictions is datetime64"),
    (["low", "high", "low", "low"], WrongType, r"is str \('low'\): pass real numbers, or leave"),
    ([1.0, np.nan, 2.0, 3.0], BadInput, "missing at row 1"),
    ([1.0, 2.0, None, 3.0], BadInput, "missing at row 2"),
    ([1.0, np.inf, 2.0, 3.0], BadInput, "hold inf at row 1"),
    ([1.0, 2.0, -np.inf, 3.0], BadInput, "hold -inf at row 2"),
    (np.zeros((4, 2, 2)), BadInput, r"shape \(4, 2, 2\): choose one output"),
    (np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0]), BadInput, "missing at row 1"),
    ([2**60, 1, 2, 3], BadInput, "beyond 2"),
]


@pytest.mark.parametrize(("predictions", "error", "words"), NO_NUMBERS)
def test_predictions_that_are_no_numbers_are_refused_in_a_sentence(predictions, error, words):
    keys, rows = list("aabb"), ROWS[:4]
    for how in ({"agreement": fs.Spread()}, {"agreement": fs.Close(1.0)}):
        refused(error, words, fs.evaluate, predictions, keys, rows, **how)
        refused(error, words, fs.evaluate, lambda rows: predictions, keys, rows, **how)
        refused(error, words, fs.compare, predictions, {"a": keys}, rows, **how)
        refused(error, words, fs.consistency, keys, predictions, **how)


UNFIT = [
    (
        VECTORS,
        lambda: fs.Close(1.0),
        BadInput,
        r"Close compares one number per row.*got predictions of shape \(300, 3\)",
    ),
    (
        VECTORS,
        lambda: fs.Tolerance(1.0),
        BadInput,
        r"Tolerance compares one number per row, and fs.Spread\(\) takes several columns",
    ),
    ([2.0] * 4, fs.Spread, BadInput, r"all equal \(2\), so there is no variance"),
    (NUMBERS, lambda: fs.Close(0), BadInput, "eps must be a positive number.*got 0"),
    (NUMBERS, lambda: fs.Tolerance(np.nan), BadInput, "got nan"),
    (NUMBERS, lambda: fs.Close, WrongType, r"agreement=Close\(...\) cannot be applied"),
    (NUMBERS, lambda: "median", BadInput, "No agreement is called 'median'. Known: same, spread"),
    (NUMBERS, lambda: "close", BadInput, "close needs a number"),
    (NUMBERS, lambda: 3, WrongType, "agreement=3 cannot be applied"),
    ([1.5], fs.Spread, BadInput, "Spread needs at least 2 rows"),
]


@pytest.mark.parametrize(("predictions", "agreement", "error", "message"), UNFIT)
def test_agreements_that_do_not_fit_are_refused_in_a_sentence(predictions, agreement, error, message):
    n = len(predictions)
    refused(error, message, lambda: fs.evaluate(predictions, KEYS[:n], ROWS[:n], agreement=agreement()))
