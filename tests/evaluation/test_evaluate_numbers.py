"""Predictions that are numbers, all the way: evaluate, compare, groups, cache, logs, plans and verdicts."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import brute_numbers
import faithscope as fs
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.evaluation.assertions import Unfaithful

RNG = np.random.default_rng(0)
N = 300
ROWS = RNG.integers(0, 6, (N, 2)).astype(float)
NUMBERS = ROWS[:, 0] + RNG.normal(size=N) / 2
VECTORS = np.column_stack([NUMBERS, ROWS[:, 1], RNG.normal(size=N)])
AGREEMENTS = [
    fs.Close(1.0),
    fs.Tolerance(1.0),
    fs.Spread(),
    fs.agreements.OwnAgreement(lambda a, b: np.exp(-abs(a - b))),
]
RULES = fs.Rules.from_conditions([[("x0", "<=", value)] for value in ROWS[:, 0]], features=["x0", "x1"])


@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("weights", [None, np.arange(N) % 4])
def test_an_evaluation_says_what_the_measures_say(agreement, weights):
    found = fs.evaluate(NUMBERS, RULES, ROWS, agreement=agreement, weights=weights, progress=False)
    assert found.agreement == agreement
    assert found.consistency == fs.consistency(RULES, NUMBERS, agreement=agreement, weights=weights)
    assert found.sufficiency == fs.sufficiency(RULES, NUMBERS, ROWS, agreement=agreement, weights=weights)
    compared = fs.compare(NUMBERS, {"a": RULES}, ROWS, agreement=agreement, weights=weights, progress=False)
    assert compared["a"].consistency == found.consistency
    assert compared["a"].sufficiency == found.sufficiency
    for group, estimate in found.by(ROWS[:, 1]).estimates.items():
        rows = ROWS[:, 1] == group
        part = None if weights is None else weights[rows]
        assert estimate == fs.consistency(
            RULES.take(np.flatnonzero(rows)), NUMBERS[rows], agreement=agreement, weights=part
        )


@pytest.mark.parametrize("agreement", AGREEMENTS)
def test_how_numbers_are_held_changes_nothing(agreement):
    whole = np.round(NUMBERS * 4) / 4  # exact in single precision
    told = fs.evaluate(whole, ROWS[:, 0], ROWS, agreement=agreement).consistency
    held = {
        "a list": whole.tolist(),
        "single precision": whole.astype(np.float32),
        "a column": whole[:, None],
        "rows": [[value] for value in whole.tolist()],
        "pandas": pd.Series(whole),
        "a frame": pd.DataFrame({"yhat": whole}),
        "polars": pl.Series(whole),
        "Arrow": pa.array(whole),
        "a function": lambda rows: whole,
    }
    for name, predictions in held.items():
        assert fs.evaluate(predictions, ROWS[:, 0], ROWS, agreement=agreement, progress=False).consistency == told, name
    order = RNG.permutation(N)
    turned = fs.evaluate(whole[order], ROWS[order, 0], ROWS[order], agreement=agreement).consistency
    assert (turned.value, turned.low, turned.high) == pytest.approx((told.value, told.low, told.high), abs=1e-12)
    integers = fs.evaluate((4 * whole).astype(int), ROWS[:, 0], ROWS, agreement=fs.Spread()).consistency
    assert integers.value == pytest.approx(fs.evaluate(whole, ROWS[:, 0], ROWS, agreement="spread").consistency.value)


def test_vectors_are_taken_from_tables_and_lists():
    told = fs.evaluate(VECTORS, ROWS[:, 0], ROWS, agreement="spread").consistency
    for held in (VECTORS.tolist(), pd.DataFrame(VECTORS), pl.DataFrame(VECTORS)):
        assert fs.evaluate(held, ROWS[:, 0], ROWS, agreement=fs.Spread()).consistency == told


def test_a_group_without_variance_is_unknown_and_says_why():
    groups = np.where(np.arange(N) < 40, "constant", "varied").astype(object)
    groups[50] = "one row"
    predictions = np.where(np.arange(N) < 40, 2.5, NUMBERS)
    found = fs.evaluate(predictions, RULES, ROWS, agreement=fs.Spread(), groups=groups, progress=False)
    for populations in (found.populations, found.sufficiency_populations):
        constant, single, varied = (populations.estimates[name] for name in ("constant", "one row", "varied"))
        for unknown, why in (
            (constant, r"all predictions are equal (2.5)"),
            (single, "nothing can be told of one row"),
        ):
            assert (unknown.low, unknown.high, unknown.verified, unknown.above_chance) == (0.0, 1.0, None, None)
            assert why in str(unknown)
            assert unknown.agreement == fs.Spread()
            assert fs.plan(unknown).n == unknown.n
        assert varied.verified is not None
        differences = populations.differences()
        unknown = differences[(differences["a"] != "varied") | (differences["b"] != "varied")]
        assert not unknown["differ"].any()
        assert (unknown["low"] == -1).all()
        assert (unknown["high"] == 1).all()
        populations.table(), populations.to_dict(), str(populations)
    # The same rows by Close are told.
    assert fs.evaluate(predictions, RULES, ROWS, agreement="close:1").by(groups).estimates["constant"].value == 1
    with pytest.raises(Unfaithful, match=r"population constant: .* nothing can be told: all predictions are equal"):
        fs.assert_faithful(found.populations, at_least=0.5)
    with pytest.raises(BadInput, match="all equal"):
        fs.evaluate(np.full(N, 2.5), RULES, ROWS, agreement=fs.Spread(), progress=False)


def test_a_group_whose_varied_rows_have_no_weight_is_unknown():
    groups, weights = np.arange(N) % 2, np.ones(N)
    weights[np.arange(N) % 4 == 2] = 0
    predictions = np.where(np.arange(N) % 4 == 0, 1.0, NUMBERS)
    found = fs.evaluate(predictions, ROWS[:, 0], ROWS, agreement="spread", weights=weights, groups=groups)
    assert "all predictions are equal (1)" in str(found.populations.estimates[0])


def test_differences_of_groups_by_spread_allow_for_silence_and_stay_between_minus_one_and_one():
    why = np.where(ROWS[:, 1] > 2, np.arange(N), ROWS[:, 0])
    found = fs.evaluate(NUMBERS, why, ROWS, agreement=fs.Spread()).by(ROWS[:, 1] > 2)
    a, b = found.estimates[False], found.estimates[True]
    (pair,) = found._differences()
    margin = np.hypot(a.margins.below, b.margins.above)
    assert pair.low == pytest.approx(max(-1, a.value - b.upper - margin))
    assert pair.high == 1.0, "all rows of the second group are silent"
    assert b.upper == 1
    assert (pair.a_at_equal_n, pair.b_at_equal_n) == (None, None)
    noise = fs.evaluate(RNG.normal(size=60), np.repeat(np.arange(30), 2), np.ones((60, 1)), agreement="spread")
    for line in noise.by(np.arange(60) // 20)._differences():
        assert -1 <= line.low <= line.high <= 1


@pytest.mark.parametrize("predictions", [NUMBERS, VECTORS], ids=["numbers", "vectors"])
def test_results_of_numbers_can_be_kept_and_shown(predictions, tmp_path):
    found = fs.evaluate(predictions, RULES, ROWS, agreement=fs.Spread(), groups=ROWS[:, 1], progress=False)
    again = pickle.loads(pickle.dumps(found))
    assert (again.consistency, again.agreement, str(again)) == (found.consistency, found.agreement, str(found))
    assert found.to_dict()["consistency"]["agreement"] == "Spread()"
    assert found.discretizations()["value"][0] == found.consistency.value
    compared = fs.compare(predictions, {"a": RULES, "b": ROWS[:, 1]}, ROWS, agreement=fs.Spread(), progress=False)
    assert len(compared.table()) == 3
    assert len(compared.differences()) == 1
    assert compared.to_dict()["evaluations"]["a"]["consistency"]["gap"] == found.consistency.gap
    found.to_parquet(tmp_path / "log.parquet")
    written = pd.read_parquet(tmp_path / "log.parquet")
    columns = ["prediction"] if predictions.ndim == 1 else ["prediction_0", "prediction_1", "prediction_2"]
    assert np.array_equal(written[columns].to_numpy(), predictions.reshape(N, -1))


def test_plans_count_rows_whatever_the_agreement():
    why = RNG.integers(0, 200, N)
    labels = fs.plan(fs.consistency(why, ROWS[:, 1]))
    for agreement in AGREEMENTS:
        found = fs.plan(fs.evaluate(NUMBERS, why, ROWS, agreement=agreement))
        assert (found.rows_needed, found.unverifiable) == (labels.rows_needed, labels.unverifiable)
        for column in ("unverifiable", "low", "high"):
            expected = pytest.approx(labels.curve[column].tolist(), abs=1e-12, nan_ok=True)
            assert found.curve[column].tolist() == expected
        exact = found.curve[found.curve["kind"] == "exact"]["value"]
        if isinstance(agreement, fs.Spread):
            assert exact.isna().all()
            assert found.guarantee is None
        else:
            assert exact.iloc[-1] == pytest.approx(fs.consistency(why, NUMBERS, agreement=agreement).value, abs=1e-12)
            assert found.guarantee == labels.guarantee
    with pytest.raises(NotProven, match=r"from 0 to 1, not for Spread\(\)"):
        fs.mse_bound(fs.consistency(why, NUMBERS, agreement=fs.Spread()))
    labels_bound = fs.mse_bound(fs.consistency(why, ROWS[:, 1]))
    assert fs.mse_bound(fs.consistency(why, NUMBERS, agreement=fs.Close(1.0))) == labels_bound


def test_verdicts_of_numbers_are_by_the_lower_end():
    sure = fs.evaluate(ROWS[:, 0], ROWS[:, 0], ROWS, agreement=fs.Spread())
    fs.assert_faithful(sure, at_least=0.9)
    weak = fs.evaluate(RNG.normal(size=N), ROWS[:, 0], ROWS, agreement=fs.Spread())
    with pytest.raises(Unfaithful, match=r"consistency was not shown to be at least 0\.5"):
        fs.assert_faithful(weak, at_least=0.5)


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


@pytest.mark.parametrize("seed", range(3))
def test_the_cache_keeps_numbers_exactly_and_takes_no_answer_for_another(tmp_path, seed):
    model = Model()
    asked = [
        {},
        {"agreement": fs.Spread()},
        {"output": "probability"},
        {"agreement": fs.Close(0.3)},
        {"output": "probability", "agreement": fs.Close(0.3)},
        {"output": "label"},
    ]
    order = np.random.default_rng(seed).permutation(len(asked))
    told = {k: fs.evaluate(Model(), ROWS[:, 0], ROWS, progress=False, **asked[k]) for k in order}
    for k in (*order, *order):
        found = fs.evaluate(model, ROWS[:, 0], ROWS, cache=tmp_path, progress=False, **asked[k])
        assert found.consistency == told[k].consistency
        assert np.array_equal(found.predictions, told[k].predictions)
        assert found.predictions.dtype == told[k].predictions.dtype
    # Labels and numbers are kept apart; all agreements of numbers share what was kept.
    assert sorted(model.asked) == ["predict", "predict", "predict_proba"]


def test_awkward_numbers_come_back_from_the_cache_as_they_were(tmp_path):
    awkward = np.array([0.1 + 0.2, 1e-310, -1e60, np.nextafter(1.0, 2.0), np.pi, -0.0] * 4)

    def predict(rows):
        return np.column_stack([rows, rows[::-1]])

    for function in (np.copy, predict):
        for _ in range(2):
            found = fs.evaluate(function, np.zeros(24), awkward, agreement="spread", cache=tmp_path, progress=False)
            assert np.array_equal(found.predictions, function(awkward))


BAD = {
    "complex": ([1j, 2.0, 3.0, 4.0], WrongType, "compares numbers, but row 0 of the predictions is complex"),
    "datetime": (np.arange(4).astype("M8[D]"), WrongType, "row 0 of the predictions is datetime64"),
    "strings": (
        ["low", "high", "low", "low"],
        WrongType,
        r"is str \('low'\): pass real numbers, or leave",
    ),
    "missing": ([1.0, np.nan, 2.0, 3.0], BadInput, "missing at row 1"),
    "none": ([1.0, 2.0, None, 3.0], BadInput, "missing at row 2"),
    "infinite": ([1.0, np.inf, 2.0, 3.0], BadInput, "hold inf at row 1"),
    "negative infinite": ([1.0, 2.0, -np.inf, 3.0], BadInput, "hold -inf at row 2"),
    "too many axes": (np.zeros((4, 2, 2)), BadInput, r"got \(4, 2, 2\): choose one output"),
    "masked": (np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0]), BadInput, "missing at row 1"),
    "large integers": ([2**60, 1, 2, 3], BadInput, "beyond 2"),
}


@pytest.mark.parametrize("agreement", [fs.Spread(), fs.Close(1.0)])
@pytest.mark.parametrize("name", BAD)
def test_predictions_that_are_no_numbers_are_refused_in_a_sentence(name, agreement):
    predictions, error, message = BAD[name]
    for ask in (
        lambda: fs.evaluate(predictions, list("aabb"), ROWS[:4], agreement=agreement),
        lambda: fs.evaluate(lambda rows: predictions, list("aabb"), ROWS[:4], agreement=agreement, progress=False),
        lambda: fs.compare(predictions, {"a": list("aabb")}, ROWS[:4], agreement=agreement),
        lambda: fs.consistency(list("aabb"), predictions, agreement=agreement),
    ):
        with pytest.raises(error, match=message) as caught:
            ask()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("predictions", "agreement", "error", "message"),
    [
        (VECTORS[:4], lambda: fs.Close(1.0), BadInput, "Close compares one number per row; predictions have 3 columns"),
        (VECTORS[:4], lambda: fs.Tolerance(1.0), BadInput, r"or pass agreement=fs.Spread\(\), which adds up columns"),
        ([2.0] * 4, fs.Spread, BadInput, r"all equal \(2\), so there is no variance"),
        (NUMBERS[:4], lambda: fs.Close(0), BadInput, "eps must be a positive number.*got 0"),
        (NUMBERS[:4], lambda: fs.Close(-1.0), BadInput, "got -1.0"),
        (NUMBERS[:4], lambda: fs.Tolerance(np.nan), BadInput, "got nan"),
        (NUMBERS[:4], lambda: fs.Close, WrongType, r"agreement=Close\(...\) cannot be applied"),
        (NUMBERS[:4], lambda: "median", BadInput, "No agreement is called 'median'. Known: same, spread"),
        (NUMBERS[:4], lambda: "close", BadInput, "close needs a number"),
        (NUMBERS[:4], lambda: 3, WrongType, "agreement=3 cannot be applied"),
    ],
)
def test_agreements_that_do_not_fit_are_refused_in_a_sentence(predictions, agreement, error, message):
    with pytest.raises(error, match=message) as caught:
        fs.evaluate(predictions, list("aabb"), ROWS[:4], agreement=agreement())
    assert "\n" not in str(caught.value)


def test_one_row_is_silent_by_close_and_refused_by_spread():
    found = fs.evaluate([1.5], ["a"], [[0.0]], agreement=fs.Close(1.0)).consistency
    assert (found.low, found.high, found.unverifiable) == (0.0, 1.0, 1.0)
    with pytest.raises(BadInput, match="Spread needs at least 2 rows"):
        fs.evaluate([1.5], ["a"], [[0.0]], agreement=fs.Spread())


def test_groups_of_numbers_are_those_of_brute_force():
    found = fs.evaluate(NUMBERS, ROWS[:, 0], ROWS, agreement=fs.Spread()).by(ROWS[:, 1])
    for group, estimate in found.estimates.items():
        rows = ROWS[:, 1] == group
        codes = ROWS[rows, 0]
        told = brute_numbers.brute_spread(codes[:, None] == codes[None, :], NUMBERS[rows], None)
        assert (estimate.value, estimate.upper) == pytest.approx((told.value, told.upper), abs=1e-9)
