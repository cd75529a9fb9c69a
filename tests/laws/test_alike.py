"""Rows alike in the named features: rules, sufficiency, necessity and encoding by `Alike` equal their definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

import brute
import faithscope as fs
from faithscope.explanations.alike import alike_rules
from faithscope.measures.beyond import at_random, on_average

SEEDS = st.integers(0, 100_000)


def system(seed, n=None):
    """Rows with missing values, categories, ties and dates; importances with zeros and ties; labels."""
    rng = default_rng(seed)
    n = int(rng.integers(4, 25)) if n is None else n
    numbers = rng.choice([0.0, 1.0, 2.0, 2.5, 7.0, np.nan, np.inf], (n, 2), p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.15, 0.05])
    X = pd.DataFrame(
        {
            "a": numbers[:, 0],
            "b": numbers[:, 1].astype(np.float32),
            "c": rng.choice(np.array(["u", "v", None], object), n),
            "d": rng.random(n) < 0.7,
            "e": pd.Categorical(rng.integers(0, 3, n)),
            "f": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 5, n), unit="D"),
        }
    )
    return rng, X, rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0], (n, 6)), rng.integers(0, 3, n)


def bins_of(column, known, bins):
    """The bin of each value, by the definition: how many distinct quantiles lie below it."""
    values = [None if pd.isna(value) else value for value in column]
    if column.dtype.kind not in "fM":
        return values
    present = sorted(value for value in known if not pd.isna(value))
    shares = [j / bins for j in range(1, bins)]
    if column.dtype.kind == "M":
        ends = {present[int(share * (len(present) - 1))] for share in shares}
    else:
        with np.errstate(invalid="ignore"):
            ends = set(np.quantile(np.array(present, np.float64), shares).tolist())
    return [None if value is None else sum(end < value for end in ends) for value in values]


def named(importances, k):
    """The k largest in size, the earlier of equal ones, none of them 0."""
    order = sorted(range(len(importances)), key=lambda j: (-abs(importances[j]), j))
    return [j for j in order[:k] if importances[j] != 0]


def alike(X, phi, k, bins, known=None):
    """covers[i][j]: row j lies in row i's bin of each feature that row i names; and who was given the same."""
    binned = [bins_of(X[name], (X if known is None else known)[name], bins) for name in X]
    chosen, n = [sorted(named(row, k)) for row in phi], len(X)
    covers = np.array([[all(binned[f][i] == binned[f][j] for f in chosen[i]) for j in range(n)] for i in range(n)])
    keys = [tuple((f, binned[f][i]) for f in chosen[i]) for i in range(n)]
    return covers, np.array([keys.index(key) for key in keys])


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 4), st.integers(2, 5))
def test_importances_cover_the_rows_alike_in_the_features_that_they_name(seed, k, bins):
    _, X, phi, labels = system(seed)
    covers, codes = alike(X, phi, k, bins)
    importances, relation = fs.Importances(phi, names=list(X)), fs.Alike(k, bins)
    rules = importances.to_rules(X, k, bins)
    assert np.array_equal(rules.group()[0], np.unique(codes, return_inverse=True)[1])  # both in order of appearance
    found = fs.sufficiency(importances, labels, X, relation=relation)
    assert (found.value, found.unverifiable) == pytest.approx(brute.sufficiency(covers, labels), abs=1e-12)
    assert found.counts.missed.sum() == 0
    assert found.interval == fs.sufficiency(rules, labels, X).interval
    reached = fs.necessity(importances, labels, X, relation=relation)
    assert (reached.value, reached.unverifiable) == pytest.approx(brute.necessity(covers, labels)[:2], abs=1e-12)
    gap = fs.encoding(importances, labels, X, relation=relation)
    value, alone, exclusive = brute.encoding(codes.tolist(), covers, labels)
    assert (gap.value, gap.alone, gap.exclusive) == pytest.approx((value, alone, exclusive), abs=1e-12)


@settings(max_examples=10)
@given(SEEDS)
def test_bins_of_other_rows(seed):
    _, X, phi, labels = system(seed)
    _, train, _, _ = system(seed + 1, 40)
    relation = fs.Alike(2, X_train=train)
    found = fs.sufficiency(fs.Importances(phi, names=list(X)), labels, X, relation=relation)
    covers, _ = alike(X, phi, 2, 4, train)
    assert (found.value, found.unverifiable) == pytest.approx(brute.sufficiency(covers, labels), abs=1e-12)


def test_a_discretizer_says_how_many_features_are_named():
    rng = default_rng(0)
    X, phi = rng.normal(size=(50, 8)), fs.Importances(rng.normal(size=(50, 8)))

    def sizes(importances, k=None):
        return {len(importances.to_rules(X, k).conjunction(row)) for row in range(50)}

    assert sizes(phi) == {3}
    assert sizes(fs.SignOfTop(5)(phi)) == {5}
    assert sizes(fs.TopFeatures(2)(phi)) == {2}
    assert sizes(fs.Floor(1)(phi), 4) == {4}
    codes = fs.ReasonCodes(2, ordered=True)(phi)
    first = fs.Importances(np.where(phi.values == phi.values.min(axis=1, keepdims=True), 1.0, 0.0))
    assert np.array_equal(codes.to_rules(X, 1).group()[0], first.to_rules(X, 1).group()[0])


def test_classes_side_by_side_are_one_feature_each():
    rng = default_rng(0)
    X, phi = rng.normal(size=(60, 4)), rng.normal(size=(60, 3, 4))
    names = [f"x{j} | class {c}" for c in "abc" for j in range(4)]
    side_by_side = fs.Importances(phi.reshape(60, 12), names=names)
    largest = fs.Importances(np.abs(phi).max(axis=1))
    assert side_by_side.to_rules(X).to_conditions() == largest.to_rules(X).to_conditions()


def baselines(X, phi, k, weights=None):
    """The rules of the two baselines, by the definition: as many features as a row names."""
    many = np.array([len(named(row, k)) for row in phi])
    names, sizes = tuple(X), np.abs(phi)
    marks = at_random(X, many, phi.shape[1]), on_average(sizes, many, weights)
    average = np.average(sizes, axis=0, weights=weights)
    order = sorted(range(phi.shape[1]), key=lambda j: (-average[j], j))
    for row in range(len(X)):
        assert marks[0][row].sum() == many[row]
        assert set(np.flatnonzero(marks[1][row])) == set(order[: many[row]])
    return {name: alike_rules(each, names, X, 4) for name, each in zip(("random", "global"), marks, strict=True)}


@pytest.mark.parametrize("how", ["plain", "weighted", "clustered", "numbers"])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_naming_is_worth_is_the_paired_difference_of_rules(how, seed):
    rng, X, phi, y = system(seed, 30)
    known = {
        "plain": {},
        "weighted": {"weights": rng.choice([0.5, 1.0, 2.0], 30)},
        "clustered": {"clusters": rng.integers(0, 12, 30)},
        "numbers": {"agreement": fs.Close(1.5)},
    }[how]
    importances = fs.Importances(phi, names=list(X))
    found = fs.sufficiency(importances, y, X, relation=fs.Alike(2), **known)
    rules = {"named": importances.to_rules(X, 2), **baselines(X, phi, 2, known.get("weights"))}
    table = fs.compare(y, rules, X, **known).differences()
    table = table[table.measure == "sufficiency"].set_index("b")[["value", "low", "high"]]
    assert tuple(found.beyond_random) == pytest.approx(tuple(table.loc["random"]), abs=1e-9)
    assert tuple(found.beyond_global) == pytest.approx(tuple(table.iloc[1]), abs=1e-9)
    assert found.beyond_random.low <= found.beyond_random.value <= found.beyond_random.high


def test_the_same_features_for_everybody_are_told_as_such():
    rng = default_rng(0)
    X = rng.normal(size=(200, 4))
    named = fs.Importances(np.c_[3 * X[:, 0], 2 * X[:, 1], np.zeros((200, 2))])
    found = fs.sufficiency(named, (X[:, 0] + X[:, 1] > 0).astype(int), X, relation=fs.Alike(2))
    assert "on these rows nothing beyond the same for everybody" in " ".join(str(found).split())


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_weight_zero_have_no_part_in_bins_and_baselines(seed):
    rng, X, phi, y = system(seed, 40)
    X["a"], weights = rng.normal(size=40), rng.choice([0.0, 1.0, 2.0], 40)
    X.loc[weights == 0, "a"] += 3
    X = pd.concat([X, X]).reset_index(drop=True)
    phi, y, weights = np.tile(phi, (2, 1)), np.tile(y, 2), np.r_[weights, rng.choice([0.0, 1.0], 40)]
    kept, told = weights > 0, []
    for rows in (np.ones(80, bool), kept):
        importances, known = fs.Importances(phi[rows], names=list(X)), {"weights": weights[rows]}
        table = X[rows].reset_index(drop=True)
        found = fs.sufficiency(importances, y[rows], table, relation=fs.Alike(2), **known)
        needed = fs.necessity(importances, y[rows], table, relation=fs.Alike(2), **known)
        sides = (
            found.beyond_random,
            found.beyond_global,
            fs.evaluate(y[rows], importances, table, **known).sufficiency,
        )
        told.append((found.value, found.low, found.high, needed.value, *sides[0], *sides[1], sides[2].value))
    assert told[0] == pytest.approx(told[1], abs=1e-9)


@pytest.mark.parametrize("years_in_X", [False, True])
def test_dates_have_no_bins_of_numbers_nor_numbers_of_dates(years_in_X):
    years = np.array([2019.0, 2020.0, 2021.0, 2022.0])
    dates = pd.to_datetime([f"{year:.0f}-01-01" for year in years])
    X, train = (pd.DataFrame({"since": column}) for column in ((years, dates) if years_in_X else (dates, years)))
    with pytest.raises(fs.errors.WrongType, match=r"holds numbers or dates in X and 2019\S* in X_train"):
        fs.Importances([[1.0]] * 4, ["since"]).to_rules(X, k=1, X_train=train)
