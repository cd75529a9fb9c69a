"""Predictions that are numbers, from hostile hands: extreme scales, gradients, boosters, own functions, class codes."""

import warnings

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.models import Model, owner_of

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3))
NUMBERS = ROWS[:, 0] + RNG.normal(size=60) / 4
KEYS = (ROWS[:, 0] > 0).astype(int)


def explain(rows):
    return (np.asarray(rows)[:, 0] > 0).astype(int)


@pytest.mark.parametrize("scale", [1e-305, 1e200, 2.0**1020])
def test_a_tolerance_curve_chooses_eps_at_any_scale(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = fs.tolerance_curve(KEYS, NUMBERS * scale)
    eps = np.array(curve.eps)
    assert len(eps) > 10
    assert (eps > 0).all()
    assert np.isfinite(eps).all()


def test_a_tolerance_curve_refuses_numbers_too_small_for_any_eps():
    with pytest.raises(BadInput, match=r"pass eps=.*, or them in another unit"):
        fs.tolerance_curve(list("aabb"), [0.0, 5e-324, 1e-323, 0.0])


@pytest.mark.parametrize("named", [False, True])
def test_a_booster_of_xgboost_is_a_model(named):
    xgboost, pd = pytest.importorskip("xgboost"), pytest.importorskip("pandas")
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(table if named else ROWS, NUMBERS), 5)
    answers = booster.inplace_predict(ROWS, validate_features=False)
    expected = fs.consistency(KEYS, answers, agreement="spread").value
    inputs = [ROWS, ROWS.tolist(), table] if named else [ROWS, ROWS.tolist()]
    for rows in inputs:
        for model in (booster, booster.predict):
            ev = fs.evaluate(model, explain, rows, progress=False)
            assert ev.consistency.value == pytest.approx(expected)
            assert "numbers of a regressor (Booster)" in str(ev.consistency.notes)
    assert owner_of(booster.inplace_predict) is booster
    assert Model(booster.inplace_predict).name == "Booster"


OWN = [
    *(
        (answer, BadInput, r"must give one number from 0 to 1 per pair .* no real numbers")
        for answer in (lambda a, b: "text", lambda a, b: [[1], [1, 2]], lambda a, b: a * 1j)
    ),
    *((given, WrongType, r"agreement must be a function of \(a, b\)") for given in (lambda a: a, len)),
    (lambda a, b: np.where(a < b, 0.5, 1.0), BadInput, "must be symmetric; got"),
]


@pytest.mark.parametrize(("agreement", "error", "words"), OWN)
def test_an_own_agreement_that_is_none_is_refused(agreement, error, words):
    with pytest.raises(error, match=words):
        fs.consistency(KEYS, NUMBERS, agreement=agreement)


def test_an_error_of_an_own_agreement_stays_and_says_whose_it_is():
    with pytest.raises(ZeroDivisionError) as caught:
        fs.consistency(KEYS, NUMBERS, agreement=lambda a, b: 1 / 0)
    assert "Raised by agreement=" in caught.value.__notes__[0]


@pytest.mark.parametrize("kind", [fs.Close, fs.Tolerance])
@pytest.mark.parametrize("eps", [np.float32(2), np.longdouble(2), np.int8(2), 2])
def test_eps_is_a_plain_float(kind, eps):
    assert repr(kind(eps)) == f"{kind.__name__}(eps=2.0)"
    assert kind(eps) == kind(2.0)


@pytest.mark.parametrize("kind", [fs.Close, fs.Tolerance])
@pytest.mark.parametrize("eps", [10**400, np.longdouble("1e4000"), np.float32("nan"), True, "2"])
def test_eps_that_is_no_float_is_refused(kind, eps):
    with pytest.raises(BadInput, match="eps must be a positive number"):
        kind(eps)


def test_a_column_that_holds_nearly_all_of_the_variance_is_noted():
    columns = np.column_stack([NUMBERS, 1000 * ROWS[:, 1]])
    told = "column 1 holds 99% of the variance of the predictions: columns are added up in their own units"
    assert told in fs.consistency(KEYS, columns, agreement="spread").notes
    ev = fs.evaluate(lambda rows: columns, explain, ROWS, agreement=fs.Spread(), progress=False)
    assert list(ev.consistency.notes).count(told) == 1
    for even in (columns / [1, 1000], NUMBERS):
        assert "of the variance of" not in str(fs.consistency(KEYS, even, agreement="spread").notes)


def test_codes_of_classes_that_are_measured_as_numbers_are_noted():
    linear = pytest.importorskip("sklearn.linear_model")
    model, told = linear.LogisticRegression().fit(ROWS, KEYS), "class labels of a classifier (LogisticRegression)"
    for agreement in (fs.Spread(), fs.Close(0.5)):
        notes = fs.evaluate(model, explain, ROWS, agreement=agreement, progress=False).consistency.notes
        assert any(told in note and "model.predict_proba" in note for note in notes)
    spread = {"agreement": fs.Spread()}
    for asked, options in ((model, {}), (model.predict_proba, spread), (model, {"agreement": fs.Same()})):
        notes = fs.evaluate(asked, explain, ROWS, progress=False, **options).consistency.notes
        assert not any("class labels" in note for note in notes)
