"""Rules as texts: what is printed reads back, here and from lime and anchor-exp."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import faithscope as fs
from conditions import conditions
from faithscope.errors import BadInput, WrongType
from refused import refused

WORDS = ["clerk", "a and b", "a or missing", "x <= 3 and y > 2", "37", "2024-03-01", "missing", "True", "", "'", '"']
WORDS += [" x", "1 2", "(a", "b)", "f(x)", "{a, b}", "[kg]", "weight [kg]", "AT&T", "a, b", "<=50K", "nothing", "inf"]
WORDS += ["everything", "a\\nb", "a\nb", "\u202e", "\u00a0x", "not in", "a not", "is missing", "in", "\ud800", "a  b"]
WORDS += ["and", "or missing", "x and", "petal width (cm)", "capital-gain", "a.b", "Ü≤3", "x is missing", "'a'"]
TEXTS = st.one_of(st.sampled_from(WORDS), st.text(max_size=8))
PRINTED = st.one_of(st.integers(-(10**6), 10**6), st.integers(-999, 999).map(lambda v: v / 16 if v % 2 else v / 100))
NUMBERS = st.one_of(PRINTED, st.floats(allow_nan=False), st.integers())
MOMENTS = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
ZONED = MOMENTS.map(lambda moment: moment.replace(tzinfo=datetime.UTC))


@st.composite
def conditions_on(draw, feature, numbers):
    """A few conditions on one feature, all of them on values of one family."""
    values = draw(st.sampled_from([numbers, numbers, TEXTS, MOMENTS, ZONED]))
    drawn = conditions(st.just(feature), values, None if values is TEXTS else values)
    present = st.sampled_from([[], [], [(feature, "!=", None)]])
    return draw(st.lists(drawn, min_size=1, max_size=3)) + draw(present)


@st.composite
def rules(draw, numbers=PRINTED):
    """Rules over features of any name."""
    features = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
    rows = draw(st.lists(st.lists(st.sampled_from(features), max_size=3, unique=True), min_size=1, max_size=3))
    given_rows = [[triple for name in row for triple in draw(conditions_on(name, numbers))] for row in rows]
    return fs.Rules.from_conditions(given_rows, features)


def told(given_rules):
    return [given_rules.describe(row) for row in range(len(given_rules))]


@given(rules())
def test_what_describe_prints_reads_back_as_the_same_rule_with_and_without_the_names_of_features(given_rules):
    texts, written = told(given_rules), given_rules.to_conditions()
    again = fs.Rules.parse(texts, given_rules.features)
    assert again.to_conditions() == written
    assert again.distinct == given_rules.distinct
    for text, one in zip(texts, written, strict=True):
        if text != "nothing":
            (alone,) = fs.Rules.parse([text]).to_conditions()
            assert set(map(repr, alone)) == set(map(repr, one))


@given(rules(NUMBERS))
@example(fs.Rules.from_conditions([[("x", ">", 0.123456789), ("x", "<=", 0.1234567891)]]))
def test_whatever_the_numbers_the_text_of_what_was_read_is_the_text(given_rules):
    assert told(fs.Rules.parse(told(given_rules), given_rules.features)) == told(given_rules)


BOUNDS = st.one_of(
    st.floats(-1e7, 1e7), st.integers(-99, 99).map(float), st.integers(-99, 99).map(lambda v: v / 10)
).flatmap(lambda v: st.sampled_from([v, *(float(np.nextafter(np.float32(v), np.float32(end))) for end in (-1e9, 1e9))]))


@given(st.sampled_from(["<=", "<", ">=", ">"]), BOUNDS, st.floats(-1e7, 1e7))
@example("<=", 3.99999988, 4.0)
@example(">", 3.99999988, 4.0)
@example("<", 4.00000012, 4.0)
@example(">", -7.006492321624084e-46, 0.0)  # XGBoost's x < 0
@example("<=", -7.006492321624087e-46, 0.0)
@example("<=", 1.0000000180025095e-35, 0.0)  # LightGBM's x <= 0
def test_a_number_of_seven_digits_meets_the_text_exactly_if_it_meets_the_rule(operator, bound, number):
    """Rounded bounds would lie otherwise: XGBoost sends 4 to the right of x < 4, whose last float reads as 4."""
    rule = fs.Rules.from_conditions([[("x", operator, bound)]], ["x"])
    near = [float(f"{value:.7g}") for value in (number, bound, bound * (1 + 1e-6), bound * (1 - 1e-6))]
    rows = [[value if abs(value) > 1e-34 else 0.0] for value in near]  # trees take smaller ones for 0
    exact, text = (next(r.holds(r.conjunction(0), rows)) for r in (rule, fs.Rules.parse(told(rule), ["x"])))
    assert exact.tolist() == text.tolist()


@pytest.mark.parametrize("bound", [0.12345678, -56.125778, 25.436744, 999999.25, 1e-7, 123456789.125])
def test_a_bound_of_up_to_eight_digits_or_a_large_one_is_read_back_as_it_was(bound):
    rules = fs.Rules.from_conditions([[("x", operator, bound)] for operator in ("<=", "<", ">=", ">")])
    assert fs.Rules.parse([rules.describe(row) for row in range(4)]).distinct == rules.distinct


def test_two_bounds_are_told_with_the_operators_of_their_digits():
    assert told(fs.Rules.from_conditions([[("x", ">", 2.99999994), ("x", "<=", 3.99999988)]])) == ["3 <= x < 4"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("27.1 < bmi <= 31.3", [("bmi", ">", 27.1), ("bmi", "<=", 31.3)]),
        ("0.00 < age <= 37.00 AND job = clerk", [("age", ">", 0.0), ("age", "<=", 37.0), ("job", "==", "clerk")]),
        ("workclass = Self-emp-not-inc", [("workclass", "==", "Self-emp-not-inc")]),
        ("petal width (cm) <= 0.80", [("petal width (cm)", "<=", 0.8)]),
        ("weight [kg] > 80.5 & height <= 170", [("weight [kg]", ">", 80.5), ("height", "<=", 170.0)]),
        ("job=cooks, waiters and clerks, age > 3", [("job", "==", "cooks, waiters and clerks"), ("age", ">", 3.0)]),
        ("(age > 3) & (job == 'a \"b\"')", [("age", ">", 3.0), ("job", "==", 'a "b"')]),
        ("company = AT&T", [("company", "==", "AT&T")]),
        ("income = <=50K and age ≥ 3", [("income", "==", "<=50K"), ("age", ">=", 3.0)]),
        ("3 <= 0.50; 1.00 < 0 <= 5.00", [("3", "<=", 0.5), ("0", ">", 1.0), ("0", "<=", 5.0)]),
        ("1stFlrSF <= 800", [("1stFlrSF", "<=", 800.0)]),
        ("born in 1990 > 3", [("born in 1990", ">", 3.0)]),
        ('ward == 37 and room == "37"', [("ward", "==", 37.0), ("room", "==", "37")]),
        ('job not in {clerk, "a, b"}', [("job", "not in", ("a, b", "clerk"))]),
        (
            "(job == Outlying-US(Guam) or missing) and x is present",
            [("job", "in", ("Outlying-US(Guam)", None)), ("x", "!=", None)],
        ),
        ("age in [3, 7]", [("age", "in", (3.0, 7.0))]),
        ("color != {green,red}", [("color", "not in", ("green", "red"))]),
        *((text, []) for text in ("everything", "true", "")),
    ],
)
def test_texts_of_other_libraries_and_people(text, written):
    assert fs.Rules.parse([text]).to_conditions() == [written]


def test_the_longest_name_that_fits_is_read():
    names = ["a", "a and b", "a<b", "b"]
    read = fs.Rules.parse(["a and b <= 3 and a<b > 2"], names)
    assert read.to_conditions() == [[("a and b", "<=", 3.0), ("a<b", ">", 2.0)]]
    refused(BadInput, "a feature with an operator", fs.Rules.parse, ["a and b <= 3"], ["a", "b"])


def test_a_list_of_conditions_per_row_is_a_conjunction():
    rules = fs.Rules.parse([["age > 48.00", "job = clerk"], [], ["0.00 < age <= 37.00", "job=cook"]])
    assert told(rules) == ["age > 48 and job == clerk", "everything", "0 < age <= 37 and job == cook"]
    assert rules.remarks == ("1 of 3 rows have no condition, and cover every row",)


@pytest.mark.parametrize(
    ("texts", "error", "said"),
    [
        ("age <= 3", WrongType, "one text per row, must be a list"),
        ([None], WrongType, "row 0: A rule must be a text"),
        (["age <= 3", float("nan")], WrongType, "row 1: A rule must be a text"),
        (["age <= 3", "age"], BadInput, "row 1: The rule"),
        (["age <= old"], WrongType, "row 0: age <= 'old': text has no order"),
        (["age in [3, 7["], BadInput, "should stand ','"),
        (["age <= 1,000"], BadInput, "a feature with an operator"),
        (["age <= __import__('os').system('x')"], WrongType, "text has no order"),
        (['age <= "old"'], WrongType, "row 0: age <= 'old': text has no order"),
        ([["age <= 3", 4]], WrongType, "row 0: A rule must be a text"),
    ],
)
def test_what_is_no_rule_says_so(texts, error, said):
    refused(error, said, fs.Rules.parse, texts)


def test_rows_keep_their_labels_and_a_feature_that_is_not_named_is_refused():
    assert list(fs.Rules.parse(pd.Series(["age <= 37", "age is missing"], index=[5, 3])).index) == [5, 3]
    told = "'agee', which is not among the features"
    refused(BadInput, told, fs.Rules.parse, ["job = clerk and agee > 3"], ["age", "job"])


def test_a_list_of_texts_stays_plain_keys_unless_it_is_parsed():
    texts = ["age <= 3", "age > 3"]
    assert "plain keys" in repr(fs.read(texts))
