"""Direction is what loops over rows, features and training rows give, whatever the rows are."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from scipy.special import stdtrit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.measures import direction as module
from refused import refused

N, TRAIN = 24, 9
JOBS = ["clerk", "cook", None]


def rows(n, rng):
    """A table as it is: a number that may be missing, a category that may be missing, a flag."""
    age = np.where(rng.random(n) < 0.2, np.nan, rng.integers(20, 30, n).astype(float))
    return pd.DataFrame({"age": age, "job": rng.choice(np.array(JOBS, object), n), "flag": rng.random(n) < 0.5})


def chances(X):
    """The probability of "yes", which nobody's flag changes and clerks' age moves most."""
    age = np.nan_to_num((X["age"].to_numpy(float) - 25) / 10, nan=0.3)
    job = X["job"].map({"clerk": 0.3, "cook": -0.1}).fillna(0.0).to_numpy(float)
    yes = 1 / (1 + np.exp(-(age * (1 + job) + job)))
    return np.column_stack([1 - yes, yes])


@cache
def system(seed):
    rng = default_rng(seed)
    X, train = rows(N, rng), rows(TRAIN, rng)
    phi = rng.choice([-0.5, -0.25, 0.0, 0.25, 0.5], (N, 3))
    return X, train, phi, rng.uniform(0.5, 2, N), rng.integers(0, 8, N)


@cache
def pairs_one_by_one(seed, k):
    """(row, feature, +1 right, -1 wrong, 0 still) of every named pair, from all training rows."""
    found = []
    X, train, phi, _, _ = system(seed)
    for i in range(len(X)):
        own = chances(X[i : i + 1])[0, 1]
        named = sorted(np.flatnonzero(phi[i]), key=lambda j: (-abs(phi[i, j]), j))[:k]
        for j in named:
            others = []
            for t in range(len(train)):
                row = X[i : i + 1].copy()
                row[X.columns[j]] = pd.Series([train.iloc[t, j]], index=row.index, dtype=train.dtypes.iloc[j])
                others.append(chances(row)[0, 1])
            move = own - np.mean(others)
            found.append((i, j, 0 if abs(move) <= 0.001 else int(np.sign(move) * np.sign(phi[i, j]))))
    return found


def ratio(found, weights):
    right = sum(weights[i] for i, _, told in found if told == 1)
    return right / sum(weights[i] for i, _, told in found if told)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("manner", ["plain", "weights", "clusters"])
def test_every_share_is_what_loops_give(seed, k, manner):
    X, train, phi, weights, clusters = system(seed)
    weights = weights if manner == "weights" else np.ones(N)
    how = {"weights": {"weights": weights}, "clusters": {"clusters": clusters}}.get(manner, {})
    population = fs.Perturbed(train, draws=2 * TRAIN)
    found = fs.direction(phi, chances, X, population=population, k=k, class_index=1, **how)
    expected = pairs_one_by_one(seed, k)
    total = sum(weights[i] for i, _, _ in expected)
    assert (found.pairs, found.n, found.k) == (len(expected), N, k)
    for name, kind in (("right", 1), ("wrong", -1), ("still", 0)):
        share = sum(weights[i] for i, _, told in expected if told == kind) / total
        assert getattr(found, name) == pytest.approx(share, abs=1e-12), name
    assert found.value == pytest.approx(ratio(expected, weights), abs=1e-12)
    units = clusters if manner == "clusters" else np.arange(N)
    left = [ratio([each for each in expected if units[each[0]] != unit], weights) for unit in np.unique(units)]
    gaps = np.array(left) - np.mean(left)
    freedom, many = (gaps**2).sum() ** 2 / (gaps**4).sum(), len(left)
    margin = stdtrit(freedom, 0.975) * math.sqrt((many - 1) / many * (gaps**2).sum())
    mass = [sum(weights[i] for i, _, told in expected if told and units[i] == unit) for unit in np.unique(units)]
    margin = max(margin, math.log(40) * max(mass) / sum(mass))
    assert found.low == pytest.approx(max(0.0, found.value - margin), abs=1e-9)
    assert found.high == pytest.approx(min(1.0, found.value + margin), abs=1e-9)
    for line in found.table().to_dict("records"):
        own = [each for each in expected if X.columns[each[1]] == line["feature"]]
        assert line["pairs"] == len(own)
        if any(told for _, _, told in own):
            assert line["value"] == pytest.approx(ratio(own, weights), abs=1e-12)


def test_neither_the_order_of_rows_nor_blocks_nor_sizes_change_anything(monkeypatch):
    X, train, phi, weights, clusters = system(1)
    how = {"population": fs.Perturbed(train, draws=5), "class_index": 1}
    expected = fs.direction(phi, chances, X, weights=weights, clusters=clusters, **how).to_dict()
    order = default_rng(0).permutation(N)
    given = {"weights": weights[order], "clusters": clusters[order]}
    moved = fs.direction(7 * phi[order], chances, X.iloc[order].reset_index(drop=True), **given, **how).to_dict()
    monkeypatch.setattr(module, "_NUMBERS", 40)
    asked = []
    counting = lambda rows: asked.append(len(rows)) or chances(rows)  # noqa: E731
    parts = fs.direction(phi, counting, X, weights=weights, clusters=clusters, **how).to_dict()
    assert len(asked) > 5
    for name, number in expected.items():
        for again in (moved, parts):
            assert again[name] == (pytest.approx(number) if isinstance(number, float) else number), name


@pytest.mark.parametrize("kind", ["texts", "days", "texts and numbers"])
def test_the_order_of_training_rows_does_not_choose_among_more_values_than_draws(kind):
    rng = default_rng(5)
    place = rng.integers(0, 90, 120)
    column = {
        "texts": [f"t{each}" for each in place],
        "days": pd.Timestamp("2026-01-01") + pd.to_timedelta(place, "D"),
        "texts and numbers": [f"t{each}" if each % 2 else int(each) for each in place],
    }[kind]
    X = pd.DataFrame({"column": column})
    numbers = dict(zip(X["column"], rng.permutation(90)[place] / 90, strict=True))
    model = lambda rows: rows["column"].map(numbers)  # noqa: E731
    first, second = (
        fs.direction(np.ones((120, 1)), model, X, population=fs.Perturbed(train, draws=7))
        for train in (X, X.iloc[rng.permutation(120)].reset_index(drop=True))
    )
    assert (first.value, first.move, first.still) == pytest.approx((second.value, second.move, second.still))


def test_other_values_are_not_those_of_rows_of_weight_0():
    X, _, phi, _, _ = system(2)
    weights = default_rng(0).choice([0.0, 1.0, 2.0], N)
    kept = np.flatnonzero(weights)
    first = fs.direction(phi, chances, X, weights=weights, class_index=1)
    second = fs.direction(phi[kept], chances, X.iloc[kept], weights=weights[kept], class_index=1)
    assert first.table().equals(second.table())


def three(n=60):
    rng = default_rng(3)
    X = rng.normal(size=(n, 2))
    model = LogisticRegression().fit(X, np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])])
    return X, model


def test_importances_of_any_classes_are_held_against_those_classes():
    X, model = three()
    slopes = np.concatenate([(X - X.mean(axis=0)) * coefficients for coefficients in model.coef_], axis=1)
    refused(BadInput, "6 features and X has 2 columns.*of one class", fs.direction, slopes, model, X)
    place = model.predict_proba(X).argmax(axis=1)
    own = fs.Importances(slopes.reshape(60, 3, 2)[np.arange(60), place])
    predicted = fs.direction(own, model, X, class_index="predicted")
    for number, name in enumerate("abc"):
        one = fs.Importances(slopes[:, 2 * number : 2 * number + 2])
        told = fs.direction(one._with(label=name), model, X)
        assert told.output == f"the probability of {name!r}"
        assert told.value == fs.direction(one, model, X, class_index=number).value
    assert predicted.value > 0.7
    refused(BadInput, "nothing says of which the importances speak", fs.direction, own, model, X)
    refused(BadInput, "none of the model's classes", fs.direction, own._with(label="z"), model, X)
    refused(BadInput, "from 0 to 2", fs.direction, own, model, X, class_index=3)


def test_numbers_and_reason_codes_have_a_direction():
    X = default_rng(4).normal(size=(80, 3))
    model = LinearRegression().fit(X, X @ [2.0, -1.0, 0.0])
    found = fs.direction((X - X.mean(axis=0)) * model.coef_, model, X, k=2)
    assert (found.value, found.output) == (1.0, "the model's number")
    codes = fs.ReasonCodes(2, against=1)(fs.Importances((X - X.mean(axis=0)) * model.coef_)._with(label="1"))
    against = fs.direction(codes, lambda rows: 1 / (1 + np.exp(-model.predict(rows))), X)
    assert against.value > 0.9
    assert not against.flipped


def test_a_feature_that_never_moves_the_output_is_a_tie():
    X = default_rng(5).normal(size=(30, 2))
    found = fs.direction(np.ones((30, 2)), lambda rows: rows[:, 0], X)
    assert found.still == 0.5
    still = fs.direction(np.ones((30, 2)), lambda rows: np.zeros(len(rows)), X)
    assert (still.value, still.low, still.still, still.above_chance) == (None, None, 1.0, None)
    assert "cannot be told" in str(still)
    slow = fs.direction(np.ones((30, 2)), lambda rows: 0.5 + 1e-5 * np.tanh(rows[:, 0]), X)
    assert (slow.value, slow.still) == (None, 1.0)


def test_flipped_signs_are_told_and_features_move_against_them():
    X = pd.DataFrame({"a": np.arange(20.0), "b": 0.0}, index=range(100, 120))
    found = fs.direction(np.column_stack([10 - np.arange(20.0), np.zeros(20)]), lambda rows: rows["a"].to_numpy(), X)
    assert found.flipped
    assert "drawn from the rows themselves" in str(found)
    assert found.table()["move"].tolist()[0] < 0


def test_what_cannot_be_redrawn_gets_one_sentence():
    X, train, phi, _, _ = system(0)
    ready = chances(X)[:, 1] > 0.5
    for error, words, given in (
        (WrongType, "pass the model itself", (phi, ready, X)),
        (WrongType, "LinearSVC has no predict_proba", (phi[:, :2], LinearSVC().fit(phi[:, :2], ready), phi[:, :2])),
        (WrongType, "labels instead of probabilities", (phi, lambda rows: np.full(len(rows), "yes"), X)),
        (WrongType, "asks for signs of features", (fs.Highlights([{"a"}] * N), chances, X)),
        (BadInput, "left no signs", (fs.TopFeatures(2)(fs.Importances(phi)), chances, X)),
        (BadInput, "no column 'wage'", (pd.DataFrame({"wage": phi[:, 0]}), chances, X)),
        (BadInput, "all importances are 0", (0 * phi, chances, X)),
        (BadInput, "24.*23|23.*24", (phi[1:], chances, X)),
    ):
        refused(error, words, fs.direction, *given)
    for wrong, words in (
        ({"population": fs.Conditional(train)}, "redraws one feature"),
        ({"population": fs.RealRows()}, "redraws one feature"),
        ({"k": 0}, "k, the number of features"),
    ):
        refused(BadInput, words, fs.direction, phi, chances, X, **{"class_index": 1, **wrong})
