"""Counterfactual: a flipped prediction, few features changed, and as near as the known rows allow, or nearer."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.explainers.counterfactual.explainer import Counterfactual
from faithscope.explainers.shared.table import Table
from faithscope.explanations.distances.points import Points


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.normal(3, 1, n),
            "job": rng.choice(["clerk", "cook", "smith", "weaver"], n),
            "married": rng.random(n) < 0.5,
            "region": rng.integers(1, 5, n),
        }
    )


def people_model():
    """A pipeline that knows columns by name, so it takes nothing but pandas."""
    table = people()
    paid = table["age"] / 40 + table["pay"] * 0.3 + (table["job"] == "cook") + (table["region"] == 2) * table["married"]
    encode = make_column_transformer((OneHotEncoder(), ["job", "region"]), remainder="passthrough")
    return make_pipeline(encode, DecisionTreeClassifier(max_depth=8, random_state=0)).fit(table, paid > 2.4)


def flowers():
    X, y = load_iris(return_X_y=True)
    return X, DecisionTreeClassifier(random_state=0).fit(X, y)


def tumors():
    X, y = load_breast_cancer(return_X_y=True)
    return X, make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)


def waves(X):
    """A prediction that flips many times on the way from one row to another."""
    return (np.sin(5 * X).sum(axis=1) > 0).astype(int)


def wavy():
    return np.random.default_rng(1).normal(size=(300, 4)), waves


SYSTEMS = {"three kinds of flowers": flowers, "thirty numbers": tumors, "not monotone": wavy}


@pytest.fixture(params=SYSTEMS, scope="module")
def system(request):
    X, model = SYSTEMS[request.param]()
    predict = getattr(model, "predict", model)
    half = X[::2]
    rows = X[1::2][:60]
    return half, rows, predict, Counterfactual(model, half).explain(rows)


@pytest.fixture(scope="module")
def mixed():
    model, table = people_model(), people()
    rows = people(60, seed=1)
    return table, rows, model, Counterfactual(model, table, categorical=["region"]).explain(rows)


def as_frame(points, like):
    return pd.DataFrame(points, columns=like.columns).astype(like.dtypes)


def test_every_point_is_predicted_otherwise_than_its_row(system):
    _, rows, predict, counterfactuals = system
    assert (counterfactuals.originals == rows).all()
    assert (predict(counterfactuals.points) != predict(rows)).all()


def test_every_point_of_mixed_rows_is_predicted_otherwise(mixed):
    table, rows, model, counterfactuals = mixed
    assert (model.predict(as_frame(counterfactuals.points, table)) != model.predict(rows)).all()


def test_no_changed_feature_can_be_put_back_alone(system):
    _, rows, predict, counterfactuals = system
    for j in range(rows.shape[1]):
        back = counterfactuals.points.copy()
        back[:, j] = rows[:, j]
        changed = counterfactuals.points[:, j] != rows[:, j]
        assert (predict(back) == predict(rows))[changed].all()


def test_no_changed_feature_of_mixed_rows_can_be_put_back_alone(mixed):
    table, rows, model, counterfactuals = mixed
    for j in range(rows.shape[1]):
        back = counterfactuals.points.copy()
        back[:, j] = counterfactuals.originals[:, j]
        changed = counterfactuals.points[:, j] != counterfactuals.originals[:, j]
        assert (model.predict(as_frame(back, table)) == model.predict(rows))[changed].all()


def nearest_known(known, rows, different, metric):
    """By brute force: the distance of each row to the nearest known one with another prediction."""
    distance = Points(rows, metric).from_all(Points(known, metric))
    return np.where(different, distance, np.inf).min(axis=1)


def test_no_known_row_with_another_prediction_is_nearer(system):
    known, rows, predict, counterfactuals = system
    nearest = nearest_known(known, rows, predict(known) != predict(rows)[:, None], counterfactuals.metric)
    assert (counterfactuals.balls().radii <= nearest + 1e-12).all()
    assert counterfactuals.balls().radii.mean() < 0.7 * nearest.mean(), "and most known rows are farther"


def test_no_known_mixed_row_with_another_prediction_is_nearer(mixed):
    table, rows, model, counterfactuals = mixed
    different = model.predict(table) != model.predict(rows)[:, None]
    nearest = nearest_known(table.to_numpy(object), rows.to_numpy(object), different, counterfactuals.metric)
    assert (counterfactuals.balls().radii <= nearest + 1e-12).all()


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "cosine", "canberra", "hamming"])
def test_no_known_row_is_nearer_by_other_metrics_either(metric):
    X, model = flowers()
    counterfactuals = Counterfactual(model, X[::2], metric=metric).explain(X[1::2])
    assert counterfactuals.metric == metric
    different = model.predict(X[::2]) != model.predict(X[1::2])[:, None]
    nearest = nearest_known(X[::2], X[1::2], different, metric)
    assert (counterfactuals.balls().radii <= nearest + 1e-12).all()
    assert (model.predict(counterfactuals.points) != model.predict(X[1::2])).all()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 40))
def test_the_laws_hold_for_any_table_of_whole_numbers(seed, width, size):
    rng = np.random.default_rng(seed)
    X, rows = rng.integers(0, 4, (size, width)), rng.integers(-1, 6, (9, width))
    secret = rng.normal(size=(6,) * width)

    def predict(X):
        return (secret[tuple(np.clip(X, 0, 5).astype(int).T)] > 0.3).astype(int)

    counterfactuals, where = Counterfactual(predict, X, candidates=3).find(rows)
    possible = [label for label in (0, 1) if (predict(X) != label).any()]
    assert where.tolist() == np.flatnonzero(np.isin(predict(rows), possible)).tolist()
    if len(where):
        assert (predict(counterfactuals.points) != predict(rows[where])).all()
        assert (counterfactuals.points == np.floor(counterfactuals.points)).all()
        for j in range(width):
            back = np.where(np.arange(width) == j, rows[where], counterfactuals.points)
            changed = (back != counterfactuals.points).any(axis=1)
            assert (predict(back) == predict(rows[where]))[changed].all()
        different = predict(X) != predict(rows[where])[:, None]
        nearest = nearest_known(X.astype(float), rows[where].astype(float), different, counterfactuals.metric)
        assert (counterfactuals.balls().radii <= nearest + 1e-12).all()


def above_zero(X):
    return X[:, 0] > 0


def test_where_one_feature_decides_only_that_one_changes_and_ends_at_the_boundary():
    X = np.random.default_rng(0).normal(size=(500, 6))
    rows = np.random.default_rng(1).normal(size=(100, 6))
    counterfactuals = Counterfactual(above_zero, X).explain(rows)
    assert (counterfactuals.points[:, 1:] == rows[:, 1:]).all()
    assert np.abs(counterfactuals.points[:, 0]).max() < 0.01
    assert (above_zero(counterfactuals.points) != above_zero(rows)).all()


def test_the_open_ball_of_a_threshold_model_holds_its_own_side_only():
    X = np.repeat(np.linspace(-1, 1, 101), 2)[:, None]  # every row twice: even the smallest ball holds another one
    counterfactuals = Counterfactual(above_zero, X).explain(X)
    sufficient = fs.sufficiency(counterfactuals, above_zero(X), X)
    assert sufficient.value == 1
    assert sufficient.unverifiable == 0


def test_the_ball_of_mixed_rows_is_by_the_distance_that_was_searched_with(mixed):
    table, rows, model, counterfactuals = mixed
    everyone = pd.concat([rows, table], ignore_index=True)
    sufficient = fs.sufficiency(counterfactuals, model.predict(rows), rows)
    assert sufficient.n == len(rows)
    covered = counterfactuals.balls().inside(everyone)(0, len(rows))
    wrong = covered & (model.predict(everyone) != model.predict(rows)[:, None])
    assert not wrong[:, len(rows) :].any(), "a known row inside the ball would have been nearer"
    assert covered[:, : len(rows)].diagonal().all(), "a ball covers its own row"


def test_whole_numbers_stay_whole_and_categories_known(mixed):
    table, _, _, counterfactuals = mixed
    for j, name in enumerate(table.columns):
        values = counterfactuals.points[:, j].tolist()
        if name in ("job", "region", "married"):
            assert set(values) <= set(table[name].tolist())
        elif name == "age":
            assert all(type(value) is int for value in values)
    assert counterfactuals.feature_names == tuple(table.columns)


def test_numbers_that_are_codes_are_never_moved_between_codes():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.choice([1.0, 2.0, 7.0], 300), rng.normal(size=300)])
    predict = np.vectorize(lambda code, value: int(code == 7 or value > 1), signature="(),()->()")
    counterfactuals = Counterfactual(lambda rows: predict(rows[:, 0], rows[:, 1]), X, categorical=[0]).explain(X[:50])
    assert set(counterfactuals.points[:, 0]) <= {1.0, 2.0, 7.0}
    far = Points(counterfactuals.originals, counterfactuals.metric).to(
        np.column_stack([8 - counterfactuals.originals[:, 0], counterfactuals.originals[:, 1]])
    )
    assert set(far) == {0.5}, "any two different codes are equally far"


def test_balls_over_codes_hold_their_rows_however_these_are_typed():
    table = pd.DataFrame({"code": [1, 2, 3, 3], "value": [0.0, 0.5, 1.0, 0.25]})
    counterfactuals = Counterfactual(lambda X: X["code"].to_numpy() == 3, table, categorical=["code"]).explain(table)
    for rows in (table, table.to_numpy(), table.astype(float)):
        assert counterfactuals.balls().inside(rows)(0, 4).diagonal().all()


def test_a_row_is_explained_alike_in_any_batch(system):
    known, rows, predict, counterfactuals = system
    explainer, order = Counterfactual(predict, known), np.random.default_rng(0).permutation(len(rows))
    assert (explainer.explain(rows[order]).points == counterfactuals.points[order]).all()
    for row in range(5):
        assert (explainer.explain(rows[[row]]).points == counterfactuals.points[[row]]).all()


def test_a_mixed_row_is_explained_alike_in_any_batch(mixed):
    table, rows, model, counterfactuals = mixed
    explainer = Counterfactual(model, table, categorical=["region"])
    order = np.random.default_rng(0).permutation(len(rows))
    assert (explainer.explain(rows.iloc[order]).points == counterfactuals.points[order]).all()
    for row in range(5):
        assert (explainer.explain(rows.iloc[[row]]).points == counterfactuals.points[[row]]).all()


def test_blocks_do_not_matter_and_progress_counts_rows(monkeypatch, system):
    known, rows, predict, counterfactuals = system
    monkeypatch.setattr("faithscope.explainers.counterfactual.flips._DISTANCES", 7 * len(known))
    monkeypatch.setattr("faithscope.explainers.counterfactual.explainer._NUMBERS", 130 * rows.shape[1])
    seen = []
    again = Counterfactual(predict, known).explain(rows, progress=lambda done, total: seen.append((done, total)))
    assert (again.points == counterfactuals.points).all()
    assert seen == [(min(done, len(rows)), len(rows)) for done in range(13, len(rows) + 13, 13)]


def test_the_order_of_known_rows_does_not_matter(system):
    known, rows, predict, counterfactuals = system
    again = Counterfactual(predict, np.concatenate([known[::-1], known[:5]])).explain(rows)
    assert (again.points == counterfactuals.points).all()


@pytest.mark.slow
def test_more_candidates_are_seldom_worse_and_one_is_enough():
    X, model = tumors()
    radii = {k: Counterfactual(model, X, candidates=k).explain(X[:100]).balls().radii.mean() for k in (1, 10, 1000)}
    assert radii[1000] < radii[10] < radii[1]


def test_no_rows_have_no_explanations(mixed):
    table, _, model, counterfactuals = mixed
    none = Counterfactual(model, table, categorical=["region"]).explain(table.iloc[:0])
    assert len(none) == 0
    assert none.kind == counterfactuals.kind
    assert len(none.join(counterfactuals)) == len(counterfactuals)
    assert len(Counterfactual(above_zero, np.eye(3) - 0.5).explain(np.empty((0, 3)))) == 0


def test_a_category_that_training_did_not_have_is_kept_or_given_up_like_any_other(mixed):
    table, rows, _, _ = mixed
    odd = rows.assign(job="king")
    known = set(table["job"])

    def predict(given):
        return (given["job"] == "king") | (given.iloc[:, 1] > table.iloc[:, 1].median())

    counterfactuals = Counterfactual(predict, table).explain(odd)
    jobs = [row[list(table.columns).index("job")] for row in counterfactuals.points]
    assert set(jobs) <= known, "what the row is alone in must go"
    assert (predict(pd.DataFrame(counterfactuals.points, columns=table.columns)) != predict(odd)).all()


@pytest.mark.parametrize("library", [pl.DataFrame, lambda columns: pa.table(columns)])
def test_other_libraries_tables_are_explained_as_pandas_ones_are(library, mixed):
    table, rows, model, counterfactuals = mixed
    tables = [library({name: frame[name].tolist() for name in frame.columns}) for frame in (table, rows)]

    def predict(given):
        frame = given.to_pandas() if isinstance(given, pa.Table) else pd.DataFrame(given.to_dict(as_series=False))
        return model.predict(as_frame(frame, table))

    again = Counterfactual(predict, tables[0], categorical=["region"]).explain(tables[1])
    assert (again.points == counterfactuals.points).all()


def test_points_are_in_the_tables_own_values(mixed):
    table, _, _, counterfactuals = mixed
    coded = Table.learn(table).encode(as_frame(counterfactuals.points, table))  # refuses what the table does not know
    assert coded.shape == counterfactuals.points.shape
