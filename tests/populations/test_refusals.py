"""What populations refuse: the kind of error, and words of the sentence that says what to do instead."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput, NotProven, WrongType
from refused import refused

TRAIN, X = default_rng(0).normal(size=(2, 80, 3))
FRAME = pd.DataFrame(TRAIN, columns=["a", "b", "c"])
MODEL = LogisticRegression().fit(TRAIN, TRAIN[:, 0] > 0)
RULES = fs.Rules.parse(np.where(X[:, 0] < 0, "a <= 0", "a > 0").tolist(), features=["a", "b", "c"])
PERTURBED = fs.Perturbed(TRAIN, draws=10)
TWO = fs.Rules.parse(["a <= 5", "a > 1"], features=["a", "b"])
ROWS = np.arange(8.0).reshape(2, 2, 2)
FLAT, LABELS, FLAT_LABELS, OF = ROWS.reshape(4, 2), [[1, 0], [1, 1]], [1, 0, 1, 1], [0, 0, 1, 1]
TABLE, TURNED = pd.DataFrame(FLAT, columns=["a", "b"], index=list("pqrs")), pd.Series(OF, index=list("srqp"))
JOBS = pd.DataFrame({"job": pd.Categorical(["clerk", "cook"])})
JUDGE = pd.DataFrame({"job": pd.Categorical(["judge"])})
TWICE = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])


def same(rows):
    return [1] * len(rows)


def measured(population=PERTURBED, model=MODEL, **how):
    return fs.sufficiency(RULES, model, X, population=population, **how)


def drawn(rows, *labels, **how):
    return fs.drawn(TWO, rows, *labels, **how)


def own(population, rules=TWO):
    return fs.sufficiency(rules, [1] * len(rules), population=population)


REFUSED = {
    BadInput: [
        (lambda: measured(model=MODEL.predict(X)), "Perturbed makes new rows, .* pass the model"),
        (lambda: measured(fs.Perturbed()), "draws from training rows: pass Perturbed"),
        (lambda: measured(fs.Perturbed(TRAIN[:0])), "X_train is empty"),
        (lambda: measured(fs.Perturbed(TRAIN[:, :2])), "same columns.*only one of them has"),
        (
            lambda: fs.sufficiency(RULES, same, FRAME, population=fs.Perturbed(FRAME.rename(columns={"b": "bb"}))),
            "only one of them has 'b'",
        ),
        (lambda: measured(fs.Perturbed(TRAIN, keep=2)), "keep must be a probability"),
        (lambda: measured(fs.Perturbed(TRAIN, seed=-1)), "seed must be a whole number"),
        (lambda: measured(fs.Conditional(TRAIN, k=0)), "k must be a whole number"),
        (lambda: measured(relation=lambda X, e: X[:, 0] > 0), "leave them out"),
        (lambda: measured(unlabeled=TRAIN), "leave them out"),
        (lambda: measured(model=LinearRegression().fit(TRAIN, TRAIN[:, 0])), "LinearRegression predicts numbers"),
        (lambda: measured(model=lambda rows: [1]), "80 rows but predictions have 1"),
        (
            lambda: fs.sufficiency(fs.Counterfactuals(X + 1, X), MODEL, X, population=PERTURBED),
            "Perturbed fixes the features that rules name",
        ),
        (
            lambda: fs.Perturbed(JOBS).draw(fs.Rules.parse(["job == judge"], features=["job"]), JUDGE),
            "'job' of X holds 'judge', which is none of the categories that X_train",
        ),
        (lambda: fs.Product(TWICE).draw(fs.Rules.from_conditions([[]], features=["a"]), TWICE), "have the same name"),
    ],
    WrongType: [
        (lambda: measured(fs.Perturbed), "Perturbed without its arguments is no population"),
        (lambda: measured("perturbed"), "population='perturbed' is no population"),
        (lambda: measured(fs.Perturbed(TRAIN, unknown=3)), "unknown must be a text"),
        *(
            (lambda model=model: fs.consistency(RULES, model), r"such as model\.predict\(X\)")
            for model in (MODEL, MODEL.predict, LogisticRegression, RandomForestClassifier(2).fit(X, X[:, 0] > 0))
        ),
        *(
            (lambda reads=reads: reads(measured()), "sufficiency on perturbed rows compares rows with draws")
            for reads in (fs.plan, fs.GibbsDecoder, fs.mse_bound)
        ),
    ],
    NotProven: [
        (lambda: measured(interval="proven"), "pass interval=None"),
        (lambda: measured(agreement=fs.Spread()), "on draws, pass"),
    ],
    (BadInput, WrongType): [
        (lambda: fs.sufficiency(RULES, MODEL, population=PERTURBED), "X"),
        (lambda: drawn(FLAT, FLAT_LABELS), "There are 4 draws and 2 explanations: pass of="),
        (lambda: drawn(ROWS, LABELS), "a list or table per explanation: .* pass of="),
        (lambda: drawn([TABLE, TABLE], LABELS), "a list or table per explanation: .* pass of="),
        (lambda: fs.drawn(["a", "b"], [["good film", "good"], ["bad"]]), "a list or table per explanation"),
        (lambda: drawn(FLAT, [1] * 4, of=[0, 0, 1, 2]), "from 0 to 1; got 2"),
        (lambda: drawn(FLAT, [1, 0, 1], of=OF), "4 rows but predictions have 3"),
        (lambda: drawn(FLAT, FLAT_LABELS, of=OF, only_covered=1), "True or False"),
        (lambda: drawn(TABLE, TURNED, of=OF), "Predictions have the row labels of rows in another order"),
        (lambda: drawn(TABLE, [1] * 4, of=TURNED), "Of have the row labels of rows in another order"),
        (lambda: drawn(FLAT, FLAT_LABELS, of=OF).draw(TWO, FLAT[::2]), "made elsewhere"),
        (lambda: own(drawn(FLAT, of=OF)), "have no predictions"),
        (lambda: own(drawn(FLAT, ["1"] * 4, of=OF)), "of another type"),
        (lambda: own(drawn(FLAT, [1, None, 1, 1], of=OF)), "missing|None"),
        (
            lambda: own(drawn(FLAT, FLAT_LABELS, of=OF), TWO.take([1, 0])),
            "other explanations: 'a <= 5' at row 0, and here it is 'a > 1'",
        ),
    ],
}


def test_what_cannot_be_measured_is_refused_in_one_sentence():
    for error, call, words in [(error, *each) for error, several in REFUSED.items() for each in several]:
        refused(error, words, call)


def test_what_numbers_on_draws_are_advised_to_take_runs():
    for given in [lambda rows: 2.0 * rows[:, 0] + rows[:, 1], LinearRegression().fit(TRAIN, TRAIN[:, 0])]:
        predict = getattr(given, "predict", given)
        refused(BadInput, r"pass agreement=fs\..* or fs\.\w+\(eps\)", measured, model=predict)
        for advised in (fs.Close(0.5), fs.Tolerance(0.5)):
            assert 0 <= fs.sufficiency(RULES, predict, X, population=PERTURBED, agreement=advised).value <= 1


def test_an_error_of_the_model_says_that_it_was_raised_on_draws():
    def fails(rows):
        return [1] * len(rows) if len(rows) <= 80 else 1 / 0

    with pytest.raises(ZeroDivisionError) as raised:
        measured(model=fails)
    assert "predicting draws" in raised.value.__notes__[0]
