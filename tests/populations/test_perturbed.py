"""Perturbed rows and products of marginals, against a loop over rows, draws and features."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.populations.seeds import seeds_of

FEATURES = ["age", "hours", "job"]


def holds(value, operator, bound):
    return {"<=": value <= bound, ">": value > bound, "==": value == bound}[operator]


def brute(rules, conditions, X, X_train, predict, draws, seed, *, joint):
    """The mean agreement of each row, one draw and one feature after the other; None for a row without draws."""
    means = []
    seeds = seeds_of(seed, X, lambda row: repr(rules.conjunction(row)))
    for tests, row, row_seed in zip(conditions, X, seeds, strict=True):
        chances = np.random.Generator(np.random.SFC64(row_seed)).random((draws, X.shape[1] + 1))
        agreeing = 0
        for draw in range(draws):
            drawn = []
            for j in range(X.shape[1]):
                wanted = [(operator, bound) for feature, operator, bound in tests if feature == FEATURES[j]]
                base = X_train[int(chances[draw, 0 if joint else j + 1] * len(X_train)), j]
                options = [x for x in X_train[:, j] if all(holds(x, *each) for each in wanted)]
                if wanted and not options:
                    single = len(wanted) == 1 and wanted[0][0] == "==" and holds(row[j], *wanted[0])
                    options = [row[j]] if single else []
                    if not options:
                        drawn = None
                        break
                if wanted and not (joint and all(holds(base, *each) for each in wanted)):
                    base = options[int(chances[draw, j + 1] * len(options))]
                drawn.append(base)
            if drawn is None:
                agreeing = None
                break
            agreeing += predict(np.array([drawn]))[0] == predict(row[None])[0]
        means.append(None if agreeing is None else agreeing / draws)
    return means


def predict(X):
    X = np.asarray(X, float)
    return (X[:, 0] + 2 * X[:, 1] + X[:, 2] * X[:, 0] > 6).astype(int)


numbers = st.integers(0, 4).map(float)
rows = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=8).map(np.array)
tests = st.lists(
    st.tuples(st.sampled_from(FEATURES), st.sampled_from(["<=", ">", "=="]), st.integers(0, 5).map(float)), max_size=3
)


@settings(max_examples=60, deadline=None)
@given(rows, rows, st.data(), st.sampled_from([1, 4]), st.sampled_from([fs.Perturbed, fs.Product]))
def test_a_loop_over_rows_draws_and_features_gives_the_same(X, X_train, data, draws, kind):
    conditions = data.draw(st.lists(tests, min_size=len(X), max_size=len(X)))
    rules = fs.Rules.from_conditions(conditions, features=FEATURES)
    measured = fs.sufficiency(rules, predict, X, population=kind(X_train, draws=draws, seed=3))
    # Conditions on one feature are merged: brute force reads what the rules are.
    merged = [[triple for triple in row if triple[1] != "in"] for row in rules.to_conditions()]
    nothing = [any(operator == "in" for _, operator, _ in row) for row in rules.to_conditions()]
    expected = brute(rules, merged, X, X_train, predict, draws, 3, joint=kind is fs.Perturbed)
    expected = [None if never else mean for mean, never in zip(expected, nothing, strict=True)]
    assert measured.value == pytest.approx(np.mean([mean or 0 for mean in expected]))
    assert measured.unverifiable == pytest.approx(np.mean([mean is None for mean in expected]))


def test_features_that_are_not_fixed_come_from_one_training_row_all_together():
    X_train = np.column_stack([np.arange(20.0), np.arange(20.0) + 100, np.arange(20.0) % 3])
    rules = fs.Rules.from_conditions([[("job", "==", 1.0)]], features=FEATURES)
    drawn = fs.Perturbed(X_train, draws=200).draw(rules, X_train[:1]).rows
    assert (drawn[:, 2] == 1).all()
    assert (drawn[:, 1] == drawn[:, 0] + 100).all()
    apart = fs.Product(X_train, draws=200).draw(rules, X_train[:1]).rows
    assert (apart[:, 2] == 1).all()
    assert (apart[:, 1] != apart[:, 0] + 100).any()


def test_values_that_meet_the_explanation_stay_those_of_the_training_row():
    X_train = np.column_stack([np.arange(20.0), np.arange(20.0) + 100, np.zeros(20)])
    rules = fs.Rules.from_conditions([[("age", "<=", 9.0)]], features=FEATURES)
    drawn = fs.Perturbed(X_train, draws=500).draw(rules, X_train[:1]).rows
    kept = drawn[:, 1] <= 109
    assert (drawn[:, 0] <= 9).all()
    assert (drawn[kept, 0] == drawn[kept, 1] - 100).all()
    assert 0.3 < kept.mean() < 0.7


def test_another_order_of_the_rows_changes_nothing_and_equal_rows_have_draws_of_their_own():
    rng = np.random.default_rng(0)
    X_train, X = rng.normal(size=(50, 3)), np.repeat(rng.normal(size=(20, 3)), 2, axis=0)
    rules = fs.Rules.from_conditions([[("age", "<=", float(x))] for x in X[:, 0] + 1], features=FEATURES)
    population, order = fs.Perturbed(X_train, draws=7), rng.permutation(40)
    plain = fs.sufficiency(rules, predict, X, population=population)
    other = fs.sufficiency(rules.take(order), predict, X[order], population=population)
    assert other.value == pytest.approx(plain.value)
    assert (other.low, other.high) == pytest.approx((plain.low, plain.high))
    drawn = population.draw(rules, X).rows.reshape(40, 7, 3)
    assert not (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_draws_are_tables_of_the_library_that_training_rows_are_of(library):
    import polars as pl
    import pyarrow as pa

    frame = pd.DataFrame(
        {
            "age": [20, 30, 40, 50],
            "job": ["clerk", "cook", None, "clerk"],
            "when": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-03-01"]),
            "flag": [True, False, True, True],
        },
        index=[7, 3, 9, 1],
    )
    make = {
        "pandas": lambda f: f,
        "polars": pl.from_pandas,
        "arrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
    }
    table = make[library](frame)
    rules = fs.Rules.from_conditions([[("job", "==", "cook")]] * 4, features=list(frame.columns))
    drawn = fs.Perturbed(table, draws=3).draw(rules, table).rows
    assert type(drawn) is type(table)
    assert drawn.shape == (12, 4)
    back = drawn if library == "pandas" else drawn.to_pandas()
    assert set(back["job"]) == {"cook"}
    assert set(back["age"]) <= {20, 30, 40, 50}
    asked = []

    def ask(X):
        asked.append(X)
        return ["yes"] * len(X)

    assert fs.sufficiency(rules, ask, table, population=fs.Conditional(table, k=2)).verified == 1
    assert type(asked[1]) is type(table)


def test_columns_are_found_by_name_whatever_their_order():
    rng = np.random.default_rng(0)
    train = pd.DataFrame(rng.normal(size=(30, 3)), columns=FEATURES)
    X = pd.DataFrame(rng.normal(size=(10, 3)), columns=FEATURES)
    rules = fs.Rules.from_conditions([[("age", "<=", 0.5)]] * 10)
    by_name = lambda rows: (rows["age"] > 0).to_numpy()  # noqa: E731
    plain = fs.sufficiency(rules, by_name, X, population=fs.Conditional(train, k=5))
    turned = fs.sufficiency(rules, by_name, X[FEATURES[::-1]], population=fs.Conditional(train, k=5))
    assert plain.value == turned.value


def test_a_category_that_training_rows_do_not_declare_is_not_lost_without_a_word():
    train = pd.DataFrame({"job": pd.Categorical(["clerk", "cook"]), "age": [1.0, 2.0]})
    X = pd.DataFrame({"job": pd.Categorical(["judge"]), "age": [1.0]})
    rules = fs.Rules.from_conditions([[("job", "==", "judge")]], features=["job", "age"])
    with pytest.raises(BadInput, match="'job' of X holds 'judge', which is none of the categories that X_train"):
        fs.Perturbed(train).draw(rules, X)
    both = pd.CategoricalDtype(["clerk", "cook", "judge"])
    drawn = fs.Perturbed(train.astype({"job": both}), draws=3).draw(rules, X.astype({"job": both}))
    assert drawn.rows["job"].tolist() == ["judge"] * 3


def test_columns_of_one_name_are_refused():
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    rules = fs.Rules.from_conditions([[]], features=["a"])
    with pytest.raises(BadInput, match="two columns 'a'"):
        fs.Product(twice).draw(rules, twice)


def test_whole_numbers_of_an_array_stay_whole():
    X = np.arange(12).reshape(6, 2)
    rules = fs.Rules.from_conditions([[(0, "<=", 4)]] * 6, features=["a", "b"])
    for population in (fs.Perturbed(X, draws=2), fs.Product(X, draws=2), fs.Conditional(X, k=2)):
        assert population.draw(rules, X).rows.dtype == X.dtype


def test_a_value_that_no_training_row_has_is_kept_and_a_bound_that_none_meets_leaves_no_draw():
    X_train = pd.DataFrame({"age": [20.0, 30.0], "job": ["clerk", "cook"]})
    X = pd.DataFrame({"age": [95.0, 25.0, 25.0], "job": ["clerk", "judge", "cook"]})
    conditions = [[("age", ">", 90.0)], [("job", "==", "judge")], [("job", "==", "judge")]]
    rules = fs.Rules.from_conditions(conditions, features=["age", "job"])
    drawn = fs.Perturbed(X_train, draws=4).draw(rules, X)
    assert drawn.of.tolist() == [1] * 4
    assert set(drawn.rows["job"]) == {"judge"}
    measured = fs.sufficiency(rules, lambda rows: ["same"] * len(rows), X, population=fs.Perturbed(X_train, draws=4))
    assert measured.unverifiable == pytest.approx(2 / 3)
    assert measured.verified == 1
    assert "2 rows have an explanation that leaves no draw" in measured.notes
    assert measured.high == 1


def test_the_precision_of_anchors_is_sufficiency_on_perturbed_rows():
    rng = np.random.default_rng(0)
    X_train, X = rng.normal(size=(500, 3)).round(1), rng.normal(size=(60, 3)).round(1)
    model = lambda rows: (rows[:, 0] + rows[:, 1] ** 2 > 0.5).astype(int)  # noqa: E731
    anchors = fs.explainers.Anchors(model, X_train, threshold=0.8).explain_with_precision(X)
    measured = fs.sufficiency(anchors.explanations, model, X, population=fs.Perturbed(X_train, draws=400))
    assert measured.low <= anchors.precision.mean() <= measured.high
    assert measured.counts.values == pytest.approx(anchors.precision, abs=5 * 0.5 / np.sqrt(400))


@pytest.mark.parametrize("population", [fs.Perturbed, fs.Product])
def test_the_order_of_rows_does_not_matter_to_equal_rows_with_different_rules(population):
    rng = np.random.default_rng(0)
    X_train = rng.integers(0, 5, (50, 3)).astype(float)
    X = np.repeat(X_train[:2], 6, axis=0)
    rules = fs.Rules.from_conditions([[("age", "<=", 4.0 - row % 3)] for row in range(12)], features=FEATURES)
    model = lambda rows: np.asarray(rows).sum(axis=1) > 6  # noqa: E731
    values = set()
    for _ in range(5):
        order = rng.permutation(12)
        estimate = fs.sufficiency(rules.take(order), model, X[order], population=population(X_train, draws=3))
        values.add(round(estimate.value, 12))
    assert len(values) == 1


def test_the_order_of_documents_does_not_matter_to_equal_ones_with_different_words():
    texts = np.array(["a dull film with great actors"] * 6)
    words = [{"dull"}, {"great"}, {"film"}, {"dull", "great"}, {"with"}, {"a"}]
    model = lambda rows: ["great" in text and "film" in text for text in rows]  # noqa: E731
    values = set()
    for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4], [2, 5, 4, 1, 3, 0]):
        highlights = fs.Highlights([words[row] for row in order])
        values.add(round(fs.sufficiency(highlights, model, texts, population=fs.Perturbed(draws=3)).value, 12))
    assert len(values) == 1
