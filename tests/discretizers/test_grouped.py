"""Grouped: importances of derived features summed into the columns that they come from."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from refused import refused

JOB = {"job": ["job_clerk", "job_cook"]}
NAMES = ["age", "job_clerk", "job_cook", "hours"]


def named(values, names=NAMES):
    return fs.Importances(np.asarray(values, float), names)


VALUES = arrays(float, st.tuples(st.integers(1, 9), st.integers(1, 6)), elements=st.sampled_from([-0.5, 0.0, 0.25, 1]))


@given(VALUES, st.data())
def test_groups_are_sums_that_stand_in_their_order_where_first_features_do_and_others_keep_their_places(values, data):
    names = [f"f{j}" for j in range(values.shape[1])]
    of = [data.draw(st.sampled_from(["g0", "g1", name])) for name in names]
    parts = {part: [name for name, one in zip(names, of, strict=True) if one == part] for part in of}
    drawn = data.draw(st.permutations([part for part in parts if part.startswith("g")]))
    assume(drawn)
    grouped = fs.Grouped({part: parts[part][::-1] for part in drawn})(named(values, names))
    given_ = iter(drawn)
    wanted = [next(given_) if part in drawn else part for part in parts]
    assert grouped.names == tuple(wanted)
    assert grouped.values.tolist() == [[row[[one == part for one in of]].sum() for part in wanted] for row in values]


def test_it_chains_with_other_discretizers():
    rows = named([[0.1, 0.5, -0.9, 0.2], [-0.3, 0.2, 0.2, 0.0]])
    assert (fs.Grouped(JOB) | fs.Rank())(rows).describe(1) == "age < hours < job"
    assert (fs.Sign() | fs.Grouped(JOB))(rows).values.tolist() == [[1.0, 0.0, 1.0], [-1.0, 2.0, 0.0]]
    changes = fs.Counterfactuals([[3.0, 1.0]], [[1.0, 1.0]], names=["job_clerk", "job_cook"])
    assert (fs.Delta() | fs.Grouped(JOB))(changes).values.tolist() == [[2.0]]
    assert not fs.Grouped(JOB).reads_rows


def test_the_error_of_a_sum_is_at_most_the_sum_of_errors():
    sampled = named([[1, 2, 3, 4]])._with(error=0.1)
    assert fs.Grouped(JOB)(sampled).error == pytest.approx(0.2)
    assert fs.consistency(sampled, [0], discretizer=fs.Grouped(JOB)).notes[0].endswith("up to 0.2")


def test_groups_that_mean_nothing_are_refused():
    for groups, error, sentence in (
        ({"job": ["a", "b"], "work": ["b"]}, BadInput, "'b' is named twice"),
        ({"job": ["a", "a"]}, BadInput, "'a' is named twice"),
        ({1: ["a"], "1": ["b"]}, BadInput, "'1' is the name of two groups"),
        ({"job": []}, BadInput, "'job' has no features"),
        ({"job": "job_clerk"}, WrongType, "must be a list of features; got 'job_clerk'"),
        ({"job": 3}, WrongType, "must be a list of features"),
        ({}, WrongType, "got {}"),
        ([("job", ["a"])], WrongType, "Grouped takes the features of each group"),
        (None, WrongType, "got None"),
    ):
        refused(error, sentence, fs.Grouped, groups)


def test_importances_that_do_not_fit_are_refused():
    for groups, explanations, error, sentence in (
        (JOB, fs.Importances([[1.0, 2.0]]), BadInput, r"names=pipe\[:-1\].get_feature_names_out\(\)"),
        ({"job": ["job_clrk"]}, named([[1, 2, 3, 4]]), BadInput, "'job_clrk'.*Did you mean 'job_clerk'"),
        ({"age": ["job_clerk"]}, named([[1] * 4]), BadInput, "'age', which is also the name of a feature in no group"),
        ({"g": ["a"]}, named([[1, 2]], ["a", "a"]), BadInput, "2 features .* named 'a'"),
        ({"g": ["a", "b"]}, named([[1e308, 1e308]], ["a", "b"]), BadInput, "scale them down"),
        (JOB, fs.Rank()(named([[1, 2, 3, 4]])), WrongType, "discretizes importances"),
        (JOB, fs.Highlights([{"word"}]), WrongType, "discretizes importances"),
    ):
        refused(error, sentence, fs.Grouped(groups), explanations)
