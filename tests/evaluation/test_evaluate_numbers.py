"""Predictions that are numbers, all the way: evaluate, compare, groups, cache, logs, plans and verdicts."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.evaluation.assertions import Unfaithful
from refused import refused

RNG = np.random.default_rng(0)
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


@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("weights", [None, np.arange(N) % 4])
def test_an_evaluation_says_what_the_measures_say(agreement, weights):
    how = {"agreement": agreement, "weights": weights}
    found, compared = fs.evaluate(NUMBERS, RULES, ROWS, **how), fs.compare(NUMBERS, {"a": RULES}, ROWS, **how)
    assert found.agreement == agreement
    assert found.consistency == compared["a"].consistency == fs.consistency(RULES, NUMBERS, **how)
    assert found.sufficiency == compared["a"].sufficiency == fs.sufficiency(RULES, NUMBERS, ROWS, **how)
    for group, estimate in found.by(ROWS[:, 1]).estimates.items():
        rows = np.flatnonzero(ROWS[:, 1] == group)
        part = None if weights is None else weights[rows]
        assert estimate == fs.consistency(RULES.take(rows), NUMBERS[rows], agreement=agreement, weights=part)


@pytest.mark.parametrize("agreement", AGREEMENTS)
def test_how_numbers_are_held_changes_nothing(agreement):
    whole = np.round(NUMBERS * 4) / 4  # exact in single precision

    def told(predictions, agreement=agreement, rows=slice(None)):
        return fs.evaluate(predictions, KEYS[rows], ROWS[rows], agreement=agreement).consistency

    first = told(whole)
    for held in (
        whole.tolist(),
        whole.astype(np.float32),
        whole[:, None],
        whole[:, None].tolist(),
        pd.Series(whole),
        pd.DataFrame({"yhat": whole}),
        pl.Series(whole),
        pa.array(whole),
        lambda rows: whole,
    ):
        assert told(held) == first
    order = RNG.permutation(N)
    turned = told(whole[order], rows=order)
    assert (turned.value, turned.low, turned.high) == pytest.approx((first.value, first.low, first.high), abs=1e-12)
    assert told((4 * whole).astype(int), fs.Spread()).value == pytest.approx(told(whole, "spread").value)
    for held in (VECTORS.tolist(), pd.DataFrame(VECTORS), pl.DataFrame(VECTORS)):
        assert told(held, fs.Spread()) == told(VECTORS, "spread")


def test_a_group_without_variance_is_unknown_and_says_why():
    groups = np.where(np.arange(N) < 40, "constant", "varied").astype(object)
    groups[50] = "one row"
    predictions = np.where(np.arange(N) < 40, 2.5, NUMBERS)
    found = fs.evaluate(predictions, RULES, ROWS, agreement=fs.Spread(), groups=groups)
    whys = {"constant": "all predictions are equal (2.5)", "one row": "nothing can be told of one row"}
    for populations in (found.populations, found.sufficiency_populations):
        for name, why in whys.items():
            unknown = populations.estimates[name]
            assert (unknown.low, unknown.high, unknown.verified, unknown.above_chance) == (0.0, 1.0, None, None)
            assert why in str(unknown)
            assert unknown.agreement == fs.Spread()
            assert fs.plan(unknown).n == unknown.n
        assert populations.estimates["varied"].verified is not None
        differences = populations.differences()
        unknown = differences[(differences[["a", "b"]] != "varied").any(axis=1)]
        assert not unknown["differ"].any()
        assert (unknown[["low", "high"]] == [-1, 1]).all(axis=None)
        populations.table(), populations.to_dict(), str(populations)
    # The same rows by Close are told.
    assert fs.evaluate(predictions, RULES, ROWS, agreement="close:1").by(groups).estimates["constant"].value == 1
    refused(
        Unfaithful,
        r"population constant: .* nothing can be told: all predictions are equal",
        fs.assert_faithful,
        found.populations,
        at_least=0.5,
    )
    weights = np.arange(N) % 4 != 2  # the rows of the first group that vary have no weight
    predictions = np.where(np.arange(N) % 4 == 0, 1.0, NUMBERS)
    found = fs.evaluate(predictions, KEYS, ROWS, agreement="spread", weights=weights * 1.0, groups=np.arange(N) % 2)
    assert "all predictions are equal (1)" in str(found.populations.estimates[0])


def test_differences_of_groups_by_spread_allow_for_silence_and_stay_between_minus_one_and_one():
    why = np.where(ROWS[:, 1] > 2, np.arange(N), KEYS)
    found = fs.evaluate(NUMBERS, why, ROWS, agreement=fs.Spread()).by(ROWS[:, 1] > 2)
    a, b = found.estimates[False], found.estimates[True]
    (pair,) = found._differences()
    assert pair.low == pytest.approx(max(-1, a.value - b.upper - np.hypot(a.margins.below, b.margins.above)))
    assert pair.high == b.upper == 1, "all rows of the second group are silent"
    assert (pair.a_at_equal_n, pair.b_at_equal_n) == (None, None)
    noise = fs.evaluate(RNG.normal(size=60), np.repeat(np.arange(30), 2), np.ones((60, 1)), agreement="spread")
    for line in noise.by(np.arange(60) // 20)._differences():
        assert -1 <= line.low <= line.high <= 1


@pytest.mark.parametrize("predictions", [NUMBERS, VECTORS], ids=["numbers", "vectors"])
def test_results_of_numbers_can_be_kept_and_shown(predictions, tmp_path):
    found = fs.evaluate(predictions, RULES, ROWS, agreement=fs.Spread(), groups=ROWS[:, 1])
    again = pickle.loads(pickle.dumps(found))
    assert (again.consistency, again.agreement, str(again)) == (found.consistency, found.agreement, str(found))
    assert found.to_dict()["consistency"]["agreement"] == "Spread()"
    assert found.discretizations()["value"][0] == found.consistency.value
    compared = fs.compare(predictions, {"a": RULES, "b": ROWS[:, 1]}, ROWS, agreement=fs.Spread())
    assert (len(compared.table()), len(compared.differences())) == (3, 1)
    assert compared.to_dict()["evaluations"]["a"]["consistency"]["gap"] == found.consistency.gap
    found.to_parquet(tmp_path / "log.parquet")
    written = pd.read_parquet(tmp_path / "log.parquet").filter(like="prediction")
    assert list(written) == (["prediction"] if predictions.ndim == 1 else [f"prediction_{j}" for j in range(3)])
    assert np.array_equal(written.to_numpy(), predictions.reshape(N, -1))


@pytest.mark.slow
@pytest.mark.parametrize("agreements", [AGREEMENTS[::2], pytest.param(AGREEMENTS[1::2], marks=pytest.mark.thorough)])
def test_plans_count_rows_whatever_the_agreement(agreements):
    why, numbers = RNG.integers(0, 60, 90), NUMBERS[:90]
    first = fs.consistency(why, ROWS[:90, 1])
    labels = fs.plan(first)
    for agreement in agreements:
        estimate = fs.consistency(why, numbers, agreement=agreement)
        found = fs.plan(estimate)
        assert (found.rows_needed, found.unverifiable) == (labels.rows_needed, labels.unverifiable)
        for column in ("unverifiable", "low", "high"):
            np.testing.assert_allclose(found.curve[column], labels.curve[column], atol=1e-12)
        exact = found.curve[found.curve["kind"] == "exact"]["value"]
        if agreement == fs.Spread():
            assert exact.isna().all()
            assert found.guarantee is None
        else:
            assert exact.iloc[-1] == pytest.approx(estimate.value, abs=1e-12)
            assert found.guarantee == labels.guarantee
    close = fs.consistency(why, numbers, agreement=fs.Close(1.0))
    assert fs.mse_bound(close) == fs.mse_bound(first)


class Model:
    """Answers with numbers, labels and probabilities, and remembers how often."""

    classes_ = ("no", "yes")

    def __init__(self):
        self.asked = []

    def __fingerprint__(self):
        return None

    def predict(self, rows):
        self.asked.append("predict")
        return np.round(NUMBERS)

    def predict_proba(self, rows):
        self.asked.append("predict_proba")
        share = 1 / (1 + np.exp(-NUMBERS))
        return np.column_stack([1 - share, share])


def test_the_cache_keeps_numbers_exactly_and_takes_no_answer_for_another(tmp_path):
    asked = [
        {},
        {"agreement": fs.Spread()},
        {"output": "probability"},
        {"agreement": fs.Close(0.3)},
        {"output": "probability", "agreement": fs.Close(0.3)},
        {"output": "label"},
    ]
    for seed in range(3):
        model, order = Model(), np.random.default_rng(seed).permutation(len(asked))
        for k in (*order, *order):
            found = fs.evaluate(model, KEYS, ROWS, cache=tmp_path / str(seed), **asked[k])
            told = fs.evaluate(Model(), KEYS, ROWS, **asked[k])
            assert found.consistency == told.consistency
            assert np.array_equal(found.predictions, told.predictions)
            assert found.predictions.dtype == told.predictions.dtype
        # Labels and numbers are kept apart; all agreements of numbers share what was kept.
        assert sorted(model.asked) == ["predict", "predict", "predict_proba"]
    awkward = np.array([0.1 + 0.2, 1e-310, -1e60, np.nextafter(1.0, 2.0), np.pi, -0.0] * 4)
    for function in (np.copy, lambda rows: np.column_stack([rows, rows[::-1]])):
        for _ in range(2):
            found = fs.evaluate(function, np.zeros(24), awkward, agreement="spread", cache=tmp_path)
            assert np.array_equal(found.predictions, function(awkward))


NO_NUMBERS = {
    "complex": ([1j, 2.0, 3.0, 4.0], WrongType, "compares numbers, but row 0 of the predictions is complex"),
    "datetime": (np.arange(4).astype("M8[D]"), WrongType, "row 0 of the predictions is datetime64"),
    "strings": (["low", "high", "low", "low"], WrongType, r"is str \('low'\): pass real numbers, or leave"),
    "missing": ([1.0, np.nan, 2.0, 3.0], BadInput, "missing at row 1"),
    "none": ([1.0, 2.0, None, 3.0], BadInput, "missing at row 2"),
    "infinite": ([1.0, np.inf, 2.0, 3.0], BadInput, "hold inf at row 1"),
    "negative infinite": ([1.0, 2.0, -np.inf, 3.0], BadInput, "hold -inf at row 2"),
    "too many axes": (np.zeros((4, 2, 2)), BadInput, r"got \(4, 2, 2\): choose one output"),
    "masked": (np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0]), BadInput, "missing at row 1"),
    "large integers": ([2**60, 1, 2, 3], BadInput, "beyond 2"),
}


def refused_in_a_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("agreement", [fs.Spread(), fs.Close(1.0)])
@pytest.mark.parametrize("name", NO_NUMBERS)
def test_predictions_that_are_no_numbers_are_refused_in_a_sentence(name, agreement):
    predictions, *told = NO_NUMBERS[name]
    keys, rows = list("aabb"), ROWS[:4]
    refused_in_a_line(lambda: fs.evaluate(predictions, keys, rows, agreement=agreement), *told)
    refused_in_a_line(lambda: fs.evaluate(lambda rows: predictions, keys, rows, agreement=agreement), *told)
    refused_in_a_line(lambda: fs.compare(predictions, {"a": keys}, rows, agreement=agreement), *told)
    refused_in_a_line(lambda: fs.consistency(keys, predictions, agreement=agreement), *told)


FOUR = NUMBERS[:4]
UNFIT = [
    (VECTORS[:4], lambda: fs.Close(1.0), BadInput, "Close compares one number per row; predictions have 3 columns"),
    (VECTORS[:4], lambda: fs.Tolerance(1.0), BadInput, r"or pass agreement=fs.Spread\(\), which adds up columns"),
    ([2.0] * 4, fs.Spread, BadInput, r"all equal \(2\), so there is no variance"),
    (FOUR, lambda: fs.Close(0), BadInput, "eps must be a positive number.*got 0"),
    (FOUR, lambda: fs.Close(-1.0), BadInput, "got -1.0"),
    (FOUR, lambda: fs.Tolerance(np.nan), BadInput, "got nan"),
    (FOUR, lambda: fs.Close, WrongType, r"agreement=Close\(...\) cannot be applied"),
    (FOUR, lambda: "median", BadInput, "No agreement is called 'median'. Known: same, spread"),
    (FOUR, lambda: "close", BadInput, "close needs a number"),
    (FOUR, lambda: 3, WrongType, "agreement=3 cannot be applied"),
    ([1.5], fs.Spread, BadInput, "Spread needs at least 2 rows"),
]


@pytest.mark.parametrize(("predictions", "agreement", "error", "message"), UNFIT)
def test_agreements_that_do_not_fit_are_refused_in_a_sentence(predictions, agreement, error, message):
    n = len(predictions)
    refused_in_a_line(
        lambda: fs.evaluate(predictions, list("aabb")[:n], ROWS[:n], agreement=agreement()), error, message
    )


def test_one_row_is_silent_by_close_and_no_bound_is_proven_for_spread():
    found = fs.evaluate([1.5], ["a"], [[0.0]], agreement=fs.Close(1.0)).consistency
    assert (found.low, found.high, found.unverifiable) == (0.0, 1.0, 1.0)
    spread = fs.consistency(KEYS, NUMBERS, agreement=fs.Spread())
    refused_in_a_line(lambda: fs.mse_bound(spread), NotProven, r"from 0 to 1, not for Spread\(\)")
