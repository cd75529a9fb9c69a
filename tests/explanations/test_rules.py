"""Rules are equal exactly when they cover the same rows however written, and cover what their conditions say."""

import math
import operator
from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from conditions import conditions
from faithscope.errors import BadInput, Incompatible, WrongType
from faithscope.explainers import TreePath
from faithscope.explainers.tree import knows_missing
from faithscope.explanations.arrow import from_arrow, to_arrow
from faithscope.explanations.conditions.condition import NOTHING
from faithscope.explanations.rules import Rules
from refused import refused

FEATURES = ["age", "job", "flag"]
NUMBERS = [-math.inf, -1, -0.0, 0, 0.1, 0.5, 1, True, False, 1.0, 2, np.float32(0.1), 2**53, 2**53 + 1, math.inf]
WORDS = ["clerk", "cook", "", "Clerk"]
MISSING = [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT")]
ORDER = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
# Every value that a condition may name, values between them, and missing ones: conditions that agree here are equal.
NUMBER_ROWS = [*NUMBERS, -5, -0.5, 0.05, 0.100000001, 0.3, 0.7, 1.5, 2**40, 2**53 + 2, 1e300, None, math.nan]
WORD_ROWS = [*WORDS, "unheard of", None]


def is_missing(value):
    return value is None or value is pd.NA or bool(value != value)


def plain(value):
    """A NumPy number as Python's, since NumPy rounds Python's to its own type before it compares."""
    return value.item() if isinstance(value, np.number) else value


def naive(written, value, x):
    """Whether one value meets one condition as written, in plain Python."""
    how, or_missing, _ = written.partition(" or missing")
    x, *wanted = map(plain, [x, *(value if isinstance(value, list | tuple) else [value])])
    present = [one for one in wanted if not is_missing(one)]
    if is_missing(x):
        return bool(or_missing) or (how in {"==", "in"} and len(present) < len(wanted))
    if how == "between":
        return wanted[0] <= x <= wanted[1]
    return ORDER[how](x, *wanted) if how in ORDER else (x in present) == (how in {"==", "in"})


def covers(conjunction, features, row):
    return all(naive(operator, value, row[features.index(name)]) for name, operator, value in conjunction)


def columns(rows):
    """Rows as an object array, which keeps every Python value as it is."""
    table = np.empty((len(rows), len(rows[0])), object)
    for i, row in enumerate(rows):
        table[i, :] = row
    return table


def mask(rules, X, row=0):
    """Which rows the rule of one row covers, from the masks of its conditions."""
    masks = [np.ones(len(X), bool)] if not rules.conjunction(row) else list(rules.holds(rules.conjunction(row), X))
    return np.logical_and.reduce(masks).tolist()


def on(feature, values, order=True):
    ordered = st.sampled_from(values)
    return conditions(st.just(feature), st.sampled_from([*values, *MISSING]), ordered if order else None)


on_age = on("age", NUMBERS)
on_job = on("job", WORDS, order=False)
conjunctions = st.lists(st.one_of(on_age, on_age, on_job, on("flag", [True, False])), max_size=6)
rows = st.lists(
    st.tuples(st.sampled_from(NUMBER_ROWS), st.sampled_from(WORD_ROWS), st.sampled_from([True, False, None])),
    min_size=1,
    max_size=20,
)


# -- equality -----------------------------------------------------------------------------------------------------


def assert_equal_exactly_if_they_cover_the_same(some, feature, values):
    codes = Rules.from_conditions(some, [feature]).codes.tolist()
    meanings = [tuple(covers(one, [feature], (x,)) for x in values) for one in some]
    assert codes == list(map(list(dict.fromkeys(meanings)).index, meanings))


@given(
    numbers=st.lists(st.lists(on_age, min_size=1, max_size=4), min_size=2, max_size=40),
    words=st.lists(st.lists(on_job, min_size=1, max_size=4), min_size=2, max_size=40),
)
def test_rules_are_equal_exactly_when_they_cover_the_same_values(numbers, words):
    between = Fraction(2**54 + 1, 2)  # no float lies between 2**53 and 2**53 + 1, but numbers do
    assert_equal_exactly_if_they_cover_the_same(numbers, "age", [*NUMBER_ROWS, between])
    assert_equal_exactly_if_they_cover_the_same(words, "job", WORD_ROWS)


@given(conjunction=conjunctions)
@example([("job", "==", "a"), ("age", "not in or missing", [])])
def test_a_canonical_rule_has_one_condition_a_feature_in_order_and_none_that_everything_meets(conjunction):
    found = Rules.from_conditions([conjunction], FEATURES).distinct[0]
    positions = [one.position for one in found]
    assert positions == sorted(set(positions))
    assert found == (NOTHING,) or not any(one.never or one.always for one in found)


def test_what_can_never_be_true_is_one_rule_whatever_its_features():
    never = [("age", "<", 1), ("age", ">=", 1), ("job", "==", "cook")]
    other = [("flag", "==", True), ("flag", "==", None)]
    rules = Rules.from_conditions([never, other, [("job", "in", [])], [("age", ">", math.inf)]], FEATURES)
    assert rules.distinct == ((NOTHING,),)
    assert rules.describe(0) == "nothing"
    assert not any(mask(rules, columns([(1, "cook", True), (None, None, None)])))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([("age", "<=", 5), ("age", "<", 3)], "age < 3"),
        ([("age", "<=", 9.0), ("age", "!=", 4), ("age", "!=", 2.5)], "age <= 9 and age not in {2.5, 4}"),
        ([("age", "in", {3, 1}), ("age", "<", 9)], "age in {1, 3}"),
        ([("age", ">", 3), ("age", "<=", 7.0), ("age", "!=", 5)], "3 < age <= 7 and age != 5"),
        ([("age", ">=", 3), ("age", "<=", 3)], "age == 3"),
        ([("age", "==", True)], "age == 1"),
        ([("age", ">", -0.0)], "age > 0"),
        ([("age", "<=", math.inf)], "age is present"),
        ([("age", "<", math.inf)], "age < inf"),
        ([("age", "==", math.nan)], "age is missing"),
        ([("age", "==", 2**53 + 1)], "age == 9007199254740993"),
        ([("age", "<=", 9.500000476837158)], "age <= 9.5"),
        ([("age", "<=", 1234567.891)], "age <= 1234567.891"),
        ([("job", "in", ["cook", None])], "job in {cook, missing}"),
        ([("job", "!=", "cook"), ("job", "!=", "clerk")], "job not in {clerk, cook}"),
        ([("flag", "==", 1), ("job", "!=", "cook"), ("age", ">", 3)], "age > 3 and job != cook and flag == 1"),
        ([], "everything"),
    ],
)
def test_a_rule_reads_aloud_in_its_canonical_form(written, read):
    rules = Rules.from_conditions([written], FEATURES)
    assert rules.describe(0) == read
    assert " and ".join(map(str, rules.conjunction(0))) == (read if written else "")


# -- coverage -----------------------------------------------------------------------------------------------------


@given(conjunction=conjunctions, given_rows=rows)
@example([("age", ">=", 2**53 + 1)], [(2**53, "", None), (float(2**53), "", None), (2**53 + 1, "", None)])
@example([("age", "!=", 2**53 + 1)], [(float(2**53), "", None), (math.nan, "", None)])
def test_a_rule_covers_the_rows_on_which_all_its_conditions_hold(conjunction, given_rows):
    rules = Rules.from_conditions([conjunction], FEATURES)
    assert mask(rules, columns(given_rows)) == [covers(conjunction, FEATURES, row) for row in given_rows]


TABLE = {
    "flag": [True, False, None, True],
    "age": [3, 7, None, 9],
    "job": ["clerk", "cook", "cook", None],
    "other": [[1], [2], [3], [4]],
}


def test_text_arrays_and_empty_tables_have_masks_too():
    rules = Rules.from_conditions([[("job", "==", "cook")], [("job", "!=", None)]], ["job"])
    for kind in (str, np.dtypes.StringDType()):
        assert mask(rules, np.array([["cook"], ["clerk"]], kind)) == [True, False]
    for empty in (pd.DataFrame({"job": []}), np.empty((0, 1))):
        assert mask(rules, empty) == []
    dates = np.array([["2026-01-01"], ["NaT"]], "datetime64[D]")
    assert mask(rules, dates, 1) == [True, False]
    assert mask(rules, dates[1:], 0) == [False]


def test_a_column_without_any_value_fits_every_condition_and_meets_none():
    rules = Rules.parse(["a <= 1", "a == x", "a != 1", "a is missing"], ["a"])
    for empty in (None, math.nan, pd.NA):
        for X in (columns([(empty,), (empty,)]), pd.DataFrame({"a": [empty, empty]})):
            assert [mask(rules, X, row) for row in range(4)] == [[False] * 2] * 3 + [[True] * 2]
    assert mask(rules, np.array([["NaT"]], "datetime64[s]")) == [False]


# -- features -----------------------------------------------------------------------------------------------------


def test_a_feature_is_given_by_name_or_by_position():
    rules = Rules.from_conditions([[(name, "==", "cook")] for name in ("job", 1, np.int64(1))], FEATURES)
    assert rules.codes.tolist() == [0, 0, 0]
    numbered = Rules.from_conditions([[(name, "<=", 1)] for name in (5, "5", 1)], [3, 5])
    assert numbered.codes.tolist() == [0, 0, 0]
    assert numbered.describe(0) == "5 <= 1"
    unnamed = Rules.from_conditions([[(2, "<=", 1)], [(0, ">", 1)]])
    assert unnamed.features == ("x0", "x1", "x2")
    assert mask(unnamed, np.array([[0, 0, 1, 5], [0, 0, 2, 5]])) == [True, False]


def test_without_features_names_come_in_order_of_appearance_and_rows_must_have_them():
    rules = Rules.from_conditions([[("job", "==", "cook")], [("age", "<=", 7), ("job", "!=", "cook")]])
    assert rules.features == ("job", "age")
    assert mask(rules, pd.DataFrame(TABLE)) == [False, True, True, False]
    unknown = "plain array, and the rules do not say which column is 'job': pass features="
    refused(BadInput, unknown, mask, rules, np.zeros((3, 2)))
    assert mask(Rules.from_conditions([[]]), np.zeros((3, 2))) == [True] * 3


def test_rules_over_different_features_are_never_compared():
    many = [f"feature {j}" for j in range(30)]
    one = Rules.from_conditions([[(0, "<=", 1)]], many)
    for other in (many[:29], [*many[:20], "another", *many[21:]]):
        told = r"29 features|'feature 20' in one and 'another' in the other"
        refused(Incompatible, told, one.join, Rules.from_conditions([[(0, "<=", 1)]], other))
    assert repr(one).startswith("<1 explanations: rules over 30 features (feature 0, feature 1")


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "error", "message"),
    [
        ([("agee", "<=", 1)], BadInput, r"row 1: .*'agee', which is not among the features\. Did you mean 'age'"),
        ([(-1, "<=", 1)], BadInput, r"is on -1, which is not among"),
        (
            [("age", "=<", 1)],
            BadInput,
            "Operator '=<' on feature 'age' is unknown. Known are: <=, <, >=, >, ==, !=, in",
        ),
        ([("age", "<=", math.nan)], BadInput, r"age <= nan: a missing value has no order"),
        ([("age", "between", 3)], BadInput, r"between on feature 'age' needs \(low, high\); got 3"),
        ([("age", "<=", "abc")], WrongType, r"age <= 'abc': text has no order here"),
        (
            [("age", "<=", 1), ("age", "==", "x")],
            WrongType,
            r"'age' compare it with a number \(age <= 1\) and with text",
        ),
        ([("age", "in", [1, "x"])], WrongType, r"mixes values of several kinds"),
        ([("age", "in", "abc")], WrongType, r"age in takes several values: pass a list"),
        ([("age", "==", 3j)], WrongType, r"a complex is neither number"),
        (
            [("age", "==", np.datetime64("2026-01-01")), ("age", "<", 3)],
            WrongType,
            r"with a date \(age == 2026-01-01\) and with a number",
        ),
        ([("age", "<=", "2026-01-01")], WrongType, r"a date must be a datetime, not its text"),
        ([("age", "<=")], BadInput, r"A condition must be \(feature, operator, value\); got \('age', '<='\)"),
        ("age <= 1", WrongType, r"list of conditions per row; got 'age <= 1'"),
    ],
)
def test_what_cannot_be_read_is_named(written, error, message):
    refused(error, message, Rules.from_conditions, [[], written], FEATURES)


def test_names_of_features_must_be_distinct_and_do_not_mix_with_positions():
    refused(BadInput, "Two features are called '1'", Rules.from_conditions, [[]], [1, "1"])
    refused(WrongType, "must be a list; got 'age'", Rules.from_conditions, [[]], "age")
    refused(BadInput, "by name and some by position", Rules.from_conditions, [[("age", "<=", 1), (0, "<=", 1)]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            pd.DataFrame({"agee": [1], "job": ["x"]}),
            BadInput,
            "Rows have no column 'age', which 'age <= 1' needs. Did you mean 'agee'",
        ),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), BadInput, "two columns 'age'.* needs: rename"),
        (np.zeros((2, 4)), BadInput, "Rows have 4 columns but rules are over 3 features"),
        (np.zeros(3), WrongType, r"2-D array, a list of rows or a table; got ndarray of shape \(3,\)"),
        (
            columns([(None, "x", True), ("old", "x", True)]),
            WrongType,
            r"Column 'age' holds 'old' \(str\) at row 1, which 'age <= 1' would compare with a number",
        ),
        (
            pl.DataFrame({"age": [1], "job": [2]}),
            WrongType,
            r"Column 'job' holds .*2.* at row 0, which 'job == x' .* with text",
        ),
        (pd.DataFrame({"age": pd.to_datetime(["2026-01-01"]), "job": ["x"]}), WrongType, "Column 'age' holds .*2026"),
    ],
    ids=range(7),
)
def test_rows_that_do_not_fit_are_refused_by_name(X, error, message):
    refused(error, message, mask, Rules.from_conditions([[("age", "<=", 1), ("job", "==", "x")]], FEATURES), X)


# -- trees --------------------------------------------------------------------------------------------------------


def around(thresholds):
    """The float64 numbers next to each threshold, next to its single-precision neighbors, and halfway between those."""
    single = [np.nextafter(thresholds.astype(np.float32), np.float32(end)) for end in (-np.inf, np.inf)]
    below, above = (one.astype(np.float64) for one in single)
    middle = thresholds.astype(np.float32).astype(np.float64)
    near = [thresholds, below, middle, above, (below + middle) / 2, (middle + above) / 2]
    return np.unique([np.nextafter(one, end) for one in near for end in (-9, one, 9)])


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_path_covers_exactly_the_rows_of_its_leaf(kind):
    crowded = np.float32(1) + np.arange(40, dtype=np.float32) * np.spacing(np.float32(1))  # next to each other
    for seed in range(4):
        rng = default_rng(seed)
        X = np.column_stack([rng.choice(crowded, 300).astype(float), rng.normal(size=300), rng.integers(0, 9, 300)])
        tree = kind(random_state=0, max_leaf_nodes=60).fit(X, rng.integers(0, 3, 300))
        splits = tree.tree_
        cuts = [around(splits.threshold[splits.feature == j]) for j in range(3)]
        hard = np.column_stack([rng.choice(np.concatenate([cuts[j], X[:, j]]), 3000) for j in range(3)])
        near, thresholds = np.concatenate(cuts)[:, None], splits.threshold
        assert ((near <= thresholds) != (near.astype(np.float32) <= thresholds)).any()  # so these would be wrong here
        rules = TreePath(tree).explain(X)
        assert rules.partitions
        everywhere = np.concatenate([X, hard])
        leaves, first = np.unique(tree.apply(X), return_index=True)
        covered = np.array([mask(rules, everywhere, row) for row in first])
        assert (covered == (tree.apply(everywhere) == leaves[:, None])).all()
        assert rules.group()[0].max() + 1 == len(leaves)


def test_a_path_reads_aloud_with_the_names_the_tree_knows():
    X = pd.DataFrame({"education-num": [8.0, 9, 10, 11], "capital-gain": [0.0, 1, 0, 1]})
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1])
    assert TreePath(tree).explain(X).describe(0) == "education-num <= 9.5"
    bare = DecisionTreeClassifier(random_state=0).fit(X.to_numpy(), [0, 0, 1, 1])
    for rows in (X.to_numpy(), X.to_numpy().tolist()):
        assert TreePath(bare).explain(rows).describe(0) == "x0 <= 9.5"
    assert TreePath(DecisionTreeClassifier().fit(X, [0] * 4)).explain(X).describe(0) == "everything"


def test_rules_of_one_tree_partition_and_those_of_two_do_not():
    rng = default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    tree, other, another = (
        DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, labels)
        for depth, labels in ((None, y), (None, 1 - y), (2, y))
    )
    a, b = TreePath(tree).explain(X[:30]), TreePath(tree).explain(X[30:])
    assert a.join(b).partitions
    assert a.join(b).tree == a.tree == TreePath(other).explain(X).tree  # the same splits, so the same parts
    assert a.take([3, 4]).partitions
    written = Rules.from_conditions([[(0, "<=", 0)]], ["x0", "x1"])
    for parts in (a.join(TreePath(another).explain(X)), written, written.join(a), a.join(written)):
        assert not parts.partitions


def test_bad_trees_and_rows_are_refused():
    X, y = np.array([[0.0], [1.0], [np.nan]]), [0, 1, 1]
    forest = RandomForestClassifier(n_estimators=2).fit(X, y)
    told = "needs a fitted scikit-learn decision tree; got RandomForestClassifier"
    refused(WrongType, told, TreePath, forest)
    refused(WrongType, "needs a fitted", TreePath, DecisionTreeClassifier())
    refused(BadInput, "cannot predict these rows", TreePath(DecisionTreeClassifier().fit(X, y)).explain, [[1.0, 2.0]])


def test_a_tree_that_splits_on_missing_alone_asks_for_present():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0], [math.nan]], [0, 0, 1])
    rules = TreePath(tree).explain([[1.0], [5.0], [math.nan]])
    assert [rules.describe(row) for row in (1, 2)] == ["x0 is present", "x0 is missing"]


def holey(seed, share=0.3):
    rng = default_rng(seed)
    X = rng.integers(0, 6, (int(rng.integers(4, 80)), 3)).astype(float)
    X[rng.random(X.shape) < share] = math.nan
    return X, rng.integers(0, 3, len(X))


SPLITTERS = ["best", "random"][: 1 if version("scikit-learn").startswith("1.5.") else 2]  # there random takes no NaN


@given(seed=st.integers(0, 10_000), splitter=st.sampled_from(SPLITTERS), clean=st.booleans())
@example(seed=2955, splitter="best", clean=False)  # a threshold of nan, in scikit-learn 1.5
@pytest.mark.slow
def test_a_path_covers_exactly_the_rows_of_its_leaf_missing_ones_too(seed, splitter, clean):
    X, y = holey(seed, share=0.0 if clean else 0.3)
    tree = DecisionTreeClassifier(splitter=splitter, max_leaf_nodes=7, random_state=0).fit(X, y)
    asked = np.concatenate([X, holey(seed + 1)[0]])
    asked = (
        asked if knows_missing(tree.tree_) else asked[~np.isnan(asked).any(axis=1)]
    )  # rows of others ask for missing
    leaves, rules = tree.apply(asked), TreePath(tree).explain(asked)
    for row in range(len(asked)):
        assert mask(rules, asked, row) == (leaves == leaves[row]).tolist()
    assert from_arrow(to_arrow(rules)).distinct == rules.distinct


# -- together -----------------------------------------------------------------------------------------------------


def test_a_set_of_values_may_come_in_any_collection():
    held = [["a", "b"], ("a", "b"), {"a", "b"}, frozenset("ba"), np.array(["a", "b"]), pd.Series(["a", "b"])]
    rules = Rules.from_conditions([[["job", "in", values]] for values in held], FEATURES)
    assert {rules.describe(row) for row in range(len(held))} == {"job in {a, b}"}


def test_conditions_on_categories_hold_on_rows_that_hold_their_codes():
    rules = Rules.parse(["job == clerk", "job != cook", "job is missing", "job in {cook, baker}"], ["job"])
    coded = rules._with(categories={"job": {0: "clerk", 1: "cook"}})
    named = pd.DataFrame({"job": ["clerk", "cook", None, "poet"]})
    expected = [mask(rules, named, row) for row in range(4)]
    for X in ([[0], [1], [np.nan], [7]], np.array([[0], [1], [np.nan], [7]]), [[0], [1], [None], [0.5]], named):
        assert [mask(coded, X, row) for row in range(4)] == expected


def test_rules_whose_codes_disagree_are_not_joined():
    first, second = (Rules.parse(["job == clerk"], ["job"])._with(categories={"job": {0: t}}) for t in ("a", "b"))
    assert first.join(first).categories == {"job": {0: "a"}}
    refused(Incompatible, "job = 0 is 'a' in some rules and 'b' in others", first.join, second)
