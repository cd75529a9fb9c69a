"""Counterfactual: another prediction, few features changed, and as near as the known rows allow, or nearer."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from brute import gower
from explainers.systems import (
    Rule,
    assert_refused,
    diabetes,
    people,
    people_again,
    wages,
    workers,
    workers_again,
)
from faithscope.agreements import Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import Counterfactual
from faithscope.explanations.distances.points import Points, all_pairs


@dataclass
class System:
    """Known rows, rows to explain, a model of them, and how cells become rows again."""

    known: Any
    rows: Any
    model: Any
    how: dict
    again: Any = lambda cells: cells

    def predict(self, rows):
        return getattr(self.model, "predict", self.model)(rows)

    def differ(self, a, b):
        """Whether predictions differ, by more than eps if there is an agreement."""
        eps = getattr(self.how.get("agreement"), "eps", None)
        return a != b if eps is None else np.abs(np.asarray(a, float) - b) > eps

    def nearest(self, metric):
        """By brute force: the distance of each row to the nearest known one with another prediction."""
        differ = self.differ(self.predict(self.known), np.asarray(self.predict(self.rows))[:, None])
        if isinstance(self.known, pd.DataFrame):
            words = dict.fromkeys(self.how.get("categorical", ()), str)
            known, rows = self.known.astype(words), self.rows.astype(words)
            distance = gower(pd.concat([rows, known], ignore_index=True), known)[: len(rows), len(rows) :]
        else:
            distance = all_pairs(metric, Points(self.rows, metric).read, Points(self.known, metric).read)
        return np.where(differ, distance, np.inf).min(axis=1)


def halves(X, model, **how):
    return System(X[::2], X[1::2][:60], model, how)


def flowers(**how):
    X, y = load_iris(return_X_y=True)
    return halves(X, DecisionTreeClassifier(random_state=0).fit(X, y), **how)


def tumors(**how):
    X, y = load_breast_cancer(return_X_y=True)
    return halves(X, make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), **how)


def above_zero(X):
    return X[:, 0] > 0


def waves(X):
    """A prediction that flips many times on the way from one row to another."""
    return (np.sin(5 * X).sum(axis=1) > 0).astype(int)


def numbers(eps):
    X, _, model = diabetes()
    return halves(X, model, agreement=Tolerance(eps))


X50 = default_rng(0).normal(size=(50, 2))
SYSTEMS = {
    "three kinds of flowers": flowers,
    "thirty numbers": tumors,
    "not monotone": lambda: halves(default_rng(1).normal(size=(300, 4)), waves),
    "categories and codes": lambda: System(
        workers(), workers(60, seed=1), wages(), {"categorical": ["region"]}, workers_again
    ),
    "missing values and dates": lambda: System(people(), people(20, 1), Rule(), {}, people_again),
    "new categories": lambda: System(people(), people(20, 1, new=True), Rule(), {}, people_again),
    "far outside": lambda: System(X50, 10 * X50[::-1], above_zero, {"candidates": 1}),
    **{f"numbers more than {eps:g} away": lambda eps=eps: numbers(eps) for eps in (5.0, 40.0, 80.0)},
}
TABLES = ["missing values and dates", "new categories"]


@cache
def solved(name):
    """A system, its counterfactuals, and the positions of rows that have one."""
    system = SYSTEMS[name]()
    return system, *Counterfactual(system.model, system.known, **system.how).find(system.rows)


def assert_lawful(system, found, where):
    """Points are predicted otherwise, with no feature to put back and no known row nearer; gives both distances."""
    nearest = system.nearest(found.metric)
    assert where.tolist() == np.flatnonzero(np.isfinite(nearest)).tolist()
    own = np.asarray(system.predict(system.rows))[where]
    assert system.differ(system.predict(system.again(found.points)), own).all()
    for j in range(found.points.shape[1]):
        back = found.points.copy()
        back[:, j] = found.originals[:, j]
        changed = found.points[:, j] != found.originals[:, j]
        assert not system.differ(system.predict(system.again(back)), own)[changed].any()
    radii = found.balls().radii
    assert (radii <= nearest[where] + 1e-12).all()
    return radii, nearest[where]


@pytest.mark.parametrize("name", SYSTEMS)
def test_points_are_predicted_otherwise_with_no_feature_to_put_back_and_no_known_row_nearer(name):
    system, found, where = solved(name)
    radii, nearest = assert_lawful(system, found, where)
    assert radii.mean() < (0.7 if name in list(SYSTEMS)[:3] else 1) * nearest.mean(), "most are farther"
    if isinstance(system.rows, pd.DataFrame):
        expected = system.rows.iloc[where].reset_index(drop=True)
        pd.testing.assert_frame_equal(system.again(found.originals), expected, check_dtype=False)
    else:
        np.testing.assert_array_equal(found.originals, system.rows[where])


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 40), st.sampled_from([None, 0.25, 1.0, 1.5, 4.0]))
def test_the_laws_hold_for_any_table_of_whole_numbers(seed, width, size, eps):
    rng = default_rng(seed)
    known, rows = rng.integers(0, 4, (size, width)), rng.integers(-1, 6, (9, width))
    secret = rng.integers(-4, 5, (6,) * width) / 2  # many ties, and distances of exactly eps
    secret = (secret > 0.5).astype(int) if eps is None else secret

    def predict(X):
        return secret[tuple(np.clip(X, 0, 5).astype(int).T)]

    system = System(known.astype(float), rows.astype(float), predict, {"agreement": eps and Tolerance(eps)})
    found, where = Counterfactual(predict, known, candidates=3, **system.how).find(rows)
    assert_lawful(system, found, where)
    assert (found.points == np.floor(found.points)).all()


def test_where_one_feature_decides_only_that_one_changes_and_ends_at_the_boundary():
    X, rows = (default_rng(seed).normal(size=(500, 6)) for seed in (0, 1))
    found = Counterfactual(above_zero, X).explain(rows)
    assert (found.points[:, 1:] == rows[:, 1:]).all()
    assert np.abs(found.points[:, 0]).max() < 0.01
    slope = Counterfactual(lambda X: 2 * X[:, 0], X, agreement=Tolerance(1.0)).explain(rows[:50])
    moved = np.abs(slope.points - rows[:50])
    assert (moved[:, 1:] == 0).all()
    assert 0.5 < moved[:, 0].min() < moved[:, 0].max() < 0.52


def test_whole_numbers_stay_whole_dates_days_and_categories_known_or_the_rows_own():
    system, found, _ = solved("categories and codes")
    assert found.feature_names == tuple(system.known)
    assert all(type(age) is int for age in found.points[:, 0])
    for j, name in ((2, "job"), (3, "married"), (4, "region")):
        assert set(found.points[:, j]) <= set(system.known[name])
    for name in TABLES:
        _, found, _ = solved(name)
        for before, after in zip(found.originals, found.points, strict=True):
            assert after[1] is None or float(after[1]).is_integer()
            assert after[2] in ("clerk", "cook", "smith", None, before[2])
            assert after[3] is None or after[3] % (86_400 * 10**9) == 0


def test_numbers_that_are_codes_are_never_moved_between_codes_and_equally_far():
    known = [[1.0, 0.0], [2.0, 1.0], [4.0, 0.5]]
    between = Counterfactual(lambda X: X[:, 0] > 3, known, categorical=[0]).explain([[2.2, 0.0]])
    assert between.points.tolist() == [[4.0, 0.0]]
    assert between.balls().radii.tolist() == [0.5]
    table = pd.DataFrame({"code": [1, 2, 3, 3], "value": [0.0, 0.5, 1.0, 0.25]})
    found = Counterfactual(lambda X: X["code"].to_numpy() == 3, table, categorical=["code"]).explain(table)
    for rows in (table, table.to_numpy(), table.astype(float)):
        assert found.balls().inside(rows)(0, 4).diagonal().all(), "however codes are typed"


def test_a_category_that_training_did_not_have_is_given_up_where_it_decides():
    table, rows = workers(), workers(60, seed=1).assign(job="king")

    def predict(given):
        return (given["job"] == "king") | (given.iloc[:, 1] > table.iloc[:, 1].median())

    found = workers_again(Counterfactual(predict, table).explain(rows).points)
    assert set(found["job"]) <= set(table["job"])
    assert (predict(found) != predict(rows)).all()


# Labels and numbers of every kind.


# What has no counterfactual, or is refused.


def test_a_row_that_has_none_is_left_out_by_find():
    for nothing in (lambda X: np.zeros(len(X), int), fickle([])):
        found, where = Counterfactual(nothing, [[0.0], [1.0]]).find([[0.0]])
        assert len(found) == len(where) == 0


def fickle(asked):
    """A model that changes its mind, and is not believed."""

    def predict(rows):
        asked.append(rows)
        return rows[:, 0] > (0.5 if len(asked) == 1 else np.inf)

    return predict


def explained(predict, X=X50, rows=X50, **how):
    return lambda: Counterfactual(predict, X, **how).explain(rows)


BAD_INPUT = [
    (
        explained(lambda rows: np.zeros(len(rows), int)),
        r"for row 0 \(50 of 50 rows in all\): no training row has another.*find\(X\)",
    ),
    (explained(above_zero, [[1.0], [2.0]], [[1.5], [-1.0], [2.5], [-2.0]]), r"row 0 \(2 of 4 rows"),
    (
        explained(above_zero, agreement=Tolerance(1e4)),
        r"row 0 \(50 of 50 rows in all\): no training row .*smaller eps",
    ),
    (explained(lambda rows: np.full(len(rows), 0.1), X50[:1], agreement=Tolerance(0.5)), "smaller eps"),
    (explained(lambda rows: rows[:, 0] / 7), "look continuous"),
    (explained(lambda rows: np.full((len(rows), 2), 0.5)), "class probabilities"),
    (explained(lambda rows: [0]), "rows but predictions have 1"),
    (explained(above_zero, candidates=0), "candidates must be .* at least 1; got 0"),
    (explained(above_zero, metric="euclidean"), "by Gower's distance alone; got metric='euclidean'"),
    (explained(above_zero, categorical=[9]), "categorical names 9"),
    (explained(above_zero, X50[:0]), "Training rows are empty"),
    (explained(above_zero, X50[:, :1]), "2 features but training rows have 1"),
]


def test_what_cannot_be_explained_is_refused_in_a_sentence():
    assert_refused({BadInput: BAD_INPUT, WrongType: [(explained(7), "must have predict")]})


@pytest.mark.parametrize(("seed", "feature"), [(11, 2), (37, 0)])
def test_of_equally_near_rows_the_same_is_chosen_whatever_rows_are_explained_beside(seed, feature):
    rng = np.random.default_rng(seed)
    known = np.column_stack([rng.integers(0, many, 40) for many in (4, 6, 8, 11)]).astype(float)
    weights = rng.normal(size=4)
    level = np.median(known @ weights)
    far = known[:1].copy()
    far[0, feature] = 100.0
    explainer = Counterfactual(lambda rows: rows @ weights > level, known, candidates=1)
    alone, beside = (explainer.explain(rows).points for rows in (known[:20], np.vstack([known[:20], far])))
    np.testing.assert_array_equal(alone, beside[:20])


def test_an_arrow_table_of_numbers_texts_and_dates_is_explained_as_that_of_pandas_is():
    rng = default_rng(0)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 400, 100), "D")
    X = pd.DataFrame({"a": rng.normal(size=100), "b": rng.choice(["x", "y"], 100), "day": days})

    def positive(rows):
        return (np.asarray(rows["a"]) > 0).astype(np.int64)

    ours, arrow = (Counterfactual(positive, rows).explain(rows[:20]) for rows in (X, pa.Table.from_pandas(X)))
    assert [arrow.describe(row) for row in range(len(arrow))] == [ours.describe(row) for row in range(len(ours))]
