"""Grouped: importances of derived features summed into the columns that they come from."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute
import faithscope as fs
from faithscope.errors import BadInput, WrongType

JOB = {"job": ["job_clerk", "job_cook"]}
NAMES = ["age", "job_clerk", "job_cook", "hours"]


def named(values, names=NAMES):
    return fs.Importances(np.asarray(values, float), names)


@given(st.integers(0, 10_000))
def test_grouping_and_counting_is_counting_sums(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    values, labels = rng.choice([-0.5, -0.25, 0.0, 0.25, 1.0], (n, d)), rng.integers(0, 3, n)
    of = rng.integers(0, 3, d)
    names = [f"f{j}" for j in range(d)]
    grouped = fs.Grouped({f"g{g}": [names[j] for j in np.flatnonzero(of == g)] for g in np.unique(of)})
    sums = [tuple(sum(Fraction(row[j]) for j in np.flatnonzero(of == g)) for g in np.unique(of)) for row in values]
    estimate = fs.consistency(fs.Importances(values, names), labels, discretizer=grouped)
    assert estimate.value == pytest.approx(brute.consistency(sums, labels.tolist()), abs=1e-12)


def test_features_in_no_group_keep_their_places():
    grouped = fs.Grouped(JOB)(named([[1, 2, 3, 4]]))
    assert grouped.names == ("age", "job", "hours")
    assert grouped.values.tolist() == [[1.0, 5.0, 4.0]]


def test_groups_come_in_the_order_in_which_they_are_given():
    names = ["b_1", "x", "a_1", "b_2", "a_2"]
    both = fs.Grouped({"a": ["a_2", "a_1"], "b": ["b_1", "b_2"]})(named([[1, 2, 4, 8, 16]], names))
    assert (both.names, both.values.tolist()) == (("a", "x", "b"), [[20.0, 2.0, 9.0]])


def test_it_chains_with_other_discretizers():
    rows = named([[0.1, 0.5, -0.9, 0.2], [-0.3, 0.2, 0.2, 0.0]])
    assert (fs.Grouped(JOB) | fs.Sign())(rows).values.tolist() == [[1, -1, 1], [-1, 1, 0]]
    assert (fs.Grouped(JOB) | fs.SignOfTop(1))(rows).describe(0) == "job -1"
    assert (fs.Grouped(JOB) | fs.Rank())(rows).describe(1) == "age < hours < job"
    assert (fs.Sign() | fs.Grouped(JOB))(rows).values.tolist() == [[1.0, 0.0, 1.0], [-1.0, 2.0, 0.0]]


def test_the_order_of_columns_changes_no_sum():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 9))
    names = [f"f{j}" for j in range(9)]
    group = fs.Grouped({"all": names})
    assert (group(named(values, names)).values == fs.Grouped({"all": names[::-1]})(named(values, names)).values).all()
    single = np.asarray(values, np.float32)
    wide = group(fs.Importances(single, names)).values[:, 0]
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, single.astype(float).sum(axis=1), rtol=0, atol=1e-12)
    alone = [group(named(values[[i]], names)).values[0, 0] for i in range(50)]
    assert group(named(values, names)).values[:, 0].tolist() == alone, "a row's sum depends on no other row"


def test_each_class_has_its_own_sums():
    names = [f"{name} | class {c}" for c in (0, 1, 2) for name in NAMES]
    grouped = fs.Grouped(JOB)(named([np.arange(12)], names))
    assert grouped.names == tuple(f"{name} | class {c}" for c in (0, 1, 2) for name in ("age", "job", "hours"))
    assert grouped.values.tolist() == [[0.0, 3.0, 3.0, 4.0, 11.0, 7.0, 8.0, 19.0, 11.0]]


def test_the_error_of_a_sum_is_at_most_the_sum_of_errors():
    sampled = named([[1, 2, 3, 4]])._with(error=0.1)
    assert fs.Grouped(JOB)(sampled).error == pytest.approx(0.2)
    assert fs.consistency(sampled, [0], discretizer=fs.Grouped(JOB)).notes[0].endswith("up to 0.2")


def test_no_rows_and_names_of_other_types():
    assert fs.Grouped(JOB)(fs.Importances(np.empty((0, 4)), NAMES)).values.shape == (0, 3)
    assert fs.Grouped({1: [2, 3]})(named([[1, 2]], ["2", "3"])).names == ("1",)
    assert fs.Grouped(JOB) == fs.Grouped({"job": ("job_clerk", "job_cook")})
    assert eval(f"fs.{fs.Grouped(JOB)!r}") == fs.Grouped(JOB)
    assert repr(fs.Grouped({"all": map(str, range(13))})) == "Grouped(<1 group of 13 features>)"


@pytest.mark.parametrize(
    ("groups", "error", "sentence"),
    [
        ({"job": ["a", "b"], "work": ["b"]}, BadInput, "'b' is named twice"),
        ({"job": ["a", "a"]}, BadInput, "'a' is named twice"),
        ({1: ["a"], "1": ["b"]}, BadInput, "'1' is the name of two groups"),
        ({"job": []}, BadInput, "'job' has no features"),
        ({"job": "job_clerk"}, WrongType, "must be a list of features; got 'job_clerk'"),
        ({"job": 3}, WrongType, "must be a list of features"),
        ({}, WrongType, "got {}"),
        ([("job", ["a"])], WrongType, "Grouped takes the features of each group"),
        (None, WrongType, "got None"),
    ],
)
def test_groups_that_mean_nothing_are_refused(groups, error, sentence):
    with pytest.raises(error, match=sentence):
        fs.Grouped(groups)


@pytest.mark.parametrize(
    ("groups", "explanations", "sentence"),
    [
        (JOB, fs.Importances([[1.0, 2.0]]), r"names=pipe\[:-1\].get_feature_names_out\(\)"),
        ({"job": ["job_clrk"]}, named([[1, 2, 3, 4]]), "'job_clrk' .*Did you mean 'job_clerk'"),
        ({"age": ["job_clerk"]}, named([[1, 2, 3, 4]]), "'age', which is also the name of a feature in no group"),
        ({"g": ["a"]}, named([[1, 2]], ["a", "a"]), "2 features .* named 'a'"),
        ({"g": ["a", "b"]}, named([[1e308, 1e308]], ["a", "b"]), "scale them down"),
    ],
)
def test_importances_that_do_not_fit_are_refused(groups, explanations, sentence):
    with pytest.raises(BadInput, match=sentence):
        fs.Grouped(groups)(explanations)


def test_it_groups_importances_alone():
    for other in (fs.Rank()(named([[1, 2, 3, 4]])), fs.Highlights([{"word"}])):
        with pytest.raises(WrongType, match="discretizes importances"):
            fs.Grouped(JOB)(other)
    changes = fs.Counterfactuals([[3.0, 1.0]], [[1.0, 1.0]], names=["job_clerk", "job_cook"])
    assert (fs.Delta() | fs.Grouped(JOB))(changes).values.tolist() == [[2.0]]
    assert not fs.Grouped(JOB).reads_rows
