"""Explanations by example where values are missing, categories new, and columns dates; brute force is the oracle."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithscope as fs
from brute import gower
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import Counterfactual, Dice, NearestNeighbors

with_dice = pytest.mark.skipif(
    find_spec("dice_ml") is None, reason='dice-ml is not installed: pip install "faithscope[dice]"'
)
DAY = pd.Timestamp("2024-01-01")


def people(n=80, seed=0, *, new=False):
    """Numbers, whole numbers, categories and dates, a seventh of them missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "pay": rng.normal(3, 1, n).round(1),
            "age": pd.array(rng.integers(18, 80, n), "Int64"),
            "job": rng.choice(["clerk", "cook", "smith"], n),
            "since": DAY + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    holes = table.mask(rng.random(table.shape) < 1 / 7)
    if new:
        holes.loc[::5, "job"] = "astronaut"
    return holes.astype({"age": "Int64"})


class Rule:
    """A model that takes everything and treats missing as a value of its own."""

    def predict(self, X):
        assert list(X.columns) == ["pay", "age", "job", "since"]
        assert str(X["since"].dtype).startswith("datetime64")
        late = (X["since"] > DAY + pd.Timedelta(days=400)).fillna(False)
        points = X["pay"].fillna(4.2) + (X["job"] == "cook") + X["job"].isna() * 0.5 + late * 1.5
        return np.asarray(points + X["age"].isna() > 4, bool)

    def predict_proba(self, X):
        sure = self.predict(X).astype(float) * 0.8 + 0.1
        return np.column_stack([1 - sure, sure])


def frame_of(cells, like):
    """Cells as the model wants them: dates are nanoseconds there, None is missing."""
    table = pd.DataFrame(cells, columns=like.columns)
    table["since"] = pd.to_datetime(table["since"].astype("Int64")).astype("datetime64[us]")
    return table.astype({"pay": float, "age": "Int64"})


@pytest.fixture(scope="module", params=[False, True], ids=["known", "new categories"])
def system(request):
    train, rows = people(), people(20, 1, new=request.param)
    return train, rows, Counterfactual(Rule(), train).explain(rows)


def test_a_counterfactual_is_predicted_otherwise_than_its_row(system):
    train, rows, explanations = system
    before, after = frame_of(explanations.originals, train), frame_of(explanations.points, train)
    pd.testing.assert_frame_equal(before, rows, check_dtype=False)
    assert (Rule().predict(after) != Rule().predict(rows)).all()


def test_no_changed_cell_can_be_put_back_alone(system):
    train, rows, explanations = system
    for j in range(4):
        back = explanations.points.copy()
        back[:, j] = explanations.originals[:, j]
        changed = explanations.points[:, j] != explanations.originals[:, j]
        flips = Rule().predict(frame_of(back, train)) != Rule().predict(rows)
        assert not (changed & flips).any()


@pytest.mark.slow
def test_no_training_row_that_flips_is_nearer_by_brute_force(system):
    train, rows, explanations = system
    after = frame_of(explanations.points, train)
    for i in range(0, len(rows), 2):
        flipped = train[Rule().predict(train) != Rule().predict(rows.iloc[[i]])]
        together = pd.concat([rows.iloc[[i]], after.iloc[[i]], flipped], ignore_index=True)
        first = gower_from_first(together, train)
        assert first[1] <= first[2:].min() + 1e-12
        assert explanations.balls().radii[i] == pytest.approx(first[1], abs=1e-12)


def gower_from_first(table, known):
    """Distances of the first row to all others, one pair after the other."""
    pairs = [gower(table.iloc[[0, i]], known)[0, 1] for i in range(len(table))]
    return np.array(pairs)


def test_balls_cover_the_rows_that_brute_force_says_are_nearer(system):
    train, rows, explanations = system
    ball = explanations.balls()
    covered = ball.inside(rows)(0, len(rows))
    for i in range(0, len(rows), 4):
        distances = [gower(rows.iloc[[i, k]], train)[0, 1] for k in range(len(rows))]
        clear = np.abs(np.array(distances) - ball.radii[i]) > 1e-9
        assert (covered[i] == (np.array(distances) < ball.radii[i]))[clear].all()


def test_whole_numbers_stay_whole_dates_stay_days_and_categories_known_or_the_rows_own(system):
    _, _, explanations = system
    days = 86_400 * 10**9
    for before, after in zip(explanations.originals, explanations.points, strict=True):
        assert after[1] is None or float(after[1]).is_integer()
        assert after[2] in ("clerk", "cook", "smith", None, before[2])
        assert after[3] is None or after[3] % days == 0


def test_a_rows_counterfactual_does_not_depend_on_its_batch(system):
    train, rows, explanations = system
    alone = [Counterfactual(Rule(), train).explain(rows.iloc[[i]]).points[0].tolist() for i in (0, 5, 11)]
    assert alone == [explanations.points[i].tolist() for i in (0, 5, 11)]


def test_explanations_read_as_people_write_dates_and_missing_values(system):
    _, _, explanations = system
    texts = [explanations.describe(i) for i in range(len(explanations))]
    assert any("since 2024-" in text or "since 2025-" in text for text in texts)
    assert any("missing" in text for text in texts)
    assert not any("None" in text or "000000000" in text for text in texts)
    deltas = fs.Delta()(explanations)
    assert not any("00000000" in deltas.describe(i) for i in range(len(deltas)))


def test_everything_is_kept_in_arrow(system, tmp_path):
    from faithscope.explanations.arrow.tables import from_arrow, to_arrow

    _, rows, explanations = system
    again = from_arrow(to_arrow(explanations))
    assert (again.points == explanations.points).all()
    assert again.describe(0) == explanations.describe(0)
    labels = Rule().predict(rows)
    before, after = (fs.sufficiency(given, labels, rows) for given in (explanations, again))
    assert before.value == after.value


def test_changes_of_cells_from_and_to_missing():
    before = pd.DataFrame(
        {"x": [1.0, None, 3.0, None], "day": [DAY, DAY, pd.NaT, pd.NaT], "job": ["a", None, "b", None]}
    )
    days = [DAY + pd.Timedelta(days=3), pd.NaT, DAY, pd.NaT]
    after = pd.DataFrame({"x": [4.0, 2.0, None, None], "day": days, "job": ["a", "b", None, None]})
    pairs = fs.Counterfactuals(after, before)
    assert fs.Modified()(pairs).values.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]]
    assert fs.DeltaSign()(pairs).values.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]]
    assert fs.DeltaSign()(fs.Counterfactuals(before, after)).values[0].tolist() == [-1, -1, 0]
    assert [list(column) for column in zip(*fs.Delta()(pairs).values, strict=True)] == [
        [(3.0,), (None, 2.0), (3.0, None), ()],
        ["+3 days", "from 2024-01-01 to missing", "from missing to 2024-01-01", "0 days"],
        [(), (None, "b"), ("b", None), ()],
    ]


def test_numbers_of_two_types_are_numbers_to_gower():
    points = pd.DataFrame({"age": [30, 40], "job": ["a", "b"]})
    originals = pd.DataFrame({"age": [30.5, 20.0], "job": ["a", "b"]})
    assert fs.Counterfactuals(points, originals).balls().radii.tolist() == pytest.approx([0.5 / 20 / 2, 0.5])


@pytest.mark.parametrize("library", ["pandas", "polars", "Arrow", "objects"])
@pytest.mark.slow
def test_nearest_neighbors_by_gower_are_those_of_brute_force(library):
    train, rows = people(40), people(8, 1, new=True)
    given = {
        "pandas": lambda frame: frame,
        "polars": pl.from_pandas,
        "Arrow": lambda frame: pl.from_pandas(frame).to_arrow(),
        "objects": lambda frame: frame.astype(object).to_numpy(),
    }[library]
    explanations = NearestNeighbors(given(train), metric="gower").explain(given(rows))
    for i in range(len(rows)):
        together = pd.concat([rows.iloc[[i]], train], ignore_index=True)
        distance = gower_from_first(together, train)[1:]
        (nearest,) = explanations.conjunction(i)
        assert distance[nearest] == pytest.approx(distance.min(), abs=1e-12)
        assert nearest <= int(np.flatnonzero(np.isclose(distance, distance.min(), atol=1e-12)).max())
    measured = fs.sufficiency(explanations, np.arange(len(rows)) % 2, given(rows))
    assert measured.n == len(rows)


def test_a_metric_of_numbers_names_gower_and_counts_what_is_missing():
    train = np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 1.0]])
    complete = np.nan_to_num(train)
    told = "misses? 2 (values|rows)|2 rows miss|these rows miss 2 values"
    for ask in (
        lambda: NearestNeighbors(train).explain(complete),
        lambda: NearestNeighbors(complete).explain(train),
        lambda: Counterfactual(lambda X: X[:, 0] > 1, train, metric="euclidean").explain(complete),
        lambda: Counterfactual(lambda X: X[:, 0] > 1, complete, metric="euclidean").explain(train),
        lambda: fs.Counterfactuals(train, complete, metric="cityblock"),
        lambda: fs.Prototypes([0, 1], train),
    ):
        with pytest.raises(BadInput, match=told) as problem:
            ask()
        assert "metric='gower'" in str(problem.value)


@pytest.mark.parametrize("model", ["HistGB", "pipeline", "LightGBM", "CatBoost"])
@pytest.mark.slow
def test_models_that_take_missing_values_are_explained_with_them(model):
    train, rows = people(300), people(12, 1, new=True)
    labels = Rule().predict(train)
    columns = ["pay", "age"] if model in ("HistGB", "LightGBM") else ["pay", "age", "job"]
    train, rows = (part[columns].astype({"age": float}) for part in (train, rows))
    if model == "HistGB":
        fitted = HistGradientBoostingClassifier(max_iter=20).fit(train, labels)
    elif model == "LightGBM":
        booster = pytest.importorskip("lightgbm", reason="lightgbm is not installed: pip install lightgbm")
        fitted = booster.LGBMClassifier(n_estimators=20, verbose=-1).fit(train, labels)
    elif model == "CatBoost":
        booster = pytest.importorskip("catboost", reason="catboost is not installed: pip install catboost")
        train, rows = (
            part.assign(job=part["job"].astype(object).where(part["job"].notna(), "none")) for part in (train, rows)
        )
        fitted = booster.CatBoostClassifier(20, cat_features=["job"], verbose=False, allow_writing_files=False)
        fitted.fit(train, labels)
    else:
        encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]), remainder="passthrough")
        fitted = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=20)).fit(train, labels)
    explanations, where = Counterfactual(fitted, train).find(rows)
    assert len(where) >= 8
    after = pd.DataFrame(explanations.points, columns=columns).astype({"pay": float, "age": float})
    assert (np.asarray(fitted.predict(after)) != np.asarray(fitted.predict(rows.iloc[where]))).all()
    ev = fs.evaluate(fitted, NearestNeighbors(train, metric="gower"), rows, progress=False)
    assert ev.sufficiency is not None


@with_dice
@pytest.mark.parametrize("method", ["random", "kdtree"])
@pytest.mark.slow
def test_dice_takes_missing_values_new_categories_and_dates(method):
    train, rows = people(150), people(8, 1, new=True)
    explanations, where = Dice(Rule(), train, method=method).find(rows)
    assert len(where) >= 4
    before, after = frame_of(explanations.originals, train), frame_of(explanations.points, train)
    pd.testing.assert_frame_equal(before, rows.iloc[where].reset_index(drop=True), check_dtype=False)
    assert (Rule().predict(after) != Rule().predict(before)).all()
    lowest = train["pay"].min()
    assert not (after["pay"] < min(lowest, before["pay"].min())).any(), "what stands for missing is no number"
    again = Dice(Rule(), train, method=method).find(rows.iloc[where[:2]])[0]
    assert again.points.tolist() == explanations.points[:2].tolist()


def test_a_category_nobody_knows_differs_from_all_and_equals_itself():
    train = pd.DataFrame({"job": ["a", "b"], "x": [0.0, 1.0]})
    strange = pd.DataFrame({"job": ["zz", "zz", "yy", None], "x": [0.0] * 4})
    prototypes = fs.Prototypes([[0]] * 4, train, metric="gower")
    assert [block.tolist() for block in prototypes.points.distances(strange)] == [[[0.5, 1.0]] * 4]
    pairs = fs.Counterfactuals(strange, strange.iloc[[0] * 4])
    assert pairs.balls().radii.tolist() == pytest.approx([0, 0, 0.5, 0.5])


def test_numbers_that_are_codes_are_either_equal_or_not_also_between_known_ones():
    train = np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 0.5]])
    explanations = Counterfactual(lambda X: X[:, 0] > 3, train, categorical=[0]).explain(np.array([[2.2, 0.0]]))
    assert explanations.points.tolist() == [[4.0, 0.0]]
    assert explanations.balls().radii.tolist() == [0.5]


def test_linear_models_and_tables_without_missing_values_give_what_they_gave():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).round(3)
    model = LogisticRegression().fit(X, X[:, 0] + X[:, 1] > 0)
    explanations = Counterfactual(model, X).explain(X[:3])
    assert explanations.points.dtype == np.float64
    assert explanations.points.round(4).tolist() == EXPECTED


EXPECTED = [[0.126, -0.1851, 0.64], [0.105, -0.1533, 0.362], [-0.9126, 0.947, -0.704]]


@pytest.mark.parametrize("discretizer", [None, fs.Delta(), fs.DeltaSign(), fs.Modified()])
@pytest.mark.parametrize("columns", [["job", "x"], ["x", "z"]])
@pytest.mark.slow
def test_a_log_with_missing_cells_is_counted_as_in_memory(columns, discretizer, tmp_path):
    rng = np.random.default_rng(0)
    kinds = {"job": np.array([None, "a", "b"], object), "x": np.array([np.nan, 1.0, 2.0]), "z": np.array([1.0, 2, 4])}
    before, after = (pd.DataFrame({name: kinds[name][rng.integers(0, 3, 90)] for name in columns}) for _ in range(2))
    pairs, labels = fs.Counterfactuals(after, before), rng.integers(0, 2, 90)
    fs.evaluate(labels, pairs, before).to_parquet(tmp_path / "log.parquet")
    counted = fs.audit(tmp_path / "log.parquet", discretizer=discretizer, nulls="key").consistency
    direct = fs.consistency(pairs, labels, discretizer=discretizer)
    assert (counted.value, counted.distinct) == (pytest.approx(direct.value), direct.distinct)


def test_changes_without_a_difference_cannot_be_ranked_in_a_log_either(tmp_path):
    pairs = fs.Counterfactuals([[1.0], [np.nan]], [[2.0], [1.0]])
    fs.evaluate([0, 1], pairs, [[2.0], [1.0]]).to_parquet(tmp_path / "log.parquet")
    for further in (fs.Floor(1), fs.SignOfTop(1)):
        with pytest.raises(WrongType, match="discretizes importances"):
            fs.consistency(pairs, [0, 1], discretizer=fs.Delta() | further)
        with pytest.raises(WrongType, match="discretizes importances"):
            fs.audit(tmp_path / "log.parquet", discretizer=fs.Delta() | further, nulls="key")
