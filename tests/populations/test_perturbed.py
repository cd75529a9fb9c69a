"""Perturbed rows and products of marginals, against a loop over rows, draws and features."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.populations.base import seeds_of

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


@given(rows, rows, st.data(), st.sampled_from([1, 4]), st.sampled_from([fs.Perturbed, fs.Product]))
def test_a_loop_over_rows_draws_and_features_gives_the_same(X, X_train, data, draws, kind):
    conditions = data.draw(st.lists(tests, min_size=len(X), max_size=len(X)))
    rules = fs.Rules.from_conditions(conditions, features=FEATURES)
    measured = fs.sufficiency(rules, predict, X, population=kind(X_train, draws=draws, seed=3))
    # Conditions on one feature are merged: brute force reads what the rules are.
    merged = [[triple for triple in row if triple[1] != "in"] for row in rules.to_conditions()]
    never = [any(operator == "in" for _, operator, _ in row) for row in rules.to_conditions()]
    means = np.array(brute(rules, merged, X, X_train, predict, draws, 3, joint=kind is fs.Perturbed), float)
    means[never] = np.nan
    assert measured.value == pytest.approx(np.nan_to_num(means).mean())
    assert measured.unverifiable == pytest.approx(np.isnan(means).mean())


TRAINING = default_rng(0).integers(0, 5, (50, 3)).astype(float)
EQUAL = np.repeat(TRAINING[:2], 6, axis=0)
STEPS = [f"age <= {4 - row % 3}" for row in range(12)]
WORDS = [{"dull"}, {"great"}, {"film"}, {"dull", "great"}, {"with"}, {"a"}] * 2


@pytest.mark.parametrize(
    ("explanations", "X", "population"),
    [
        (fs.Rules.parse(STEPS, features=FEATURES), EQUAL, fs.Perturbed(TRAINING, draws=3)),
        (fs.Rules.parse(STEPS, features=FEATURES), EQUAL, fs.Product(TRAINING, draws=3)),
        (fs.Highlights(WORDS), np.array(["a dull film with great actors"] * 12), fs.Perturbed(draws=3)),
    ],
    ids=["perturbed", "product", "documents"],
)
def test_the_order_of_rows_does_not_matter_to_equal_rows_with_different_explanations(explanations, X, population):
    def model(rows):
        return ["great" in row and "film" in row if isinstance(row, str) else sum(row) > 6 for row in rows]

    rng = default_rng(1)
    measured = [
        fs.sufficiency(explanations.take(order), model, X[order], population=population)
        for order in (np.arange(12), *(rng.permutation(12) for _ in range(5)))
    ]
    for name in ("value", "low", "high"):
        assert len({round(getattr(each, name), 9) for each in measured}) == 1


def test_equal_rows_have_draws_of_their_own():
    X_train = default_rng(0).normal(size=(50, 3))
    first, second = (
        fs.Perturbed(X_train, draws=7)
        .draw(fs.Rules.parse(["age <= 1"] * 2, features=FEATURES), X_train[[0, 0]])
        .rows.reshape(2, 7, 3)
    )
    assert not (first == second).all()


FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "job": ["clerk", "cook", None, "clerk"],
        "when": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-03-01"]),
        "flag": [True, False, True, True],
    },
    index=[7, 3, 9, 1],
)


def test_draws_are_tables_of_the_library_that_training_rows_are_of():
    for table in [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME, preserve_index=False)]:
        rules = fs.Rules.parse(["job == cook"] * 4, features=list(FRAME))
        for population in (fs.Perturbed(table, draws=3), fs.Conditional(table, k=2)):
            drawn = population.draw(rules, table).rows
            assert type(drawn) is type(table)
            back = drawn if table is FRAME else drawn.to_pandas()
            assert back.columns.tolist() == list(FRAME)
            assert set(back["job"]) == {"cook"}
            assert set(back["age"]) <= {20, 30, 40, 50}


def test_columns_are_found_by_name_whatever_their_order():
    train, X = (pd.DataFrame(default_rng(seed).normal(size=(30, 3)), columns=FEATURES) for seed in (0, 1))
    rules = fs.Rules.parse(["age <= 0.5"] * 30)
    plain, turned = (
        fs.sufficiency(
            rules, lambda rows: (rows["age"] > 0).to_numpy(), X[names], population=fs.Conditional(train, k=5)
        )
        for names in (FEATURES, FEATURES[::-1])
    )
    assert plain.value == turned.value
